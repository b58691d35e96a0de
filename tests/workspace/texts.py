"""Texts of files as the sequences make, change and compare them; a second telling, of its own, of what a text is."""

from __future__ import annotations

import codecs
import difflib
import random
import re
from dataclasses import dataclass

BOM = "\ufeff"
ENDS = {"unix": "\n", "dos": "\r\n", "mac": "\r"}
CODECS = {"": "utf-8", "utf-8": "utf-8", "latin1": "latin-1", "utf-16le": "utf-16-le", "utf-16": "utf-16-be"}
"""Python's names for what Neovim calls 'fileencoding'."""
TOKEN = re.compile(r"[UAPF]\d+;")
"""Who wrote it (user, agent, program, or the file had it from the beginning), and in which step."""
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


@dataclass(frozen=True)
class Kind:
    """What a file of a sequence is like at its beginning."""

    format: str
    encoding: str
    bom: bool
    ends: bool
    lines: int

    @property
    def odd(self) -> str:
        """Characters that the encoding has, beyond ASCII."""
        return "é" if self.encoding == "latin1" else "é日🙂"

    def data(self) -> bytes:
        """The bytes of the file; each line has a token, and something that tells what the encoding is.

        Not at its end: a file that ends within a character of UTF-8 is not seen to be another encoding by Neovim.
        """
        lines = [f"F{n}; {self.odd}." for n in range(self.lines)]
        text = "".join(line + ENDS[self.format] for line in lines)
        if lines and not self.ends:
            text = text.removesuffix(ENDS[self.format])
        return encode(BOM + text if self.bom else text, self.encoding)


def any_kind(rng: random.Random) -> Kind:
    """One of all kinds of files."""
    encoding = rng.choice(["utf-8", "utf-8", "latin1", "utf-16le", "utf-16"])
    bom = encoding.startswith("utf-16") or (encoding == "utf-8" and rng.random() < 0.3)
    lines = rng.choice([0, 1, 2, 3, 5, 8, 12, 20, 30])
    return Kind(rng.choice(["unix", "unix", "dos", "mac"]), encoding, bom, rng.random() < 0.75, lines)


def encode(text: str, encoding: str) -> bytes:
    """The bytes; raises UnicodeEncodeError when the encoding lacks a character."""
    return text.encode(CODECS[encoding])


def decode(data: bytes, encoding: str) -> str:
    """Decode a text with its BOM."""
    return data.decode(CODECS[encoding])


def encoding_of(data: bytes) -> str:
    """What a program takes the bytes for that knows nothing else about them."""
    if data.startswith(codecs.BOM_UTF16_LE):
        return "utf-16le"
    if data.startswith(codecs.BOM_UTF16_BE):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "latin1"
    return "utf-8"


def tokens(text: str) -> set[str]:
    return set(TOKEN.findall(text))


def lines_of(text: str) -> list[str]:
    """The lines with their ends; the BOM is no part of them."""
    return LINE.findall(text.removeprefix(BOM))


def end_of(text: str) -> str:
    """Return the line end of the first line, or that of unix."""
    found = re.search(r"\r\n|\n|\r", text)
    return found[0] if found else "\n"


def edited(text: str, rng: random.Random, token: str, end: str | None = None) -> str:
    """A small change that carries a token: a line more, another line, a longer line, a line less and one more."""
    lines, end = lines_of(text), end or end_of(text)
    kind = rng.choice(["insert", "insert", "replace", "lengthen", "remove"]) if lines else "insert"
    at = rng.randrange(len(lines)) if lines else 0
    if kind == "replace":
        lines[at] = f"{token} instead{ending(lines[at])}"
    elif kind == "lengthen":
        lines[at] = f"{content(lines[at])} {token}{ending(lines[at])}"
    else:
        if kind == "remove":
            del lines[at]
        at = rng.randint(0, len(lines))
        if at == len(lines) and lines and not ending(lines[-1]):
            lines[-1] += end
        lines[at:at] = [token + end]
    return text[: text.startswith(BOM)] + "".join(lines)


def content(line: str) -> str:
    return line.rstrip("\r\n")


def ending(line: str) -> str:
    return line[len(content(line)) :]


def part(text: str, line: int, limit: int | None) -> str:
    """Lines `line` to `line + limit - 1`, as `fs/read_text_file` gives them."""
    ends = "\n" if "\n" in text else "\r"
    pieces = re.findall(f"[^{ends}]*{ends}|[^{ends}]+", text)
    return "".join(pieces[line - 1 : None if limit is None else line - 1 + limit])


def after_part(known: str, text: str, line: int, limit: int | None) -> str:
    """What somebody knows of `text` who knew `known` and was shown a part of it."""
    old, new = lines_of(known), lines_of(text)
    first, last = line - 1, len(new) if limit is None else line - 1 + limit
    result: list[str] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        touches = tag == "equal" or (c < last and d > first) or (c == d and first <= c <= last)
        result += new[c:d] if touches else old[a:b]
    begins = text if first == 0 else known
    return BOM * begins.startswith(BOM) + "".join(result)
