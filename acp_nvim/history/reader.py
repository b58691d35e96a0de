"""Reads a transcript: what it is, and its blocks as they were last."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from acp_nvim import events
from acp_nvim.history.files import Entry, newest_first
from acp_nvim.history.records import About, Header, Kept, decode, decode_header, glance
from acp_nvim.limits.history import HEAD_BYTES, PROMPT_CHARS, RECORD_BYTES, TAIL_BYTES

_LINE = RECORD_BYTES + PROMPT_CHARS
"""No line that we write is longer; what is longer is read in parts, none of which is one."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a list shows of a transcript."""

    header: Header
    about: About
    prompt: str | None = None


def summary(entry: Entry) -> Summary | None:
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


def blocks(path: Path) -> Iterator[list[Kept]]:
    """Each block, in order, as the lines that make it what it was last. Raises `OSError`.

    The file is read twice; in memory is where the lines are, and one block.
    """
    with path.open("rb") as file:
        places = _places(file.readline, file.tell)
        for block in sorted(places):
            yield _block(file, places[block])


def block(path: Path, number: int) -> list[Kept]:
    """One of them; empty when there is none. Raises `OSError`."""
    with path.open("rb") as file:
        return _block(file, _places(file.readline, file.tell).get(number, []))


def texts(said: Kept | About | None) -> Iterator[str]:
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
        seen = glance(line)
        if seen is not None and seen.block > 0:
            known = places.setdefault(seen.block, [])
            if seen.type == "replace":
                known.clear()
            elif seen.type != "append":
                known[:] = [one for one in known if one[0] != seen.type]
            known.append((seen.type, at))
        at = tell()
    return {block: [at for _, at in known] for block, known in places.items()}


def _block(file: BinaryIO, places: list[int]) -> list[Kept]:
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
