"""Coalesces events into batches: appended texts are joined, and only the last of several states is sent.

Each session has its own queue, so that the backlog of one does not delay the events of another.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from itertools import count
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

import msgspec

from acp_nvim.contract import events
from acp_nvim.contract.events import Config, Event, TerminalOutput
from acp_nvim.limits import BATCH_BYTES
from acp_nvim.neovim.terminal_streams import TerminalStreams

LEAST_SHARE_BYTES: Final = 2 * 1024
"""Smallest piece of a text in a batch while other sessions wait: some lines, so that a text is cut into few pieces."""
EVENT_BYTES: Final = 1024
"""Added to the size of an event other than text: drawing one takes Lua about as long as 1 kB of text."""

Key = tuple[object, ...]
_TEXT = (events.Append, events.Replace)
_OF_BLOCKS: dict[type, type] = {
    events.Append: events.Append,
    events.Replace: events.Append,
    events.ToolCall: events.ToolCall,
    events.Plan: events.Plan,
}
"""Events that are coalesced with those of the same group and block, and their groups."""
_STATES = frozenset({events.Status, events.Location, events.FilesMaybeChanged, events.Commands, Config})
"""Events of which only a session's last one is sent."""


class Mark(NamedTuple):
    """The events of a session up to the one with that number."""

    session: int
    number: int


