"""Previews, in the files themselves, the changes that waiting permission requests ask for; changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

import anyio
import anyio.to_thread
import msgspec
from msgspec import UNSET

from acp_nvim.acp.diff import Diff, FileChange
from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.contract.review_events import Preview, PreviewDone
from acp_nvim.hunks.locate import FilePreview, preview_of
from acp_nvim.hunks.placed import OVERWRITE, overwriting, placed
from acp_nvim.permissions.pending import PendingPermission
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.transcript.blocks import CallBlock
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace import disk
from acp_nvim.workspace.encoding import decode
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError, NotAllowedError
from acp_nvim.workspace.regular_files import read_regular, regular_file
from acp_nvim.workspace.roots import WatchedRoots, given_path, real_path

PREVIEW_UNASKED_CHARS: Final = 128 * 1024
"""Characters (old and new text) of the largest change that is located before its file is opened: 20 ms of a thread."""

log = logging.getLogger(__name__)

FROM_ANOTHER = ("move", "copy")
"""Operations that take the text of the old path."""

CHECKED_BYTES: Final = 256 * 1024
"""Size of the largest file that is read, in 1 ms: of a larger one the user sees that it is there."""
CHECKED_CHANGES: Final = 100
"""Changes of one call that are checked: a call with more renames something everywhere."""
UnsavedText = Callable[[str], str | None]
"""Returns the text of a modified buffer of a file (a real path), as far as it is known."""


class _Waiting:
    """A waiting request and its published previews, by path. The editor has `asked` for the large ones among them."""

    def __init__(self, request: PendingPermission) -> None:
        self.request = request
        self.call: CallBlock | None = None
        self.diffs: list[Diff] = []
        self.shown: dict[str, Preview] = {}
        self.asked: set[str] = set()
        self.wanted = 0
        self.task: anyio.Event | None = None


class Previews:
    """The previews of one session's waiting requests: one for each file that a request would change."""

    def __init__(self, presenter: Presenter, files: OpenFiles, roots: WatchedRoots, tasks: Tasks) -> None:
        self._presenter = presenter
        self._files = files
        self._roots = roots
        self._tasks = tasks
        self._waiting: dict[int, _Waiting] = {}
        Claims(presenter, files.unsaved)  # the chat shows the same changes, checked against the same texts
        self._in_turn = anyio.Lock()  # all sessions share the threads for this
        presenter.on_call.append(self._call_changed)

    def begin(self, request: PendingPermission) -> None:
        """Begin to preview a request that is shown in the chat and waits."""
        one = self._waiting[request.id] = _Waiting(request)
        self._update(one)

    def end(self, request: PendingPermission) -> None:
        """Remove the previews of a request that no longer waits."""
        one = self._waiting.pop(request.id, None)
        if one is not None and one.shown:
            self._presenter.publish(PreviewDone(session=request.session, request=request.id))

    def look_again(self, path: str) -> None:
        """Update the previews of a file (a real path) whose text has changed in the editor."""
        for one in self._waiting.values():
            affected = {shown.path for shown in one.shown.values() if path in (shown.path, shown.old_path)}
            if affected:
                one.asked |= affected
                self._start(one)

    def _call_changed(self, call: ToolCall, _patch: ToolCallPatch) -> None:
        for one in self._waiting.values():
            if one.request.tool_call_id == call.tool_call_id and (one.call is None or one.call.call is call):
                self._update(one)

    def tell_again(self) -> None:
        """Publish the previews of all waiting requests again, for an editor that has lost them."""
        for one in self._waiting.values():
            self._start(one)

    def _update(self, one: _Waiting) -> None:
        """Start an update if the diffs of the tool call have changed."""
        one.call = one.call or self._presenter.transcript.block_of(one.request.tool_call_id)
        diffs = [] if one.call is None else one.call.diffs()
        if diffs != one.diffs:
            one.diffs = diffs
            self._start(one)

    def _start(self, one: _Waiting) -> None:
        one.wanted += 1
        if not is_running(one.task):
            one.task = self._tasks.spawn(self._run, one)

    async def _run(self, one: _Waiting) -> None:
        """Publish previews until they are up to date, or the request no longer waits."""
        done = 0
        try:
            while done != one.wanted and self._waiting.get(one.request.id) is one:
                done = one.wanted
                async with self._in_turn:
                    changed = self._by_path(one.diffs)
                    found = [await self._preview(one, path, changes) for path, changes in changed.items()]
                if done == one.wanted and self._waiting.get(one.request.id) is one:
                    self._publish(one, found)
        except Exception:  # the request can still be answered in the chat
            log.exception("previews of %r", one.request)

    def _publish(self, one: _Waiting, found: Sequence[Preview]) -> None:
        earlier, one.shown = one.shown, {preview.path: preview for preview in found}
        for path, shown in earlier.items():
            if path not in one.shown:
                gone = Preview(
                    session=shown.session, request=shown.request, path=path, operation="none", exists=False, hunks=[]
                )
                self._presenter.publish(gone)
        for preview in found:
            self._presenter.publish(preview)

    def _by_path(self, diffs: Sequence[Diff]) -> dict[str, list[FileChange]]:
        """Return the changes of each file that the session watches, by real path."""
        found: dict[str, list[FileChange]] = {}
        for change in (change for diff in diffs for change in diff.changes):
            path = None if change.operation == "patch" else self._real(change.path)
            if path is not None:
                found.setdefault(path, []).append(change)
        return found

    def _real(self, path: str) -> str | None:
        """Return the real path of a file, or None if the session does not watch it."""
        given = given_path(path, self._presenter.cwd)
        try:
            return None if given is None else self._roots.resolve(given)
        except NotAllowedError:
            return None

    async def _preview(self, one: _Waiting, path: str, changes: list[FileChange]) -> Preview:
        operation, other = changes[-1].operation, changes[-1].old_path
        old_path = self._real(other) if other is not None and operation in FROM_ANOTHER else None
        state, exists, large = None, True, False
        try:
            state, text = await self._text(old_path or path)
            exists = text is not None
            pieces = [piece for change in changes for piece in change.pieces]
            size = sum(len(piece.old_text or "") + len(piece.new_text) for piece in pieces)
            if large := exists and path not in one.asked and size > PREVIEW_UNASKED_CHARS:
                shown = FilePreview([])
            else:
                shown = await anyio.to_thread.run_sync(preview_of, text, changes)
        except FileRefusedError as error:
            shown = FilePreview([], str(error))
        return Preview(
            session=one.request.session,
            request=one.request.id,
            path=path,
            operation=operation,
            exists=exists,
            hunks=shown.hunks,
            state=state,
            old_path=old_path,
            note=shown.note,
            large=large,
        )

    async def _text(self, path: str) -> tuple[str | None, str | None]:
        """Return the state of the file's buffer, if loaded, and its text, if any. Raises `FileRefusedError`."""
        async with self._files.alone(path):
            buffer = await self._files.read(path)
        if buffer is not None:
            return buffer.state, buffer.text
        try:
            return None, (await disk.read(path)).text
        except NoSuchFileError:
            return None, None


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
