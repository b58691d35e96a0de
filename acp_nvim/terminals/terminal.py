"""One command on a pseudo terminal, from its start until nothing is left of it."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
import struct
import subprocess
import termios
from collections.abc import Callable
from typing import Final

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread
import msgspec

from acp_nvim.limits import READ_BYTES
from acp_nvim.process import group, stopping, umask
from acp_nvim.process.guarding import Guard
from acp_nvim.terminals.command_line import Command
from acp_nvim.terminals.output_tail import OutputTail

TERMINAL_COLUMNS: Final = 120
"""Wide enough that programs cut little off."""
TERMINAL_ROWS: Final = 40
"""As on many screens; only programs that fill the screen care."""

_OUTPUT_FLAGS = 1
"""Where they are in what `tcgetattr` gives."""

TERMINAL_DRAIN_BYTES: Final = 256 * 1024
"""Output that may wait in a terminal when its command has ended: Linux holds 64 kB, and a bit."""

log = logging.getLogger(__name__)


class PseudoTerminal:
    """Both ends of one: `screen` is the end for programs, which takes what is written as it is (no `\\r` is added).

    It is nobody's controlling terminal. Raises `OSError` when there is none to be had.
    """

    def __init__(self) -> None:
        self._ours, self.screen = os.openpty()
        try:
            _prepare(self.screen)
            os.set_blocking(self._ours, False)
        except BaseException:
            self.close_screen()
            self.close()
            raise

    def __repr__(self) -> str:
        return f"<PseudoTerminal {self._ours}>"

    def close_screen(self) -> None:
        """Close our end of the screen, once the command has its own: its end can be seen then."""
        os.close(self.screen)

    def close(self) -> None:
        """Close our end: programs that still write get an error."""
        os.close(self._ours)

    async def receive(self) -> bytes:
        """At least one byte; none when nobody can write any more."""
        while (data := self.receive_now()) is None:
            await self._readable()
        return data

    def receive_now(self) -> bytes | None:
        """What is there; None when there is nothing now, no bytes when nobody can write any more.

        What a process wrote before it ended is there once it has ended.
        """
        try:
            return os.read(self._ours, READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:  # EIO: on Linux the end
            return b""

    async def _readable(self) -> None:
        loop, readable = asyncio.get_running_loop(), anyio.Event()
        loop.add_reader(self._ours, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(self._ours)


def _prepare(screen: int) -> None:
    attributes = termios.tcgetattr(screen)
    attributes[_OUTPUT_FLAGS] &= ~termios.OPOST
    termios.tcsetattr(screen, termios.TCSANOW, attributes)
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", TERMINAL_ROWS, TERMINAL_COLUMNS, 0, 0))


class Ended(msgspec.Struct, frozen=True):
    """How a command ended: with a code, or by a signal (`SIGTERM`)."""

    exit_code: int | None = None
    signal: str | None = None


class Listener(msgspec.Struct, frozen=True):
    """Callbacks of a terminal: for what it prints, as it comes, and once for how its command ended."""

    printed: Callable[[bytes], None]
    ended: Callable[[Ended], None]


class Terminal:
    """A command that runs, or has run; made by `start`, alive while `run` is.

    Its standard input is empty. What it left running when it ended goes on, and is ended with `end`. Of its output the
    last `limit` bytes are kept.
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
        """Start a command, of whose output `limit` bytes are kept. Cannot be cancelled halfway.

        Raises `OSError`, and `ValueError` for what cannot be a command.
        """
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
        """The process id of the command; another process may have it once the command has ended."""
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
        """End the command, and what it may have left running."""
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