class Batches:
    """The events that wait for the editor, coalesced as they are added.

    The events of one session keep their order, and so do those of no session. The next batch is filled by start-time
    fair queueing: the queue that was served the fewest bytes is next. The events of a child session wait until the
    event of its parent that announces it is sent: the editor would not know whose they are. `on_lost` is called with
    the session and the exception of an event that cannot be encoded.
    """

    def __init__(self) -> None:
        self.on_lost: Callable[[int | None, Exception], None] = lambda session, error: None
        self._queues: dict[int | None, _Queue] = {}
        self._numbers = count()
        self._clock = 0
        """How many bytes a queue was served that never was empty; a new queue starts there."""
        self._open: dict[Key, _Entry] = {}
        self._unannounced: dict[int, _Entry] = {}
        """What announces each child session that the editor does not know yet."""
        self._announced: set[int] = set()
        self._terminals = TerminalStreams()

    def __repr__(self) -> str:
        return f"<Batches {sum(len(queue.entries) for queue in self._queues.values())} waiting>"

    def __bool__(self) -> bool:
        return bool(self._queues or self._terminals)

    def mark(self, session: int) -> Mark:
        """Mark the waiting events of a session (its key): later ones are neither joined with them nor sent before."""
        queue = self._queues.get(session)
        if queue is None:
            return Mark(session, -1)
        for entry in queue.entries.values():
            if entry.is_text and entry.key is not None and self._open.get(entry.key) is entry:
                del self._open[entry.key]
        return Mark(session, next(reversed(queue.entries)))

    def waits(self, mark: Mark) -> bool:
        """Return whether an event up to `mark` still waits to be sent."""
        queue = self._queues.get(mark.session)
        return queue is not None and next(iter(queue.entries)) <= mark.number

    @property
    def backlog(self) -> bool:
        """Whether events were left over by the last batch; terminal output, which has its own limit, does not count."""
        return bool(self._queues)

    def add(self, event: Event) -> None:
        """Queue an event.

        An event of a block is joined with one that waits for the same block, which keeps its place. A state replaces
        its predecessor, but at the end of the queue: the status `idle` must come after the text before it.
        """
        if isinstance(event, TerminalOutput):
            self._terminals.add(event)
            return
        if isinstance(event, events.Reset):
            self._open.clear()
        key = _key(event)
        waiting = None if key is None else self._open.get(key)
        if waiting is not None:
            if waiting.join(event):
                return
            self._drop(waiting)
        entry = _Entry(event, key, next(self._numbers))
        queue = self._queues.get(entry.session)
        if queue is None:
            queue = self._queues[entry.session] = _Queue(self._clock)
        queue.entries[entry.number] = entry
        if key is not None:
            self._open[key] = entry
        if isinstance(event, events.Subagent) and event.subagent.session not in self._announced:
            self._unannounced.setdefault(event.subagent.session, entry)
        elif isinstance(event, events.SubagentForgotten):
            self._unannounced.pop(event.subagent, None)
            self._announced.discard(event.subagent)

    def take(self, limit: int = BATCH_BYTES) -> list[dict[str, object]]:
        """Return the next batch, of about `limit` bytes: at least one event, and output of terminals.

        Long texts are cut into pieces. The events are in the order in which they were added.
        """
        batch: list[tuple[int, dict[str, object]]] = []
        room = limit
        while self._queues and room > 0:
            queue = min(self._known(), key=attrgetter("had"))
            share = min(room, max(room // len(self._queues), LEAST_SHARE_BYTES))
            entry = next(iter(queue.entries.values()))
            try:
                payload, size = entry.take(share)
                batch.append((entry.number, payload))
                room -= size
                self._clock = max(self._clock, queue.had)  # a queue that had to wait has saved nothing up
                queue.had = self._clock + size
            except Exception as error:
                entry.alive = False
                self.on_lost(getattr(entry.event, "session", None), error)
            if not entry.alive:
                self._drop(entry)
        batch.sort(key=itemgetter(0))  # stable: pieces of one text keep their order
        payloads = [payload for _, payload in batch]
        try:
            payloads += self._terminals.take()
        except Exception as error:
            self._terminals = TerminalStreams()
            self.on_lost(None, error)
        return payloads

    def _known(self) -> Iterable[_Queue]:
        """Return the queues of the sessions that the editor has been told of; only child sessions are announced."""
        if not self._unannounced:
            return self._queues.values()
        return [queue for session, queue in self._queues.items() if session not in self._unannounced]

    def _drop(self, entry: _Entry) -> None:
        entries = self._queues[entry.session].entries
        del entries[entry.number]
        if not entries:
            del self._queues[entry.session]
        if entry.key is not None and self._open.get(entry.key) is entry:
            del self._open[entry.key]
        child = entry.event.subagent.session if isinstance(entry.event, events.Subagent) else None
        if child is not None and self._unannounced.get(child) is entry:
            del self._unannounced[child]
            self._announced.add(child)


class _Queue:
    """The waiting events of one session by number; `had`: bytes served, on the clock of all queues."""

    def __init__(self, had: int) -> None:
        self.entries: OrderedDict[int, _Entry] = OrderedDict()
        self.had = had


class _Entry:
    """A waiting event; an append collects the texts joined with it. Not `alive` when sent or replaced."""

    def __init__(self, event: Event, key: Key | None, number: int) -> None:
        self.event = event
        self.key = key
        self.number = number
        self.session: int | None = getattr(event, "session", None)
        self.is_text = isinstance(event, _TEXT)
        self.texts: deque[str] = deque()
        self.alive = True
        if isinstance(event, _TEXT):
            self._begin_text(event)

    def join(self, event: Event) -> bool:
        """Join a later event of the same key; return False if it needs an entry of its own."""
        match event:
            case events.Append():
                self.texts.extend(_pieces(event.text))
            case events.Replace():
                self._begin_text(event)
            case events.ToolCall() | events.Plan() | events.Subagent() | events.Notice():
                self.event = event
            case _:
                self.alive = False
        return self.alive

    def take(self, room: int) -> tuple[dict[str, object], int]:
        """Return the event as Lua gets it, with about `room` bytes of its text, and its approximate size."""
        event = self.event
        payload: dict[str, object] = msgspec.to_builtins(event)
        if isinstance(event, _TEXT):
            text = self._take_text(room)
            self.alive = bool(self.texts)
            self.event = events.Append(session=event.session, block=event.block, kind=event.kind, text="")
            return {**payload, "text": text}, 16 + _size(text)
        self.alive = False
        return payload, EVENT_BYTES + _size(event)

    def _begin_text(self, event: events.Append | events.Replace) -> None:
        """Move the text of an event into `texts`, so that a long one is not stored twice."""
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


def _pieces(text: str) -> list[str]:
    """Cut a long text at once: to cut off a piece for each batch would take quadratic time."""
    if len(text) <= BATCH_BYTES:
        return [text]
    return [text[start : start + BATCH_BYTES] for start in range(0, len(text), BATCH_BYTES)]


def _key(event: Any) -> Key | None:
    """Return a key that is equal for events which are coalesced; None for an event that never is."""
    kind = type(event)
    group = _OF_BLOCKS.get(kind)
    if group is not None:
        return (group, event.session, event.block)
    if kind is events.Notice:
        return (kind, event.session, event.block)
    if kind is events.Subagent:
        return (kind, event.session, event.subagent.session)
    return (kind, event.session) if kind in _STATES else None


def _size(value: str | Event) -> int:
    """Return the approximate size in bytes."""
    if isinstance(value, str):
        return len(value) if value.isascii() else 3 * len(value)
    try:
        return len(msgspec.msgpack.encode(value))
    except UnicodeEncodeError:  # a lone surrogate
        return len(repr(value))
