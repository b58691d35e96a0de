"""Notes which blocks of a conversation are to be written, and takes them out of its transcript when it is time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from itertools import islice
from typing import Final, Literal, Protocol

from acp_nvim.history.records import About
from acp_nvim.limits import SOON_SECONDS
from acp_nvim.ui import events
from acp_nvim.ui.request_events import Elicitation, ElicitationDone, PermissionAuto
from acp_nvim.ui.review_events import Summary

LATE_SECONDS: Final = 5.0
"""Time until what is not finished is written too: so much is lost when the host is killed."""
PIECE_BYTES: Final = 512 * 1024
"""Of a message on one line: a reader holds no more of it, and looking for secrets in it takes 10 ms."""
TAKEN_BYTES: Final = 4 * 1024 * 1024
"""Text handed to the writer at once; the rest waits in the transcript, where it is anyway."""
TAKEN_BLOCKS: Final = 32
"""Blocks handed over at once: to look up what they show holds the event loop for about a millisecond."""
GROWING: Final = 64
"""Messages of which is known how much is written; agents interleave a few, others are written again as a whole."""

Speaker = Literal["user", "agent", "thought"]

_BEGIN = b"-----BEGIN "
_END = b"-----END "

_WORKING = frozenset({"pending", "in_progress"})


class Source(Protocol):
    """What a recorder reads blocks from when it writes them: a transcript, by the numbers of its blocks."""

    def message(self, number: int) -> tuple[Speaker, bytearray] | None:
        """Who says the message of that block, and its text as UTF-8; None when it is none."""

    def shown(self, number: int) -> Iterable[events.Event]:
        """The events that show that block, all of it."""


class Recorder:
    """Decides what of a session is written, and when; nothing before somebody has said something."""

    def __init__(self, key: int, agent: str, cwd: str, source: Source) -> None:
        self.key, self.agent, self.cwd = key, agent, cwd
        self.started = time.time()
        self._source = source
        self._due: dict[int, float] = {}  # block -> when it is to be written
        self._open: int | None = None  # the message that goes on
        self._growing: dict[int, int] = {}  # message -> bytes that are written
        self._about = self._told_about = About()
        self._speaks = False
        self._frozen: list[events.Event | About] = []

    def __repr__(self) -> str:
        return f"<Recorder of {self.key}: {len(self._due)} due>"

    def knows(self, about: About, copied: int) -> None:
        """Go on with a session of which `about` was known; write its first `copied` blocks again."""
        self._about = about
        if not copied:
            self._told_about = about
        for block in range(1, copied + 1):
            self._note(block, SOON_SECONDS)

    def on_event(self, event: events.Event) -> None:
        """Note which block an event is about; it is written after `SOON_SECONDS`, or later while it still changes."""
        match event:
            case events.Append(block=block) | events.Replace(block=block):
                self._text(event, block)
            case events.ToolCall(block=block, call=call):
                self._note(block, LATE_SECONDS if call.status in _WORKING else SOON_SECONDS)
            case events.Plan(block=block):
                self._note(block, LATE_SECONDS)
            case (
                events.Notice(block=block)
                | events.Permission(block=block)
                | events.PermissionDone(block=block)
                | PermissionAuto(block=block)
                | Summary(block=block)
                | Elicitation(block=block)
                | ElicitationDone(block=block)
            ):
                self._note(block, SOON_SECONDS)
            case events.TurnEnd():
                self.finish()
            case events.Status(status=status):
                self._about = About(session_id=status.session_id or self._about.session_id, title=status.title)

    @property
    def is_due(self) -> bool:
        """Whether anything is to be written, sooner or later."""
        return bool(self._frozen) or (self._speaks and (bool(self._due) or self._about != self._told_about))

    @property
    def about(self) -> About:
        """What is known of the session by now."""
        return self._about

    def freeze(self) -> None:
        """The source is about to say something else: what it said is taken out of it now."""
        self.finish()
        taken = []
        while batch := self.take(math.inf):
            taken += batch
        self._frozen = taken

    def take(self, now: float) -> list[events.Event | About]:
        """What is to be written by now, in order; bounded: what is left is still due."""
        taken, self._frozen = self._frozen, []
        if taken or not self._speaks:
            return taken
        if self._about != self._told_about:
            self._told_about = self._about
            taken.append(self._about)
        room = TAKEN_BYTES
        for block in list(islice((block for block, due in self._due.items() if due <= now), TAKEN_BLOCKS)):
            if room <= 0:
                break
            message = self._source.message(block)
            if message is None:
                self._due.pop(block)
                taken += self._source.shown(block)
            else:
                room -= self._take_text(block, *message, room, taken)
        return taken

    def _text(self, event: events.Append | events.Replace, block: int) -> None:
        self._speaks = self._speaks or event.kind != "thought"
        if isinstance(event, events.Replace):
            self._growing.pop(block, None)
            self._note(block, SOON_SECONDS)
        if block != self._open:
            self._finish_message()
            self._open = block
            self._note(block, LATE_SECONDS)
        elif block not in self._due:
            self._note(block, LATE_SECONDS)

    def _note(self, block: int, seconds: float) -> None:
        due = time.monotonic() + seconds
        self._due[block] = min(due, self._due.get(block, due))
        if block != self._open and self._open is not None and seconds == SOON_SECONDS:
            self._finish_message()

    def _finish_message(self) -> None:
        """The message that went on until now is whole."""
        block, self._open = self._open, None
        if block is not None and block in self._due:
            self._note(block, SOON_SECONDS)

    def finish(self) -> None:
        """All that is to be written is as it will be."""
        self._open = None
        for block in self._due:
            self._note(block, SOON_SECONDS)

    def _take_text(
        self, block: int, kind: Speaker, text: bytearray, room: int, taken: list[events.Event | About]
    ) -> int:
        """The rest of a message in pieces; of one that goes on as much as can be cut off without cutting a secret."""
        done = self._growing.pop(block, None)
        at = done or 0
        fresh = done is None
        if fresh and not text:
            taken.append(events.Replace(session=self.key, block=block, kind=kind, text=""))
        while at < len(text) and at - (done or 0) < room:
            piece = bytes(text[at : at + PIECE_BYTES])
            if at + len(piece) < len(text) or block == self._open:
                piece = piece[: _cut(piece, forced=len(piece) == PIECE_BYTES)]
            if not piece:
                break
            at += len(piece)
            said = piece.decode("utf-8", "surrogatepass")
            made = events.Replace if fresh else events.Append
            taken.append(made(session=self.key, block=block, kind=kind, text=said))
            fresh = False
        if at >= len(text) or block == self._open:
            del self._due[block]
        if block == self._open and at < len(text):
            self._note(block, LATE_SECONDS)
        if at:
            self._growing[block] = at
            if len(self._growing) > GROWING:
                del self._growing[next(iter(self._growing))]
        return at - (done or 0)


def _cut(piece: bytes, forced: bool) -> int:
    """Where a part of a text may end: at a line, and not inside a private key. `forced`: somewhere, in any case."""
    end = piece.rfind(b"\n") + 1
    begin = piece.rfind(_BEGIN, 0, end)
    if begin >= 0 and piece.find(_END, begin, end) < 0:
        end = piece.rfind(b"\n", 0, begin) + 1
    return end or (_whole_characters(piece) if forced else 0)


def _whole_characters(piece: bytes) -> int:
    """Where the last whole character of UTF-8 ends."""
    lead = len(piece) - 1
    while lead > 0 and piece[lead] & 0xC0 == 0x80:
        lead -= 1
    size = 1 if piece[lead] < 0x80 else 2 if piece[lead] < 0xE0 else 3 if piece[lead] < 0xF0 else 4
    return lead + size if lead + size <= len(piece) else lead
