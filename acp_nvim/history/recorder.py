"""Tracks which blocks of a conversation are due to be written, and takes them from its transcript."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from itertools import islice
from typing import Final, Literal, Protocol

import msgspec

from acp_nvim.contract import events
from acp_nvim.contract.request_events import Elicitation, ElicitationDone, PermissionAuto
from acp_nvim.contract.review_events import Summary
from acp_nvim.history.files import TranscriptFile
from acp_nvim.history.records import WORKING, About, Recalled
from acp_nvim.limits import SOON_SECONDS
from acp_nvim.traffic.masking import Masker
from acp_nvim.traffic.pieces import Pieces

LATE_SECONDS: Final = 5.0
"""Delay until an unfinished block is written: the most that is lost when the host is killed."""
PIECE_BYTES: Final = 512 * 1024
"""Of a message in one line: a reader holds no more of it, and masking secrets in it takes 10 ms."""
TAKEN_BYTES: Final = 4 * 1024 * 1024
"""Text passed to the writer at once; the rest waits in the transcript, which has it anyway."""
MAX_TAKEN_BLOCKS: Final = 32
"""Blocks passed at once: rendering them holds up the event loop for about a millisecond."""
MAX_GROWING: Final = 64
"""Messages whose written length is remembered; agents interleave a few, others are written again as a whole."""

Speaker = Literal["user", "agent", "thought"]


class Source(Protocol):
    """The transcript from which a recorder reads blocks by number."""

    def message(self, number: int) -> tuple[Speaker, bytes | bytearray] | None:
        """Return the speaker and the text (UTF-8) of a message; None if the block is none."""

    def shown(self, number: int) -> Iterable[events.Event]:
        """Return the events that show the whole block."""


class Recorder:
    """Decides what of a session is written, and when, from its first message on; `before` recorded it until then."""

    def __init__(self, key: int, agent: str, cwd: str, source: Source, before: Recorder | None = None) -> None:
        self.key, self.agent, self.cwd = key, agent, cwd
        self.before = before
        self.file: TranscriptFile | None = None
        self.is_over = False
        self.started = time.time()
        self._source = source
        self._due: dict[int, float] = {}  # block -> when it is due
        self._open: dict[Speaker, int] = {}  # the messages that are growing: text and thoughts may alternate
        self._growing: dict[int, int] = {}  # message -> bytes written so far
        self._pieces: dict[int, Pieces] = {}  # message -> what its next piece goes on with
        self._complete: dict[int, events.Event | About] = {}  # message -> its last piece, of what was taken
        self._about = self._written_about = About()
        self._has_messages = False
        self._frozen: list[events.Event | About] = []

    def __repr__(self) -> str:
        return f"<Recorder of {self.key}: {len(self._due)} due>"

    def resume(self, recalled: Recalled) -> None:
        """Go on with a kept conversation, in its file, or else in a new one with a copy of its blocks."""
        self._about, self.file = recalled.about, recalled.file
        copied = len(recalled.blocks) if recalled.file is None else 0
        if not copied:
            self._written_about = recalled.about
        for block in range(1, copied + 1):
            self._note(block, SOON_SECONDS)

    def on_event(self, event: events.Event) -> None:
        """Note the block of an event; it is due after `SOON_SECONDS`, or later while it still changes."""
        match event:
            case events.Append(block=block) | events.Replace(block=block):
                self._note_message(event, block)
            case events.ToolCall(block=block, call=call):
                self._note(block, LATE_SECONDS if call.status in WORKING else SOON_SECONDS)
            case events.Plan(block=block) | events.Subagent(block=block) if block:
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
        """True if anything is to be written, now or later."""
        return bool(self._frozen) or (self._has_messages and (bool(self._due) or self._about != self._written_about))

    def end(self) -> None:
        """Take all that is due from the source, which is about to change, and record nothing more."""
        self.is_over = True
        self.finish()
        taken = []
        while batch := self.take(math.inf):
            taken += batch
        self._frozen = taken

    def take(self, now: float) -> list[events.Event | About]:
        """Return what is due by `now`, in order and bounded: the rest stays due."""
        if not self.is_over:
            self._complete.clear()
        taken, self._frozen = self._frozen, []
        if taken or not self._has_messages:
            return taken
        if self._about != self._written_about:
            self._written_about = self._about
            taken.append(self._about)
        room = TAKEN_BYTES
        for block in list(islice((block for block, due in self._due.items() if due <= now), MAX_TAKEN_BLOCKS)):
            if room <= 0:
                break
            message = self._source.message(block)
            if message is None:
                self._due.pop(block)
                taken += self._source.shown(block)
            else:
                room -= self._take_text(block, *message, room, taken)
        return taken

    def masked(self, event: events.Event | About, masker: Masker) -> events.Event | About:
        """Return what was taken, with secrets masked if it is a piece of a message. Call it once for each, in order."""
        if not isinstance(event, events.Append | events.Replace):
            return event
        known = None if isinstance(event, events.Replace) else self._pieces.pop(event.block, None)
        pieces = self._pieces[event.block] = known or Pieces(masker)
        if len(self._pieces) > MAX_GROWING:
            del self._pieces[next(iter(self._pieces))]
        grows = self._complete.get(event.block) is not event
        return msgspec.structs.replace(event, text=pieces.feed(event.text, grows=grows))

    def _note_message(self, event: events.Append | events.Replace, block: int) -> None:
        self._has_messages = self._has_messages or event.kind != "thought"
        if isinstance(event, events.Replace):
            self._growing.pop(block, None)
            self._note(block, SOON_SECONDS)
        if self._open.get(event.kind) != block:
            if "user" in (event.kind, *self._open) or event.kind in self._open:
                self._finish_messages()
            self._open[event.kind] = block
            self._note(block, LATE_SECONDS)
        elif block not in self._due:
            self._note(block, LATE_SECONDS)

    def _note(self, block: int, seconds: float) -> None:
        due = time.monotonic() + seconds
        self._due[block] = min(due, self._due.get(block, due))
        if block not in self._open.values() and seconds == SOON_SECONDS:
            self._finish_messages()

    def _finish_messages(self) -> None:
        """Mark the growing messages as complete."""
        blocks, self._open = self._open.values(), {}
        for block in blocks:
            if block in self._due:
                self._note(block, SOON_SECONDS)

    def finish(self) -> None:
        """Mark all that is to be written as complete."""
        self._open = {}
        for block in self._due:
            self._note(block, SOON_SECONDS)

    def _take_text(
        self, block: int, kind: Speaker, text: bytes | bytearray, room: int, taken: list[events.Event | About]
    ) -> int:
        """Take the rest of a message in pieces; a growing one up to the end of a line."""
        done, grows = self._growing.pop(block, None), block in self._open.values()
        at = done or 0
        fresh = done is None
        if fresh and not text:
            taken.append(events.Replace(session=self.key, block=block, kind=kind, text=""))
        while at < len(text) and at - (done or 0) < room:
            piece = bytes(text[at : at + PIECE_BYTES])
            if at + len(piece) < len(text) or grows:
                piece = piece[: _cut(piece, forced=len(piece) == PIECE_BYTES)]
            if not piece:
                break
            at += len(piece)
            said = piece.decode("utf-8", "surrogatepass")
            made = events.Replace if fresh else events.Append
            taken.append(made(session=self.key, block=block, kind=kind, text=said))
            fresh = False
        if at >= len(text) or grows:
            del self._due[block]
        if at >= len(text) and not grows and taken:
            self._complete[block] = taken[-1]
        if grows and at < len(text):
            self._note(block, LATE_SECONDS)
        if at:
            self._growing[block] = at
            if len(self._growing) > MAX_GROWING:
                del self._growing[next(iter(self._growing))]
        return at - (done or 0)


def _cut(piece: bytes, forced: bool) -> int:
    """Return where to cut a text: after a line; `forced`: anywhere, if need be."""
    end = piece.rfind(b"\n") + 1
    return end or (_whole_characters(piece) if forced else 0)


def _whole_characters(piece: bytes) -> int:
    """Return the length up to the last complete UTF-8 character."""
    lead = len(piece) - 1
    while lead > 0 and piece[lead] & 0xC0 == 0x80:
        lead -= 1
    size = 1 if piece[lead] < 0x80 else 2 if piece[lead] < 0xE0 else 3 if piece[lead] < 0xF0 else 4
    return lead + size if lead + size <= len(piece) else lead
