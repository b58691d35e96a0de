"""Handles messages about the providers of models that agents can be configured with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from acp_nvim.acp.dialect import Call, Dialect
from acp_nvim.connection.calls import send
from acp_nvim.connection.peers import AgentLeases
from acp_nvim.contract.agent_messages import ProviderDisable, ProviderSet, ProvidersList
from acp_nvim.contract.editor import Editor
from acp_nvim.contract.messages import Handlers
from acp_nvim.contract.request_events import ProvidersListed, ProviderView
from acp_nvim.contract.session_events import SessionDone
from acp_nvim.errors import FailureError
from acp_nvim.traffic.masking import LEARNED, without_secrets


class ProviderHandlers:
    """Passes the messages to the process of the agent for the directory, which is started if it does not run."""

    def __init__(self, agents: AgentLeases, editor: Editor) -> None:
        self._agents = agents
        self._editor = editor
        self.handlers: Handlers = {
            ProvidersList: self._list,
            ProviderSet: self._set,
            ProviderDisable: self._disable,
        }

    async def _list(self, wanted: ProvidersList) -> None:
        listed, problem = [], None
        try:
            peer = await self._agents.peer(wanted.agent, wanted.cwd)
            for one in await send(peer, peer.dialect.list_providers()):
                listed.append(ProviderView(one.provider_id, one.supported, one.required, one.api_type, one.base_url))
        except FailureError as error:
            problem = without_secrets(str(error.failure))
        self._editor.publish(ProvidersListed(id=wanted.id, providers=listed, problem=problem))

    async def _set(self, wanted: ProviderSet) -> None:
        headers = wanted.headers if isinstance(wanted.headers, dict) else {}  # Lua's empty table is a list
        texts = {str(name): str(value) for name, value in headers.items()}
        LEARNED.learn(_secrets(wanted.base_url, texts))
        await self._change(
            wanted,
            lambda dialect: dialect.set_provider(wanted.provider, wanted.api_type, wanted.base_url, texts),
            f"{wanted.agent} uses {wanted.api_type} at {wanted.base_url} as {wanted.provider!r}",
        )

    async def _disable(self, wanted: ProviderDisable) -> None:
        words = f"{wanted.agent} does not use the provider {wanted.provider!r} any more"
        await self._change(wanted, lambda dialect: dialect.disable_provider(wanted.provider), words)

    async def _change(self, wanted: ProvidersList, make: Callable[[Dialect], Call[None]], words: str) -> None:
        """Send the request that `make` returns; `words` say what it has achieved."""
        try:
            peer = await self._agents.peer(wanted.agent, wanted.cwd)
            await send(peer, make(peer.dialect))
        except FailureError as error:
            problem = without_secrets(f"the provider is not changed: {error.failure}")
            self._editor.publish(SessionDone(id=wanted.id, problem=problem))
        else:
            self._editor.publish(SessionDone(id=wanted.id, words=without_secrets(words)))


def _secrets(base_url: str, headers: dict[str, str]) -> Iterator[str]:
    """Yield what must not be logged: the values of headers, also without `Bearer`, and the password in a URL."""
    for value in headers.values():
        yield value
        yield value.rpartition(" ")[2]
    with suppress(ValueError):
        password = urlsplit(base_url).password
        if password:
            yield from (password, unquote(password))
