"""Serves `session/request_permission`: prepares what the user sees and may choose, and answers the agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import anyio
import msgspec

from acp_nvim.acp.answers import PermissionAsked
from acp_nvim.acp.diff import Diff
from acp_nvim.acp.schema_common import RequestPermissionResponse
from acp_nvim.acp.tool_call import ToolCall
from acp_nvim.acp.translation import permission_answer
from acp_nvim.acp.updates import ToolCallChanged
from acp_nvim.contract import events
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.limits import COMMAND_SHOWN_CHARS, TURN_BLOCKS
from acp_nvim.permissions.input_commands import command_chars
from acp_nvim.permissions.request.bounds import Refusals
from acp_nvim.permissions.request.broker import Outcome, PermissionBroker, Request
from acp_nvim.permissions.request.shown_input import Known, shown_input
from acp_nvim.permissions.request.subject import SessionPaths, of_permission
from acp_nvim.transcript import views
from acp_nvim.transcript.presenter import Presenter

INPUT = "a part of the input"


class AgentPermissions:
    """The permission requests of one session's agent.

    `names_known` is awaited before the agent gets permission: then it may change the files that it has named.
    """

    def __init__(
        self,
        presenter: Presenter,
        where: SessionPaths,
        broker: PermissionBroker,
        refusals: Refusals,
        names_known: Callable[[], Awaitable[None]],
    ) -> None:
        self._presenter = presenter
        self._transcript = presenter.transcript
        self._where = where
        self._broker = broker
        self._refusals = refusals
        self._names_known = names_known

    def ask(self, asked: PermissionAsked) -> Awaitable[RequestPermissionResponse]:
        """Return an awaitable of the answer. If the user has to decide, the request is shown immediately.

        Raises `RpcError` beyond the limits, and for a request that can neither be shown whole nor be rejected.
        """
        self._broker.require_room()  # even if a rule would answer: judging is most of the work
        changed = None if asked.patch is None else ToolCallChanged(asked.patch, asks=True)
        if asked.tool_call_id is not None and not self._transcript.has_room(asked.tool_call_id, changed):
            raise self._refusals.refuse("tool calls and messages of one turn", TURN_BLOCKS, "end the turn")
        if changed is not None:
            self._presenter.update(changed)
        return self._answer(self._broker.ask(self.request(asked)))

    def request(self, asked: PermissionAsked) -> Request:
        """Make the request from its current state, after the transcript has taken the update of its tool call."""
        tool_call_id = asked.tool_call_id or ""
        block = self._transcript.block_of(tool_call_id)
        call, diffs = (None, []) if block is None else (block.call, block.diffs())
        named, grant = self._broker.grants.named(asked)
        wanted = of_permission(asked, call, diffs, self._where)
        if wanted.about is not None and wanted.about.command is not None and (named is None or not named.is_shown):
            wanted = msgspec.structs.replace(wanted, about=None)  # no "always" for a command that cannot be read
        if named is not None:
            asked = msgspec.structs.replace(asked, command=named.line, cwd=named.cwd, env=list(named.env))
        if wanted.why is not None:
            said = filter(None, (asked.description, wanted.why))
            asked = msgspec.structs.replace(asked, description="\n".join(said))
        shown = self._transcript.find_call(tool_call_id)
        known = Known(asked, shown, diffs, self._where)
        members, has_all = shown_input(asked, call, known, wanted.remarks)
        left_out = not_shown(asked, call, shown, has_all)
        options = views.options(asked, left_out)
        if asked.options and not options:
            what = left_out or "the name of an option"
            self._presenter.notice("warn", f"A request of the agent was refused: it cannot be shown whole ({what}).")
            raise RpcError(INVALID_PARAMS, f"the user cannot be shown all of it ({what}), nor reject it")
        view = views.request_view(asked, options, shown, left_out)
        view.remarks, view.input = [*wanted.remarks, *wanted.led], members
        return Request(view=view, wanted=wanted, grant=grant, call=0 if call is None else call.number)

    async def _answer(self, answer: Awaitable[Outcome]) -> RequestPermissionResponse:
        try:
            outcome = await answer
        except anyio.get_cancelled_exc_class():
            outcome = Outcome(False)  # withdrawn (`$/cancel_request`): answered with `cancelled` (v2 "Tool Calls")
        if outcome.option is None:
            return permission_answer(None)
        if outcome.allowed:
            await self._names_known()
        return permission_answer(outcome.option.option_id)


def not_shown(
    asked: PermissionAsked, call: ToolCall | None, view: events.CallView | None, has_all_input: bool
) -> str | None:
    """Return in words which parts of a request a limit has cut off; None if all of it can be shown.

    `asked.command` is the command to show; `view` shows the tool call. Lines of changes that only the request leaves
    out do not count: the preview and the review show them.
    """
    left_out = dict.fromkeys((*_of_words(asked), *_of_call(call), *_of_items(view)))
    return ", ".join(left_out | ({} if has_all_input else {INPUT: None})) or None


def _of_words(asked: PermissionAsked) -> Iterator[str]:
    chars = 0 if asked.command is None else command_chars(asked.command, asked.env)
    if chars > COMMAND_SHOWN_CHARS:
        yield f"{chars - COMMAND_SHOWN_CHARS:,} characters of the command"
    if asked.is_cut:
        yield "the end of the title or the description"


def _of_call(call: ToolCall | None) -> Iterator[str]:
    if call is None:
        return
    if call.lacks_title:
        yield "the end of the title"
    if call.lacks_input:
        yield INPUT
    if call.content_left:
        yield f"{call.content_left:,} items"
    if call.locations_left:
        yield f"{call.locations_left:,} places"
    if call.lacks_content or any(isinstance(one, Diff) and one.is_cut for one in call.content):
        yield "a part of the content"


def _of_items(view: events.CallView | None) -> Iterator[str]:
    for one in view.content if view else ():
        if isinstance(one, events.TextItem | events.ResourceItem) and one.chars:
            yield "the end of a text"
