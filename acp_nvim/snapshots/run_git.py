"""Runs git on a shadow repository: nothing of the user's configuration or environment reaches it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.abc

from acp_nvim.limits import GIT_ERROR_CHARS, GIT_NICENESS, READ_BYTES
from acp_nvim.process import group
from acp_nvim.snapshots.failures import GitFailedError, SnapshotError

NO_SPACE = "no space is left where the snapshots are kept"


class Output:
    """What a process has written so far; `full` when it is more than `most` bytes, or names with a NUL at the end."""

    def __init__(self, most: int | None = None, *, of_names: bool = False) -> None:
        self.full = False
        self._chunks: list[bytes] = []
        self._most = most
        self._of_names = of_names
        self._count = 0

    @property
    def data(self) -> bytes:
        """All of it."""
        return b"".join(self._chunks)

    def add(self, chunk: bytes) -> None:
        """The next piece."""
        self._chunks.append(chunk)
        self._count += chunk.count(b"\0") if self._of_names else len(chunk)
        self.full = self._most is not None and self._count > self._most


async def run_git(
    directory: Path,
    arguments: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    output: Output | None = None,
) -> bytes:
    """The stdout of `git <arguments>` with `directory` as git directory; `cwd` is the work tree, if it needs one.

    When `output` is full, git is ended and that much is returned. Raises `SnapshotError`. When it is cancelled, the
    process is gone afterwards.
    """
    process = await _start(["git", *arguments], cwd or str(directory), _environment(directory, cwd, env or {}))
    said, output = Output(), output or Output()
    async with process, anyio.create_task_group() as tasks:
        tasks.start_soon(_feed, process, stdin)
        tasks.start_soon(_collect, process, process.stderr, said)
        tasks.start_soon(_collect, process, process.stdout, output)
    if process.returncode != 0 and not output.full:
        raise _failure(arguments, process.returncode, said.data)
    return output.data


async def _start(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> anyio.abc.Process:
    try:
        with anyio.CancelScope(shield=True):  # a process that nobody holds could not be stopped
            process = await anyio.open_process(argv, cwd=cwd, env=env)
    except FileNotFoundError as error:
        if error.filename == cwd:
            raise SnapshotError(f"{cwd} is not there") from error
        raise SnapshotError("git is not installed or not in PATH") from error
    except OSError as error:
        raise SnapshotError(f"git cannot be started: {error.strerror}") from error
    with suppress(OSError):  # it has ended already
        os.setpriority(os.PRIO_PROCESS, process.pid, GIT_NICENESS)
    return process


async def _feed(process: anyio.abc.Process, data: bytes) -> None:
    assert process.stdin is not None
    try:
        if data:
            await process.stdin.send(data)
        await process.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # it has ended early: its code says why


async def _collect(process: anyio.abc.Process, stream: anyio.abc.ByteReceiveStream | None, into: Output) -> None:
    assert stream is not None
    while not into.full:
        try:
            into.add(await stream.receive(READ_BYTES))
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
    # not `process.kill`: that may reap a process which has just ended, and asyncio would not know how it ended
    group.send({process.pid}, signal.SIGKILL)


def _failure(arguments: Sequence[str], code: int | None, said: bytes) -> SnapshotError:
    words = said.decode("utf-8", "replace").strip()
    if "No space left on device" in words:
        return SnapshotError(NO_SPACE)
    command = next((word for word in arguments if not word.startswith("-") and "=" not in word), "")
    return GitFailedError(f"git {command} failed with code {code}: {words[:GIT_ERROR_CHARS]}", code)


def _environment(directory: Path, work_tree: str | None, extra: Mapping[str, str]) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **inherited,
        "HOME": str(directory),  # a git that does not know GIT_CONFIG_GLOBAL finds no configuration here
        "XDG_CONFIG_HOME": str(directory),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_DIR": str(directory),
        **({"GIT_WORK_TREE": work_tree} if work_tree else {}),
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        **extra,
    }
