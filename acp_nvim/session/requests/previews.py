"""Shows in the files themselves what waiting permission requests ask to do to them; changes nothing there."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.acp.diff import Diff, FileChange
from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.permissions.pending import PendingPermission
from acp_nvim.review.locate import FilePreview, preview_of
from acp_nvim.session.transcript.presenter import Presenter
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.ui.review_events import Preview, PreviewDone
from acp_nvim.workspace import disk
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError, NotAllowedError
from acp_nvim.workspace.roots import Roots

PREVIEW_UNASKED_CHARS: Final = 128 * 1024
"""Largest change (old and new text together) that is located before its file is opened: 20 ms of a thread."""

log = logging.getLogger(__name__)

FROM_ANOTHER = ("move", "copy")
"""Operations whose text is that of the old path."""


class _Waiting:
    """A request that is not answered, and what was told of it, by path; for some the editor has `asked`."""

    def __init__(self, request: PendingPermission) -> None:
        self.request = request
        self.diffs: list[Diff] = []
        self.told: dict[str, Preview] = {}
        self.asked: set[str] = set()
        self.wanted = 0
        self.telling: anyio.Event | None = None


class Previews:
    """The previews of the requests of one session; each request has one for each file that it would change."""

    def __init__(self, presenter: Presenter, files: OpenFiles, roots: Roots, tasks: Tasks) -> None:
        self._presenter = presenter
        self._files = files
        self._roots = roots
        self._tasks = tasks
        self._waiting: dict[int, _Waiting] = {}
        self._of_call: dict[str, dict[int, _Waiting]] = {}
        self._in_turn = anyio.Lock()  # the threads for this are for all sessions
        presenter.on_call.append(self._call_changed)

    def __repr__(self) -> str:
        return f"<Previews of requests {list(self._waiting)}>"

    def begin(self, request: PendingPermission) -> None:
        """Begin to preview a request that is shown in the chat and waits."""
        one = self._waiting[request.id] = _Waiting(request)
        self._of_call.setdefault(request.tool_call_id, {})[request.id] = one
        self._look(one)

    def end(self, request: PendingPermission) -> None:
        """Take the preview of a request away that no longer waits."""
        one = self._waiting.pop(request.id, None)
        if one is None:
            return
        of_call = self._of_call[request.tool_call_id]
        del of_call[request.id]
        if not of_call:
            del self._of_call[request.tool_call_id]
        if one.told:
            self._presenter.publish(PreviewDone(session=request.session, request=request.id))

    def look_again(self, path: str) -> None:
        """Update the previews of a file (a real path): the editor has another text of it than they were made of."""
        for one in self._waiting.values():
            if any(path in (told.path, told.old_path) for told in one.told.values()):
                one.asked |= {told.path for told in one.told.values() if path in (told.path, told.old_path)}
                self._look_soon(one)

    def _call_changed(self, call: ToolCall, _patch: ToolCallPatch) -> None:
        for one in self._of_call.get(call.tool_call_id, {}).values():
            self._look(one)

    def tell_again(self) -> None:
        """Publish the previews of all requests that wait, for an editor that has forgotten them."""
        for one in self._waiting.values():
            self._look_soon(one)

    def _look(self, one: _Waiting) -> None:
        """Start an update if the tool call shows other changes than before."""
        diffs = self._presenter.transcript.diffs(one.request.tool_call_id)
        if diffs != one.diffs:
            one.diffs = diffs
            self._look_soon(one)

    def _look_soon(self, one: _Waiting) -> None:
        one.wanted += 1
        if not is_running(one.telling):
            one.telling = self._tasks.spawn(self._tell, one)

    async def _tell(self, one: _Waiting) -> None:
        """Publish previews until they are up to date, or the request waits no more."""
        done = 0
        try:
            while done != one.wanted and self._waiting.get(one.request.id) is one:
                done = one.wanted
                async with self._in_turn:
                    changed = self._by_path(one.diffs)
                    found = [await self._preview(one, path, changes) for path, changes in changed.items()]
                if done == one.wanted and self._waiting.get(one.request.id) is one:
                    self._publish(one, found)
        except Exception:  # the request is shown in the chat, and can be answered there
            log.exception("previews of %r", one.request)

    def _publish(self, one: _Waiting, found: Sequence[Preview]) -> None:
        paths = {preview.path for preview in found}
        for path, told in one.told.items():
            if path not in paths:  # it is not asked for any more
                gone = Preview(
                    session=told.session, request=told.request, path=path, operation="none", exists=False, hunks=[]
                )
                self._presenter.publish(gone)
        one.told = {preview.path: preview for preview in found}
        for preview in found:
            self._presenter.publish(preview)

    def _by_path(self, diffs: Sequence[Diff]) -> dict[str, list[FileChange]]:
        """The changes of each file of the session, by real path."""
        found: dict[str, list[FileChange]] = {}
        for change in (change for diff in diffs for change in diff.changes):
            path = None if change.operation == "patch" else self._real(change.path)
            if path is not None:
                found.setdefault(path, []).append(change)
        return found

    def _real(self, path: str) -> str | None:
        """None for what is not the session's."""
        try:
            return self._roots.resolve(os.path.join(self._presenter.cwd, path))
        except NotAllowedError:
            return None

    async def _preview(self, one: _Waiting, path: str, changes: list[FileChange]) -> Preview:
        operation, other = changes[-1].operation, changes[-1].old_path
        old_path = self._real(other) if other is not None and operation in FROM_ANOTHER else None
        state, exists, large = None, True, False
        try:
            state, text = await self._text(old_path or path)
            exists = text is not None
            if large := exists and path not in one.asked and _size(changes) > PREVIEW_UNASKED_CHARS:
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
        """The state of the file's buffer, if it is loaded, and its text, if there is one. Raises `FileRefusedError`."""
        async with self._files.alone(path):
            buffer = await self._files.read(path)
        if buffer is not None:
            return buffer.state, buffer.text
        try:
            return None, (await disk.read(path)).text
        except NoSuchFileError:
            return None, None


def _size(changes: Sequence[FileChange]) -> int:
    """Characters of old and new text."""
    return sum(len(piece.old_text or "") + len(piece.new_text) for one in changes for piece in one.pieces)
