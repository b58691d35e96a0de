"""Runs git such that nothing runs which a repository's configuration names: it may be of anybody."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.abc

from acp_nvim.limits import READ_BYTES
from acp_nvim.process import umask
from acp_nvim.process.guarding import guard_of_host

NO_PROGRAMS: Final = (
    *("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "submodule.recurse=false"),
)
"""Options before the command, stronger than all files with configuration. Lua has the same (lua/acp_nvim/git.lua)."""

DRIVERS: Final = ("config", "-z", "--name-only", "--get-regexp", r"^(filter|hook)\.")
"""Asks for the programs that have names of their own; exit code 1 when there are none."""


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
        """All that git has printed so far."""
        return b"".join(self._chunks)

    def add(self, chunk: bytes) -> None:
        """Add the next piece that git has printed."""
        self._chunks.append(chunk)
        self._count += chunk.count(b"\0") if self._of_names else len(chunk)
        self.full = self._most is not None and self._count > self._most


@dataclass(frozen=True, slots=True)
class Ended:
    """A git that has ended: its exit code (negative for a signal) and what it wrote."""

    code: int
    stdout: bytes
    stderr: bytes


def disable(names: bytes) -> list[str]:
    """Options that switch off the filters and hooks which `git config` listed as `DRIVERS` asks for.

    Raises `ValueError` for a name that cannot stand in an option; git must not be run then.
    """
    options: list[str] = []
    for driver in dict.fromkeys(os.fsdecode(name).rpartition(".")[0] for name in names.split(b"\0")[:-1]):
        if "=" in driver:
            raise ValueError(f"{driver} cannot be switched off, because of the = in its name")
        is_filter = driver.startswith("filter.")
        for off in ("clean=", "smudge=", "process=", "required=false") if is_filter else ("enabled=false", "command="):
            options += ["-c", f"{driver}.{off}"]
    return options


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Ours, but for what leads git to another repository, to a question, or to the network."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **inherited,
        "GIT_ALLOW_PROTOCOL": "none",  # objects that a partial clone lacks: fetching them runs what the remote says
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        **extra,
    }


async def run(
    arguments: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    *,
    stdin: bytes = b"",
    output: Output | None = None,
    is_private: bool = False,
    niceness: int = 0,
) -> Ended:
    """Run `git <arguments>` in `cwd`, with `env` as all of its environment (see `environment`).

    When `output` is full, git is killed. With `is_private` nobody but the user may read the files that it makes.
    `niceness` is that of git (up to 19), 0 for the host's. When this is cancelled, git and all that it started are gone
    afterwards. Raises `OSError` when git cannot be started.
    """
    mask = umask.PRIVATE if is_private else umask.of_users()
    with anyio.CancelScope(shield=True):  # a process that nobody holds could not be stopped
        process = await anyio.open_process(["git", *arguments], cwd=cwd, env=env, start_new_session=True, umask=mask)
    if niceness:
        with suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, process.pid, niceness)
    said, output = Output(), output or Output()
    guard = guard_of_host()
    guard.kill_after_us(process.pid)  # one that waits for a FIFO would outlive us for ever
    async with process:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_feed, process, stdin)
                tasks.start_soon(_collect, process, process.stderr, said)
                tasks.start_soon(_collect, process, process.stdout, output)
            code = await process.wait()
        except BaseException:
            _kill(process)
            raise
        finally:
            guard.forget(process.pid)
    return Ended(code, output.data, said.data)


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
    _kill(process)


def _kill(process: anyio.abc.Process) -> None:
    """Kill its process group; not by `process.kill`, which may reap it, and asyncio would not know how it ended."""
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
