"""Who a connection talks to, and who listens in."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

import msgspec


class Tap(Protocol):
    """Sees every line in both directions, exactly as on the wire, without its newline, in the order of the wire.

    A line over the size limit is replaced by a note. A tap that raises is taken off.
    """

    def received(self, line: bytes) -> None:
        """The peer sent it; what follows from it comes later."""

    def sent(self, line: bytes) -> None:
        """It is about to be sent to the peer."""


class Handler(Protocol):
    """Who the peer talks to. All are called in the order of the peer's messages; `params` keep their line alive."""

    def notification(self, method: str, params: msgspec.Raw) -> None:
        """A message that wants no answer."""

    def serve(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """A message that wants one: awaiting gives the result, or raises `RpcError`."""

    def odd(self, words: str) -> None:
        """Something that a peer should not send; it was survived."""

    def lost(self, words: str) -> None:
        """A message that could not be taken (too large, nested too deeply): the user must hear of it."""

    def bug(self, error: Exception) -> None:
        """Something of ours has failed in taking or serving a message: the user must hear of it."""

    def caught_up(self) -> None:
        """All that had arrived was handed over. Called after each read, before waiting for more."""
