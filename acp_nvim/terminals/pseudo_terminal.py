"""A pseudo terminal: programs that write to it take it for a screen, and we read what they write."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios

import anyio

from acp_nvim.limits import READ_BYTES, TERMINAL_COLUMNS, TERMINAL_ROWS

_OUTPUT_FLAGS = 1
"""Where they are in what `tcgetattr` gives."""


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
        """We have given it away."""
        os.close(self.screen)

    def close(self) -> None:
        """Nobody reads any more: who writes gets an error."""
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
