"""What a protocol version must offer, so that nobody else needs to know which one an agent speaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from acp_nvim.protocol.answers import Asked, ConfigOption, Initialized, Opened, PromptAnswer, SessionPage, Steered
from acp_nvim.protocol.updates import Update
from acp_nvim.wire.content import ContentBlock

T = TypeVar("T")


class Call(msgspec.Struct, Generic[T], frozen=True):
    """A request that can be sent; `read` understands its answer, or raises `msgspec.DecodeError`."""

    method: str
    params: Any
    read: Callable[[msgspec.Raw], T]


class Place(msgspec.Struct, frozen=True):
    """Where a session works, and with which MCP servers (as they go over the wire)."""

    cwd: str
    mcp_servers: Sequence[dict[str, Any]] = ()
    additional_directories: Sequence[str] = ()


class Dialect(Protocol):
    """One protocol version: the methods, how to write their parameters, and how to read what agents say.

    What reads raises `msgspec.DecodeError` (in words that name the field) when something of a known kind is malformed.
    """

    @property
    def version(self) -> int:
        """As `initialize` numbers it."""

    @property
    def answer_ends_turn(self) -> bool:
        """Whether the answer to `session/prompt` is the end of the turn; else `StateChanged` tells it."""

    @property
    def message_ids(self) -> bool:
        """Whether every message has an id."""

    @property
    def requests(self) -> frozenset[str]:
        """What the agent may ask of us."""

    def update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """Session id and update of a `session/update`."""

    def rest_of_update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """The same without what is malformed in it. Raises where nothing is left."""

    def asked(self, method: str, params: msgspec.Raw) -> Asked:
        """A request of the agent; `method` is one of `requests`."""

    def initialized(self, answer: msgspec.Raw) -> Initialized:
        """The answer to `initialize`."""

    def authenticate(self, method_id: str, meta: dict[str, Any] | None = None) -> Call[None]:
        """`authenticate`, `auth/login`; `meta` is its `_meta`."""

    def logout(self) -> Call[None]:
        """`logout`, `auth/logout`."""

    def new_session(self, place: Place) -> Call[Opened]:
        """`session/new`."""

    def load_session(self, session_id: str, place: Place) -> Call[Opened]:
        """`session/load`, or `session/resume` from the start: what was said comes again."""

    def resume_session(self, session_id: str, place: Place) -> Call[Opened]:
        """`session/resume`: what was said does not come again."""

    def fork_session(self, session_id: str, place: Place) -> Call[Opened]:
        """`session/fork` (unstable)."""

    def list_sessions(self, cwd: str | None, cursor: str | None) -> Call[SessionPage]:
        """`session/list`."""

    def close_session(self, session_id: str) -> Call[None]:
        """`session/close`."""

    def delete_session(self, session_id: str) -> Call[None]:
        """`session/delete`."""

    def prompt(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[PromptAnswer]:
        """`session/prompt`."""

    def steer(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[Steered]:
        """A prompt for the turn that runs: `_session/steering`, or `session/prompt` where that is always possible."""

    def cancel(self, session_id: str) -> tuple[str, Any]:
        """Method and parameters of the notification `session/cancel`."""

    def set_mode(self, session_id: str, mode_id: str) -> Call[None]:
        """`session/set_mode`."""

    def set_model(self, session_id: str, model_id: str) -> Call[None]:
        """`session/set_model`: what agents had before configuration options."""

    def set_config_option(self, session_id: str, config_id: str, value: str | bool) -> Call[list[ConfigOption]]:
        """`session/set_config_option`."""
