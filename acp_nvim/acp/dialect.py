"""The interface of a protocol version, which makes other modules independent of the version."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.acp import schema_common as wire
from acp_nvim.acp import schema_v1
from acp_nvim.acp.answers import (
    Asked,
    ConfigOption,
    Initialized,
    Opened,
    PermissionAsked,
    PromptAnswer,
    Provider,
    SessionPage,
    Steered,
)
from acp_nvim.acp.auth_status import auth_status_words
from acp_nvim.acp.decoding import convert, decode, decode_whole, salvage
from acp_nvim.acp.elicitation import REQUEST_BYTES
from acp_nvim.acp.fields import given
from acp_nvim.acp.schema_common import ContentBlock
from acp_nvim.acp.text_chunks import may_be_text, text_chunks
from acp_nvim.acp.text_halves import split_update
from acp_nvim.acp.translation import config_options, read_most, read_nothing, read_page, read_providers, read_title
from acp_nvim.acp.unknown_members import unknown_members
from acp_nvim.acp.updates import MessageChunk, Update

T = TypeVar("T")


class Call(msgspec.Struct, Generic[T], frozen=True):
    """A request that can be sent; `read` decodes its answer, and raises `msgspec.DecodeError`.

    `needs` is the member of `Abilities` that the agent must have; "" if none is required.
    """

    method: str
    params: Any
    read: Callable[[msgspec.Raw], T]
    needs: str = ""


Way = Literal["load", "resume", "fork"]
"""How a stored session is opened: with a replay of the conversation, without it, or as a copy."""


class Place(msgspec.Struct, frozen=True):
    """The directories of a session, its MCP servers (as sent to the agent), and its system prompt.

    `system_prompt` is "" if there is none; its `system_prompt_mode` is `append` or `override`.
    """

    cwd: str
    mcp_servers: Sequence[dict[str, Any]] = ()
    additional_directories: Sequence[str] = ()
    system_prompt: str = ""
    system_prompt_mode: str = "append"

    @property
    def directories(self) -> list[str]:
        """All directories: the working directory, and the additional ones."""
        return [self.cwd, *self.additional_directories]

    @property
    def more_directories(self) -> list[str] | UnsetType:
        """The additional directories as sent to the agent: absent if there are none."""
        return list(self.additional_directories) or UNSET


REFUSALS: Final = {"session/request_permission": {"outcome": {"outcome": "cancelled"}}}
"""Results that an agent gets in place of an error, by method: to some an error to that is the end of the turn."""


class Dialect(ABC):
    """One protocol version: its methods, the encoding of their parameters, and the decoding of the agent's messages.

    All decoding methods raise `msgspec.DecodeError`, which names the field, for malformed data of a known kind.
    """

    version: ClassVar[int]
    """The version number in `initialize`."""
    answer_ends_turn: ClassVar[bool]
    """Whether the answer to `session/prompt` ends the turn; otherwise a `StateChanged` does."""
    message_ids: ClassVar[bool]
    """Whether every message has an id."""
    reopening: ClassVar[tuple[Way, ...]]
    """The ways to reopen a session whose conversation the chat shows, the best first; each is another method."""
    requests: ClassVar[frozenset[str]]
    """The methods that the agent may call."""

    _update_params: ClassVar[Any]
    _initialize_answer: ClassVar[Any]
    _request_params: ClassVar[dict[str, Any]]
    _login: ClassVar[str]
    _logout: ClassVar[str]
    _options_answer: ClassVar[Any]
    _option_id: ClassVar[str]
    _value_type: ClassVar[str | UnsetType]

    # --- from the agent ----------------------------------------------------------------------------------------------

    def update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """Decode a `session/update`: its session id, and the update."""
        decoded = decode(params, self._update_params)
        return decoded.session_id, self._translate(decoded.update)

    def text_parts(self, lines: list[bytes | bytearray]) -> list[list[bytes | bytearray]]:
        """Split lines, in their order, into those that are probably pieces of text, and others."""
        return [list(part) for _, part in groupby(lines, may_be_text)]

    def text_updates(self, lines: Sequence[bytes | bytearray]) -> list[tuple[str, MessageChunk]] | None:
        """Decode whole lines that are all pieces of text, see `text_chunks`; None if some are not."""
        return text_chunks(lines, needs_id=self.message_ids)

    def split_update(self, line: bytes | bytearray) -> tuple[str, Update] | None:
        """Decode a whole line with half a character at either end of a piece of text, see `text_halves.split_update`.

        None: it is none, or malformed.
        """
        params = split_update(line)
        if params is None:
            return None
        try:
            decoded = convert(params, self._update_params)
        except msgspec.ValidationError:
            return None
        return decoded.session_id, self._translate(decoded.update)

    def rest_of_update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """Decode like `update`, but drop malformed members. Raises if nothing is left."""
        decoded, _ = salvage(params, self._update_params)
        return decoded.session_id, self._translate(decoded.update)

    def asked(self, method: str, params: msgspec.Raw) -> tuple[str | None, Asked]:
        """Decode a request of the agent: its session id, if any, and the request. `method` is one of `requests`."""
        if method == "elicitation/create" and len(params) > REQUEST_BYTES:
            raise msgspec.ValidationError(f"a question of {len(params)} bytes is too large to be shown")
        # of a permission, what was cut is told, and the rest can only be rejected
        read = decode if method == "session/request_permission" else decode_whole
        decoded = read(params, self._request_params[method])
        asked = self._translate_request(method, decoded)  # first: it refuses an unknown kind, which has no session id
        if isinstance(asked, PermissionAsked):
            beyond, meta = unknown_members(params, decoded)
            asked = msgspec.structs.replace(asked, beyond=beyond, meta=meta) if beyond or meta else asked
        return given(decoded.session_id), asked

    def initialized(self, answer: msgspec.Raw) -> Initialized:
        """Decode the answer to `initialize`; its `complaints` name malformed members, which are dropped."""
        decoded, complaints = salvage(answer, self._initialize_answer)
        return msgspec.structs.replace(self._translate_initialized(decoded), complaints=tuple(complaints))

    @abstractmethod
    def _translate(self, update: Any) -> Update:
        """Translate an update of a session into the model."""

    @abstractmethod
    def _translate_request(self, method: str, decoded: Any) -> Asked:
        """Translate a request. Raises `msgspec.ValidationError` for one that can be neither shown nor answered."""

    @abstractmethod
    def _translate_initialized(self, answer: Any) -> Initialized:
        """Translate the answer to `initialize` into the model."""

    # --- to the agent ------------------------------------------------------------------------------------------------

    def authenticate(self, method_id: str, meta: dict[str, Any] | None = None) -> Call[None]:
        """Sign in with a method of the agent: `authenticate`, or `auth/login` in version 2; `meta` is the `_meta`."""
        params = schema_v1.AuthenticateRequest(method_id=method_id, meta=meta or UNSET)
        return Call(self._login, params, read_nothing, "sign_in")

    def logout(self) -> Call[None]:
        """Sign out of the agent: `logout`, or `auth/logout` in version 2."""
        return Call(self._logout, schema_v1.LogoutRequest(), read_nothing, "sign_out")

    def auth_status(self) -> Call[str]:
        """Ask for the state of the sign-in, `auth/status`; the answer is described for the user."""
        return Call("auth/status", wire.AuthStatusRequest(), auth_status_words, "auth_status")

    @abstractmethod
    def open_session(self, place: Place, way: Way | None = None, session_id: str = "") -> Call[Opened]:
        """Create a session (`session/new`), or open the one with that id in that `way`.

        Raises `msgspec.ValidationError` for malformed MCP servers.
        """

    def prompt(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[PromptAnswer]:
        """Send a prompt: `session/prompt`. See `answer_ends_turn` for the meaning of its answer."""
        params = wire.PromptRequest(session_id=session_id, prompt=list(blocks))
        return Call("session/prompt", params, self._read_prompted)

    @abstractmethod
    def _read_prompted(self, raw: msgspec.Raw) -> PromptAnswer:
        """Decode the answer to `session/prompt`."""

    @abstractmethod
    def steer(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[Steered]:
        """Send a prompt for the running turn: `_session/steering`, or `session/prompt` in version 2."""

    def cancel(self, session_id: str) -> tuple[str, Any]:
        """Return the method and the parameters of the notification `session/cancel`."""
        return "session/cancel", schema_v1.CancelNotification(session_id=session_id)

    def cancel_tool_call(self, session_id: str, tool_call_id: str) -> Call[None] | None:
        """Cancel one tool call that is `cancellable`: `tool_call/cancel`. None: not in this version."""
        return None

    def cancel_terminal(self, session_id: str, terminal_id: str) -> Call[None] | None:
        """Cancel one terminal of the agent that is `cancellable`: `terminal/cancel`. None: not in this version."""
        return None

    def set_mode(self, session_id: str, mode_id: str) -> Call[None]:
        """Set the mode by its id: `session/set_mode`, of version 1 only."""
        params = schema_v1.SetSessionModeRequest(session_id=session_id, mode_id=mode_id)
        return Call("session/set_mode", params, read_nothing, "mode_methods")

    def set_model(self, session_id: str, model_id: str) -> Call[None]:
        """Set the model by its id: `session/set_model`, for agents from before configuration options."""
        params = schema_v1.SetSessionModelRequest(session_id=session_id, model_id=model_id)
        return Call("session/set_model", params, read_nothing, "mode_methods")

    def set_config_option(self, session_id: str, config_id: str, value: str | bool) -> Call[list[ConfigOption]]:
        """Set a configuration option: `session/set_config_option`. The answer contains all options."""
        kind = "boolean" if isinstance(value, bool) else self._value_type
        params = schema_v1.SetSessionConfigOptionRequest(
            session_id=session_id, config_id=config_id, type=kind, value=value
        )

        def read(raw: msgspec.Raw) -> list[ConfigOption]:
            return config_options(read_most(self._options_answer, raw).config_options, self._option_id)

        return Call("session/set_config_option", params, read)

    def list_sessions(self, cwd: str | None, cursor: str | None, archived: bool = False) -> Call[SessionPage]:
        """Request one page of the agent's stored sessions, of `cwd` or of all directories: `session/list`.

        `archived`: with the archived ones, of an agent that archives sessions.
        """
        which = "include" if archived else UNSET
        params = wire.ListSessionsRequest(cwd=cwd or UNSET, cursor=cursor or UNSET, archived=which)
        return Call("session/list", params, read_page, "list_sessions")

    def close_session(self, session_id: str) -> Call[None]:
        """Stop all work of a session and free its resources: `session/close`."""
        return Call("session/close", wire.CloseSessionRequest(session_id=session_id), read_nothing, "close")

    def delete_session(self, session_id: str) -> Call[None]:
        """Delete a session at the agent for good: `session/delete`."""
        return Call("session/delete", wire.DeleteSessionRequest(session_id=session_id), read_nothing, "delete")

    def set_title(self, session_id: str, title: str) -> Call[str]:
        """Give a session another title: `session/set_title`. The answer is the title that the agent has stored."""
        params = wire.SetSessionTitleRequest(session_id=session_id, title=title)
        return Call("session/set_title", params, read_title, "rename")

    def archive_session(self, session_id: str, archived: bool = True) -> Call[None]:
        """Hide a session from lists, or show it again: `session/archive`, `session/unarchive`."""
        if archived:
            params = wire.ArchiveSessionRequest(session_id=session_id)
            return Call("session/archive", params, read_nothing, "archive")
        return Call("session/unarchive", wire.UnarchiveSessionRequest(session_id=session_id), read_nothing, "archive")

    def list_providers(self) -> Call[list[Provider]]:
        """Request the providers that the agent can be configured with: `providers/list`."""
        return Call("providers/list", wire.ListProvidersRequest(), read_providers, "providers")

    def set_provider(self, provider_id: str, api_type: str, base_url: str, headers: dict[str, str]) -> Call[None]:
        """Replace the whole configuration of a provider: `providers/set`. `headers` may contain secrets."""
        params = wire.SetProviderRequest(
            provider_id=provider_id, api_type=api_type, base_url=base_url, headers=headers or UNSET
        )
        return Call("providers/set", params, read_nothing, "providers")

    def disable_provider(self, provider_id: str) -> Call[None]:
        """Disable a provider that is not required: `providers/disable`."""
        return Call(
            "providers/disable", wire.DisableProviderRequest(provider_id=provider_id), read_nothing, "providers"
        )
