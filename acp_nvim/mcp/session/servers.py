"""The MCP servers that the agent of a session is given: the user's, the project's, and the editor itself."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from acp_nvim.acp.answers import Abilities
from acp_nvim.acp.dialect import Place
from acp_nvim.agents.mcp_servers import RESERVED, ServerError, listed, merged, prepared
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract.views import McpServerView
from acp_nvim.errors import configured
from acp_nvim.mcp.project_servers import NAME
from acp_nvim.mcp.servers import McpServers, SessionServer
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.traffic.masking import LEARNED, secret_values
from acp_nvim.transcript.presenter import Presenter

if TYPE_CHECKING:  # loaded with the first client
    from acp_nvim.mcp.tools.tool import Workplace

log = logging.getLogger(__name__)


class SessionMcpServers:
    """The MCP servers of one session; `on_change` is called when what `views` returns has changed."""

    def __init__(
        self,
        presenter: Presenter,
        requests: AgentRequests,
        changes: TurnChanges,
        servers: McpServers,
        on_change: Callable[[], None],
    ) -> None:
        self._presenter = presenter
        self._requests = requests
        self._changes = changes
        self._servers = servers
        self._editor = SessionServer(servers, self._workplace, on_change, changes.tasks)
        self._names: list[str] = []
        self._peer: AgentPeer | None = None

    @property
    def views(self) -> list[McpServerView]:
        """The servers that the agent was given, as the editor shows them."""
        return [McpServerView(one, self._editor.counts if one == RESERVED else None) for one in self._names]

    async def of(self, peer: AgentPeer) -> list[dict[str, Any]]:
        """Return the servers for an agent, in the form of the protocol; tell the user of those that are left out.

        Waits for the user if the project has servers that they have not decided about.
        """
        self.close()
        cwd = self._presenter.cwd
        agents_own, of_project = peer.definition.mcp_servers_in(cwd)
        sources = [
            await self._of_file(cwd),
            self._listed(self._servers.configured, "mcp_servers"),
            self._listed(agents_own, f"agents.{peer.name}.mcp_servers"),
            self._listed(of_project, f"agents.{peer.name}.projects"),
        ]
        found = [*self._usable(merged(*sources), peer, cwd)]
        own = await self._entry(peer)
        found += [] if own is None else [own]
        self._names = [str(one["name"]) for one in found]
        return found

    async def _of_file(self, cwd: str) -> list[dict[str, Any]]:
        """Return the servers of the project's file that the user wants."""
        try:
            return await self._servers.projects.servers(cwd, partial(self._presenter.notice, "info"))
        except (ServerError, OSError) as error:
            self._presenter.notice("warn", f"The MCP servers of {NAME} are left out: {error}.")
            return []

    def _listed(self, written: Any, option: str) -> list[dict[str, Any]]:
        try:
            return listed(written)
        except ServerError as error:
            self._presenter.notice("warn", f"The MCP servers of {option} are left out: {error}.")
            return []

    def _usable(self, servers: Sequence[dict[str, Any]], peer: AgentPeer, cwd: str) -> Iterator[dict[str, Any]]:
        """Yield the servers that the agent can use, as it can use them."""
        variables = {**os.environ, **peer.definition.env}
        LEARNED.learn(secret_values(variables))
        for server in servers:
            try:
                found = prepared(server, variables, cwd, peer.definition.is_remote)
                if not reaches(peer.abilities, found):
                    raise ServerError("the agent cannot reach servers of its type")
                peer.dialect.open_session(Place(cwd, mcp_servers=[found]))  # raises for malformed members
            except ServerError as error:
                self._leave_out(server, str(error))
            except msgspec.ValidationError as error:
                self._leave_out(server, configured(error, "it"))
            else:
                yield found

    def _leave_out(self, server: dict[str, Any], why: str) -> None:
        self._presenter.notice("warn", f"MCP server {server.get('name')!r} is left out: {why}.")

    async def _entry(self, peer: AgentPeer) -> dict[str, Any] | None:
        if not (self._servers.is_enabled and peer.definition.mcp.enabled):
            return None
        if peer.abilities.mcp_acp:
            self._peer = peer
            return {"type": "acp", "name": RESERVED, "serverId": peer.router.mcp.add(self._editor)}
        if not peer.abilities.mcp_stdio or peer.definition.is_remote:
            return None
        try:
            return await self._editor.entry()
        except OSError as error:
            log.warning("there is no MCP server for %s: %s", peer.name, error)
            words = "The agent does not get the tools of the editor (MCP server nvim): there can be no socket for it"
            self._presenter.notice("warn", f"{words} ({error.strerror or error}).")
            return None

    def close(self) -> None:
        """Serve the agent no longer, in either way."""
        self._editor.close()
        self._names = []
        if self._peer is not None:
            self._peer.router.mcp.remove(self._editor)
            self._peer = None

    def _workplace(self) -> Workplace:
        from acp_nvim.mcp.session.editor_tools import EditorTools

        return EditorTools(self._presenter, self._requests, self._changes, self._servers.calls)


def reaches(abilities: Abilities, server: dict[str, Any]) -> bool:
    """Whether an agent with these abilities can use servers of that type."""
    kinds = {"stdio": abilities.mcp_stdio, "http": abilities.mcp_http, "sse": abilities.mcp_sse}
    kind = server.get("type", "stdio")
    return isinstance(kind, str) and kinds.get(kind, False)
