"""What the host needs of the place where an agent runs: a process of ours, or a connection to one of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from acp_nvim.jsonrpc.connection import ByteSink, ByteSource
from acp_nvim.process.child import Exited
from acp_nvim.process.stopping import Rung, ignore_rung


class Disconnected(msgspec.Struct, frozen=True):
    """How a connection ended: `how` continues "the connection ...". `has_heard`: something came from the agent.

    `why` is the reason that the other side gave, in its words.
    """

    address: str
    how: str
    has_heard: bool
    why: str = ""


Ending = Exited | Disconnected
OnRung = Callable[[Rung], None]
"""Is told each step of ending an agent, before it is taken."""


class Transport(Protocol):
    """Carries the lines of the protocol to an agent and back; `process.child.Child` is one.

    `mark` identifies it in the records of agents' work (`evidence/work.py`), `began` is its start in nanoseconds since
    1970. What the agent changes outside of that time is not known to be its work.
    """

    mark: str
    began: int

    @property
    def pid(self) -> int | None:
        """The process id of the agent; None if it is no process of ours."""

    @property
    def source(self) -> ByteSource:
        """The messages of the agent, which end when it is gone."""

    @property
    def sink(self) -> ByteSink:
        """Takes the messages to the agent, until it is gone."""

    def ending(self, heard: float | None = None) -> Ending:
        """Return how it ended, for the report to the user; `heard` as in `last_words`."""

    def last_words(self, heard: float | None = None) -> tuple[str, ...]:
        """Return lines beside the messages that can explain its end; none if there is no such channel.

        `heard` is the time of its last message (seconds of `anyio.current_time`); None: there was none yet.
        """

    def first_words(self) -> tuple[str, ...]:
        """Return the first lines beside the messages, such as a usage message; none if there is no such channel."""

    async def read_aside(self) -> None:
        """Read what it says beside the messages, until the end of that."""

    async def wait(self) -> object:
        """Wait until it has ended, by itself or through `stop`."""

    async def stop(self, on_rung: OnRung = ignore_rung) -> None:
        """End it, and return when it has ended. Cannot be cancelled; `on_rung` is called before each step."""
