"""Writes files and is killed: `killed_writer.py steps KIND DIRECTORY`, `killed_writer.py forever PATH`.

`steps` does one write again and again, each time in a child of its own and a directory of its own; the first child is
killed before its first step, the next one before its second, and so on until one survives. Every function of the system
that `os` has is a step, and half of what is written is one. It tells what was left each time. `forever` goes on until
somebody else kills it.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from contextlib import suppress
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

import anyio
import anyio._backends._asyncio  # once here, not in each child

from acp_nvim.workspace import disk
from acp_nvim.workspace.disk import stamp_of
from acp_nvim.workspace.roots import Roots

WRITE, EXIT = os.write, os._exit
OLD, NEW = "old\n" * 500, "new\n" * 500
MODE = 0o640
KINDS = ("existing", "new", "link", "directories", "no links")
FOREVER_BYTES = 4 * 1024 * 1024


def lay_out(directory: Path, kind: str) -> Path:
    """A project before the write; returns the path that is written."""
    directory.mkdir()
    if kind in ("new", "no links"):
        return directory / "f"
    if kind == "directories":
        return directory / "a" / "b" / "f"
    (directory / "f").write_text(OLD)
    (directory / "f").chmod(MODE)
    with suppress(OSError):  # not all file systems have them
        os.setxattr(directory / "f", "user.acp_nvim", b"kept")
    if kind == "existing":
        return directory / "f"
    (directory / "link").symlink_to("f")
    return directory / "link"


def found(directory: Path) -> dict[str, dict[str, Any]]:
    """Describe every file in the directory: its text, mode, and where a link leads."""
    files = sorted(path for path in directory.rglob("*") if path.is_symlink() or not path.is_dir())
    return {
        str(path.relative_to(directory)): {
            "text": path.read_text(),
            "mode": stat.S_IMODE(path.lstat().st_mode),
            "link": os.readlink(path) if path.is_symlink() else None,
        }
        for path in files
    }


class Killer:
    """Kills this process before the step with that number."""

    def __init__(self, last: int, tell: int) -> None:
        self._left = last
        self._tell = tell

    def arm(self) -> None:
        """Count the steps from now on."""
        for name, real in list(vars(os).items()):
            if isinstance(real, BuiltinFunctionType) and name not in ("kill", "getpid", "fspath", "_exit"):
                setattr(os, name, self._step(name, real))

    def _step(self, name: str, real: Any) -> Any:
        def step(*args: Any, **more: Any) -> Any:
            self._count(name)
            if name == "write" and self._left == 0:
                real(args[0], args[1][: len(args[1]) // 2])
            if name == "write":
                self._count("write, half of it")
            return real(*args, **more)

        return step

    def _count(self, name: str) -> None:
        if self._left == 0:
            WRITE(self._tell, name.encode())
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1


def no_link(*_: object, **__: object) -> None:
    """What a file system without links says."""
    raise PermissionError(1, "Operation not permitted")


def write_once(wanted: Path, kind: str, step: int, tell: int) -> None:
    """Write the file in the child as the host does."""
    path = Roots([str(wanted.parents[-2])]).resolve(str(wanted))
    expected = stamp_of(os.stat(path)) if os.path.exists(path) else None
    if kind == "no links":
        os.link = no_link
    Killer(step, tell).arm()
    anyio.run(disk.write, path, NEW, "utf-8", expected)


def killed_before(directory: Path, kind: str, step: int) -> dict[str, Any]:
    """One child; `step` is the name of what it was about to do, "" if it got to its end."""
    wanted = lay_out(directory, kind)
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        write_once(wanted, kind, step, tell)
        EXIT(0)
    os.close(tell)
    with os.fdopen(hear) as words:
        name = words.read()
    _, status = os.waitpid(child, 0)
    assert status == (signal.SIGKILL if name else 0), (status, name)
    return {"step": name, "files": found(directory)}


def steps(kind: str, directory: str) -> None:
    """All of them; prints a list."""
    results: list[dict[str, Any]] = []
    while not results or results[-1]["step"]:
        results.append(killed_before(Path(directory) / str(len(results)), kind, len(results)))
    print(json.dumps(results))


async def forever(path: str) -> None:
    """Large texts of one letter each, in turn."""
    stamp = None
    while True:
        for letter in "ab":
            stamp = await disk.write(path, letter * FOREVER_BYTES, "utf-8", stamp)


if __name__ == "__main__":
    if sys.argv[1] == "steps":
        steps(*sys.argv[2:])
    else:
        anyio.run(forever, sys.argv[2])
