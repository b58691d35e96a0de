"""Reads transcripts, and searches them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from acp_nvim.contract import events
from acp_nvim.contract.session_events import FoundSession
from acp_nvim.history.files import FoundTranscript, newest_first
from acp_nvim.history.records import About, Header, KeptEvent, decode, decode_header, line_head
from acp_nvim.lazy import pattern
from acp_nvim.limits import RECORD_BYTES

HEAD_BYTES: Final = 64 * 1024
"""Bytes read at the beginning of a transcript for lists: they have its header and the first prompt."""
TAIL_BYTES: Final = 16 * 1024
"""Bytes read at its end: they have the last title, unless that was written long before."""
PROMPT_CHARS: Final = 200
"""Characters of the first prompt in lists."""

_LINE_BYTES = RECORD_BYTES + PROMPT_CHARS
"""The longest line that is written; a longer one is read in parts, none of which is valid."""

_CUT_PROMPT = pattern(rb'\{"type":"\w+","block":\d+,"kind":"user","text":"((?:[^"\\]|\\.)*)')


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What lists show of a transcript: header, session, and first prompt."""

    header: Header
    about: About
    prompt: str | None = None


def summary(entry: FoundTranscript) -> Summary | None:
    """Summarise the first and the last lines of a transcript; None if it is none, or gone. Raises nothing."""
    try:
        with entry.path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            file.seek(max(0, entry.size - TAIL_BYTES), os.SEEK_SET)
            tail = file.read(TAIL_BYTES) if entry.size > HEAD_BYTES else b""
    except OSError:
        return None
    first, *lines = head.split(b"\n")
    header = decode_header(first)
    if header is None:
        return None
    about, prompt = About(), None
    for line in lines:
        event = decode(line)
        if isinstance(event, About):
            about = event
        elif prompt is None and isinstance(event, events.Append | events.Replace) and event.kind == "user":
            prompt = _first_line(event.text)
    for line in tail.split(b"\n"):
        if line.startswith(b'{"type":"session"') and isinstance(event := decode(line), About):
            about = event
    return Summary(header=header, about=about, prompt=prompt if prompt is not None else _cut_prompt(lines))


def newest_of(directory: Path, agent: str, session_id: str, cwd: str) -> str | None:
    """Return the id of the newest transcript of that session; None if there is none."""
    for entry in newest_first(directory, cwd):
        known = summary(entry)
        if known is not None and (known.header.agent, known.about.session_id) == (agent, session_id):
            return entry.id
    return None


def blocks(path: Path) -> Iterator[list[KeptEvent]]:
    """Yield each block, in order, as the events that make up its last state. Raises `OSError`.

    The file is read twice; only the offsets of lines, and one block, are in memory.
    """
    with path.open("rb") as file:
        places = _places(file.readline, file.tell)
        for block in sorted(places):
            yield _block(file, places[block])


def block(path: Path, number: int) -> list[KeptEvent]:
    """Return one block by its number; empty if there is none. Raises `OSError`."""
    with path.open("rb") as file:
        return _block(file, _places(file.readline, file.tell).get(number, []))


def texts(event: KeptEvent | About | None) -> Iterator[str]:
    """Yield all texts in an event, to be searched."""
    match event:
        case events.Append(text=text) | events.Replace(text=text) | events.Notice(text=text):
            yield text
        case About(title=title):
            yield title or ""
        case _:
            yield from _strings(msgspec.to_builtins(event))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _places(readline: Callable[[int], bytes], tell: Callable[[], int]) -> dict[int, list[int]]:
    """Map each block to the offsets of its lines: the last of each type, and all that append text."""
    places: dict[int, list[tuple[str, int]]] = {}
    at = tell()
    while line := readline(_LINE_BYTES):
        seen = line_head(line)
        if seen is not None and seen.block > 0:
            known = places.setdefault(seen.block, [])
            if seen.type == "replace":
                known.clear()
            elif seen.type != "append":
                known[:] = [one for one in known if one[0] != seen.type]
            known.append((seen.type, at))
        at = tell()
    return {block: [at for _, at in known] for block, known in places.items()}


def _block(file: BinaryIO, places: list[int]) -> list[KeptEvent]:
    events_of_block = []
    for at in places:
        file.seek(at)
        event = decode(file.readline(_LINE_BYTES))
        if event is not None and not isinstance(event, About):
            events_of_block.append(event)
    return events_of_block


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:PROMPT_CHARS]


def _cut_prompt(lines: list[bytes]) -> str | None:
    """Return the first line of a prompt that is longer than what was read."""
    found = _CUT_PROMPT.match(lines[-1]) if lines else None
    if found is None:
        return None
    text = found[1][: 4 * PROMPT_CHARS].decode("utf-8", "ignore")
    return _first_line(text.replace("\\n", "\n").replace("\\t", " ").replace('\\"', '"').replace("\\\\", "\\"))


MAX_FOUND: Final = 200
"""The most transcripts in one answer: users look at no more in a list."""
SNIPPET_CHARS: Final = 100
"""Characters around a search result: one line of a list."""


def find(directory: Path, query: str, cwd: str | None, is_wanted: Callable[[], bool]) -> Iterator[FoundSession]:
    """Yield transcripts that contain `query` in any case, or all if it is empty; the newest first, at most `MAX_FOUND`.

    `is_wanted` is called between two lines; when it returns False, the search ends.
    """
    left = MAX_FOUND
    wanted = query.strip().lower()
    for entry in newest_first(directory, cwd):
        if left == 0 or not is_wanted():
            return
        known = summary(entry)
        if known is None:
            continue
        header, about = known.header, known.about
        snippet = _snippet_in(entry, wanted, is_wanted) if wanted else None
        if not wanted or snippet is not None or wanted in header.agent.lower():
            left -= 1
            yield FoundSession(
                id=entry.id,
                agent=header.agent,
                cwd=header.cwd,
                started=header.started,
                updated=entry.updated,
                title=about.title,
                prompt=known.prompt,
                session_id=about.session_id,
                snippet=snippet,
                supersedes=header.supersedes,
            )


def _snippet_in(entry: FoundTranscript, wanted: str, is_wanted: Callable[[], bool]) -> str | None:
    """Return the first text of the transcript that contains `wanted`, cut to a snippet."""
    quick = _literal_bytes(wanted)
    try:
        with entry.path.open("rb") as file:
            file.readline(RECORD_BYTES)  # the header
            while is_wanted() and (line := file.readline(2 * RECORD_BYTES)):
                if quick is not None and quick not in line.lower():
                    continue
                for text in texts(decode(line)):
                    at = text.lower().find(wanted)
                    if at >= 0:
                        return _snippet(text, at)
    except OSError:
        return None
    return None


def _literal_bytes(wanted: str) -> bytes | None:
    """Return the bytes that every line of JSON with that text contains; None if JSON has several spellings."""
    plain = wanted.isascii() and wanted.isprintable() and not set(wanted) & {'"', "\\", "/"}
    return wanted.encode() if plain else None


def _snippet(text: str, at: int) -> str:
    """Return one line; `at` is an offset in lower case, which may be a little longer."""
    start = max(0, at - SNIPPET_CHARS // 3)
    piece = text[start : start + SNIPPET_CHARS]
    return ("…" if start else "") + " ".join(piece.split()) + ("…" if start + SNIPPET_CHARS < len(text) else "")
