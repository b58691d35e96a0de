"""Gathers events into batches: pieces of one message are one append, many states of one thing are its last."""

from __future__ import annotations

from collections import deque

import msgspec

from acp_nvim import events
from acp_nvim.events import Event
from acp_nvim.limits.batches import BATCH_BYTES, EVENT_BYTES
from acp_nvim.nvim.terminal_streams import TerminalStreams
from acp_nvim.terminal_events import TerminalOutput

Key = tuple[object, ...]
_TEXT = (events.Append, events.Replace)


class Batches:
    """What waits for the editor, in order, coalesced as it comes in."""

    def __init__(self) -> None:
        self._waiting: deque[_Entry] = deque()
        self._open: dict[Key, _Entry] = {}
        self._terminals = TerminalStreams()

    def __repr__(self) -> str:
        return f"<Batches {len(self._waiting)} waiting>"

    def __bool__(self) -> bool:
        return bool(self._waiting or self._terminals)

    @property
    def backlog(self) -> bool:
        """More waits than the last batch could take, beside the output of terminals, which has its own measure."""
        return bool(self._waiting)

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
        key = _key(event)
        waiting = None if key is None else self._open.get(key)
        if waiting is not None and waiting.join(event):
            return
        entry = _Entry(event)
        self._waiting.append(entry)
        if key is not None:
            self._open[key] = entry

    def take(self, limit: int = BATCH_BYTES) -> list[dict[str, object]]:
        """The next batch, of about `limit` bytes: at least one event, a long text cut in pieces; and of terminals."""
        batch: list[dict[str, object]] = []
        room = limit
        while self._waiting and room > 0:
            entry = self._waiting[0]
            if entry.alive:
                payload, size = entry.take(room)
                batch.append(payload)
                room -= size
            if not entry.alive:
                self._waiting.popleft()
                self._close(entry)
        return batch + self._terminals.take()

    def _close(self, entry: _Entry) -> None:
        key = _key(entry.event)
        if key is not None and self._open.get(key) is entry:
            del self._open[key]


class _Entry:
    """A waiting event; an append gathers the texts that belong to it. Dead when sent, or overtaken."""

    def __init__(self, event: Event) -> None:
        self.event = event
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
            case events.ToolCall() | events.Plan():
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
            if _size(piece) > room:
                characters = max(1, room if piece.isascii() else room // 3)
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


def _key(event: Event) -> Key | None:
    """Equal for events that are joined while they wait."""
    match event:
        case events.Append() | events.Replace():
            return (events.Append, event.session, event.block)
        case events.ToolCall() | events.Plan():
            return (type(event), event.session, event.block)
        case events.Status() | events.Location() | events.FilesMaybeChanged() | events.Commands():
            return (type(event), event.session)
        case _:
            return None


def _size(value: str | Event) -> int:
    """About how many bytes it is."""
    if isinstance(value, str):
        return len(value) if value.isascii() else 3 * len(value)
    try:
        return len(msgspec.msgpack.encode(value))
    except UnicodeEncodeError:  # half a character, which the wire can carry
        return len(repr(value))
