"""What an agent asks of us in a session: permissions, files and terminals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from acp_nvim import events
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.permissions.pending import PendingPermission
from acp_nvim.protocol.answers import CommandToRun, FileToRead, FileToWrite, PermissionAsked
from acp_nvim.protocol.dialect import Dialect
from acp_nvim.protocol.updates import ToolCallChanged
from acp_nvim.session import views
from acp_nvim.session.command_permissions import CommandPermissions
from acp_nvim.session.files import AgentFiles
from acp_nvim.session.granted_commands import GrantedCommands, Seen
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.outside import Outside
from acp_nvim.session.permission_requests import PermissionRequests
from acp_nvim.session.previews import Previews
from acp_nvim.session.session_answers import SessionAnswers
from acp_nvim.session.shared import Shared
from acp_nvim.session.terminals import AgentTerminals
from acp_nvim.session.turn_changes import TurnChanges
from acp_nvim.wire.facts import CancelledPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.roots import Roots


class AgentRequests:
    """Serves one session's requests; `on_permissions` is called whenever the number of waiting ones changes."""

    def __init__(
        self,
        narrator: Narrator,
        shared: Shared,
        roots: Roots,
        seen: LastSeen,
        on_permissions: Callable[[], None],
        changes: TurnChanges,
    ) -> None:
        self.permissions = PermissionRequests(narrator, shared.permissions, on_permissions)
        self.rejected: set[str] = set()
        self._narrator = narrator
        self._transcript = narrator.transcript
        self.previews = Previews(narrator, shared.reviews.files, roots, shared.reviews.tasks)
        answers = SessionAnswers(self.permissions)
        self.files = AgentFiles(narrator, shared.reviews, roots, seen, Outside(roots, answers), changes.log)
        self._granted = GrantedCommands(narrator.transcript, roots.directories[0])
        commands = CommandPermissions(self._granted, answers)
        self.terminals = AgentTerminals(narrator, roots, commands, shared.peers.launcher)
        self.terminals.on_exit = changes.something_changed

    def __repr__(self) -> str:
        return f"<AgentRequests {self.files!r}>"

    def serve(self, dialect: Dialect, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """The answer to come. What it changes on screen is changed now, in the order of the agent's messages."""
        try:
            asked = dialect.asked(method, params)
        except msgspec.DecodeError as error:
            raise RpcError(INVALID_PARAMS, f"{method}: {error}") from error
        if isinstance(asked, FileToRead):
            return self.files.read(asked)
        if isinstance(asked, FileToWrite):
            return self.files.write(asked)
        if isinstance(asked, PermissionAsked):
            return self._permission(asked)
        return self.terminals.create(asked) if isinstance(asked, CommandToRun) else self.terminals.serve(asked)

    def _permission(self, asked: PermissionAsked) -> Awaitable[RequestPermissionResponse]:
        if asked.patch is not None:
            self._narrator.update(ToolCallChanged(asked.patch))
        seen = self._granted.seen(asked)
        if seen.hidden is not None:
            asked = msgspec.structs.replace(asked, command=seen.hidden.line, cwd=seen.hidden.cwd)
        pending = self._ask(asked)
        self.previews.begin(pending)
        return self._decide(pending, seen)

    def _ask(self, asked: PermissionAsked) -> PendingPermission:
        options = [events.Option(one.option_id, one.name, one.kind) for one in asked.options]
        tool_call_id = asked.tool_call_id or ""
        call = self._transcript.find_call(tool_call_id)
        return self.permissions.ask(tool_call_id, options, lambda new: views.request_view(new, asked, options, call))

    async def _decide(self, pending: PendingPermission, seen: Seen) -> RequestPermissionResponse:
        try:
            chosen = await self.permissions.answer(pending)
        except anyio.get_cancelled_exc_class():
            chosen = None  # withdrawn (`$/cancel_request`): the answer says so itself (v2 "Tool Calls")
        finally:
            self.previews.end(pending)
        if chosen is None:
            return RequestPermissionResponse(outcome=CancelledPermissionOutcome())
        if chosen.kind.startswith("reject"):
            self.rejected.add(pending.tool_call_id)
        elif chosen.kind.startswith("allow"):
            self._granted.grant(seen, chosen.kind)
        return RequestPermissionResponse(outcome=SelectedPermissionOutcome(option_id=chosen.option_id))
