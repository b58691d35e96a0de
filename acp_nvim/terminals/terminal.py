"""Runs one command on a pseudo terminal, until all processes that it started have ended."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
import struct
import subprocess
from collections.abc import Callable
from typing import Final

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread
import msgspec

from acp_nvim.limits import READ_BYTES
from acp_nvim.process import group, stopping
from acp_nvim.process.guarding import Guard
from acp_nvim.process.started import HAS_PROC, started_since, wait_for_end
from acp_nvim.terminals.command_line import Command
from acp_nvim.terminals.output_tail import OutputTail

TERMINAL_COLUMNS: Final = 120
"""Width in columns; wide enough that programs cut little off."""
TERMINAL_ROWS: Final = 40
"""Height in rows, as on many screens; it matters only to full-screen programs."""

_OUTPUT_FLAGS = 1
"""Their index in the result of `tcgetattr`."""

TERMINAL_DRAIN_BYTES: Final = 256 * 1024
"""Maximum bytes of output in a terminal when its command has ended: Linux holds 64 kB, and a bit."""

log = logging.getLogger(__name__)


class PseudoTerminal:
    """Both ends of a pseudo terminal; programs write to `screen`, unprocessed (no `\\r` is added).

    It is not a controlling terminal. Raises `OSError` when none can be opened.
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

    def close_screen(self) -> None:
        """Close our copy of the screen once the command has its own, so that its end can be detected."""
        os.close(self.screen)

    def close(self) -> None:
        """Close our end: programs that still write get an error."""
        os.close(self._ours)

    async def receive(self) -> bytes:
        """Wait for output and return it; empty when no process can write any more."""
        while (data := self.receive_now()) is None:
            await self._readable()
        return data

    def receive_now(self) -> bytes | None:
        """Return the available output; None when there is none now, empty when no process can write any more.

        Output that a process wrote before it ended is available once it has ended.
        """
        try:
            return os.read(self._ours, READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:  # EIO: the end on Linux
            return b""

    async def _readable(self) -> None:
        loop, readable = asyncio.get_running_loop(), anyio.Event()
        loop.add_reader(self._ours, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(self._ours)


def _prepare(screen: int) -> None:
    import termios  # here: the host starts without it

    attributes = termios.tcgetattr(screen)
    attributes[_OUTPUT_FLAGS] &= ~termios.OPOST
    termios.tcsetattr(screen, termios.TCSANOW, attributes)
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", TERMINAL_ROWS, TERMINAL_COLUMNS, 0, 0))


class Ended(msgspec.Struct, frozen=True):
    """How a command ended: with an exit code, or by a signal (`SIGTERM`)."""

    exit_code: int | None = None
    signal: str | None = None


class Listener(msgspec.Struct, frozen=True):
    """Callbacks of a terminal: `printed` for each chunk of output, `ended` once when the command has ended."""

    printed: Callable[[bytes], None]
    ended: Callable[[Ended], None]


class Terminal:
    """A command that runs, or has run; created by `start`, served by `run`.

    Its standard input is empty. Processes that it leaves running continue until `end`. The last `limit` bytes of its
    output are kept.
    """

    def __init__(self, process: anyio.abc.Process, mark: str, screen: PseudoTerminal, limit: int, guard: Guard) -> None:
        self.output = OutputTail(limit)
        self.ended: Ended | None = None
        self._process = process
        self._mark = mark
        self._screen = screen
        self._guard = guard
        self._end_known = anyio.Event()
        self._all_ended = anyio.Event()
        self._output_ended = False
        self._has_descendants: bool | None = None  # None until the command has ended
        self.ran_on = False
        """Whether processes that it had started still ran when the command had ended."""

    def __repr__(self) -> str:
        return f"<Terminal pid={self._process.pid} {self.ended} {self.output!r}>"

    @classmethod
    async def start(cls, command: Command, limit: int, guard: Guard) -> Terminal:
        """Start a command, of whose output `limit` bytes are kept. Cannot be cancelled halfway.

        Raises `OSError`, and `ValueError` for what cannot be a command.
        """
        screen = PseudoTerminal()
        try:
            process, mark = await guard.start(
                command.argv, command.cwd, command.env, stdin=subprocess.DEVNULL, output=screen.screen
            )
        except BaseException:
            screen.close()
            raise
        finally:
            screen.close_screen()
        return cls(process, mark, screen, limit, guard)

    @property
    def pid(self) -> int:
        """The process id of the command; it may be reused once the command has ended."""
        return self._process.pid

    async def run(self, listener: Listener) -> None:
        """Read the output until no process can write any more. When cancelled, stop the command and its descendants."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, listener)
                await self._process.wait()
                self._catch_up(listener)
                self._report_end(listener)
                await self._find_descendants()
                tasks.start_soon(self._wait_for_descendants)
                await self._all_ended.wait()
                tasks.cancel_scope.cancel()
        finally:
            await self._stop_all()
            self._screen.close()
            self.ended = self.ended or self._exit_status()
            self._end_known.set()  # after a failure too: `wait` must return

    async def wait(self) -> Ended:
        """Wait until the command has ended, and return how."""
        await self._end_known.wait()
        assert self.ended is not None
        return self.ended

    async def kill(self) -> None:
        """Stop the command and its descendants, and return once `ended` is known; the output stays."""
        await self._stop_all()
        await self._end_known.wait()

    async def end(self) -> None:
        """Stop the command and all processes that it left running."""
        await self._stop_all()
        self._all_ended.set()

    async def _read(self, listener: Listener) -> None:
        """Read all output, one chunk for each turn of the loop, so that writers are never blocked."""
        while data := await self._screen.receive():
            self._take(data, listener)
            await anyio.lowlevel.checkpoint()
        self.output.flush()
        self._output_ended = True
        self._check_all_ended()

    def _catch_up(self, listener: Listener) -> None:
        """Take what the command printed before its end, so that listeners get it before the end.

        Other processes may still print: more than the terminal can hold comes from them.
        """
        room = TERMINAL_DRAIN_BYTES
        while room > 0 and (data := self._screen.receive_now()):
            self._take(data, listener)
            room -= len(data)
        self.output.flush()

    def _take(self, data: bytes, listener: Listener) -> None:
        self.output.feed(data)
        listener.printed(data)

    def _report_end(self, listener: Listener) -> None:
        self.ended = self._exit_status()
        listener.ended(self.ended)
        self._end_known.set()

    def _exit_status(self) -> Ended:
        code = self._process.returncode
        if code is None:  # not even SIGKILL has ended it
            return Ended()
        return Ended(exit_code=code) if code >= 0 else Ended(signal=_signal_name(-code))

    async def _find_descendants(self) -> None:
        """Find processes that the command left running. From now on its process id may be reused."""
        self._guard.pid_is_free(self._mark)
        self._has_descendants = bool(await anyio.to_thread.run_sync(group.members, group.NO_PID, self._mark))
        self.ran_on = self._has_descendants
        if not self._has_descendants:
            self._guard.forget(self._mark)
        self._check_all_ended()

    async def _wait_for_descendants(self) -> None:
        """Wait until the processes have ended that the command left running, where they can be found."""
        while self._has_descendants and HAS_PROC:
            found = await anyio.to_thread.run_sync(started_since, self._mark, 0)
            if found:
                await wait_for_end(found[0])
            elif self._has_descendants:
                self._has_descendants = False
                self._guard.forget(self._mark)
                self._check_all_ended()

    def _check_all_ended(self) -> None:
        if self._output_ended and self._has_descendants is False:
            self._all_ended.set()

    async def _stop_all(self) -> None:
        """Stop the command and its descendants. Shielded from cancellation."""
        with anyio.CancelScope(shield=True):
            if self._process.returncode is None:
                await stopping.stop(self._process, self._mark)
                self._guard.forget(self._mark)
            elif self._has_descendants is not False:
                await stopping.stop_rest(group.NO_PID, self._mark)
                self._has_descendants = False
                self._guard.forget(self._mark)
                self._check_all_ended()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
