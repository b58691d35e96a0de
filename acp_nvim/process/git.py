"""Runs git without the programs that a repository's configuration names: its author may be hostile."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import anyio
import anyio.abc

from acp_nvim.limits import READ_BYTES
from acp_nvim.process import umask
from acp_nvim.process.guarding import guard_of_host

NO_PROGRAMS: Final = (
    *("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "submodule.recurse=false"),
)
"""Options before the command, stronger than all configuration files. Lua has the same (lua/acp_nvim/kernel/git.lua)."""

DRIVERS: Final = ("config", "-z", "--name-only", "--get-regexp", r"^(filter|hook)\.")
"""The arguments that list filters and hooks with names of their own; git's exit code is 1 when there are none."""


class Output:
    """Collects what a process prints; `full` beyond `most` bytes, or beyond `most` names that end with NUL."""

    def __init__(self, most: int | None = None, *, of_names: bool = False) -> None:
        self.full = False
        self._chunks: list[bytes] = []
        self._most = most
        self._of_names = of_names
        self._count = 0

    @property
    def data(self) -> bytes:
        """All bytes that git has printed so far."""
        return b"".join(self._chunks)

    def add(self, chunk: bytes) -> None:
        """Add the next chunk of bytes that git has printed."""
        self._chunks.append(chunk)
        self._count += chunk.count(b"\0") if self._of_names else len(chunk)
        self.full = self._most is not None and self._count > self._most


class Ended(NamedTuple):
    """The exit code of git (negative for a signal), and what it printed."""

    code: int
    stdout: bytes
    stderr: bytes


def disable(names: bytes) -> list[str]:
    """Return options that switch off the filters and hooks which `git config` listed for `DRIVERS`.

    Raises `ValueError` for a name that cannot be part of an option; git must not be run then.
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
    """Return our environment and `extra`, without variables that select another repository, a prompt or the network."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **inherited,
        "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would fetch missing objects with the remote's programs
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
    """Run `git <arguments>` in `cwd`, with `env` as its whole environment (see `environment`).

    When `output` is full, git is killed. With `is_private`, the files that git creates are readable by the user only.
    `niceness` is that of git (up to 19), 0 for the host's. When this is cancelled, git and its descendants are gone
    afterwards. Raises `OSError` when git cannot be started.
    """
    guard = guard_of_host()
    mask = umask.PRIVATE if is_private else None
    # with `kill`: a git that waits for a FIFO would outlive us forever
    process, mark = await guard.start(["git", *arguments], cwd, env, kill=True, mask=mask)
    if niceness:
        with suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, process.pid, niceness)
    said, output = Output(), output or Output()
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
            guard.forget(mark)
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
    """Kill its process group. `process.kill` may reap the process, and asyncio would not get its exit code."""
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
