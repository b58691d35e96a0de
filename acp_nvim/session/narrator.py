"""Tells the editor what happens in a session: folds updates into the transcript and publishes what changed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

from acp_nvim import events
from acp_nvim.editor import Editor
from acp_nvim.errors import Failure, Severity
from acp_nvim.limits import TROUBLES
from acp_nvim.limits.growth import TURN_BLOCKS
from acp_nvim.protocol import updates
from acp_nvim.protocol.diff import FileChange
from acp_nvim.protocol.tool_call import ToolCall, ToolCallPatch
from acp_nvim.protocol.translate_facts import compaction_message
from acp_nvim.session import views
from acp_nvim.session.facts import Facts
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.transcript import Transcript
from acp_nvim.terminal_events import TerminalOutput
from acp_nvim.traffic.words import without_secrets
from acp_nvim.wire.content import TextContent

log = logging.getLogger(__name__)

WRITES_FILES = frozenset({"edit", "delete", "move", "execute", "other"})
"""Kinds of tool calls after which files may be different on disk."""

CHANGES_WHAT_IT_NAMES = frozenset({"edit", "delete", "move"})
"""Those whose locations and diffs are files that they have changed."""


class Narrator:
    """Owns the transcript and the facts; `on_facts` is called when the session's status is different.

    `on_named` hears which files (absolute paths) a tool call may change, and how; `on_wrote` which it has changed;
    `on_done` hears that one is done that may have changed any. `on_call` hears which one is different, whatever it is;
    `on_redraw` that the editor wants to know everything again. `on_work` hears what is said of a tool call that is
    different then; `on_turn_end` that the end of a turn is about to be told. `on_told` hears what the editor is told,
    but for what it is told again. `on_deed` hears of a tool call that is different, as it is now.
    """

    def __init__(self, key: int, cwd: str, editor: Editor, on_facts: Callable[[], None]) -> None:
        self.transcript = Transcript(key)
        self.facts = Facts()
        self._activity = self.facts.activity
        self._key = key
        self.cwd = cwd
        self._editor = editor
        self.on_facts = on_facts
        self.on_named: Callable[[list[tuple[str, FileChange | None]]], None] = lambda files: None
        self.on_deed: Callable[[ToolCall], None] = lambda call: None
        self.on_wrote: Callable[[list[str]], None] = lambda paths: None
        self.on_done: Callable[[], None] = lambda: None
        self.on_call: Callable[[str], None] = lambda tool_call_id: None
        self.on_redraw: Callable[[], None] = lambda: None
        self.on_work: Callable[[ToolCall, ToolCallPatch], None] = lambda call, patch: None
        self.on_turn_end: Callable[[], None] = lambda: None
        self.on_told: Callable[[events.Event], None] = lambda event: None
        self._commands: events.Commands | None = None
        self._unknown_kinds: set[str] = set()
        self._full_told = False
        self._left_told: set[str] = set()
        self._activity_is_news = False  # told once for all that arrives together

    def __repr__(self) -> str:
        return f"<Narrator {self.transcript!r} {self.facts!r}>"

    def prompt(self, prompt: Prompt) -> None:
        """The user says it; only once."""
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
                self._say(update)
            case updates.MessageReplaced():
                self._heard(update.role)
                self.publish(self.transcript.replace_message(update))
            case updates.ToolCallContentAdded() if self._has_room(update.tool_call_id):
                self.transcript.add_content(update)
                self.on_call(update.tool_call_id)
                added = ToolCallPatch(tool_call_id=update.tool_call_id, content=[update.item])
                self.on_work(ToolCall(tool_call_id=update.tool_call_id, content=[update.item]), added)
            case updates.TerminalChanged() | updates.TerminalPrinted():
                self._terminal(self.transcript.terminal(update))
            case updates.PlanReplaced():
                self._plan(self.transcript.plan(update))
            case updates.PlanRemoved():
                self._plan(self.transcript.remove_plan(update))
            case updates.CommandsReplaced():
                self.commands(update)
            case _:
                self._fact(update)

    def _fact(self, update: updates.Update) -> None:
        """What belongs to the status, or a line of the chat."""
        if isinstance(update, updates.ConfigReplaced):
            self._tell_left("configuration options, or values of them,", update.left)
        if self.facts.take(update):
            self.on_facts()
        else:
            self._remark(update)

    def commands(self, replaced: updates.CommandsReplaced) -> None:
        """The slash commands of the agent."""
        self._commands = events.Commands(session=self._key, commands=views.commands(replaced))
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
            self.on_facts()

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
        """Everything again; `after`: but for what the editor had from another host, and has."""
        for event in self.transcript.replay(after):
            self._editor.publish(event)
        self.publish(self._commands)
        self.facts.switches.on_change()
        self.on_facts()
        self.on_redraw()

    def forget(self) -> None:
        """What was said and done so far: the agent tells it anew."""
        self.facts.forget_plans()
        self.publish(events.Reset(session=self._key))  # who hears it may want to write down what was said
        self.transcript.forget()

    def publish(self, event: events.Event | None) -> None:
        """Tell the editor; tool calls that changed before come first."""
        self._tell_stale()
        if isinstance(event, events.TurnEnd):
            self.on_turn_end()
        if event is not None:
            self._tell(event)

    async def told(self) -> None:
        """Until the editor knows all of it that was published by now."""
        await self._editor.told(self._key)

    def open_terminal(self, number: int) -> None:
        """Somebody wants to see all that a terminal shows."""
        self._terminal(self.transcript.terminals.open(number))

    def close_terminal(self, number: int) -> None:
        """Stop showing the output of the terminal with that number."""
        self._terminal(self.transcript.terminals.close(number))

    def _tell_stale(self) -> None:
        for event in self.transcript.take_stale():
            self._tell(event)

    def _tell(self, event: events.Event) -> None:
        self.on_told(event)
        self._editor.publish(event)

    def _terminal(self, told: TerminalOutput | None) -> None:
        """It goes beside the transcript, and does not wait for it."""
        if told is not None:
            self._editor.publish(told)

    def _say(self, chunk: updates.MessageChunk) -> None:
        if chunk.role != self._activity.voice:
            self._heard(chunk.role)
        self.publish(self.transcript.say(chunk))

    def _heard(self, role: updates.Role) -> None:
        self._activity_is_news |= self._activity.speak(role)

    def _plan(self, plan: events.Plan | None) -> None:
        if plan is not None:
            self.facts.take_plan(plan)
            self.publish(plan)
            self.on_facts()

    def _tool_call(self, changed: updates.ToolCallChanged) -> None:
        if not self._has_room(changed.patch.tool_call_id):
            return
        call, different = self.transcript.tool_call(changed)
        for news in changed.terminals:
            self._terminal(self.transcript.terminal(news))
        if not different:
            return
        self._activity_is_news |= self._activity.call(call)
        self.on_call(call.tool_call_id)
        self.on_work(call, changed.patch)
        self.on_deed(call)
        if call.kind not in WRITES_FILES:
            return
        named = [(os.path.join(self.cwd, path), change) for path, change in call.files()]
        self.on_named(named)
        if call.finished and call.kind in CHANGES_WHAT_IT_NAMES:
            self.on_wrote([path for path, _ in named])
        if call.finished:
            self.publish(events.FilesMaybeChanged(session=self._key))
            self.on_done()

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
            case updates.UnknownUpdate():
                self._unknown(update.kind)

    def _unknown(self, kind: str) -> None:
        """Told once for each kind: who sends one may send thousands."""
        if kind not in self._unknown_kinds and len(self._unknown_kinds) < TROUBLES:
            self._unknown_kinds.add(kind)
            self.notice("info", f"The agent sent an update that acp_nvim does not know: {kind}")
