"""Tool calls, their terminals and views as the transcript keeps them, and how much of them the editor is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Final

import msgspec
from msgspec import UNSET

from acp_nvim.acp.diff import Diff
from acp_nvim.acp.field_limits import CONTENT_ITEMS
from acp_nvim.acp.fields import shortened
from acp_nvim.acp.tool_call import Item, TerminalShown, ToolCall
from acp_nvim.acp.updates import TerminalChanged, TerminalNews, ToolCallChanged, ToolCallContentAdded
from acp_nvim.limits import OLD_TITLE_CHARS, TURN_BLOCKS
from acp_nvim.session.transcript.blocks import Block, CallBlock, KeptBlock
from acp_nvim.session.transcript.call_views import call_view, pretty
from acp_nvim.session.transcript.terminal_registry import TerminalRegistry
from acp_nvim.session.transcript.truncation import IN_CHAT, IN_REQUEST, WHOLE, TextLimits
from acp_nvim.ui import events
from acp_nvim.ui.events import CallDetails, TerminalOutput
from acp_nvim.ui.views import CallView, OtherItem

TOLD_CALLS_BYTES: Final = 12 * 1024 * 1024
"""What the tool calls of one turn take in the editor, where all that it is told stays: a thousand of them take 5 MB."""
PLACE_BYTES: Final = 300
"""Of that for each item and place, beside its text: a table of Lua."""
TOLD_TITLE_CHARS: Final = 4000
"""Of the title of a tool call in the chat: two screens of a script. The details have all of it."""


class ToldCalls:
    """Counts it since the user's last prompt."""

    def __init__(self) -> None:
        self._size = 0

    def __repr__(self) -> str:
        return f"<ToldCalls {self._size} bytes>"

    def begin(self) -> None:
        """Count from nothing how much is told of calls: the user prompts."""
        self._size = 0

    def fit(self, block: CallBlock, view: CallView) -> CallView:
        """`view`, or when the turn has no room for it, what the call is called and how many items it has."""
        if len(view.title) > TOLD_TITLE_CHARS:
            view = msgspec.structs.replace(view, title=shortened(view.title, TOLD_TITLE_CHARS))
        size = _size(view)
        if self._size + size - block.told > TOLD_CALLS_BYTES:
            view = _brief(view)
            size = _size(view)
        self._size, block.told = self._size + size - block.told, size
        return view


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
    """About how many bytes it takes in Lua."""
    entries = len(view.content) + len(view.locations)
    try:
        return len(msgspec.msgpack.encode(view)) + PLACE_BYTES * entries
    except UnicodeEncodeError:  # half a character, which the wire can carry
        return len(repr(view)) + PLACE_BYTES * entries


CALLS_BYTES: Final = 24 * 1024 * 1024
"""What the tool calls of a session keep of their texts and inputs in memory: a day has a thousand of 10 kB.

Beyond it the oldest ones keep the beginnings of their titles and places.
"""


