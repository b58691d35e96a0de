"""Finds transcripts by what is said in them, with bounded memory; for a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from acp_nvim.history.files import Entry, newest_first
from acp_nvim.history.reader import Summary, summary, texts
from acp_nvim.history.records import decode
from acp_nvim.history_events import FoundSession
from acp_nvim.limits.history import FOUND, RECORD_BYTES, SNIPPET_CHARS


def find(directory: Path, query: str, cwd: str | None, goes_on: Callable[[], bool]) -> Iterator[FoundSession]:
    """Those in which the text stands, in whatever case; all of them without one. The newest first, up to a number.

    `goes_on` is asked between two lines whether anybody still wants to know.
    """
    left = FOUND
    wanted = query.strip().lower()
    for entry in newest_first(directory, cwd):
        if left == 0 or not goes_on():
            return
        known = summary(entry)
        if known is None:
            continue
        snippet = _snippet_in(entry, wanted, goes_on) if wanted else None
        if not wanted or snippet is not None or wanted in known.header.agent.lower():
            left -= 1
            yield _found(entry, known, snippet)


def _found(entry: Entry, known: Summary, snippet: str | None) -> FoundSession:
    return FoundSession(
        id=entry.id,
        agent=known.header.agent,
        cwd=known.header.cwd,
        started=known.header.started,
        updated=entry.updated,
        title=known.about.title,
        prompt=known.prompt,
        session_id=known.about.session_id,
        snippet=snippet,
        supersedes=known.header.supersedes,
    )


def _snippet_in(entry: Entry, wanted: str, goes_on: Callable[[], bool]) -> str | None:
    """A text of the transcript around what is wanted."""
    quick = _as_it_stands(wanted)
    try:
        with entry.path.open("rb") as file:
            file.readline(RECORD_BYTES)  # the header
            while goes_on() and (line := file.readline(2 * RECORD_BYTES)):
                if quick is not None and quick not in line.lower():
                    continue
                for text in texts(decode(line)):
                    at = text.lower().find(wanted)
                    if at >= 0:
                        return _snippet(text, at)
    except OSError:
        return None
    return None


def _as_it_stands(wanted: str) -> bytes | None:
    """The bytes without which no line of JSON has that text; None when they may be written in several ways."""
    plain = wanted.isascii() and wanted.isprintable() and not set(wanted) & {'"', "\\", "/"}
    return wanted.encode() if plain else None


def _snippet(text: str, at: int) -> str:
    """One line; `at` counts in lower case, which may be a little longer."""
    start = max(0, at - SNIPPET_CHARS // 3)
    piece = text[start : start + SNIPPET_CHARS]
    return ("…" if start else "") + " ".join(piece.split()) + ("…" if start + SNIPPET_CHARS < len(text) else "")
