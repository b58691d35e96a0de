"""What an agent asks of us in a session: permissions and files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from acp_nvim import events
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.permissions.pending import PendingPermission, PendingPermissions
from acp_nvim.protocol.answers import FileToRead, FileToWrite, PermissionAsked
from acp_nvim.protocol.dialect import Dialect
from acp_nvim.protocol.updates import ToolCallChanged
from acp_nvim.session import views
from acp_nvim.session.files import AgentFiles
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.outside import Outside
from acp_nvim.session.permission_requests import PermissionRequests
from acp_nvim.wire.facts import CancelledPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.roots import Roots


class AgentRequests:
    """Serves one session's requests; `on_permissions` is called whenever the number of waiting ones changes."""

    def __init__(
        self,
        narrator: Narrator,
        files: OpenFiles,
        roots: Roots,
        seen: LastSeen,
        permissions: PendingPermissions,
        on_permissions: Callable[[], None],
    ) -> None:
        self.permissions = PermissionRequests(narrator, permissions, on_permissions)
        self.rejected: set[str] = set()
        self._narrator = narrator
        self._transcript = narrator.transcript
        self.files = AgentFiles(narrator, files, roots, seen, Outside(roots, self.permissions))

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
        return self._decide(self._ask(asked))

    def _ask(self, asked: PermissionAsked) -> PendingPermission:
        if asked.patch is not None:
            self._narrator.update(ToolCallChanged(asked.patch))
        options = [events.Option(one.option_id, one.name, one.kind) for one in asked.options]
        tool_call_id = asked.tool_call_id or ""
        call = self._transcript.find_call(tool_call_id)
        return self.permissions.ask(tool_call_id, options, lambda new: views.request_view(new, asked, options, call))

    async def _decide(self, pending: PendingPermission) -> RequestPermissionResponse:
        try:
            chosen = await self.permissions.answer(pending)
        except anyio.get_cancelled_exc_class():
            chosen = None  # withdrawn (`$/cancel_request`): the answer says so itself (v2 "Tool Calls")
        if chosen is None:
            return RequestPermissionResponse(outcome=CancelledPermissionOutcome())
        if chosen.kind.startswith("reject"):
            self.rejected.add(pending.tool_call_id)
        return RequestPermissionResponse(outcome=SelectedPermissionOutcome(option_id=chosen.option_id))
