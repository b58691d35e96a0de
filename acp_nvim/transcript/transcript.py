"""The transcript of a session: numbered blocks. Its methods return the events that show each change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import UNSET

from acp_nvim.acp.text_halves import REPLACEMENT, joined
from acp_nvim.acp.updates import MessageChunk, MessageReplaced, PlanRemoved, PlanReplaced, Role
from acp_nvim.contract import events
from acp_nvim.contract.request_events import Elicitation, ElicitationDone, ElicitationView, PermissionAuto, RuleSource
from acp_nvim.contract.review_events import FileView, Summary
from acp_nvim.errors import Severity
from acp_nvim.history.records import KeptEvent
from acp_nvim.transcript import kept_views, views
from acp_nvim.transcript.blocks import Block, CallBlock, KeptBlock, MessageBlock, QuestionBlock, QuestionNews
from acp_nvim.transcript.tool_calls import ToolCalls
from acp_nvim.transcript.truncation import WHOLE, TurnText

TURN_PLANS: Final = 100
"""Plans of one turn: agents have one, and one for each of a few subagents."""


class Transcript(ToolCalls):
    """The blocks of one session, in order; a block's number is its position, counted from 1."""

    def __init__(self, session: int) -> None:
        super().__init__(session)
        self._run: dict[Role, int] = {}  # the latest messages, between which nothing else came
        self._halves: dict[int, None] = {}  # the blocks of messages that end with half a character; ordered
        self._unmatched: list[int] = []  # those whose other half does not come any more
        self._messages: dict[tuple[Role, str], int] = {}
        self._plans: dict[str | None, int] = {}  # the blocks of this turn's plans
        self._new_plans = 0  # since the user's last prompt
        self.new_requests = 0
        """Requests and questions since the user's last prompt."""
        self._text = TurnText()
        self._last_messages: dict[Role, int] = {}
        self.told_before = 0
        """Number of blocks at the beginning that the editor has from another host."""

    def __repr__(self) -> str:
        return f"<Transcript of {self.session}: {len(self._blocks)} blocks>"

    def say(self, chunk: MessageChunk, ours: bool = False) -> events.Append | None:
        """Append to a message. Without an id, a message continues until another block is added.

        The agent's text and its thoughts may alternate. Half a character waits for its other half. `ours`: it is a
        prompt of the user, which the limit for the agent's text does not apply to.
        """
        said = views.describe(chunk.content)
        text = said if ours else self._text.take(said)
        if not text:
            return None
        count = len(self)
        number = self._message(chunk.role, chunk.message_id)
        block = self._message_block(number)
        if not ours and (block.half or not text.isascii()):
            text, block.half = joined(block.half + text)
            self._note_half(number, block)
        block.text += text.encode("utf-8", "surrogatepass")
        shown = events.Append(session=self.session, block=number, kind=chunk.role, text=text)
        return shown if text or len(self) > count else None

    def _note_half(self, number: int, block: MessageBlock) -> None:
        """Note whether a message ends with half a character."""
        if block.half:
            self._halves[number] = None
        else:
            self._halves.pop(number, None)

    def replace_message(self, replaced: MessageReplaced) -> events.Replace | None:
        """Replace the text of a message; return None if there is nothing to show."""
        if replaced.content is UNSET:
            return None
        text = views.text_of(replaced.content or ())
        known = self._messages.get((replaced.role, replaced.message_id))
        if not text and known is None:
            return None
        kept = self._text.take(text, 0 if known is None else len(self._message_block(known).text))
        if text and not kept:
            return None
        number = self._message(replaced.role, replaced.message_id)
        block = self._message_block(number)
        block.text, block.half = bytearray(kept.encode("utf-8", "surrogatepass")), ""
        self._note_half(number, block)
        return events.Replace(session=self.session, block=number, kind=replaced.role, text=kept)

    def plan(self, replaced: PlanReplaced) -> events.Plan | None:
        """Update a plan in its block, or add it; return None if the turn has `TURN_PLANS` already."""
        number = self._plans.get(replaced.plan_id)
        if number is None and (self._new_plans >= TURN_PLANS or self.is_full):
            return None
        shown = views.plan(self.session, number or len(self._blocks) + 1, replaced)
        if number is None:
            self._plans[replaced.plan_id] = self._add(shown)
            self._new_plans += 1
        else:
            self._blocks[number - 1] = shown
        return shown

    def remove_plan(self, removed: PlanRemoved) -> events.Plan | None:
        """Mark a plan as removed, in its block; return None if the turn has no such plan."""
        number = self._plans.pop(removed.plan_id, None)
        block = None if number is None else self._blocks[number - 1]
        if number is None or not isinstance(block, events.Plan):
            return None
        shown = self._blocks[number - 1] = msgspec.structs.replace(block, removed=True)
        return shown

    def notice(self, level: Severity, text: str, replaces: int = 0, is_aside: bool = False) -> events.Notice:
        """Add a notice of this plugin, or update the one at the block `replaces` if that still exists.

        `is_aside`: messages go on above it.
        """
        is_known = isinstance(self._at(replaces), events.Notice)
        number = replaces if is_known else len(self._blocks) + 1
        shown = events.Notice(session=self.session, block=number, level=level, text=text)
        if is_known:
            self._blocks[number - 1] = shown
        elif is_aside:
            super()._add(shown)
        else:
            self._add(shown)
        return shown

    def subagent(self, view: events.SubagentView, number: int) -> events.Subagent:
        """Show a child session in that block, or in a new one if it is 0; the block 0 is none: the turn has no room."""
        if number or not self.is_full:
            place = number or len(self._blocks) + 1
            shown = events.Subagent(session=self.session, block=place, subagent=view)
            if number:
                self._blocks[number - 1] = shown
            else:
                self._add(shown)
            return shown
        return events.Subagent(session=self.session, block=0, subagent=view)

    def summary(self, checkpoint_id: str, time: float, files: list[FileView]) -> Summary:
        """Add a summary of the files that a turn has changed; `time` is in seconds since 1970."""
        shown = Summary(session=self.session, block=len(self._blocks) + 1, id=checkpoint_id, time=time, files=files)
        self._add(shown)
        return shown

    def request(self, request: events.RequestView) -> events.Permission:
        """Add a permission request that waits for an answer."""
        asked = events.Permission(session=self.session, block=len(self._blocks) + 1, request=request)
        self._add_question(asked)
        return asked

    def elicitation(self, request: ElicitationView) -> Elicitation:
        """Add a question of the agent to the user."""
        asked = Elicitation(session=self.session, block=len(self._blocks) + 1, request=request)
        self._add_question(asked)
        return asked

    def _add_question(self, asked: events.Permission | Elicitation) -> None:
        self.new_requests += 1
        call = self.block_of(asked.request.tool_call_id) if isinstance(asked, events.Permission) else None
        self._add(QuestionBlock(asked, call))

    def question_news(self, news: QuestionNews) -> None:
        """Add news of a request or a question to its block."""
        block = self._blocks[news.block - 1]
        assert isinstance(block, QuestionBlock)
        block.news.append(news)
        if block.call is not None:
            block.call.begin(self.clock())  # the user's time does not count

    def answered(
        self, request: events.RequestView, option: events.Option, rule: str, source: RuleSource
    ) -> PermissionAuto:
        """Add a permission request that a rule has answered."""
        shown = PermissionAuto(
            session=self.session,
            block=len(self._blocks) + 1,
            request=request,
            option_id=option.option_id,
            name=option.name,
            kind=option.kind,
            rule=rule,
            source=source,
        )
        self._add(shown)
        return shown

    def asks(self, number: int, elicitation_id: int) -> bool:
        """Whether that block is that question: the transcript may have been replayed meanwhile."""
        block = self._at(number)
        asked = block.asked if isinstance(block, QuestionBlock) else None
        return isinstance(asked, Elicitation) and asked.request.id == elicitation_id

    def has_message(self, role: Role, message_id: str | None) -> bool:
        """Whether a message that is known, or open, goes on with what has that role and id."""
        if message_id is not None:
            return (role, message_id) in self._messages
        number = self._run.get(role)
        return number is not None and self._message_block(number).message_id is None

    def end_message(self) -> None:
        """End the open messages: the next chunk begins a new one."""
        self._give_up_halves(number for number in self._run.values() if self._message_block(number).message_id is None)
        self._run.clear()

    def end_halves(self) -> None:
        """Replace each half of a character whose other half has not come; `take_stale` returns the events."""
        self._give_up_halves(self._halves)

    def _give_up_halves(self, numbers: Iterable[int]) -> None:
        for number in [one for one in numbers if one in self._halves]:
            del self._halves[number]
            block = self._message_block(number)
            block.half = ""
            block.text += REPLACEMENT.encode()
            self._unmatched.append(number)

    def take_stale(self) -> list[events.Event]:
        """See `ToolCalls.take_stale`; the replacements of halves, too."""
        ended, self._unmatched = self._unmatched, []
        shown: list[events.Event] = [
            events.Append(session=self.session, block=number, kind=self._message_block(number).role, text=REPLACEMENT)
            for number in ended
        ]
        return shown + super().take_stale()

    def begin_turn(self, prompted: bool = True, goes_on: bool = False, background: Collection[str] = ()) -> None:
        """Begin a turn, in which ids of tool calls may be reused, and plans get new blocks.

        The open calls belong to the new turn if it `goes_on`, else only those in the `background`. The limits of a turn
        are reset only if the user has `prompted` it: an agent can begin any number of turns.
        """
        self.begin_calls(one for one in self.unfinished() if goes_on or one.tool_call_id in background)
        self._plans.clear()
        self.end_halves()
        self.end_message()
        if prompted:
            for block in self._blocks[len(self._blocks) - self._new_blocks :]:
                if isinstance(block, MessageBlock):
                    block.text = bytes(block.text)
            self._new_blocks = self._new_plans = self.new_requests = self._shown_bytes = 0
            self._has_lost = False
            self._text.begin()

    def begin_replayed_turn(self) -> None:
        """Begin a turn of a replay, which is limited as a whole, except that each of its turns may have plans."""
        self.begin_turn(prompted=False)
        self._new_plans = 0

    def begin_agent(self) -> None:
        """Forget the ids of the last agent process."""
        self.begin_turn()
        self._messages.clear()
        self._calls.clear()
        self._has_announced = False
        self.terminals.begin_agent()

    def recall(self, blocks: Iterable[Sequence[KeptEvent]]) -> None:
        """Add the stored blocks of a resumed conversation, under their old numbers."""
        for kept in kept_views.in_order(blocks):
            while len(self._blocks) + 1 < kept[0].block:
                self._add(KeptBlock(()))
            self._add(kept_views.block_of(kept))

    @property
    def is_empty(self) -> bool:
        """Whether the transcript has nothing but notices."""
        return all(isinstance(block, events.Notice) for block in self._blocks)

    def forget(self) -> None:
        """Clear the transcript, before the agent replays it."""
        self.begin_agent()
        self._blocks.clear()
        self._last_messages.clear()
        self.told_before = 0
        self._shown_in.clear()
        self._large.clear()
        self._size = 0
        self._stale.clear()
        self._unmatched.clear()

    def replay(self, after: bool = False) -> Iterator[events.Event]:
        """Yield the events that show the transcript again, or only the part `after` the blocks of another host."""
        self._stale.clear()
        self._unmatched.clear()
        yield events.Reset(session=self.session, after=after)
        for number, block in enumerate(self._blocks, 1):
            if number > self.told_before or not after:
                yield from self._replay_block(number, block)

    def __len__(self) -> int:
        return len(self._blocks)

    def has_more_than(self, blocks: int) -> bool:
        """Whether there is anything but notices and white space after the first `blocks` blocks."""
        later = (one for one in self._blocks[blocks:] if not isinstance(one, events.Notice))
        return any(not isinstance(one, MessageBlock) or (one.text and not one.text.isspace()) for one in later)

    def message(self, number: int) -> tuple[Role, bytes | bytearray] | None:
        """Return the role and the text (UTF-8, read-only) of the message at that block; None for other blocks."""
        block = self._blocks[number - 1]
        return (block.role, block.text) if isinstance(block, MessageBlock) else None

    def shown(self, number: int) -> Iterator[events.Event]:
        """Yield the events that show that block completely."""
        block = self._blocks[number - 1]
        if isinstance(block, CallBlock):
            yield events.ToolCall(session=self.session, block=number, call=self._call_view(number, WHOLE))
        elif isinstance(block, QuestionBlock) and isinstance(block.asked, Elicitation):
            done = next((one for one in block.news if isinstance(one, ElicitationDone)), None)
            words = views.elicitation_words(block.asked.request, done)
            yield events.Notice(session=self.session, block=number, level="info", text=words)
        elif isinstance(block, QuestionBlock) and isinstance(block.asked, events.Permission):
            request = msgspec.structs.replace(block.asked.request, input=[])  # as the call has it
            yield msgspec.structs.replace(block.asked, request=request)
            yield from block.news
        elif isinstance(block, events.Subagent):  # its conversation is not stored
            words = views.subagent_words(block.subagent)
            yield events.Notice(session=self.session, block=number, level="info", text=words)
        elif isinstance(block, KeptBlock):
            yield from kept_views.whole(self.session, block.kept)
        else:
            yield from self._replay_block(number, block)

    def _replay_block(self, number: int, block: Block) -> Iterator[events.Event]:
        match block:
            case MessageBlock():
                text = block.text.decode("utf-8", "surrogatepass")
                yield events.Append(session=self.session, block=number, kind=block.role, text=text)
            case CallBlock():
                yield self._call_event(number)
            case events.Plan():
                yield msgspec.structs.replace(block, over=number not in self._plans.values())
            case QuestionBlock():
                yield block.asked
                yield from block.news
            case KeptBlock():
                yield from kept_views.shown(self.session, block.kept)
            case _:
                yield block

    def _add(self, block: Block) -> int:
        self.end_message()
        return super()._add(block)

    def _message(self, role: Role, message_id: str | None) -> int:
        """Return the number of the block for a chunk, added if necessary."""
        if self.has_message(role, message_id):
            return self._run[role] if message_id is None else self._messages[role, message_id]
        last = self._last_messages.get(role)
        if self.is_full and last is not None:
            return last
        block = MessageBlock(role, message_id)
        if role in self._run or "user" in (role, *self._run):
            self.end_message()
        number = self._last_messages[role] = self._run[role] = super()._add(block)
        if message_id is not None:
            self._messages[role, message_id] = number
        return number

    def _message_block(self, number: int) -> MessageBlock:
        block = self._blocks[number - 1]
        assert isinstance(block, MessageBlock)
        return block
