"""One model of changed files, for the diffs of both protocol versions (v1 "Tool Calls", v2 "Tool Calls", Diffs)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from acp_nvim.acp.patch_paths import NULL_FILE, patch_paths
from acp_nvim.limits import PATCH_CHARS

if TYPE_CHECKING:
    from unidiff.patch import Hunk, PatchedFile


class Piece(msgspec.Struct, frozen=True):
    """A stretch of a file before and after: the whole file, a hunk with context, or only the words that change.

    `old_text` is None where the file is new; `line` is where the old text begins, 1-based, when that is known.
    """

    old_text: str | None
    new_text: str
    line: int | None = None


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to one file; without pieces there is no text to show, and `note` may say why.

    `operation` is `add`, `delete`, `modify`, `move`, `copy`, or a word that we do not know; `old_path` belongs to the
    last two of these.
    """

    path: str
    operation: str = "modify"
    old_path: str | None = None
    file_type: str | None = None
    pieces: tuple[Piece, ...] = ()
    note: str | None = None


class Diff(msgspec.Struct, frozen=True):
    """An item of a tool call's content: changes of files.

    `others` are files that its patch names and its changes do not; None among them: there may be more. `is_cut`: of its
    patch only the beginning is kept.
    """

    changes: tuple[FileChange, ...]
    others: tuple[str | None, ...] = ()
    is_cut: bool = False


def from_texts(path: str, old_text: str | None, new_text: str) -> Diff:
    """Version 1's diff: one file, its text (or a part of it) before and after."""
    operation = "add" if old_text is None else "modify"
    return Diff((FileChange(path=path, operation=operation, pieces=(Piece(old_text, new_text),)),))


def too_large(path: str, chars: int) -> Diff:
    """A change whose texts are not kept: half of one would show lines that go, which do not."""
    return Diff((FileChange(path=path, note=f"a change of {chars:,} characters is too large to be shown"),))


def from_patch(changes: Sequence[FileChange], patch: str) -> Diff:
    """Version 2's diff: the changes, with the hunks of a `git_patch` put where they belong.

    A file that only the patch names is a change too. A patch that cannot be read is shown as it is.
    """
    if len(patch) > PATCH_CHARS:
        beginning = unread(patch[:PATCH_CHARS], f"the first {PATCH_CHARS} of {len(patch)} characters")
        return Diff((*changes, beginning), is_cut=True)
    try:  # not at start-up: it is rarely needed
        from unidiff.errors import UnidiffParseError
        from unidiff.patch import PatchSet
    except ImportError:  # an environment that is older than the plugin
        return Diff((*changes, unread(patch, "the Python package unidiff is missing, see :checkhealth acp_nvim")))
    try:
        files = list(PatchSet(patch))
    except UnidiffParseError as error:
        return Diff((*changes, unread(patch, str(error))))
    left = list(files)
    found = (*(_with_hunks(change, left) for change in changes), *(_change(one) for one in left))
    return Diff(found, _others(found, patch))


def _others(changes: Sequence[FileChange], patch: str) -> tuple[str | None, ...]:
    """unidiff skips what it does not know, and of a file that is renamed it tells one name only."""
    known = {name for one in changes for name in (one.path, one.old_path) if name is not None}
    named = patch_paths(patch)
    if named is None:
        return (None,)
    others = (one for one in named if one.path not in known and not (one.prefix and f"/{one.path}" in known))
    return tuple(dict.fromkeys(one.path for one in others))


def unread(patch: str, why: str) -> FileChange:
    """A patch that is not taken apart."""
    return FileChange(path="patch", operation="patch", pieces=(Piece(None, patch),), note=f"shown as it came: {why}")


def _with_hunks(change: FileChange, files: list[PatchedFile]) -> FileChange:
    """The change with its hunks, which are taken out of `files`."""
    for one in files:
        if change.path in _paths(one) or _git_path(one) == change.path:
            files.remove(one)
            return msgspec.structs.replace(change, pieces=_pieces(one), note=_note(one))
    return change


def _change(one: PatchedFile) -> FileChange:
    operation = "add" if one.is_added_file else "delete" if one.is_removed_file else "modify"
    return FileChange(path=_git_path(one), operation=operation, pieces=_pieces(one), note=_note(one))


def _paths(one: PatchedFile) -> set[str]:
    return {one.source_file, one.target_file} - {NULL_FILE}


def _git_path(one: PatchedFile) -> str:
    """The path without git's `a/` and `b/`."""
    if one.target_file not in (None, NULL_FILE):
        return str(one.target_file).removeprefix("b/")
    return str(one.source_file).removeprefix("a/")


def _note(one: PatchedFile) -> str | None:
    return "binary file" if one.is_binary_file else None


def _pieces(one: PatchedFile) -> tuple[Piece, ...]:
    return tuple(
        Piece(
            None if one.is_added_file else _text(hunk, "-"),
            _text(hunk, "+"),
            _line(hunk),
        )
        for hunk in one
    )


def _line(hunk: Hunk) -> int | None:
    """Where it begins in the old text; what only inserts names the line before."""
    if hunk.source_start == 0:
        return None
    return hunk.source_start if hunk.source_length else hunk.source_start + 1


def _text(hunk: Hunk, side: str) -> str:
    r"""One side of a hunk; `\ No newline at end of file` takes the newline of the line before it."""
    lines: list[str] = []
    last_is_ours = False
    for line in hunk:
        if line.line_type == "\\":
            if last_is_ours and lines:
                lines[-1] = lines[-1].removesuffix("\n")
            continue
        last_is_ours = line.line_type in (" ", side)
        if last_is_ours:
            lines.append(line.value)
    return "".join(lines)
