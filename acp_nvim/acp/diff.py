"""A model of changed files for the diffs of both protocol versions (v1 "Tool Calls", v2 "Tool Calls", Diffs)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from acp_nvim.acp.patch_paths import NULL_FILE, patch_paths
from acp_nvim.limits import PATCH_CHARS

if TYPE_CHECKING:
    from unidiff.patch import Hunk, PatchedFile


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

    A file that only the patch names becomes a change, too. A patch that cannot be parsed is shown as a text.
    """
    if len(patch) > PATCH_CHARS:
        beginning = unread(patch[:PATCH_CHARS], f"the first {PATCH_CHARS} of {len(patch)} characters")
        return Diff((*changes, beginning), is_cut=True)
    try:  # imported here, since it is rarely needed
        from unidiff.errors import UnidiffParseError
        from unidiff.patch import PatchSet
    except ImportError:  # the environment is older than the plugin
        return Diff((*changes, unread(patch, "the Python package unidiff is missing, see :checkhealth acp_nvim")))
    try:
        files = list(PatchSet(patch))
    except UnidiffParseError as error:
        return Diff((*changes, unread(patch, str(error))))
    left = list(files)
    found = (*(_with_hunks(change, left) for change in changes), *(_change(one) for one in left))
    return Diff(found, _others(found, patch))


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


def _with_hunks(change: FileChange, files: list[PatchedFile]) -> FileChange:
    """Return the change with its hunks, and remove these from `files`."""
    for one in files:
        paths = {one.source_file, one.target_file} - {NULL_FILE}
        if change.path in paths or _git_path(one) == change.path:
            files.remove(one)
            patched = _change(one)
            return msgspec.structs.replace(change, pieces=patched.pieces, note=patched.note)
    return change


def _change(one: PatchedFile) -> FileChange:
    return FileChange(
        path=_git_path(one),
        operation="add" if one.is_added_file else "delete" if one.is_removed_file else "modify",
        pieces=tuple(_piece(hunk, is_new=one.is_added_file) for hunk in one),
        note="binary file" if one.is_binary_file else None,
    )


def _git_path(one: PatchedFile) -> str:
    """Return the path without git's prefixes `a/` and `b/`."""
    if one.target_file not in (None, NULL_FILE):
        return str(one.target_file).removeprefix("b/")
    return str(one.source_file).removeprefix("a/")


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
