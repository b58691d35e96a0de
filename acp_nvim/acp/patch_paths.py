"""Extracts the files that a patch names: unified diffs, including git's, and the patches of `apply_patch`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from acp_nvim.lazy import pattern

HUNK = pattern(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_NO_PATH = pattern(
    r"index [0-9a-f]+\.\.[0-9a-f]+(?: 100[0-7]{3})?|(?:old|new|deleted file|new file) mode 100[0-7]{3}"
    r"|(?:dis)?similarity index \d+%|=+|\\ No newline at end of file|"
)
_NAMED = pattern(r"(?:---|\+\+\+|rename from|rename to|copy from|copy to|Index:) (\S.*)")
_ADDED_OR_UPDATED = pattern(r"\*\*\* (Add|Update|Delete) File: (\S.*)")
_MOVED = pattern(r"\*\*\* Move to: (\S.*)")
NULL_FILE = "/dev/null"

_QUOTED: Final = r'"(?:[^"\\]|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))*"'
_NAME = pattern(_QUOTED)
_ESCAPE = pattern(r"\\([0-3][0-7]{2}|.)")
_BOTH_QUOTED = pattern(rf"({_QUOTED}) ({_QUOTED}|[^\"].*)|([^\"].*) ({_QUOTED})")
_LETTERS: Final = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, '"': 34, "\\": 92}
_PREFIX = pattern(r"[a-z0-9]/")


class PatchPath(msgspec.Struct, frozen=True):
    """A file that a patch names; `prefix` is the removed `a/` or `b/` of git, which may also be a directory."""

    path: str
    prefix: str = ""


class UnreadError(Exception):
    """A line that a strict parser rejects; other programs may interpret it in different ways."""


def patch_paths(text: str) -> list[PatchPath] | None:
    """Return the paths in the headers of a patch; None if any of its lines is ambiguous.

    Hunks without a header name no file: the list is empty. Ambiguous are texts around a patch, symbolic links
    and submodules (their modes are not those of files), and hunks of another length than their headers say.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if "\n".join(lines).splitlines() != lines:  # other programs may see more lines
        return None
    while lines and not lines[0]:
        lines.pop(0)
    try:
        if lines and lines[0] == "*** Begin Patch":
            return list(dict.fromkeys(_apply_patch(lines[1:])))
        return list(dict.fromkeys(_unified(lines)))
    except UnreadError:
        return None


def _apply_patch(lines: list[str]) -> Iterator[PatchPath]:
    """Yield the paths of markers; which lines may follow a marker depends on its operation."""
    body = ""
    if not lines or lines[-1] != "*** End Patch":
        raise UnreadError
    for line in lines[:-1]:
        marker = _ADDED_OR_UPDATED.fullmatch(line)
        moved = _MOVED.fullmatch(line)
        if marker is not None:
            body = {"Add": "+", "Update": " +-@", "Delete": ""}[marker[1]]
            yield PatchPath(marker[2].strip())
        elif moved is not None and "@" in body:
            yield PatchPath(moved[1].strip())
        elif line == "*** End of File" and "@" in body:
            continue
        elif line.lstrip().startswith("***") or (line and line[0] not in body) or (not line and "@" not in body):
            raise UnreadError


def _unified(lines: list[str]) -> Iterator[PatchPath]:
    """Yield the paths of headers; lines of hunks are counted, so that they are not confused with headers."""
    at, wants_names = 0, False
    while at < len(lines):
        line = lines[at]
        at += 1
        hunk = HUNK.match(line)
        named = _NAMED.fullmatch(line)
        if hunk is not None:
            at = end_of_hunk(lines, at, int(hunk[1] or 1), int(hunk[2] or 1))
        elif line.startswith("diff --git "):
            if wants_names:
                raise UnreadError
            both = _same_name(line.removeprefix("diff --git "))
            wants_names = both is None
            yield from both or ()
        elif named is not None:
            wants_names = False
            yield from _path(named[1], line)
        elif not _NO_PATH.fullmatch(line):
            raise UnreadError
    if wants_names:
        raise UnreadError


def end_of_hunk(lines: list[str], at: int, old: int, new: int) -> int:
    """Return the index of the line after a hunk that begins at `at` and has `old` and `new` lines."""
    while old > 0 or new > 0:
        if at >= len(lines):
            if old == new:  # empty lines at the end of the patch were removed
                return at
            raise UnreadError
        kind = lines[at][:1] or " "
        if kind not in " +-\\" or (kind == "-" and old <= 0) or (kind == "+" and new <= 0):
            raise UnreadError
        old -= kind in " -"
        new -= kind in " +"
        at += 1
    if old < 0 or new < 0:
        raise UnreadError
    return at


def _same_name(names: str) -> list[PatchPath] | None:
    """Return the path in `a/x b/x`; None if they differ, so that further lines must name both."""
    both = names_in_header(names)
    if both is None and '"' in names:
        raise UnreadError
    if both is None or both[0] == both[1]:
        return None if both is None else [PatchPath(both[0])]
    is_same = both[0].startswith("a/") and both[1] == f"b/{both[0][2:]}"
    return [PatchPath(both[0][2:], prefix) for prefix in ("a/", "b/")] if is_same else None


def _path(named: str, line: str) -> list[PatchPath]:
    """Return the path without its quotes; nothing for a missing file."""
    prefix = {"---": "a/", "+++": "b/"}.get(line[:3], "")
    path = name_in_line(named) if prefix else unquoted(named)
    if not path:
        raise UnreadError
    if path == NULL_FILE:
        return []
    return [PatchPath(path[2:], prefix) if prefix and path.startswith(prefix) else PatchPath(path)]


# --- the names as git quotes them -------------------------------------------------------------------------------------


def unquoted(name: str) -> str | None:
    """Return a name without its quotes, if it has some; None if it is quoted wrongly, or its bytes are no text."""
    if not name.startswith('"'):
        return name
    if not _NAME.fullmatch(name):
        return None

    def byte(escape: re.Match[str]) -> str:
        code = _LETTERS.get(escape[1])
        return chr(int(escape[1], 8) if code is None else code)

    parts = re.split(r"((?:\\[0-3][0-7]{2})+)", name[1:-1])
    try:
        return "".join(
            _ESCAPE.sub(byte, part).encode("latin-1").decode() if at % 2 else _ESCAPE.sub(byte, part)
            for at, part in enumerate(parts)
        )
    except UnicodeDecodeError:
        return None


def name_in_line(text: str) -> str | None:
    """Return the name after `---` or `+++`; git writes a tab after a name with blanks, others a tab and a time."""
    name, tab, _ = text.partition("\t")
    return unquoted(name if tab else name.rstrip()) or None


def names_in_header(text: str) -> tuple[str, str] | None:
    """Return the two names after `diff --git`; None if it is not clear where the second begins, or if one is wrong.

    Without quotes, only two names that are equal, but for a prefix such as `a/` and `b/`, can be told apart.
    """
    found = _BOTH_QUOTED.fullmatch(text)
    if found is not None:
        first, second = (unquoted(one) for one in found.groups() if one is not None)
        return None if first is None or second is None else (first, second)
    half = len(text) // 2
    first, second = text[:half], text[half + 1 :]
    is_same = first == second or (_PREFIX.match(first) and _PREFIX.match(second) and first[2:] == second[2:])
    return (first, second) if text[half : half + 1] == " " and is_same and '"' not in text else None
