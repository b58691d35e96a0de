"""Gathers events into batches: pieces of one message are one append, many states of one thing are its last.

Each session has a queue of its own, so that what waits for one never delays the events of another.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from itertools import count
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec

from acp_nvim.limits import BATCH_BYTES
from acp_nvim.ui import events
from acp_nvim.ui.events import Config, Event, TerminalOutput
from acp_nvim.ui.terminal_streams import TerminalStreams

LEAST_SHARE_BYTES: Final = 2 * 1024
"""Of a text that is in a batch while other sessions wait, too: some lines, so that a batch has few pieces of it."""
EVENT_BYTES: Final = 2 * 1024
"""What an event other than text counts in a batch beside its size: drawing one costs Lua as much as 2 kB of text."""

Key = tuple[object, ...]
_TEXT = (events.Append, events.Replace)
_OF_BLOCKS: dict[type, type] = {
    events.Append: events.Append,
    events.Replace: events.Append,
    events.ToolCall: events.ToolCall,
    events.Plan: events.Plan,
}
"""Events that are joined with those of the same group and block."""
_GROUPS = frozenset(_OF_BLOCKS.values())
_STATES = frozenset({events.Status, events.Location, events.FilesMaybeChanged, events.Commands, Config})
"""Events of which a session's last one counts."""


class Mark(NamedTuple):
    """The events of a session up to the one of that number."""

    session: int
    number: int


