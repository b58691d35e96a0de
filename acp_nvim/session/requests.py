"""What an agent asks of us in a session: permissions, answers of the user, files and terminals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio
import msgspec

from acp_nvim import events
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.limits.growth import TURN_BLOCKS
from acp_nvim.permissions.pending import PendingPermission
from acp_nvim.protocol.answers import (
    Asked,
    CommandToRun,
    FileToRead,
    FileToWrite,
    PermissionAsked,
    TerminalAsked,
)
from acp_nvim.protocol.dialect import Dialect
from acp_nvim.protocol.elicitation import ElicitationAsked
from acp_nvim.protocol.updates import ToolCallChanged
from acp_nvim.session import views
from acp_nvim.session.asked_for import Asking, of_permission
from acp_nvim.session.automatic import Automatic, option_for, with_ours
from acp_nvim.session.command_permissions import CommandPermissions
from acp_nvim.session.elicitations import Elicitations
from acp_nvim.session.files import AgentFiles
from acp_nvim.session.granted_commands import GrantedCommands, Seen
from acp_nvim.session.left_out import not_shown
from acp_nvim.session.named_files import Where
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.outside import Outside
from acp_nvim.session.permission_requests import PermissionRequests
from acp_nvim.session.previews import Previews
from acp_nvim.session.refusals import Refusals
from acp_nvim.session.session_answers import SessionAnswers
from acp_nvim.session.share import Share
from acp_nvim.session.shared import Shared
from acp_nvim.session.terminals import AgentTerminals
from acp_nvim.session.turn_changes import TurnChanges
from acp_nvim.wire.facts import CancelledPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.roots import Roots


class AgentRequests:
    """Serves one session's requests; `on_permissions` is called whenever the number of waiting ones changes.

    `on_asked` hears of each request that can be understood, before anything is done for it.
    """

    def __init__(
        self,
        narrator: Narrator,
        shared: Shared,
        roots: Roots,
        seen: LastSeen,
        on_permissions: Callable[[], None],
        changes: TurnChanges,
    ) -> None:
        self.refusals = Refusals(changes.log.agent, narrator)
        self.permissions = PermissionRequests(narrator, shared.permissions, on_permissions, self.refusals)
        self._changes, tasks = changes, changes.tasks
        self.rejected: set[str] = set()
        self.on_asked: Callable[[Asked], None] = lambda asked: None
        self.serving = 0
        """Requests that are not answered yet, but for those about the state of a terminal."""
        self._narrator = narrator
        self._transcript = narrator.transcript
        self.previews = Previews(narrator, shared.reviews.files, roots, tasks)
        where = Where(changes.log.agent, narrator.cwd, roots)
        self._automatic = Automatic(shared.rules, self.permissions, where, tasks)
        answers = SessionAnswers(self.permissions, self._automatic)
        self.share, outside = Share(), Outside(roots, answers)
        self.files = AgentFiles(narrator, shared.reviews, roots, seen, outside, changes.log, tasks, self.share)
        self.granted = GrantedCommands(narrator.transcript, roots)
        commands, launcher = CommandPermissions(self.granted, answers), shared.peers.launcher
        self.terminals = AgentTerminals(narrator, roots, commands, launcher, tasks, self.share, self.refusals)
        self.terminals.on_exit = changes.something_changed
        self.terminals.on_command = lambda key, words, ended: changes.work.command(key, words, "", ended)
        self.terminals.refuses = lambda: self.permissions.refusing
        self.elicitations = Elicitations(
            changes.log.agent, narrator, shared.elicitations, on_permissions, self.refusals
        )
        self.elicitations.refuses = lambda: self.permissions.refusing

    def __repr__(self) -> str:
        return f"<AgentRequests {self.files!r}>"

    def begin_turn(self) -> None:
        """Rejections and grants are of one turn, and so are commands."""
        self.rejected.clear()
        self.granted.begin_turn()
        self.terminals.begin_turn()

    def serve(self, dialect: Dialect, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """The answer to come. What it changes on screen is changed now, in the order of the agent's messages."""
        try:
            asked = dialect.asked(method, params)
        except msgspec.DecodeError as error:
            raise RpcError(INVALID_PARAMS, f"{method}: {error}") from error
        self.on_asked(asked)
        work = self._serve(asked)
        return work if isinstance(asked, TerminalAsked) else self._counted(work)

    async def _counted(self, work: Awaitable[Any]) -> Any:
        self.serving += 1
        try:
            return await work
        finally:
            self.serving -= 1

    def _serve(self, asked: Asked) -> Awaitable[Any]:
        if isinstance(asked, FileToRead):
            return self._with_names_known(self.files.read(asked))
        if isinstance(asked, FileToWrite):
            return self.files.write(asked)
        if isinstance(asked, PermissionAsked):
            return self._permission(asked)
        if isinstance(asked, ElicitationAsked):
            return self.elicitations.ask(asked)
        return self.terminals.create(asked) if isinstance(asked, CommandToRun) else self.terminals.serve(asked)

    async def _with_names_known(self, answer: Awaitable[dict[str, Any]]) -> dict[str, Any]:
        """An agent that has its answer goes on, and may change the files that it has named."""
        answered = await answer
        await self._changes.names_known()
        return answered

    def _permission(self, asked: PermissionAsked) -> Awaitable[RequestPermissionResponse]:
        self.permissions.require_room()  # also if a rule would answer: to find that out is most of the work
        if asked.tool_call_id is not None and not self._transcript.has_room(asked.tool_call_id):
            raise self.refusals.refuse("tool calls and messages of one turn", TURN_BLOCKS, "end the turn")
        if asked.patch is not None:
            self._narrator.update(ToolCallChanged(asked.patch))
        seen = self.granted.seen(asked)
        asking = self._asking(asked, seen)
        if seen.named is not None:
            named = seen.named
            asked = msgspec.structs.replace(asked, command=named.line, cwd=named.cwd, env=list(named.env))
        if asking.why is not None:
            said = filter(None, (asked.description, asking.why))
            asked = msgspec.structs.replace(asked, description="\n".join(said))
        shown, left_out = self._shown(asked)
        options = views.options(asked, left_out)
        if asked.options and not options:
            words = f"the user cannot be shown all of it ({left_out or 'the name of an option'}), nor reject it"
            raise RpcError(INVALID_PARAMS, words)
        view = partial(views.request_view, asked=asked, call=shown, left_out=left_out)
        answer = self._automatic.say(asking)
        chosen = self._automatic.choose(answer, options, partial(view, options=options))
        if chosen is not None:
            self._note_rejection(chosen, seen)  # grants nothing: the rules judge the terminal itself
            return self._selected(chosen)
        if answer.rule is None:
            options = with_ours(options, asking)
        pending = self.permissions.ask(seen.tool_call_id, options, partial(view, options=options))
        self.previews.begin(pending)
        return self._decide(pending, seen, asking)

    def _asking(self, asked: PermissionAsked, seen: Seen) -> Asking:
        call = self._transcript.call(seen.tool_call_id)
        asking = of_permission(asked, call, self._transcript.diffs(seen.tool_call_id), self._automatic.where)
        if asking.about is not None and asking.about.command is not None and not seen.is_shown:
            asking = msgspec.structs.replace(asking, about=None)  # nothing is answered for good that nobody could read
        return asking

    def _shown(self, asked: PermissionAsked) -> tuple[events.CallView | None, str | None]:
        """The tool call as the request shows it, and what of the request cannot be shown."""
        tool_call_id = asked.tool_call_id or ""
        call = self._transcript.find_call(tool_call_id)
        return call, not_shown(asked, self._transcript.call(tool_call_id), call)

    def _note_rejection(self, chosen: events.Option, seen: Seen) -> None:
        if chosen.kind.startswith("reject"):
            self.rejected.add(seen.tool_call_id)

    async def _decide(self, pending: PendingPermission, seen: Seen, asking: Asking) -> RequestPermissionResponse:
        try:
            chosen = await self.permissions.answer(pending)
        except anyio.get_cancelled_exc_class():
            chosen = None  # withdrawn (`$/cancel_request`): the answer says so itself (v2 "Tool Calls")
        finally:
            self.previews.end(pending)
        if chosen is None:
            return RequestPermissionResponse(outcome=CancelledPermissionOutcome())
        self._note_rejection(chosen, seen)
        if chosen.kind.startswith("allow"):
            self.granted.grant(seen)
        if chosen.ours:
            self._automatic.remember(chosen, asking)
            once = option_for("allow" if chosen.kind == "allow_always" else "reject", pending.options)
            assert once is not None  # else ours would not have been offered
            chosen = once
        return await self._selected(chosen)

    async def _selected(self, chosen: events.Option) -> RequestPermissionResponse:
        if chosen.kind.startswith("allow"):
            await self._changes.names_known()
        return RequestPermissionResponse(outcome=SelectedPermissionOutcome(option_id=chosen.option_id))
