"""One child process on pipes: an agent, in a session of its own, watched by the guard."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import anyio
import anyio.abc
import anyio.lowlevel

from acp_nvim.limits import TAKEN_BYTES
from acp_nvim.process import group, umask
from acp_nvim.process.guarding import Guard
from acp_nvim.process.last_moments import note_end
from acp_nvim.process.stderr_tail import StderrTail
from acp_nvim.process.stopping import Rung, stop, untold

log = logging.getLogger(__name__)


class Child:
    """A running process; `source` and `sink` are its stdout and stdin."""

    def __init__(self, name: str, process: anyio.abc.Process, mark: str, guard: Guard) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self.name = name
        self.source = process.stdout
        self.sink = process.stdin
        self.stderr = StderrTail()
        self._process = process
        self.mark = mark
        self._guard = guard

    def __repr__(self) -> str:
        return f"<Child {self.name} pid={self.pid} returncode={self.returncode}>"

    @classmethod
    async def spawn(cls, name: str, argv: Sequence[str], cwd: str, env: Mapping[str, str], guard: Guard) -> Child:
        """Start `argv` in `cwd` with our environment and `env` on top. Raises `OSError` when it cannot be started."""
        mark = os.urandom(8).hex()
        environment = {**os.environ, **env, group.MARK_VARIABLE: mark}
        with anyio.CancelScope(shield=True):  # a process that nobody holds could not be stopped
            process = await anyio.open_process(
                argv, cwd=cwd, env=environment, start_new_session=True, umask=umask.of_users()
            )
        guard.watch(process.pid, mark)
        return cls(name, process, mark, guard)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; minus the signal's number when one killed it; None while it runs."""
        return self._process.returncode

    async def read_stderr(self) -> None:
        """Keep the tail of stderr, and log all of it, until it ends."""
        assert self._process.stderr is not None
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                for line in self.stderr.feed(await self._process.stderr.receive(TAKEN_BYTES)):
                    log.info("%s stderr: %s", self.name, line)
                await anyio.lowlevel.checkpoint()  # to read what is there need not wait, and others have work, too

    async def wait(self) -> int:
        """The exit code, once the process has ended."""
        return await self._process.wait()

    async def stop(self, on_rung: Callable[[Rung], None] = untold) -> None:
        """End it and everything it started, as `stopping.stop` does; returns when all are gone. Cannot be cancelled."""
        with anyio.CancelScope(shield=True):
            await stop(self._process, self.mark, on_rung)
            note_end(self._guard.moments, self.mark)
            self._guard.forget(self.pid)
