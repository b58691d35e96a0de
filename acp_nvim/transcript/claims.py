"""Checks what the diffs of tool calls claim against the files: whether a file is new, and where a change is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import UNSET

from acp_nvim.acp.diff import Diff, FileChange
from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.hunks.placed import OVERWRITE, overwriting, placed
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.encoding import decode
from acp_nvim.workspace.refusals import FileRefusedError, NotAllowedError
from acp_nvim.workspace.regular_files import read_regular, regular_file
from acp_nvim.workspace.roots import given_path, real_path

CHECKED_BYTES: Final = 256 * 1024
"""Size of the largest file that is read, in 1 ms: of a larger one the user sees that it is there."""
CHECKED_CHANGES: Final = 100
"""Changes of one call that are checked: a call with more renames something everywhere."""

UnsavedText = Callable[[str], str | None]
"""Returns the text of a modified buffer of a file (a real path), as far as it is known."""


class Claims:
    """Checks the diffs of one session's tool calls when they come, before the agent carries them out."""

    def __init__(self, presenter: Presenter, unsaved: UnsavedText) -> None:
        self._presenter = presenter
        self._unsaved = unsaved
        presenter.on_call.append(self._call_changed)

    def _call_changed(self, call: ToolCall, patch: ToolCallPatch) -> None:
        if patch.content is not UNSET and patch.content and not self._presenter.is_replaying():
            self._presenter.transcript.check_diffs(call, self._checked)

    def _checked(self, call: ToolCall, diff: Diff) -> Diff:
        """Return the diff as the chat shows it."""
        changes = [self._change(call, one) for one in diff.changes[:CHECKED_CHANGES]]
        return msgspec.structs.replace(diff, changes=(*changes, *diff.changes[CHECKED_CHANGES:]))

    def _change(self, call: ToolCall, change: FileChange) -> FileChange:
        path = self._real(change.path)
        is_new = change.operation == "add"
        if path is None or change.operation == "patch" or (is_new and call.finished):
            return change
        size, text = self._text(path)
        if not is_new:
            lines = {one.line for one in call.locations if one.line and self._real(one.path) == path}
            return placed(text, change, next(iter(lines)) if len(lines) == 1 else None)
        if text is not None:
            return overwriting(text, change) or change
        return change if size is None else msgspec.structs.replace(change, operation=OVERWRITE, note=f"{size:,} bytes")

    def _real(self, path: str) -> str | None:
        given = given_path(path, self._presenter.cwd)
        try:
            return None if given is None else real_path(given)
        except NotAllowedError:
            return None

    def _text(self, path: str) -> tuple[int | None, str | None]:
        """Return the size of a file in bytes, if there is one, and its text as the user has it, if it is known."""
        unsaved = self._unsaved(path)
        if unsaved is not None:
            return len(unsaved), unsaved
        try:
            status = regular_file(path)
            if status is None or status.st_size > CHECKED_BYTES:
                return status and status.st_size, None
            return status.st_size, decode(path, read_regular(path, CHECKED_BYTES))[0]
        except (OSError, FileRefusedError):  # no regular file, a binary one, or one that nobody may read
            return None, None
