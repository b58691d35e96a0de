"""Tells the editor what happens in a session: folds updates into the transcript and publishes what changed."""

from __future__ import annotations

import logging
from collections.abc import Callable

from acp_nvim.acp import updates
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.acp.translation import compaction_message
from acp_nvim.errors import Failure, Severity
from acp_nvim.limits import TROUBLES, TURN_BLOCKS
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.transcript import views
from acp_nvim.session.transcript.metadata import Metadata
from acp_nvim.session.transcript.transcript import Transcript
from acp_nvim.traffic.masking import without_secrets
from acp_nvim.ui import events
from acp_nvim.ui.editor import Editor
from acp_nvim.ui.events import TerminalOutput

log = logging.getLogger(__name__)

WRITES_FILES = frozenset({"edit", "delete", "move", "execute", "other"})
"""Kinds of tool calls after which files may be different on disk."""

CHANGES_WHAT_IT_NAMES = frozenset({"edit", "delete", "move"})
"""Those whose locations and diffs are files that they have changed."""


class Presenter:
    """Owns the transcript and the metadata; calls `publish_status` when the session's status has changed.

    Each of `on_call` gets a tool call that is different, as it is now, and what was said of it. `on_turn_end` is
    called when the editor is about to be told of the end of a turn, and `on_told` with all that it is told for the
    first time.
    """

    def __init__(self, key: int, cwd: str, editor: Editor, publish_status: Callable[[], None]) -> None:
        self.transcript = Transcript(key)
        self.metadata = Metadata()
        self._activity = self.metadata.activity
        self._key = key
        self.cwd = cwd
        self._editor = editor
        self.publish_status = publish_status
        self.on_call: list[Callable[[ToolCall, ToolCallPatch], None]] = []
        self.on_turn_end: Callable[[], None] = lambda: None
        self.on_told: Callable[[events.Event], None] = lambda event: None
        self._commands: events.Commands | None = None
        self._unknown_kinds: set[str] = set()
        self._full_told = False
        self._left_told: set[str] = set()
        self._activity_is_news = False  # told once for all that arrives together

    def __repr__(self) -> str:
        return f"<Presenter {self.transcript!r} {self.metadata!r}>"

    def prompt(self, prompt: Prompt) -> None:
        """Show a prompt as a message of the user, unless it was shown already."""
        if not prompt.shown:
            prompt.shown = True
            self.transcript.end_message()
            said = updates.MessageChunk("user", TextContent(text=prompt.transcript_text()))
            self.publish(self.transcript.say(said, ours=True))

    def notice(self, level: Severity, text: str) -> None:
        """Show a notice of this plugin in the chat."""
        self.publish(self.transcript.notice(level, text))

    def notice_again(self, number: int | None, level: Severity, text: str) -> int:
        """A line of ours in the place of the one at block `number`, if it is still there; the number of its block."""
        shown = None if number is None else self.transcript.notice_again(number, level, text)
        if shown is None:
            shown = self.transcript.notice(level, text)
        self.publish(shown)
        return shown.block

    def failure(self, failure: Failure, more: str = "") -> None:
        """What went wrong: in the transcript, as a message, and in the log."""
        text = without_secrets(f"{failure}\n{more}".rstrip())
        log.warning("session %s: %s", self._key, text)
        self.notice(failure.severity, text)
        self.publish(events.Error(text=text, code=failure.code, session=self._key, agent=failure.agent))

    def update(self, update: updates.Update) -> None:
        """Show a `session/update` of the agent in the chat."""
        if type(update) is updates.ToolCallChanged:  # these come in floods
            self._tool_call(update)
            return
        match update:
            case updates.MessageChunk():
                if update.role != self._activity.voice:
                    self._heard(update.role)
                self.publish(self.transcript.say(update))
            case updates.MessageReplaced():
                self._heard(update.role)
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
            case updates.CommandsReplaced():
                self._take_commands(update)
            case _:
                self._metadata_or_line(update)

    def _metadata_or_line(self, update: updates.Update) -> None:
        """Take what belongs to the status into the metadata; show anything else as a line of the chat."""
        if isinstance(update, updates.ConfigReplaced):
            self._tell_left("configuration options, or values of them,", update.left)
        if self.metadata.take(update):
            self.publish_status()
        else:
            self._remark(update)

    def _take_commands(self, replaced: updates.CommandsReplaced) -> None:
        shown = [events.CommandView(one.name, one.description, one.hint) for one in replaced.commands]
        self._commands = events.Commands(session=self._key, commands=shown)
        self.publish(self._commands)
        self._tell_left("slash commands", replaced.left)

    def _tell_left(self, what: str, count: int) -> None:
        """Of a list that has no place in the chat more was sent than is kept; told once."""
        if count and what not in self._left_told:
            self._left_told.add(what)
            self.notice("warn", f"The agent lists more {what} than acp_nvim keeps: … and {count:,} more")

    def caught_up(self) -> None:
        """What the agent said so far is to be seen."""
        self._tell_stale()
        if self._activity_is_news:
            self._activity_is_news = False
            self.publish_status()

    def close_calls(self, status: str, rejected: set[str], background: frozenset[str] = frozenset()) -> None:
        """No more news is expected of the running turn's tool calls: the open ones become `status`, or `rejected`.

        Those in the background stay as they are.
        """
        for tool_call_id in self.transcript.unfinished():
            if tool_call_id in background:
                continue
            closed = "rejected" if tool_call_id in rejected else status
            patch = ToolCallPatch(tool_call_id=tool_call_id, status=closed)
            self._tool_call(updates.ToolCallChanged(patch, announced=False))

    def redraw(self, after: bool = False) -> None:
        """Publish the transcript and the commands again; `after`: but for what the editor has from another host."""
        for event in self.transcript.replay(after):
            self._editor.publish(event)
        self.publish(self._commands)

    def forget(self) -> None:
        """What was said and done so far: the agent tells it anew."""
        self.metadata.forget_plans()
        self.publish(events.Reset(session=self._key))  # who hears it may want to write down what was said
        self.transcript.forget()

    def publish(self, event: events.Event | None) -> None:
        """Tell the editor; tool calls that changed before come first."""
        self._tell_stale()
        if isinstance(event, events.TurnEnd):
            self.on_turn_end()
        if event is not None:
            self.on_told(event)
            self._editor.publish(event)

    async def told(self) -> None:
        """Until the editor knows all of it that was published by now."""
        await self._editor.told(self._key)

    def open_terminal(self, number: int) -> None:
        """Show all that a terminal has printed, and from now on what it prints."""
        self._terminal(self.transcript.terminals.open(number))

    def close_terminal(self, number: int) -> None:
        """Stop showing the output of the terminal with that number."""
        self._terminal(self.transcript.terminals.close(number))

    def _tell_stale(self) -> None:
        for event in self.transcript.take_stale():
            self.on_told(event)
            self._editor.publish(event)

    def _terminal(self, told: TerminalOutput | None) -> None:
        """It goes beside the transcript, and does not wait for it."""
        if told is not None:
            self._editor.publish(told)

    def _heard(self, role: updates.Role) -> None:
        self._activity_is_news |= self._activity.speak(role)

    def _plan(self, plan: events.Plan | None) -> None:
        if plan is not None:
            self.metadata.take_plan(plan)
            self.publish(plan)
            self.publish_status()

    def _tool_call(self, changed: updates.ToolCallChanged) -> None:
        if not self._has_room(changed.patch.tool_call_id):
            return
        call, different = self.transcript.tool_call(changed)
        for news in changed.terminals:
            self._terminal(self.transcript.terminal(news))
        if not different:
            return
        self._activity_is_news |= self._activity.call(call)
        self._call_changed(call, changed.patch)
        if call.finished and call.kind in WRITES_FILES:
            self.publish(events.FilesMaybeChanged(session=self._key))

    def _call_changed(self, call: ToolCall, patch: ToolCallPatch) -> None:
        for listener in self.on_call:
            listener(call, patch)

    def _has_room(self, tool_call_id: str) -> bool:
        has_room = self.transcript.has_room(tool_call_id)
        if not has_room and not self._full_told:
            self._full_told = True
            self.notice("warn", f"More than {TURN_BLOCKS:,} tool calls and messages in one turn: … and more, not shown")
        return has_room

    def _remark(self, update: updates.Update) -> None:
        """What has no place of its own becomes a line."""
        match update:
            case updates.NoticeGiven():
                level: Severity = "info"
                if update.severity in ("warning", "error"):
                    level = "error" if update.severity == "error" else "warn"
                self.notice(level, "\n".join(filter(None, (update.title, update.description))))
            case updates.Compaction():
                reason = f": {update.error}" if update.error else ""
                self.notice("info", f"Compaction of the conversation: {update.status}{reason}")
                summary = updates.MessageReplaced("thought", compaction_message(update.compaction_id), update.summary)
                self.publish(self.transcript.replace_message(summary))
            case updates.SessionMessage(content=[_, *_] as content, sender=sender, recipient=recipient):
                who = f"from session {sender}" if sender else f"to session {recipient or '(unknown)'}"
                self.notice("info", f"Message {who}: {views.text_of(content)}")
            case updates.UnknownUpdate():
                self._unknown(update.kind)

    def _unknown(self, kind: str) -> None:
        """Told once for each kind: who sends one may send thousands."""
        if kind not in self._unknown_kinds and len(self._unknown_kinds) < TROUBLES:
            self._unknown_kinds.add(kind)
            self.notice("info", f"The agent sent an update that acp_nvim does not know: {kind}")