class ToolCalls:
    """The part of a transcript that is about tool calls; `session` is the session's key."""

    def __init__(self, session: int) -> None:
        self.session = session
        self.terminals = TerminalRegistry(session)
        self.clock: Callable[[], float] = time.time
        self.on_end: Callable[[str], None] = lambda tool_call_id: None  # a call is finished
        self._blocks: list[Block] = []
        self._new_blocks = 0  # since the user's last prompt
        self._size = 0  # bytes of messages whose texts the calls keep
        self._told = ToldCalls()
        self._large: dict[int, None] = {}  # the blocks of those that keep any; ordered
        self._calls: dict[str, int] = {}
        self._turn_calls: dict[str, bool] = {}  # whether the turn made it, or only mentioned an earlier one
        self._shown_in: dict[int, dict[int, None]] = {}  # terminal -> the blocks of the calls that show it
        self._stale: dict[int, None] = {}  # the blocks of calls that changed since they were shown; ordered

    def tool_call(self, changed: ToolCallChanged) -> tuple[ToolCall, bool]:
        """News of a tool call: the call as it is now, and whether that is different; `take_stale` shows it.

        Whoever mentions an id first creates it. Some agents use their ids again in the next turn: an announcement of
        an id that the running turn has not seen is a new call, while an update may still concern one of an earlier
        turn.
        """
        number, fresh = self._call(changed.patch.tool_call_id, changed.announced)
        block = self._call_at(number)
        call, different = block.call, block.apply(changed.patch, self.clock()) or fresh
        if call.finished:
            self.on_end(call.tool_call_id)
        size = changed.patch.size
        if size is not UNSET:
            self._grow(number, size, replaced=changed.patch.content is not UNSET)
        if different:
            self._changed(number, call.content if changed.patch.content else ())
        for news in changed.terminals:
            terminal_id = news.patch.terminal_id if isinstance(news, TerminalChanged) else news.terminal_id
            if len(block.told_of) < CONTENT_ITEMS:
                block.told_of |= {terminal_id}
                self._show(number, terminal_id)
        return call, different

    def has_room(self, tool_call_id: str) -> bool:
        """Whether that call has a block, or may get one: an agent may make up any number of ids."""
        return tool_call_id in self._calls or not self.is_full

    @property
    def is_full(self) -> bool:
        """Whether the turn has as many blocks as it may."""
        return self._new_blocks >= TURN_BLOCKS

    def add_content(self, added: ToolCallContentAdded) -> None:
        """One more item of a tool call's content."""
        number, _ = self._call(added.tool_call_id, announced=False)
        call = self._call_at(number).call
        if len(call.content) < CONTENT_ITEMS:
            call.append(added.item)
            call.lacks_content |= added.is_cut
            self._grow(number, added.size)
            self._changed(number, (added.item,))
        else:
            call.content_left += 1
            self._changed(number, ())

    def terminal(self, news: TerminalNews) -> TerminalOutput | None:
        """News of a terminal, to be told if it is open; the tool calls that show it are different now."""
        terminal, told = self.terminals.take(news)
        self._stale |= self._shown_in.get(terminal.number, {})
        return told

    def work_begins(self, tool_call_id: str) -> None:
        """What was asked is answered: the time that the user took is none of the call's."""
        block = self._call_of(tool_call_id)
        if block is not None:
            block.begin(self.clock())

    def take_stale(self) -> list[events.ToolCall]:
        """The tool calls that changed since, as they are now.

        A call may change a thousand times before anybody looks. Whoever publishes an event takes these first, so that
        blocks come in order.
        """
        if not self._stale:
            return []
        stale, self._stale = self._stale, {}
        return [self._call_event(number) for number in stale]

    def find_call(self, tool_call_id: str) -> events.CallView | None:
        """A tool call as a permission request shows it, if there is one of that id."""
        number = self._calls.get(tool_call_id)
        return None if number is None else self._call_view(number, IN_REQUEST)

    def call_block(self, number: int) -> CallBlock | None:
        """The tool call at that block, if there is one."""
        block = self._blocks[number - 1] if 0 < number <= len(self._blocks) else None
        return block if isinstance(block, CallBlock) else None

    def call_details(self, number: int) -> CallDetails | None:
        """All that there is of the tool call at that block."""
        block = self.call_block(number)
        if block is None:
            return self._kept_details(number)
        return CallDetails(
            session=self.session,
            block=number,
            call=self._call_view(number, WHOLE),
            name=block.call.name,
            raw_input=pretty(block.call.raw_input),
            raw_output=pretty(block.call.raw_output),
        )

    def _kept_details(self, number: int) -> CallDetails | None:
        block = self._blocks[number - 1] if 0 < number <= len(self._blocks) else None
        for kept in block.kept if isinstance(block, KeptBlock) else ():
            if isinstance(kept, events.ToolCall):
                return CallDetails(session=self.session, block=number, call=kept.call)
        return None

    def call(self, tool_call_id: str) -> ToolCall | None:
        """A tool call as it stands, if there is one of that id."""
        number = self._calls.get(tool_call_id)
        return None if number is None else self._call_at(number).call

    def diffs(self, tool_call_id: str) -> list[Diff]:
        """What a tool call would change, or has changed, as far as it shows it."""
        number = self._calls.get(tool_call_id)
        if number is None:
            return []
        block = self._call_at(number)
        return [one for one in block.call.content if isinstance(one, Diff)] or list(block.past_diffs)

    def unfinished(self) -> list[str]:
        """The ids of the running turn's tool calls that are still open."""
        blocks = (self._blocks[self._calls[tool_call_id] - 1] for tool_call_id in self._turn_calls)
        return [block.call.tool_call_id for block in blocks if isinstance(block, CallBlock) and not block.call.finished]

    def _call(self, tool_call_id: str, announced: bool) -> tuple[int, bool]:
        """The number of a tool call's block, and whether it is a new one."""
        number = self._calls.get(tool_call_id)
        fresh = number is None or (announced and not self._turn_calls.get(tool_call_id))
        if number is None or fresh:
            number = self._calls[tool_call_id] = self._add_call(tool_call_id)
        self._turn_calls[tool_call_id] = fresh or self._turn_calls.get(tool_call_id, False)
        return number, fresh

    def _grow(self, number: int, size: int, replaced: bool = False) -> None:
        """The call at that block keeps so many bytes more, or these instead; of too much the oldest goes first."""
        block = self._call_at(number)
        before, block.size = block.size, max(block.size, size) if replaced else block.size + size
        self._size += block.size - before
        self._large.setdefault(number)
        while self._size > CALLS_BYTES:
            oldest = next(iter(self._large))
            del self._large[oldest]
            self._size -= self._call_at(oldest).size
            self._call_at(oldest).forget_texts()

    def _call_at(self, number: int) -> CallBlock:
        block = self._blocks[number - 1]
        assert isinstance(block, CallBlock)
        return block

    def _changed(self, number: int, content: Iterable[Item]) -> None:
        """The call at that block is different; `content` is what is new in it."""
        self._stale[number] = None
        for one in content:
            if isinstance(one, TerminalShown):
                self._show(number, one.terminal_id)

    def _show(self, number: int, terminal_id: str) -> None:
        """The call at that block shows a terminal."""
        terminal = self._call_at(number).terminals.setdefault(terminal_id, self.terminals.get(terminal_id))
        self._shown_in.setdefault(terminal.number, {})[number] = None

    def _call_event(self, number: int) -> events.ToolCall:
        view = self._told.fit(self._call_at(number), self._call_view(number, IN_CHAT))
        return events.ToolCall(session=self.session, block=number, call=view)

    def _call_view(self, number: int, limits: TextLimits) -> events.CallView:
        before = self._blocks[number - 2] if number > 1 else None
        return call_view(self._call_at(number), self._call_of, before, limits)

    def _call_of(self, tool_call_id: str) -> CallBlock | None:
        number = self._calls.get(tool_call_id)
        return None if number is None else self._call_at(number)

    def _add(self, block: Block) -> int:
        """Put it at the end: its number."""
        self._new_blocks += 1
        self._blocks.append(block)
        return len(self._blocks)

    def _add_call(self, tool_call_id: str) -> int:
        return self._add(CallBlock(ToolCall(tool_call_id=tool_call_id), self.clock()))
