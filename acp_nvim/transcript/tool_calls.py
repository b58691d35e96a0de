"""The tool calls of a transcript, their terminals and views, and the limits for what the editor gets of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import count
from typing import Final

import msgspec
from msgspec import UNSET

from acp_nvim.acp.diff import Diff
from acp_nvim.acp.field_limits import CONTENT_ITEMS
from acp_nvim.acp.fields import shortened
from acp_nvim.acp.tool_call import Item, TerminalShown, ToolCall
from acp_nvim.acp.updates import TerminalChanged, TerminalNews, ToolCallChanged, ToolCallContentAdded
from acp_nvim.contract import events
from acp_nvim.contract.events import CallDetailsListed, TerminalOutput
from acp_nvim.contract.views import CallView, OtherItem
from acp_nvim.limits import OLD_TITLE_CHARS, TURN_BLOCKS
from acp_nvim.transcript.blocks import Block, CallBlock, KeptBlock
from acp_nvim.transcript.call_views import call_view, pretty
from acp_nvim.transcript.terminal_registry import TerminalRegistry
from acp_nvim.transcript.truncation import IN_CHAT, IN_REQUEST, WHOLE, TextLimits

TOLD_CALLS_BYTES: Final = 12 * 1024 * 1024
"""What the tool calls of one turn may take in the editor, which keeps all events: a thousand of them take 5 MB."""
PLACE_BYTES: Final = 300
"""The share of each item and location in that, in addition to its text: a Lua table."""
TOLD_TITLE_CHARS: Final = 4000
"""Characters of a tool call's title in the chat: two screens of a script. The details show the whole title."""
CALLS_BYTES: Final = 24 * 1024 * 1024
"""Texts and inputs of a session's tool calls kept in memory: a day has a thousand calls of 10 kB.

Beyond it the oldest calls keep only the beginnings of their titles and locations.
"""


def _brief(view: CallView) -> CallView:
    count = len(view.content)
    return msgspec.structs.replace(
        view,
        title=shortened(view.title, OLD_TITLE_CHARS),
        content=[OtherItem(f"… {count:,} items, not shown here: the turn has too many")] if count else [],
        locations=view.locations[:1],
        locations_left=view.locations_left + max(0, len(view.locations) - 1),
    )


def _size(view: CallView) -> int:
    """Estimate the memory in bytes that a view takes in Lua."""
    entries = len(view.content) + len(view.locations)
    try:
        return len(msgspec.msgpack.encode(view)) + PLACE_BYTES * entries
    except UnicodeEncodeError:  # a lone surrogate, which JSON can contain
        return len(repr(view)) + PLACE_BYTES * entries


