"""What was said and done in a session, as numbered blocks; changing it yields the events that show the change."""

from __future__ import annotations

from collections.abc import Iterator

from acp_nvim import events
from acp_nvim.errors import Severity
from acp_nvim.protocol import content
from acp_nvim.protocol.tool_call import ToolCall
from acp_nvim.protocol.updates import MessageChunk, PlanReplaced, Role, ToolCallChanged
from acp_nvim.session import views


class MessageBlock:
    """A message; its text is kept as UTF-8, which takes a third of what a list of small strings takes."""

    def __init__(self, role: Role, message_id: str | None) -> None:
        self.role: Role = role
        self.message_id = message_id
        self.text = bytearray()


class CallBlock:
    """A tool call."""

    def __init__(self, call: ToolCall) -> None:
        self.call = call


class PlanBlock:
    """The plan of one turn."""

    def __init__(self) -> None:
        self.steps: list[events.PlanStep] = []


class NoticeBlock:
    """A line of ours."""

    def __init__(self, level: Severity, text: str) -> None:
        self.level: Severity = level
        self.text = text


class RequestBlock:
    """A permission request and what became of it."""

    def __init__(self, request: events.RequestView) -> None:
        self.request = request
        self.done: events.PermissionDone | None = None


Block = MessageBlock | CallBlock | PlanBlock | NoticeBlock | RequestBlock


class Transcript:
    """The blocks of one session, in order; a block's number is its place, counted from 1."""

    def __init__(self, session: int) -> None:
        self.session = session
        self._blocks: list[Block] = []
        self._open_message: int | None = None
        self._messages: dict[tuple[Role, str], int] = {}
        self._calls: dict[str, int] = {}
        self._turn_calls: dict[str, bool] = {}  # whether the turn made it, or only mentioned an earlier one
        self._plan: int | None = None

    def __repr__(self) -> str:
        return f"<Transcript of {self.session}: {len(self._blocks)} blocks>"

    def say(self, chunk: MessageChunk) -> events.Append | None:
        """More of a message. Without ids a message goes on until something else comes."""
        text = chunk.content.text if isinstance(chunk.content, content.Text) else content.describe(chunk.content)
        if not text:
            return None
        number = self._message(chunk.role, chunk.message_id)
        block = self._blocks[number - 1]
        assert isinstance(block, MessageBlock)
        block.text += text.encode("utf-8", "surrogatepass")
        return events.Append(session=self.session, block=number, kind=chunk.role, text=text)

    def tool_call(self, changed: ToolCallChanged) -> tuple[ToolCall, events.ToolCall | None]:
        """News of a tool call: the call as it is now, and the event unless nothing changed.

        Whoever mentions an id first creates it. Some agents use their ids again in the next turn: an announcement of
        an id that the running turn has not seen is a new call, while an update may still concern one of an earlier
        turn.
        """
        tool_call_id = changed.patch.tool_call_id
        number = self._calls.get(tool_call_id)
        fresh = number is None or (changed.announced and not self._turn_calls.get(tool_call_id))
        if number is None or fresh:
            number = self._calls[tool_call_id] = self._add(CallBlock(ToolCall(tool_call_id=tool_call_id)))
        self._turn_calls[tool_call_id] = fresh or self._turn_calls.get(tool_call_id, False)
        block = self._blocks[number - 1]
        assert isinstance(block, CallBlock)
        different = block.call.apply(changed.patch)
        return block.call, self._call_event(number, block.call) if different or fresh else None

    def plan(self, replaced: PlanReplaced) -> events.Plan:
        """The plan as it is now; a turn has one, which stays where it first appeared."""
        if self._plan is None:
            self._plan = self._add(PlanBlock())
        block = self._blocks[self._plan - 1]
        assert isinstance(block, PlanBlock)
        block.steps = views.steps(replaced)
        return events.Plan(session=self.session, block=self._plan, entries=block.steps)

    def notice(self, level: Severity, text: str) -> events.Notice:
        """A line of ours."""
        return events.Notice(session=self.session, block=self._add(NoticeBlock(level, text)), level=level, text=text)

    def request(self, request: events.RequestView) -> events.Permission:
        """A permission request."""
        number = self._add(RequestBlock(request))
        return events.Permission(session=self.session, block=number, request=request)

    def request_done(self, done: events.PermissionDone) -> events.PermissionDone:
        """What became of a permission request."""
        block = self._blocks[done.block - 1]
        assert isinstance(block, RequestBlock)
        block.done = done
        return done

    def unfinished(self) -> list[str]:
        """The ids of the running turn's tool calls that are still open."""
        blocks = (self._blocks[self._calls[tool_call_id] - 1] for tool_call_id in self._turn_calls)
        return [block.call.tool_call_id for block in blocks if isinstance(block, CallBlock) and not block.call.finished]

    def end_message(self) -> None:
        """What is said next is a new message."""
        self._open_message = None

    def begin_turn(self) -> None:
        """Ids of tool calls may be used again, and a new plan is a new block."""
        self._turn_calls.clear()
        self._plan = None
        self._open_message = None

    def begin_agent(self) -> None:
        """The ids of the process that was there before mean nothing to a new one."""
        self.begin_turn()
        self._messages.clear()
        self._calls.clear()

    def replay(self) -> Iterator[events.Event]:
        """The events that show the whole of it again."""
        yield events.Reset(session=self.session)
        for number, block in enumerate(self._blocks, 1):
            yield from self._replay_block(number, block)

    def _replay_block(self, number: int, block: Block) -> Iterator[events.Event]:
        match block:
            case MessageBlock():
                text = block.text.decode("utf-8", "surrogatepass")
                yield events.Append(session=self.session, block=number, kind=block.role, text=text)
            case CallBlock():
                yield self._call_event(number, block.call)
            case PlanBlock():
                yield events.Plan(session=self.session, block=number, entries=block.steps)
            case NoticeBlock():
                yield events.Notice(session=self.session, block=number, level=block.level, text=block.text)
            case RequestBlock():
                yield events.Permission(session=self.session, block=number, request=block.request)
                if block.done is not None:
                    yield block.done

    def _add(self, block: Block) -> int:
        self._blocks.append(block)
        self._open_message = None
        return len(self._blocks)

    def _message(self, role: Role, message_id: str | None) -> int:
        """The number of the message block that a chunk belongs to."""
        if message_id is not None:
            known = self._messages.get((role, message_id))
            if known is not None:
                return known
        elif self._open_message is not None:
            block = self._blocks[self._open_message - 1]
            if isinstance(block, MessageBlock) and block.role == role and block.message_id is None:
                return self._open_message
        number = self._add(MessageBlock(role, message_id))
        self._open_message = number
        if message_id is not None:
            self._messages[role, message_id] = number
        return number

    def _call_event(self, number: int, call: ToolCall) -> events.ToolCall:
        return events.ToolCall(session=self.session, block=number, call=views.call_view(call))
