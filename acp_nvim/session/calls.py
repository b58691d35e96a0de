"""What can be asked of an agent beside prompts; only what its capabilities allow is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import msgspec

from acp_nvim.errors import FailureError
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.jsonrpc.pending import Answer
from acp_nvim.protocol.answers import Abilities, ConfigOption, SessionPage
from acp_nvim.protocol.dialect import Call, Dialect
from acp_nvim.session import failures

T = TypeVar("T")


class Speaker(Protocol):
    """An agent that was initialized."""

    @property
    def name(self) -> str:
        """As the user calls it."""

    @property
    def dialect(self) -> Dialect:
        """The protocol version that it speaks."""

    @property
    def abilities(self) -> Abilities:
        """What it can be asked for."""

    def request(
        self, method: str, params: Any, on_answer: Callable[[Answer], None] | None = None
    ) -> Awaitable[msgspec.Raw]:
        """`on_answer` sees it before what the agent says next. Raises `RpcError`, or `FailureError`: it is gone."""


class AgentCalls:
    """Every call raises `FailureError`: not offered, refused, answered with nonsense, or the agent is gone."""

    def __init__(self, agent: Speaker) -> None:
        self._agent = agent

    def __repr__(self) -> str:
        return f"<AgentCalls of {self._agent.name}>"

    async def authenticate(self, method_id: str) -> None:
        """Sign in."""
        await self._call(lambda offered: offered.sign_in, self._agent.dialect.authenticate(method_id))

    async def logout(self) -> None:
        """Sign out."""
        await self._call(lambda offered: offered.sign_out, self._agent.dialect.logout())

    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """The sessions that the agent keeps (of a directory), a page each."""
        return await self._call(lambda offered: offered.list_sessions, self._agent.dialect.list_sessions(cwd, cursor))

    async def close_session(self, session_id: str) -> None:
        """The agent may forget what it holds of the session in memory."""
        await self._call(lambda offered: offered.close, self._agent.dialect.close_session(session_id))

    async def delete_session(self, session_id: str) -> None:
        """The agent forgets the session for good."""
        await self._call(lambda offered: offered.delete, self._agent.dialect.delete_session(session_id))

    async def set_mode(self, session_id: str, mode_id: str, then: Callable[[None], None]) -> None:
        """Change the session's mode; only sessions that have modes can."""
        await self._call(lambda offered: offered.mode_methods, self._agent.dialect.set_mode(session_id, mode_id), then)

    async def set_model(self, session_id: str, model_id: str, then: Callable[[None], None]) -> None:
        """Change the model, with agents that name models when they open a session."""
        call = self._agent.dialect.set_model(session_id, model_id)
        await self._call(lambda offered: offered.mode_methods, call, then)

    async def set_config_option(
        self, session_id: str, config_id: str, value: str | bool, then: Callable[[list[ConfigOption]], None]
    ) -> list[ConfigOption]:
        """Change a configuration option that the session has: all of them, as they are then."""
        call = self._agent.dialect.set_config_option(session_id, config_id, value)
        return await self._call(lambda _offered: True, call, then)

    async def _call(
        self, offered: Callable[[Abilities], bool], call: Call[T], then: Callable[[T], None] | None = None
    ) -> T:
        """`then` gets what was answered before anything that the agent says next is looked at."""
        name = self._agent.name
        read: list[T | msgspec.DecodeError] = []

        def on_answer(answer: Answer) -> None:
            if isinstance(answer, Exception):
                return
            try:
                read.append(value := call.read(answer))
            except msgspec.DecodeError as error:
                read.append(error)
            else:
                if then is not None:
                    then(value)

        if not offered(self._agent.abilities):
            raise FailureError(failures.not_offered(name, call.method))
        try:
            await self._agent.request(call.method, call.params, on_answer)
        except RpcError as error:
            raise FailureError(failures.refused(name, call.method, error)) from error
        if isinstance(read[0], msgspec.DecodeError):
            raise FailureError(failures.malformed_answer(name, call.method, read[0])) from read[0]
        return read[0]