class ToolCalls:
    """The tool calls of a transcript; `session` is the session's key."""

    def __init__(self, session: int) -> None:
        self.session = session
        self.terminals = TerminalRegistry(session)
        self.clock: Callable[[], float] = time.time
        self.on_end: Callable[[str], None] = lambda tool_call_id: None  # a call is finished
        self._blocks: list[Block] = []
        self._new_blocks = 0  # since the user's last prompt
        self._size = 0  # bytes of texts and inputs that the calls keep
        self._shown_bytes = 0  # bytes of calls in the editor since the user's last prompt
        self._large: dict[int, None] = {}  # the blocks of calls that keep texts; ordered
        self._calls: dict[str, int] = {}  # the newest with each id
        self._turn_calls: dict[str, bool] = {}  # whether the turn made the call, or only updated an earlier one
        self._numbers = count(1)
        self._has_announced = False  # the agent announces its calls, in one of its messages so far
        self._shown_in: dict[int, dict[int, None]] = {}  # terminal -> the blocks of the calls that show it
        self._has_lost = False  # a message since the user's last prompt
        self._stale: dict[int, None] = {}  # the blocks of calls that changed since they were published; ordered

    def tool_call(self, changed: ToolCallChanged) -> tuple[ToolCall, bool]:
        """Apply an update; return the call, and whether it has changed. `take_stale` returns its event.

        An unknown id creates a call, and so does one that `_is_another` takes for that of another call.
        """
        patch = changed.patch
        number, block, fresh = self._call(patch.tool_call_id, changed)
        self._has_announced |= changed.announced
        call, different = block.call, block.apply(patch, self.clock()) or fresh
        if call.finished:
            call.was_closed = call.was_closed and patch.status is UNSET
            self.on_end(call.tool_call_id)
        if patch.size is not UNSET:
            self._grow(number, block, patch.size, replaced=patch.content is not UNSET)
        if different:
            self._changed(number, call.content if patch.content else ())
        for news in changed.terminals:
            terminal_id = news.patch.terminal_id if isinstance(news, TerminalChanged) else news.terminal_id
            if len(block.reported) < CONTENT_ITEMS:
                block.reported |= {terminal_id}
                self._show(number, terminal_id)
        return call, different

    def has_room(self, tool_call_id: str, changed: ToolCallChanged | None = None) -> bool:
        """Whether that call has a block, or may get one by the update. Agents may use any number of ids."""
        return not self.is_full or (tool_call_id in self._calls and not (changed and self.is_new(changed)))

    def is_new(self, changed: ToolCallChanged) -> bool:
        """Whether an update is about a call that the transcript does not have yet."""
        block = self.block_of(changed.patch.tool_call_id)
        return block is None or self._is_another(block.call, changed)

    def _is_another(self, call: ToolCall, changed: ToolCallChanged) -> bool:
        """Return whether an update is not about `call`, the newest with its id, but about another one.

        The identity of a call is its id within its turn. What is announced is another call in another turn, and in the
        same turn if the call has ended, and kind or input differ: some agents announce a call again when it ends. Any
        other update is about the newest call, as many agents report ends late; but what describes a call in another
        turn than that of one that has ended begins another one, if the agent asks for it, or announces none.
        """
        patch, is_of_turn = changed.patch, self._turn_calls.get(changed.patch.tool_call_id, False)
        if not call.finished:
            return changed.announced and not is_of_turn
        if is_of_turn:
            is_over = changed.announced or (changed.asks and not call.was_closed)
            return is_over and call.describes_another(patch)
        if changed.announced:
            return True
        begins = changed.asks or (not self._has_announced and patch.status in ("pending", "in_progress"))
        may_go_on = call.status == "unfinished" and not call.describes_another(patch)
        return begins and bool(patch.title or patch.kind or patch.raw_input) and not may_go_on

    @property
    def is_full(self) -> bool:
        """Whether the turn has as many blocks as `TURN_BLOCKS`."""
        return self._new_blocks >= TURN_BLOCKS

    def note_lost(self) -> None:
        """Note that a message was lost: it may have been about any unfinished call, or have announced another one.

        Of such a call, permission requests show that a part is missing, and nobody can allow them.
        """
        self._has_lost = True
        for number in self._calls.values():
            call = self._call_at(number).call
            if not call.finished:
                call.note_lost()

    def add_content(self, added: ToolCallContentAdded) -> None:
        """Append an item to the content of a tool call."""
        number, block, _ = self._call(added.tool_call_id)
        call = block.call
        if len(call.content) < CONTENT_ITEMS:
            call.append(added.item)
            call.lacks_content |= added.is_cut
            self._grow(number, block, added.size)
            self._changed(number, (added.item,))
        else:
            call.content_left += 1
            self._changed(number, ())

    def check_diffs(self, call: ToolCall, check: Callable[[ToolCall, Diff], Diff]) -> None:
        """Show `check(call, diff)` in place of each diff that has come with the latest update of the call."""
        number = self._calls[call.tool_call_id]
        block = self._call_at(number)
        self._grow(number, block, block.check_diffs(lambda diff: check(call, diff)))

    def terminal(self, news: TerminalNews) -> TerminalOutput | None:
        """Apply news of a terminal, mark its tool calls as stale, and return the event if the terminal is open."""
        terminal, output = self.terminals.take(news)
        self._stale |= self._shown_in.get(terminal.number, {})
        return output

    def take_stale(self) -> list[events.Event]:
        """Return the events for the tool calls that have changed since the last time.

        A call may change a thousand times in between. They are published before any other event, so that blocks come
        in order.
        """
        if not self._stale:
            return []
        stale, self._stale = self._stale, {}
        return [self._call_event(number) for number in stale]

    def find_call(self, tool_call_id: str) -> events.CallView | None:
        """Return the view of a tool call in a permission request, or None for an unknown id."""
        number = self._calls.get(tool_call_id)
        return None if number is None else self._call_view(number, IN_REQUEST)

    def call_block(self, number: int) -> CallBlock | None:
        """Return the block with that number if it is a tool call, else None."""
        block = self._at(number)
        return block if isinstance(block, CallBlock) else None

    def call_details(self, number: int) -> CallDetailsListed | None:
        """Return the complete details of the tool call at that block, or None if it is no tool call."""
        block = self._at(number)
        if isinstance(block, CallBlock):
            return CallDetailsListed(
                session=self.session,
                block=number,
                call=self._call_view(number, WHOLE),
                name=block.call.name,
                raw_input=pretty(block.call.raw_input),
                raw_output=pretty(block.call.raw_output),
            )
        for kept in block.kept if isinstance(block, KeptBlock) else ():
            if isinstance(kept, events.ToolCall):
                return CallDetailsListed(session=self.session, block=number, call=kept.call)
        return None

    def call(self, tool_call_id: str) -> ToolCall | None:
        """Return the tool call with that id, or None if it is unknown."""
        block = self.block_of(tool_call_id)
        return None if block is None else block.call

    def block_of(self, tool_call_id: str) -> CallBlock | None:
        """Return the block of the newest tool call with that id, or None if it is unknown."""
        number = self._calls.get(tool_call_id)
        return None if number is None else self._call_at(number)

    def unfinished(self) -> list[ToolCall]:
        """Return the running turn's tool calls that are still open."""
        calls = (self._call_at(self._calls[one]).call for one in self._turn_calls)
        return [call for call in calls if not call.finished]

    def begin_calls(self, going_on: Iterable[ToolCall] = ()) -> None:
        """Begin a turn, in which ids of calls may be used again, except for those of the calls that go on."""
        for one in self._turn_calls:
            self._call_at(self._calls[one]).forget_cut()
        self._turn_calls = {call.tool_call_id: True for call in going_on}

    def _call(self, tool_call_id: str, changed: ToolCallChanged | None = None) -> tuple[int, CallBlock, bool]:
        """Return the number of a tool call's block, the block, and whether it is new."""
        number = self._calls.get(tool_call_id)
        before = None if number is None else self._call_at(number)
        if number is not None and before is not None and not (changed and self._is_another(before.call, changed)):
            if tool_call_id not in self._turn_calls:
                self._turn_calls[tool_call_id] = before.call.is_used_again = False
            return number, before, False
        block = CallBlock(ToolCall(tool_call_id=tool_call_id, number=next(self._numbers)), self.clock())
        if self._has_lost and not (changed and changed.announced):
            block.call.note_lost()
        number = self._calls[tool_call_id] = self._add(block)
        self._turn_calls[tool_call_id] = True
        for terminal_id in before.terminals if before else ():
            self.terminals.release(terminal_id, named_by=tool_call_id)
        return number, block, True

    def _grow(self, number: int, block: CallBlock, size: int, replaced: bool = False) -> None:
        """Count `size` more bytes for a call, or instead of its earlier ones; forget the texts of the oldest calls."""
        before, block.size = block.size, max(block.size, size) if replaced else block.size + size
        self._size += block.size - before
        self._large.setdefault(number)
        while self._size > CALLS_BYTES:
            oldest = next(iter(self._large))
            del self._large[oldest]
            self._size -= self._call_at(oldest).size
            self._call_at(oldest).forget_texts()

    def _at(self, number: int) -> Block | None:
        return self._blocks[number - 1] if 0 < number <= len(self._blocks) else None

    def _call_at(self, number: int) -> CallBlock:
        block = self._blocks[number - 1]
        assert isinstance(block, CallBlock)
        return block

    def _changed(self, number: int, content: Iterable[Item]) -> None:
        """Mark the call at that block as stale; `content` are its new items."""
        self._stale[number] = None
        for one in content:
            if isinstance(one, TerminalShown):
                self._show(number, one.terminal_id)

    def _show(self, number: int, terminal_id: str) -> None:
        """Note that the call at that block shows a terminal."""
        block, terminal = self._call_at(number), self.terminals.get(terminal_id)
        block.terminals = {terminal_id: terminal, **block.terminals}
        terminal = block.terminals[terminal_id]
        self._shown_in.setdefault(terminal.number, {})[number] = None

    def _call_event(self, number: int) -> events.ToolCall:
        """Return the event for a call, with a brief view if the turn has no room for more."""
        block, view = self._call_at(number), self._call_view(number, IN_CHAT)
        if len(view.title) > TOLD_TITLE_CHARS:
            view = msgspec.structs.replace(view, title=shortened(view.title, TOLD_TITLE_CHARS))
        size = _size(view)
        if self._shown_bytes + size - block.shown_bytes > TOLD_CALLS_BYTES:
            view = _brief(view)
            size = _size(view)
        self._shown_bytes, block.shown_bytes = self._shown_bytes + size - block.shown_bytes, size
        return events.ToolCall(session=self.session, block=number, call=view)

    def _call_view(self, number: int, limits: TextLimits) -> events.CallView:
        before = self._blocks[number - 2] if number > 1 else None
        return call_view(self._call_at(number), self.block_of, before, limits)

    def _add(self, block: Block) -> int:
        """Append a block, and return its number."""
        self._new_blocks += 1
        self._blocks.append(block)
        return len(self._blocks)
