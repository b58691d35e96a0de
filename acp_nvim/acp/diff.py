"""A model of changed files for the diffs of both protocol versions (v1 "Tool Calls", v2 "Tool Calls", Diffs)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from acp_nvim.acp.git_patch import PatchedFile, patched_files
from acp_nvim.acp.patch_paths import NULL_FILE, patch_paths
from acp_nvim.limits import PATCH_CHARS

if TYPE_CHECKING:
    from unidiff.patch import Hunk

_LEFT = "these lines of the patch belong to no change that can be read"


class Piece(msgspec.Struct, frozen=True):
    """A part of a file before and after a change: the whole file, a hunk with context, or only the changed words.

    `old_text` is None for a new file; `line` is where the old text begins, 1-based, if known.
    """

    old_text: str | None
    new_text: str
    line: int | None = None


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """The change of one file; without pieces there is no text to show, and `note` may tell why.

    `operation` is `add`, `delete`, `modify`, `move`, `copy` (the last two with `old_path`), or unknown.
    """

    path: str
    operation: str = "modify"
    old_path: str | None = None
    file_type: str | None = None
    pieces: tuple[Piece, ...] = ()
    note: str | None = None


class Diff(msgspec.Struct, frozen=True):
    """An item of a tool call's content: changes of files.

    `others` are files that only the patch names; None among them means that there may be more. `is_cut`: only the
    beginning of the patch was read.
    """

    changes: tuple[FileChange, ...]
    others: tuple[str | None, ...] = ()
    is_cut: bool = False


def from_texts(path: str, old_text: str | None, new_text: str) -> Diff:
    """Return a diff of version 1: one file, its text (or a part of it) before and after."""
    operation = "add" if old_text is None else "modify"
    return Diff((FileChange(path=path, operation=operation, pieces=(Piece(old_text, new_text),)),))


def too_large(path: str, chars: int) -> Diff:
    """Return a change without texts, which were too long: a cut text would show lines as removed that are not."""
    return Diff((FileChange(path=path, note=f"a change of {chars:,} characters is too large to be shown"),))


def from_patch(changes: Sequence[FileChange], patch: str) -> Diff:
    """Return a diff of version 2: the changes, with the hunks of a `git_patch` added to them.

    A file that only the patch names becomes a change, too. Lines that cannot be parsed are shown as a text.
    """
    if len(patch) > PATCH_CHARS:
        beginning = unread(patch[:PATCH_CHARS], f"the first {PATCH_CHARS} of {len(patch)} characters")
        return Diff((*changes, beginning), is_cut=True)
    files = patched_files(patch)
    try:
        pieces = [(one, _pieces(one)) for one in files]
    except ImportError:  # the environment is older than the plugin
        return Diff((*changes, unread(patch, "the Python package unidiff is missing, see :checkhealth acp_nvim")))
    left = [(one, found) for one, found in pieces if one.names and one.left != one.lines]
    found = (*(_with_hunks(change, left) for change in changes), *(_change(*one) for one in left))
    texts = (unread("".join(one.left), _LEFT) for one in files if one.left)
    return Diff((*found, *texts), _others(found, patch))


def _others(changes: Sequence[FileChange], patch: str) -> tuple[str | None, ...]:
    """Return files that unidiff does not report: it skips unknown lines, and one of the names of a renamed file."""
    known = {name for one in changes for name in (one.path, one.old_path) if name is not None}
    named = patch_paths(patch)
    if named is None:
        return (None,)
    others = (one for one in named if one.path not in known and not (one.prefix and f"/{one.path}" in known))
    return tuple(dict.fromkeys(one.path for one in others))


def unread(patch: str, why: str) -> FileChange:
    """Return a change that shows a patch as a text, and why it was not parsed."""
    return FileChange(path="patch", operation="patch", pieces=(Piece(None, patch),), note=f"shown as it came: {why}")


def _with_hunks(change: FileChange, files: list[tuple[PatchedFile, tuple[Piece, ...]]]) -> FileChange:
    """Return the change with its hunks, and remove these from `files`."""
    for at, (one, pieces) in enumerate(files):
        if change.path in one.names or _git_path(one) == change.path:
            del files[at]
            patched = _change(one, pieces)
            return msgspec.structs.replace(change, pieces=patched.pieces, note=patched.note)
    return change


def _change(one: PatchedFile, pieces: tuple[Piece, ...]) -> FileChange:
    return FileChange(
        path=_git_path(one),
        operation="add" if one.is_new else "delete" if one.is_deleted else "modify",
        pieces=pieces,
        note="binary file" if one.is_binary else None,
    )


def _git_path(one: PatchedFile) -> str:
    """Return the path without git's prefixes `a/` and `b/`."""
    if one.new not in (None, NULL_FILE):
        return str(one.new).removeprefix("b/")
    return str(one.old).removeprefix("a/")


def _pieces(one: PatchedFile) -> tuple[Piece, ...]:
    """Return the hunks of a file; hunks that cannot be parsed are left, with the names before them."""
    from unidiff.errors import UnidiffParseError  # imported here, since it is rarely needed
    from unidiff.patch import PatchSet

    try:
        hunks = [hunk for file in PatchSet(f"--- a\n+++ b\n{''.join(one.hunks)}") for hunk in file]
    except UnidiffParseError:
        one.left = one.lines
        return ()
    if len(hunks) == 1 and not one.has_blobs and one.old != NULL_FILE and one.new != NULL_FILE:
        one.is_new |= (hunks[0].source_start, hunks[0].source_length) == (0, 0)
        one.is_deleted |= (hunks[0].target_start, hunks[0].target_length) == (0, 0)
    if one.left and not hunks:
        one.left = one.lines
    return tuple(_piece(hunk, is_new=one.is_new) for hunk in hunks)


def _piece(hunk: Hunk, is_new: bool) -> Piece:
    line = hunk.source_start if hunk.source_length else hunk.source_start + 1  # an insertion names the line before it
    return Piece(None if is_new else _text(hunk, "-"), _text(hunk, "+"), line if hunk.source_start else None)


def _text(hunk: Hunk, side: str) -> str:
    r"""Return one side of a hunk; `\ No newline at end of file` removes the newline of the line before it."""
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
