"""What the router and the agent's process need of a session."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

from acp_nvim.acp.answers import Asked
from acp_nvim.acp.updates import Update
from acp_nvim.errors import Failure
from acp_nvim.jsonrpc.messages import RpcError


class PeerSession(Protocol):
    """What the router and the agent's process need of a session."""

    def on_update(self, update: Update) -> None:
        """Take the content of a `session/update` of the agent."""

    def on_request(self, method: str, asked: Asked) -> Awaitable[Any]:
        """Serve a request of the agent; raise `RpcError`, now or when awaited, to refuse it."""

    def on_crowd(self, what: str, most: int) -> RpcError:
        """Return the error for a request beyond the limit: `most` of the kind `what` (plural) wait already."""

    def on_caught_up(self) -> None:
        """All messages of the agent so far were handed over."""

    def on_trouble(self, failure: Failure, is_news: bool = False) -> None:
        """Report a message of the agent that was malformed or lost; `is_news`: it may have been about a tool call."""

    def on_bug(self, error: Exception) -> None:
        """Report a bug of this plugin that concerns the session."""

    def on_idle(self) -> None:
        """The idle process is being stopped; the next prompt starts it again."""

    @property
    def label(self) -> str:
        """How messages to the user name the chat."""

    @property
    def is_open(self) -> bool:
        """Whether the agent has opened the session, so that its requests can be served."""

    def has_call(self, tool_call_id: str) -> bool:
        """Whether the agent has reported that tool call in the session."""

    @property
    def is_busy(self) -> bool:
        """Whether the session needs the process at the moment."""

    def on_gone(self, failure: Failure | None) -> None:
        """The process has ended; `failure` is None if we ended it."""
