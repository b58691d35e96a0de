"""A connection to an agent that others have started: when it ended and how, and its record in agents' work."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

import anyio

from acp_nvim.agents.address import Address
from acp_nvim.file_time import now
from acp_nvim.process.end_times import note_end
from acp_nvim.process.guarding import Guard
from acp_nvim.process.stopping import ignore_rung
from acp_nvim.transports.interface import Disconnected, OnRung


class Link(ABC):
    """The part of a `Transport` that all connections share; it is its own source and sink.

    Its `mark` is in no process: of what the agent does after the connection has ended, nothing is known.
    """

    def __init__(self, address: Address, guard: Guard) -> None:
        self.address = address
        self.mark = os.urandom(8).hex()
        self.began = now()
        self._guard = guard
        self._how = self._why = ""
        self._has_heard = False
        self._over = anyio.Event()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address} {self._how or 'open'}>"

    @property
    def pid(self) -> None:
        """None: the agent is no process of ours."""
        return None

    @property
    def source(self) -> Link:
        """The messages of the agent: the connection itself."""
        return self

    @property
    def sink(self) -> Link:
        """Takes the messages to the agent: the connection itself."""
        return self

    def ending(self, heard: float | None = None) -> Disconnected:
        """Return how the connection ended, or that it is open, whenever (in seconds) the agent was heard last."""
        return Disconnected(str(self.address), self._how or "is open", self._has_heard, self._why)

    @abstractmethod
    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        """See `jsonrpc.connection.ByteSource`; `not_before` is a time in seconds."""

    @abstractmethod
    async def send(self, item: bytes) -> None:
        """See `jsonrpc.connection.ByteSink`."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connection at once, whatever waits to be sent."""

    def last_words(self, heard: float | None = None) -> tuple[str, ...]:
        """Return nothing, whenever (in seconds) the agent was heard last: a connection has no second channel."""
        return ()

    def first_words(self) -> tuple[str, ...]:
        """Return nothing: a connection has no second channel."""
        return ()

    async def read_aside(self) -> None:
        """Return at once: a connection has no second channel."""
        return

    async def wait(self) -> None:
        """Wait until one of the sides has closed the connection."""
        await self._over.wait()

    async def stop(self, on_rung: OnRung = ignore_rung) -> None:
        """Close the connection; there are no steps to report. Cannot be cancelled."""
        with anyio.CancelScope(shield=True):
            self._ended("was closed here")
            await self.close()
            note_end(self._guard.ends, self.mark)

    def _ended(self, how: str, why: str = "") -> None:
        """Note how it ended, and the other side's reason; only the first word counts."""
        if not self._how:
            self._how, self._why = how, why
        self._over.set()
