"""The interface of a protocol version, so that nobody else needs to know which one an agent speaks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.acp import schema_common as wire
from acp_nvim.acp import schema_v1
from acp_nvim.acp.answers import Asked, ConfigOption, Initialized, Opened, PromptAnswer, SessionPage, Steered
from acp_nvim.acp.decoding import decode, salvage
from acp_nvim.acp.elicitation import REQUEST_BYTES
from acp_nvim.acp.fields import given
from acp_nvim.acp.schema_common import ContentBlock
from acp_nvim.acp.translation import config_options, read_most, read_nothing, session_page
from acp_nvim.acp.updates import Update

T = TypeVar("T")


class Call(msgspec.Struct, Generic[T], frozen=True):
    """A request that can be sent; `read` understands its answer, or raises `msgspec.DecodeError`.

    `needs` is the member of `Abilities` without which an agent must not be asked; "" when all agents can be.
    """

    method: str
    params: Any
    read: Callable[[msgspec.Raw], T]
    needs: str = ""


Way = Literal["load", "resume", "fork"]
"""How a session that the agent keeps is opened: with all that was said, without it, or as a copy of it."""


class Place(msgspec.Struct, frozen=True):
    """Where a session works, and with which MCP servers (as they go over the wire)."""

    cwd: str
    mcp_servers: Sequence[dict[str, Any]] = ()
    additional_directories: Sequence[str] = ()

    @property
    def more_directories(self) -> list[str] | UnsetType:
        """The additional directories as they go over the wire: absent where there are none."""
        return list(self.additional_directories) or UNSET


class Dialect(ABC):
    """One protocol version: the methods, how to write their parameters, and how to read what agents say.

    What reads raises `msgspec.DecodeError` (in words that name the field) when something of a known kind is malformed.
    """

    version: ClassVar[int]
    """As `initialize` numbers it."""

    answer_ends_turn: ClassVar[bool]
    """Whether the answer to `session/prompt` is the end of the turn; else `StateChanged` tells it."""

    message_ids: ClassVar[bool]
    """Whether every message has an id."""

    requests: ClassVar[frozenset[str]]
    """The methods that the agent may call."""

    # --- what the agent says -----------------------------------------------------------------------------------------

    _update_params: ClassVar[Any]
    _initialize_answer: ClassVar[Any]
    _request_params: ClassVar[dict[str, Any]]

    def update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """Session id and update of a `session/update`."""
        said = decode(params, self._update_params)
        return said.session_id, self._translate(said.update)

    def rest_of_update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """Decode as `update` does, but leave out what is malformed. Raises where nothing is left."""
        said, _ = salvage(params, self._update_params)
        return said.session_id, self._translate(said.update)

    def asked(self, method: str, params: msgspec.Raw) -> tuple[str | None, Asked]:
        """The session id, if it has one, and the request of an agent; `method` is one of `requests`."""
        if method == "elicitation/create" and len(params) > REQUEST_BYTES:
            raise msgspec.ValidationError(f"a question of {len(params)} bytes is too large to be shown")
        said = decode(params, self._request_params[method])
        asked = self._translate_request(method, said)
        return given(said.session_id), asked

    def initialized(self, answer: msgspec.Raw) -> Initialized:
        """Decode the answer to `initialize`; `complaints` of the result name what of it was malformed and left out."""
        said, complaints = salvage(answer, self._initialize_answer)
        return msgspec.structs.replace(self._translate_initialized(said), complaints=tuple(complaints))

    @abstractmethod
    def _translate(self, update: Any) -> Update:
        """An update of a session."""

    @abstractmethod
    def _translate_request(self, method: str, said: Any) -> Asked:
        """A request of the agent. Raises `msgspec.ValidationError` for what can be neither shown nor answered."""

    @abstractmethod
    def _translate_initialized(self, answer: Any) -> Initialized:
        """The answer to `initialize`."""

    # --- what the agent is told --------------------------------------------------------------------------------------

    _login: ClassVar[str]
    _logout: ClassVar[str]

    def authenticate(self, method_id: str, meta: dict[str, Any] | None = None) -> Call[None]:
        """Sign in with one of the agent's methods: `authenticate`, `auth/login` in version 2; `meta` is its `_meta`."""
        params = schema_v1.AuthenticateRequest(method_id=method_id, meta=meta or UNSET)
        return Call(self._login, params, read_nothing, "sign_in")

    def logout(self) -> Call[None]:
        """Sign out of the agent: `logout`, or `auth/logout` in version 2."""
        return Call(self._logout, schema_v1.LogoutRequest(), read_nothing, "sign_out")

    @abstractmethod
    def open_session(self, place: Place, way: Way | None = None, session_id: str = "") -> Call[Opened]:
        """`session/new`, or what opens the session of that id in that `way`.

        Raises `msgspec.ValidationError` for malformed MCP servers.
        """

    def prompt(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[PromptAnswer]:
        """Send a message of the user: `session/prompt`. See `answer_ends_turn` for what its answer means."""
        params = wire.PromptRequest(session_id=session_id, prompt=list(blocks))
        return Call("session/prompt", params, self._read_prompted)

    @abstractmethod
    def _read_prompted(self, raw: msgspec.Raw) -> PromptAnswer:
        """The answer to `session/prompt`."""

    @abstractmethod
    def steer(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[Steered]:
        """A prompt for the turn that runs: `_session/steering`, or `session/prompt` where that is always possible."""

    def cancel(self, session_id: str) -> tuple[str, Any]:
        """Method and parameters of the notification `session/cancel`."""
        return "session/cancel", schema_v1.CancelNotification(session_id=session_id)

    def set_mode(self, session_id: str, mode_id: str) -> Call[None]:
        """Choose one of the agent's modes by its id: `session/set_mode`. Version 2 has options only, and no modes."""
        params = schema_v1.SetSessionModeRequest(session_id=session_id, mode_id=mode_id)
        return Call("session/set_mode", params, read_nothing, "mode_methods")

    def set_model(self, session_id: str, model_id: str) -> Call[None]:
        """`session/set_model`, of version 1: what agents had before configuration options."""
        params = schema_v1.SetSessionModelRequest(session_id=session_id, model_id=model_id)
        return Call("session/set_model", params, read_nothing, "mode_methods")

    _options_answer: ClassVar[Any]
    _option_id: ClassVar[str]
    _value_type: ClassVar[str | UnsetType]

    def set_config_option(self, session_id: str, config_id: str, value: str | bool) -> Call[list[ConfigOption]]:
        """Choose a value of an option: `session/set_config_option`. The answer has all options as they are then."""
        kind = "boolean" if isinstance(value, bool) else self._value_type
        params = schema_v1.SetSessionConfigOptionRequest(
            session_id=session_id, config_id=config_id, type=kind, value=value
        )
        return Call("session/set_config_option", params, self._read_options)

    def _read_options(self, raw: msgspec.Raw) -> list[ConfigOption]:
        return config_options(read_most(self._options_answer, raw).config_options, self._option_id)

    def list_sessions(self, cwd: str | None, cursor: str | None) -> Call[SessionPage]:
        """Ask for one page of the sessions that the agent keeps, of `cwd` or of all directories: `session/list`."""
        params = wire.ListSessionsRequest(cwd=cwd or UNSET, cursor=cursor or UNSET)
        return Call("session/list", params, _read_page, "list_sessions")

    def close_session(self, session_id: str) -> Call[None]:
        """Ask the agent to stop all work of that session and to free what it takes: `session/close`."""
        return Call("session/close", wire.CloseSessionRequest(session_id=session_id), read_nothing, "close")

    def delete_session(self, session_id: str) -> Call[None]:
        """Ask the agent to forget that session for good: `session/delete`."""
        return Call("session/delete", wire.DeleteSessionRequest(session_id=session_id), read_nothing, "delete")


def _read_page(raw: msgspec.Raw) -> SessionPage:
    return session_page(read_most(wire.ListSessionsResponse, raw))
