"""Gives the agent of a session the editor as an MCP server: as a program that it runs, or over its own connection."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from acp_nvim.mcp.servers import NAME, SessionServer
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.session.services import Services
from acp_nvim.session.transcript.presenter import Presenter
from acp_nvim.session.turn_changes import TurnChanges
from acp_nvim.ui.views import McpServerView

if TYPE_CHECKING:  # loaded with the first client
    from acp_nvim.mcp.tool import Workplace

log = logging.getLogger(__name__)


class EditorServer:
    """The MCP server `nvim` of one session, and the names of the others that the agent was given.

    `on_change` is called when what `views` returns has changed.
    """

    def __init__(
        self,
        presenter: Presenter,
        requests: AgentRequests,
        changes: TurnChanges,
        services: Services,
        on_change: Callable[[], None],
    ) -> None:
        self._presenter = presenter
        self._requests = requests
        self._changes = changes
        self._services = services
        self._server = SessionServer(services.mcp, self._workplace, on_change, changes.tasks)
        self._names: list[str] = []
        self._peer: AgentPeer | None = None

    @property
    def views(self) -> list[McpServerView]:
        """The servers that the agent was given, as the editor shows them."""
        return [McpServerView(one, self._server.counts if one == NAME else None) for one in self._names]

    async def added(self, servers: Sequence[dict[str, Any]], peer: AgentPeer) -> list[dict[str, Any]]:
        """Return `servers`, and the one of the editor if the agent can reach it."""
        own = await self._entry(peer)
        found = [*servers, *([] if own is None else [own])]
        self._names = [str(one.get("name")) for one in found]
        return found

    async def _entry(self, peer: AgentPeer) -> dict[str, Any] | None:
        self.close()
        if not (self._services.mcp.is_enabled and peer.definition.mcp.enabled):
            return None
        if peer.abilities.mcp_acp:
            self._peer = peer
            return {"type": "acp", "name": NAME, "serverId": peer.router.mcp.add(self._server)}
        if not peer.abilities.mcp_stdio or peer.definition.is_remote:
            return None
        try:
            return await self._server.entry()
        except OSError as error:
            log.warning("there is no MCP server for %s: %s", peer.name, error)
            words = "The agent does not get the tools of the editor (MCP server nvim): there can be no socket for it"
            self._presenter.notice("warn", f"{words} ({error.strerror or error}).")
            return None

    def close(self) -> None:
        """Serve the agent no longer, in either way."""
        self._server.close()
        self._names = []
        if self._peer is not None:
            self._peer.router.mcp.remove(self._server)
            self._peer = None

    def _workplace(self) -> Workplace:
        from acp_nvim.session.requests.editor_tools import EditorTools

        return EditorTools(self._presenter, self._requests, self._changes, self._services)
