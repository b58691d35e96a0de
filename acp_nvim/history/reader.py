"""Reads kept conversations, and searches them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from acp_nvim.history.files import FoundTranscript, newest_first
from acp_nvim.history.records import About, Header, KeptEvent, decode, decode_header, line_head
from acp_nvim.limits import RECORD_BYTES
from acp_nvim.ui import events
from acp_nvim.ui.session_events import FoundSession

HEAD_BYTES: Final = 64 * 1024
"""Read of a transcript's beginning for lists: its header and the first prompt are there."""
TAIL_BYTES: Final = 16 * 1024
"""Read of its end: the last title is there, or was written long before."""
PROMPT_CHARS: Final = 200
"""Of the first prompt, for lists."""

_LINE = RECORD_BYTES + PROMPT_CHARS
"""No line that we write is longer; what is longer is read in parts, none of which is one."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a list shows of a transcript."""

    header: Header
    about: About
    prompt: str | None = None


def summary(entry: FoundTranscript) -> Summary | None:
    """From its first and its last lines; None when it is no transcript, or gone. Raises nothing."""
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
        said = decode(line)
        if isinstance(said, About):
            about = said
        elif prompt is None and isinstance(said, events.Append | events.Replace) and said.kind == "user":
            prompt = _first_line(said.text)
    for line in tail.split(b"\n"):
        if line.startswith(b'{"type":"session"') and isinstance(said := decode(line), About):
            about = said
    return Summary(header=header, about=about, prompt=prompt if prompt is not None else _cut_prompt(lines))


def newest_of(directory: Path, agent: str, session_id: str, cwd: str) -> str | None:
    """The transcript of that session that was written last, if one is kept."""
    for entry in newest_first(directory, cwd):
        known = summary(entry)
        if known is not None and (known.header.agent, known.about.session_id) == (agent, session_id):
            return entry.id
    return None


def blocks(path: Path) -> Iterator[list[KeptEvent]]:
    """Each block, in order, as the lines that make it what it was last. Raises `OSError`.

    The file is read twice; in memory is where the lines are, and one block.
    """
    with path.open("rb") as file:
        places = _places(file.readline, file.tell)
        for block in sorted(places):
            yield _block(file, places[block])


def block(path: Path, number: int) -> list[KeptEvent]:
    """One of them; empty when there is none. Raises `OSError`."""
    with path.open("rb") as file:
        return _block(file, _places(file.readline, file.tell).get(number, []))


def texts(said: KeptEvent | About | None) -> Iterator[str]:
    """All that can be read in a line, one after the other."""
    match said:
        case None:
            return
        case events.Append(text=text) | events.Replace(text=text) | events.Notice(text=text):
            yield text
        case About(title=title):
            yield title or ""
        case _:
            yield from _strings(msgspec.to_builtins(said))


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
    """For each block, where the lines are that make it; the last of each type counts, but for texts that go on."""
    places: dict[int, list[tuple[str, int]]] = {}
    at = tell()
    while line := readline(_LINE):
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
    said = []
    for at in places:
        file.seek(at)
        one = decode(file.readline(_LINE))
        if one is not None and not isinstance(one, About):
            said.append(one)
    return said


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:PROMPT_CHARS]


def _cut_prompt(lines: list[bytes]) -> str | None:
    """Of a first prompt that is longer than what was read."""
    found = (
        re.match(rb'\{"type":"\w+","block":\d+,"kind":"user","text":"((?:[^"\\]|\\.)*)', lines[-1]) if lines else None
    )
    if found is None:
        return None
    text = found[1][: 4 * PROMPT_CHARS].decode("utf-8", "ignore")
    return _first_line(text.replace("\\n", "\n").replace("\\t", " ").replace('\\"', '"').replace("\\\\", "\\"))


FOUND: Final = 200
"""Transcripts in one answer; nobody looks at more in a list."""
SNIPPET_CHARS: Final = 100
"""Of a text around what was looked for: one line of a list."""


def find(directory: Path, query: str, cwd: str | None, goes_on: Callable[[], bool]) -> Iterator[FoundSession]:
    """Find transcripts with that text, in whatever case; all without one. The newest first, up to a number.

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


def _found(entry: FoundTranscript, known: Summary, snippet: str | None) -> FoundSession:
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


def _snippet_in(entry: FoundTranscript, wanted: str, goes_on: Callable[[], bool]) -> str | None:
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