class Batches:
    """What waits for the editor, coalesced as it comes in.

    The events of one session keep their order, and so do those of no session. Which of them are in the next batch is
    decided by start-time fair queueing: of the queues that wait, the one that had the fewest bytes is next.
    `on_lost` is told of an event (of that session) which cannot be made what the editor gets; the others go on.
    """

    def __init__(self) -> None:
        self.on_lost: Callable[[int | None, Exception], None] = lambda session, error: None
        self._queues: dict[int | None, _Queue] = {}
        self._numbers = count()
        self._clock = 0
        """How many bytes each queue had that waited all the time; one that begins to wait begins there."""
        self._open: dict[Key, _Entry] = {}
        self._terminals = TerminalStreams()
        self._starting: set[int] = set()
        self.retold = False
        """What waits is a conversation, or a part of one, that is told again as it was: all of it is wanted soon."""

    def __repr__(self) -> str:
        return f"<Batches {sum(len(queue.entries) for queue in self._queues.values())} waiting>"

    def __bool__(self) -> bool:
        return bool(self._queues or self._terminals)

    def mark(self, session: int) -> Mark:
        """What waits for that session now: nothing that is added later goes before it, or into it."""
        queue = self._queues.get(session)
        if queue is None:
            return Mark(session, -1)
        for entry in queue.entries.values():
            key = _key(entry.event)
            if key is not None and isinstance(entry.event, _TEXT) and self._open.get(key) is entry:
                del self._open[key]
        return Mark(session, next(reversed(queue.entries)))

    def waits(self, mark: Mark) -> bool:
        """Whether some event up to `mark` still waits to be sent."""
        queue = self._queues.get(mark.session)
        return queue is not None and next(iter(queue.entries)) <= mark.number

    @property
    def backlog(self) -> bool:
        """More waits than the last batch could take, beside the output of terminals, which has its own measure."""
        return bool(self._queues)

    def add(self, event: Event) -> None:
        """Let it wait.

        A block's event joins the one that waits for the same block, which keeps its place. An event that says how
        things stand now takes the place of its predecessor, but goes to the end: whoever reads the status `idle` has
        the text before it.
        """
        if isinstance(event, TerminalOutput):
            self._terminals.add(event)
            return
        if isinstance(event, events.Reset):
            self._open.clear()
            self.retold = True
        elif isinstance(event, events.Status):
            self._note(event)
        key = _key(event)
        if self._starting and key is not None and key[0] in _GROUPS and key[1] in self._starting:
            self.retold = True
        waiting = None if key is None else self._open.get(key)
        if waiting is not None:
            if waiting.join(event):
                return
            self._drop(waiting)
        entry = _Entry(event, next(self._numbers))
        queue = self._queues.get(entry.session)
        if queue is None:
            queue = self._queues[entry.session] = _Queue(self._clock)
        queue.entries[entry.number] = entry
        if key is not None:
            self._open[key] = entry

    def take(self, limit: int = BATCH_BYTES) -> list[dict[str, object]]:
        """The next batch, of about `limit` bytes: at least one event, a long text cut in pieces; and of terminals.

        What is in it is in the order in which it was added.
        """
        batch: list[tuple[int, dict[str, object]]] = []
        room = limit
        while self._queues and room > 0:
            queue = min(self._queues.values(), key=_had)
            share = min(room, max(room // len(self._queues), LEAST_SHARE_BYTES))
            entry = next(iter(queue.entries.values()))
            try:
                payload, size = entry.take(share)
                batch.append((entry.number, payload))
                room -= size
                self._clock = queue.had
                queue.had += size
            except Exception as error:
                entry.alive = False
                self.on_lost(getattr(entry.event, "session", None), error)
            if not entry.alive:
                self._drop(entry)
        if not self._queues:
            self.retold = False
        batch.sort(key=itemgetter(0))  # texts of which two pieces are in it stay as they are
        return [payload for _, payload in batch] + self._take_of_terminals()

    def _take_of_terminals(self) -> list[dict[str, object]]:
        try:
            return self._terminals.take()
        except Exception as error:
            self._terminals = TerminalStreams()
            self.on_lost(None, error)
            return []

    def _note(self, status: events.Status) -> None:
        """An agent that speaks before its session has started tells what was said in it before (`session/load`)."""
        if status.status.state == "starting":
            self._starting.add(status.session)
        else:
            self._starting.discard(status.session)

    def _drop(self, entry: _Entry) -> None:
        """Remove the entry from its queue."""
        entries = self._queues[entry.session].entries
        del entries[entry.number]
        if not entries:
            del self._queues[entry.session]
        key = _key(entry.event)
        if key is not None and self._open.get(key) is entry:
            del self._open[key]


class _Queue:
    """The events of one session that wait, by their numbers; `had`: bytes, on the clock of all queues."""

    def __init__(self, had: int) -> None:
        self.entries: OrderedDict[int, _Entry] = OrderedDict()
        self.had = had


class _Entry:
    """A waiting event; an append gathers the texts that belong to it. Dead when sent, or overtaken."""

    def __init__(self, event: Event, number: int) -> None:
        self.event = event
        self.number = number
        self.session: int | None = getattr(event, "session", None)
        self.texts: deque[str] = deque()
        self.alive = True
        if isinstance(event, _TEXT):
            self._begin_text(event)

    def join(self, event: Event) -> bool:
        """Take in a later event of the same key; False when that must wait by itself."""
        match event:
            case events.Append():
                self.texts.extend(_pieces(event.text))
            case events.Replace():
                self._begin_text(event)
            case events.ToolCall() | events.Plan() | events.Notice():
                self.event = event
            case _:
                self.alive = False
        return self.alive

    def take(self, room: int) -> tuple[dict[str, object], int]:
        """The event as Lua gets it, and about how many bytes that is."""
        payload: dict[str, object] = msgspec.to_builtins(self.event)
        if isinstance(self.event, _TEXT):
            text = self._take_text(room)
            self.alive = bool(self.texts)
            self.event = _rest(self.event)
            return {**payload, "text": text}, 16 + _size(text)
        self.alive = False
        return payload, EVENT_BYTES + _size(self.event)

    def _begin_text(self, event: events.Append | events.Replace) -> None:
        """The text waits in `texts` alone: a long one is not to be kept twice."""
        self.texts = deque(_pieces(event.text))
        self.event = msgspec.structs.replace(event, text="")

    def _take_text(self, room: int) -> str:
        taken: list[str] = []
        while self.texts and room > 0:
            piece = self.texts.popleft()
            size = _size(piece)
            if size > room:
                characters = max(1, len(piece) * room // size)
                self.texts.appendleft(piece[characters:])
                piece = piece[:characters]
            taken.append(piece)
            room -= _size(piece)
        return "".join(taken)


def _rest(event: events.Append | events.Replace) -> events.Append:
    """What the rest of a text is, when the beginning was sent."""
    return events.Append(session=event.session, block=event.block, kind=event.kind, text="")


def _pieces(text: str) -> list[str]:
    """`text`, cut once where it is long: cutting off a bit for each batch would take time with its square."""
    if len(text) <= BATCH_BYTES:
        return [text]
    return [text[start : start + BATCH_BYTES] for start in range(0, len(text), BATCH_BYTES)]


def _had(queue: _Queue) -> int:
    return queue.had


def _key(event: Any) -> Key | None:
    """Equal for events that are joined while they wait."""
    kind = type(event)
    group = _OF_BLOCKS.get(kind)
    if group is not None:
        return (group, event.session, event.block)
    if kind is events.Notice:
        return (kind, event.session, event.block)
    return (kind, event.session) if kind in _STATES else None


def _size(value: str | Event) -> int:
    """About how many bytes it is."""
    if isinstance(value, str):
        return len(value) if value.isascii() else 3 * len(value)
    try:
        return len(msgspec.msgpack.encode(value))
    except UnicodeEncodeError:  # half a character, which the wire can carry
        return len(repr(value))
