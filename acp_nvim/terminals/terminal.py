"""One command on a pseudo terminal, from its start until nothing is left of it."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
from collections.abc import Callable

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread
import msgspec

from acp_nvim.limits import TERMINAL_DRAIN_BYTES
from acp_nvim.process import group, stopping, umask
from acp_nvim.process.guarding import Guard
from acp_nvim.terminals.command_line import Command
from acp_nvim.terminals.output_tail import OutputTail
from acp_nvim.terminals.pseudo_terminal import PseudoTerminal

log = logging.getLogger(__name__)


class Ended(msgspec.Struct, frozen=True):
    """How a command ended: with a code, or by a signal (`SIGTERM`)."""

    exit_code: int | None = None
    signal: str | None = None


class Listener(msgspec.Struct, frozen=True):
    """Who hears of a terminal: what it prints, as it comes, and once how its command ended."""

    printed: Callable[[bytes], None]
    ended: Callable[[Ended], None]


class Terminal:
    """A command that runs, or has run; made by `start`, alive while `run` is.

    Its standard input is empty. What it left running when it ended goes on, and is ended with `end`.
    """

    def __init__(self, process: anyio.abc.Process, mark: str, screen: PseudoTerminal, limit: int, guard: Guard) -> None:
        self.output = OutputTail(limit)
        self.ended: Ended | None = None
        self._process = process
        self._mark = mark
        self._screen = screen
        self._guard = guard
        self._told = anyio.Event()
        self._over = anyio.Event()
        self._silent = False
        self._left: bool | None = None  # not known before it has ended

    def __repr__(self) -> str:
        return f"<Terminal pid={self._process.pid} {self.ended} {self.output!r}>"

    @classmethod
    async def start(cls, command: Command, limit: int, guard: Guard) -> Terminal:
        """Start it. Raises `OSError`, and `ValueError` for what cannot be a command. Cannot be cancelled halfway."""
        mark, screen = os.urandom(8).hex(), PseudoTerminal()
        try:
            with anyio.CancelScope(shield=True):  # a process that nobody holds could not be stopped
                process = await anyio.open_process(
                    command.argv,
                    cwd=command.cwd,
                    env={**command.env, group.MARK_VARIABLE: mark},
                    stdin=subprocess.DEVNULL,
                    stdout=screen.screen,
                    stderr=screen.screen,
                    start_new_session=True,
                    umask=umask.of_users(),
                )
        except BaseException:
            screen.close()
            raise
        finally:
            screen.close_screen()
        guard.watch(process.pid, mark)
        return cls(process, mark, screen, limit, guard)

    @property
    def pid(self) -> int:
        """The process id, while it runs."""
        return self._process.pid

    async def run(self, listener: Listener) -> None:
        """Read what it prints, until nothing is left that could print. Cancelled, it ends all that it started."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, listener)
                await self._process.wait()
                self._catch_up(listener)
                self._tell(listener)
                await self._look_for_rest()
                await self._over.wait()
                tasks.cancel_scope.cancel()
        finally:
            await self._end_all()
            self._screen.close()
            self.ended = self.ended or self._how()
            self._told.set()  # whatever happened: who waits must not wait for ever

    async def wait(self) -> Ended:
        """How the command ended, once it has."""
        await self._told.wait()
        assert self.ended is not None
        return self.ended

    async def kill(self) -> None:
        """End the command, and everything it started; what it printed stays. Returns when it is told how it ended."""
        await self._end_all()
        await self._told.wait()

    async def end(self) -> None:
        """Nobody needs it any more, nor what it may have left running."""
        await self._end_all()
        self._over.set()

    # --- what it prints ----------------------------------------------------------------------------------------------

    async def _read(self, listener: Listener) -> None:
        """Everything, for ever: who prints must not be held up. One piece for each turn of the loop."""
        while data := await self._screen.receive():
            self._take(data, listener)
            await anyio.lowlevel.checkpoint()
        self.output.flush()
        self._silent = True
        self._settle()

    def _catch_up(self, listener: Listener) -> None:
        """The command has ended: what it printed is taken before anybody hears of the end.

        Others may go on printing: what the terminal cannot have held is theirs.
        """
        room = TERMINAL_DRAIN_BYTES
        while room > 0 and (data := self._screen.receive_now()):
            self._take(data, listener)
            room -= len(data)
        self.output.flush()

    def _take(self, data: bytes, listener: Listener) -> None:
        self.output.feed(data)
        listener.printed(data)

    # --- its end -----------------------------------------------------------------------------------------------------

    def _tell(self, listener: Listener) -> None:
        self.ended = self._how()
        listener.ended(self.ended)
        self._told.set()

    def _how(self) -> Ended:
        code = self._process.returncode
        if code is None:  # not even SIGKILL has ended it
            return Ended()
        return Ended(exit_code=code) if code >= 0 else Ended(signal=_signal_name(-code))

    async def _look_for_rest(self) -> None:
        """Does anything go on that the command has started? From now on its process id may be another's."""
        self._guard.forget(self.pid)
        self._guard.watch(-self.pid, self._mark)
        self._left = bool(await anyio.to_thread.run_sync(group.members, -self.pid, self._mark))
        if not self._left:
            self._guard.forget(-self.pid)
        self._settle()

    def _settle(self) -> None:
        if self._silent and self._left is False:
            self._over.set()

    async def _end_all(self) -> None:
        """End the command and all that it has started. Shielded: it cannot be cancelled halfway."""
        with anyio.CancelScope(shield=True):
            if self._process.returncode is None:
                await stopping.stop(self._process, self._mark)
                self._guard.forget(self.pid)
            elif self._left is not False:
                await stopping.stop_rest(-self.pid, self._mark)
                self._left = False
                self._guard.forget(self.pid)
                self._guard.forget(-self.pid)
                self._settle()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
