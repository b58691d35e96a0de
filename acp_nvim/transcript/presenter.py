"""Presents a session in the editor: applies updates to the transcript, and publishes the changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from time import monotonic

import msgspec
from msgspec import UNSET

from acp_nvim.acp import updates
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.acp.translation import compaction_message
from acp_nvim.contract import events
from acp_nvim.contract.editor import Editor
from acp_nvim.contract.events import TerminalOutput
from acp_nvim.errors import Failure, Severity
from acp_nvim.limits import TROUBLES, TURN_BLOCKS
from acp_nvim.prompt.blocks import Recipient
from acp_nvim.prompt.prompt import NOTHING, Content, Prompt
from acp_nvim.traffic.masking import without_secrets
from acp_nvim.transcript.metadata import Metadata
from acp_nvim.transcript.transcript import Transcript

log = logging.getLogger(__name__)

UNKNOWN_UPDATE = "The agent sent something that this version of acp_nvim cannot show; :AcpLog names it."

WRITES_FILES = frozenset({"edit", "delete", "move", "execute", "other"})
"""Kinds of tool calls that may change files on disk."""


class Presenter:
    """Owns the transcript and the metadata; calls `publish_status` when the session's status has changed.

    `is_replaying` tells whether the agent may be repeating an earlier conversation. Each of `on_call` is called with a
    changed tool call and its update. `on_turn_end` is called before the end of a turn is published, and `on_told` with
    each event that is published for the first time.
    """

    def __init__(self, key: int, cwd: str, editor: Editor, publish_status: Callable[[], None]) -> None:
        self.transcript = Transcript(key)
        self.metadata = Metadata()
        self._activity = self.metadata.activity
        self._key = key
        self.cwd = cwd
        self._editor = editor
        self.publish_status = publish_status
        self.is_replaying: Callable[[], bool] = lambda: False
        self.on_call: list[Callable[[ToolCall, ToolCallPatch], None]] = []
        self.on_turn_end: Callable[[], None] = lambda: None
        self.on_told: Callable[[events.Event], None] = lambda event: None
        self._commands: events.Commands | None = None
        self._suggestion: events.PromptSuggestion | None = None
        self.is_closing = False
        """Whether the tool calls that change are closed by this plugin, as their turn is over."""
        self.last_sign = 0.0
        """When the last update came, on the clock of `monotonic`."""
        self._unknown_kinds: set[str] = set()
        self._told: set[str] = set()
        self._status_changed = self._files_changed = False  # published once for all updates that arrive together

    def prompt(self, prompt: Prompt) -> None:
        """Show a prompt as a message of the user, unless it is shown already."""
        if not prompt.shown:
            prompt.shown = True
            self.transcript.end_message()
            self.transcript.begin_calls(self.transcript.unfinished())
            said = updates.MessageChunk("user", TextContent(text=prompt.transcript_text()))
            self.publish(self.transcript.say(said, ours=True))

    def content(self, prompt: Prompt, agent: Recipient) -> Content:
        """Return the content blocks of a prompt that is ready, and show what the agent does not get of it.

        There are none if nothing is left to be sent.
        """
        blocks, remarks = prompt.blocks(agent)
        for remark in remarks:
            self.notice("warn", remark)
        if not blocks:
            self.notice("warn", NOTHING)
        return blocks

    def notice(self, level: Severity, text: str) -> None:
        """Show a notice of this plugin in the chat."""
        self.publish(self.transcript.notice(level, text))

    def renew_notice(self, level: Severity, text: str, block: int) -> int:
        """Show a notice in place of the one at `block`, or a new one if that is 0; return its block."""
        shown = self.transcript.notice(level, text, block)
        self.publish(shown)
        return shown.block

    def aside(self, level: Severity, text: str) -> int:
        """Show a notice, after which the last messages go on above it; return its block."""
        shown = self.transcript.notice(level, text, is_aside=True)
        self.publish(shown)
        return shown.block

    @property
    def command_names(self) -> frozenset[str] | None:
        """The slash commands that the agent has listed, without the slash; None if it has listed none."""
        listed = self._commands
        return None if listed is None else frozenset(one.name.lstrip("/") for one in listed.commands)

    def failure(self, failure: Failure, more: str = "") -> None:
        """Report a failure in the transcript, as a message, and in the log."""
        text = without_secrets(f"{failure}\n{more}".rstrip())
        log.warning("session %s: %s", self._key, text)
        self.notice(failure.severity, text)
        self.publish(events.Error(text=text, code=failure.code, session=self._key, agent=failure.agent))

    def heard(self) -> None:
        """Note that something has come from the agent, beside the updates that are shown."""
        self.last_sign = monotonic()

    def update(self, update: updates.Update) -> None:
        """Show a `session/update` of the agent in the chat."""
        self.last_sign = monotonic()
        if type(update) is updates.ToolCallChanged:  # the most frequent kind
            self._tool_call(update)
            return
        match update:
            case updates.MessageChunk():
                if update.role != self._activity.voice or update.role == "user":
                    self._speaks(update.role, update.message_id)
                self.publish(self.transcript.say(update))
            case updates.MessageReplaced():
                self._speaks(update.role, update.message_id)
                self.publish(self.transcript.replace_message(update))
            case updates.ToolCallContentAdded() if self._has_room(update.tool_call_id):
                self.transcript.add_content(update)
                call = self.transcript.call(update.tool_call_id)
                assert call is not None
                self._call_changed(call, ToolCallPatch(tool_call_id=update.tool_call_id, content=[update.item]))
            case updates.TerminalChanged() | updates.TerminalPrinted():
                self._terminal(self.transcript.terminal(update))
            case updates.PlanReplaced():
                self._plan(self.transcript.plan(update))
            case updates.PlanRemoved():
                self._plan(self.transcript.remove_plan(update))
            case _:
                self._status_or_notice(update)

    def _status_or_notice(self, update: updates.Update) -> None:
        if isinstance(update, updates.ConfigReplaced):
            self._warn_left("configuration options, or values of them,", update.left)
        if isinstance(update, updates.SessionInfoChanged) and update.suggestion is not UNSET:
            self._suggestion = events.PromptSuggestion(session=self._key, text=update.suggestion or "")
            self._editor.publish(self._suggestion)  # it is no part of the conversation
        if self.metadata.take(update):
            self.publish_status()
        else:
            self._remark(update)

    def _warn_left(self, what: str, count: int) -> None:
        """Warn that `count` items of a list are not kept."""
        if count:
            self._once("warn", what, f"The agent lists more {what} than acp_nvim keeps: … and {count:,} more")

    def _once(self, level: Severity, what: str, text: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self.notice(level, text)

    def _speaks(self, role: updates.Role, message_id: str | None) -> None:
        """Note whose message grows. If one of the user begins, ids of tool calls may be used again from then on.

        In a replay nothing else shows where a turn begins: calls that the last one left open are closed.
        """
        self._status_changed |= self._activity.speak(role)
        if role != "user" or self.transcript.has_message(role, message_id):
            return
        if self.is_replaying():
            self.close_calls("unfinished")
            self.metadata.forget_plans()
            self.transcript.begin_replayed_turn()
        else:
            self.transcript.begin_calls(self.transcript.unfinished())

    def own_call(self, patch: ToolCallPatch) -> None:
        """Show a tool call of this plugin's own, at once. It is no evidence of what the agent does."""
        call, _ = self.transcript.tool_call(updates.ToolCallChanged(patch))
        self._files_changed |= call.finished
        self.caught_up()

    def caught_up(self) -> None:
        """Publish the pending changes, as all messages that have arrived are handled."""
        self._publish_stale()
        if self._files_changed:
            self._files_changed = False
            self._editor.publish(events.FilesMaybeChanged(session=self._key))
        if self._status_changed:
            self._editor.before_batch(self._publish_changed_status)

    def _publish_changed_status(self) -> None:
        """Publish the status unless that was done meanwhile: a status after the end of a turn would be late."""
        if self._status_changed:
            self._status_changed = False
            self.publish_status()

    def close_calls(
        self, status: str, rejected: Collection[int] = (), background: frozenset[str] = frozenset()
    ) -> None:
        """Set the open tool calls of the turn to `status`, or to "rejected" if their numbers are in `rejected`.

        Half a character at the end of a message is replaced. Those whose ids are in the `background` stay open.
        """
        self.transcript.end_halves()
        self.is_closing = True
        try:
            for call in self.transcript.unfinished():
                if call.tool_call_id in background:
                    continue
                closed = "rejected" if call.number in rejected else status
                patch = ToolCallPatch(tool_call_id=call.tool_call_id, status=closed)
                self._tool_call(updates.ToolCallChanged(patch))
                call.was_closed = True
        finally:
            self.is_closing = False
        self.caught_up()

    def redraw(self, after: bool = False) -> None:
        """Publish the transcript and the commands again; with `after` only the blocks after those of another host."""
        for event in self.transcript.replay(after):
            self._editor.publish(event)
        self.publish(self._commands)
        if self._suggestion is not None:
            self._editor.publish(self._suggestion)

    def forget(self) -> None:
        """Clear the transcript, which the agent replays."""
        self.metadata.forget_plans()
        self.publish(events.Reset(session=self._key))  # first: a listener may store the transcript
        self.transcript.forget()

    def publish(self, event: events.Event | None) -> None:
        """Publish an event, after the tool calls that changed before it."""
        self._publish_stale()
        if isinstance(event, events.TurnEnd):
            self.on_turn_end()
        elif isinstance(event, events.TurnStart):
            self._suggestion = None
        elif isinstance(event, events.Status):
            self._status_changed = False
        if event is not None:
            self.on_told(event)
            self._editor.publish(event)

    def _tell(self, event: events.Event) -> None:
        self.on_told(event)
        self._editor.publish(event)

    async def told(self) -> None:
        """Wait until the editor has received everything that was published."""
        await self._editor.told(self._key)

    def open_terminal(self, number: int) -> None:
        """Start streaming the output of the terminal with that number."""
        self._terminal(self.transcript.terminals.open(number))

    def close_terminal(self, number: int) -> None:
        """Stop streaming the output of the terminal with that number."""
        self._terminal(self.transcript.terminals.close(number))

    def _publish_stale(self) -> None:
        for event in self.transcript.take_stale():
            self._tell(event)

    def _terminal(self, output: TerminalOutput | None) -> None:
        """Publish output independently of the transcript."""
        if output is not None:
            self._editor.publish(output)

    def _plan(self, plan: events.Plan | None) -> None:
        if plan is not None:
            plan = self._ended(plan)
            self.metadata.take_plan(plan)
            self.publish(plan)
            self.publish_status()

    def _ended(self, plan: events.Plan) -> events.Plan:
        """Return a plan that is over if no turn runs: nobody works on it any more."""
        return plan if self.metadata.turn_started is not None else msgspec.structs.replace(plan, over=True)

    def _tool_call(self, changed: updates.ToolCallChanged) -> None:
        if not self._has_room(changed.patch.tool_call_id, changed):
            return
        call, different = self.transcript.tool_call(changed)
        for news in changed.terminals:
            self._terminal(self.transcript.terminal(news))
        if not different:
            return
        self._status_changed |= self._activity.call(call, was_open=bool(changed.patch.passed))
        self._call_changed(call, changed.patch)
        self._files_changed |= call.finished and call.kind in WRITES_FILES

    def _call_changed(self, call: ToolCall, patch: ToolCallPatch) -> None:
        for listener in self.on_call:
            listener(call, patch)

    def _has_room(self, tool_call_id: str, changed: updates.ToolCallChanged | None = None) -> bool:
        has_room = self.transcript.has_room(tool_call_id, changed)
        if not has_room:
            text = f"More than {TURN_BLOCKS:,} tool calls and messages in one turn: … and more, not shown"
            self._once("warn", "tool calls and messages", text)
        return has_room

    def _remark(self, update: updates.Update) -> None:
        """Publish the slash commands; show any other kind of update as a notice."""
        match update:
            case updates.CommandsReplaced():
                shown = [events.CommandView(one.name, one.description, one.hint) for one in update.commands]
                self._commands = events.Commands(session=self._key, commands=shown)
                self.publish(self._commands)
                self._warn_left("slash commands", update.left)
            case updates.NoticeGiven():
                level: Severity = "info"
                if update.severity in ("warning", "error"):
                    level = "error" if update.severity == "error" else "warn"
                self.notice(level, "\n".join(filter(None, (update.title, update.description))))
            case updates.Retrying():
                self._status_changed |= self._activity.retry(update.reason)
            case updates.Compaction():
                reason = f": {update.error}" if update.error else ""
                self.notice("info", f"Compaction of the conversation: {update.status.replace('_', ' ')}{reason}")
                summary = updates.MessageReplaced("thought", compaction_message(update.compaction_id), update.summary)
                self.publish(self.transcript.replace_message(summary))
            case updates.UnknownUpdate(kind) if kind not in self._unknown_kinds:
                if len(self._unknown_kinds) < TROUBLES:
                    self._unknown_kinds.add(kind)
                    log.info("session %s: an update of the unknown kind %r", self._key, kind)
                    self._once("info", "updates", UNKNOWN_UPDATE)


class ChildPresenter(Presenter):
    """Presents a child session; its messages are not sent until the editor shows its chat, which then gets all."""

    is_shown = False

    def redraw(self, after: bool = False) -> None:
        """See `Presenter.redraw`; the editor shows the chat from now on."""
        self.is_shown = True
        super().redraw(after)

    def publish(self, event: events.Event | None) -> None:
        """See `Presenter.publish`."""
        super().publish(None if event is None or self._is_hidden(event) else event)

    def _tell(self, event: events.Event) -> None:
        if not self._is_hidden(event):
            super()._tell(event)

    def _is_hidden(self, event: events.Event) -> bool:
        return isinstance(event, events.Append | events.Replace) and not self.is_shown
