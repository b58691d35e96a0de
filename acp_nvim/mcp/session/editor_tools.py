"""What the tools of the MCP server need of a session: its files, its user's permission, and the review."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any, Final
from uuid import uuid4

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.acp.answers import PermissionAsked, PermissionOption
from acp_nvim.acp.diff import Diff, FileChange, Piece
from acp_nvim.acp.tool_call import Location, ToolCallPatch
from acp_nvim.acp.updates import ToolCallChanged
from acp_nvim.contract.editor import FileEdits, ToolAnswer, WorkspaceEdit
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.mcp.editor_calls import EditorCalls
from acp_nvim.mcp.tools.tool import ToolError
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace import disk
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.text_edits import UnsavedNameError, applied, with_unsaved

log = logging.getLogger(__name__)

EDITED_FILES: Final = 200
"""Files that one edit may change: a user cannot look through more."""
WRITE_SECONDS: Final = 20.0
"""Time to write all files of an edit: a file takes a few milliseconds."""
CALL_PREFIX: Final = "acp_nvim:edit:"
"""Prefix of the ids of tool calls that stand for edits of the editor's tools. The agent cannot guess the rest: it must
not change what the user is shown."""
ALLOW: Final = "allow"
_OPTIONS: Final = [
    PermissionOption(ALLOW, "Allow", "allow_once"),
    PermissionOption("reject", "Reject", "reject_once"),
]


class _Change(msgspec.Struct, frozen=True):
    """The new text of a file."""

    path: str
    before: str
    after: str


class EditorTools:
    """The `acp_nvim.mcp.tools.tool.Workplace` of one session, with its files, permissions and review."""

    def __init__(self, presenter: Presenter, requests: AgentRequests, changes: TurnChanges, calls: EditorCalls) -> None:
        self.roots = requests.where.roots
        self.files = changes.reviews.files
        self.has_debugger = False
        self._presenter = presenter
        self._requests = requests
        self._changes = changes
        self._calls = calls

    async def ask(self, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
        """See `Workplace`."""
        session = self._presenter.transcript.session
        directories = self.roots.directories
        where = {"session": session, "cwd": directories[0], "directories": directories}
        answer = await self._calls.ask(tool, {**where, **{k: v for k, v in arguments.items() if v is not None}})
        self.has_debugger = answer.has_debugger
        return answer

    async def until_ready(self) -> None:
        """See `Workplace`."""
        await self._calls.until_ready()

    async def readable(self, path: str) -> str:
        """See `Workplace`; the user may be asked for a file that is outside, as for `fs/read_text_file`."""
        try:
            return await self._requests.files.access.resolve(os.path.join(self._presenter.cwd, path), "read")
        except (FileRefusedError, RpcError) as error:
            raise ToolError(str(error)) from error

    async def changed_files(self) -> list[str]:
        """See `Workplace`."""
        await self._changes.look()
        return [path for path, change in self._changes.log.changes.items() if change.verdict.by == "agent"]

    def show(self, path: str, line: int, note: str | None) -> None:
        """See `Workplace`."""
        self._requests.files.locate(path, line)
        if note:
            words = f"{self._requests.where.agent} shows {self.roots.name(path)}:{line}"
            self._presenter.notice("info", f"{words}: {' '.join(note.split())}")

    async def apply(self, title: str, edit: WorkspaceEdit, renamed: tuple[str, str] | None = None) -> str:
        """See `Workplace`: the chat shows the edit as a tool call, which the user allows or rejects."""
        if len(edit.files) > EDITED_FILES:
            raise ToolError(f"{title} would change {len(edit.files)} files. No more than {EDITED_FILES} are changed.")
        found = [await self._change(one, edit.encoding, renamed) for one in edit.files]
        changes = self._each_once(title, [one for one in found if one is not None])
        if not changes:
            raise ToolError(f"{title}: nothing would change.")
        call = f"{CALL_PREFIX}{uuid4().hex}"
        asked = PermissionAsked(
            options=_OPTIONS,
            tool_call_id=call,
            patch=ToolCallPatch(
                tool_call_id=call,
                title=title,
                kind="edit",
                status="pending",
                content=[_diff(one) for one in changes],
                locations=[Location(one.path) for one in changes],
            ),
        )
        try:
            answer = await self._requests.serve(asked)
            chosen = getattr(answer.outcome, "option_id", None)
            if chosen != ALLOW:
                why = "it was cancelled" if chosen is None else "the user did not allow it"
                raise ToolError(f"{title}: nothing was changed, {why}.")
            words = await self._write(title, changes)
        except RpcError as error:
            self._report(call, "failed")
            raise ToolError(f"{title}: {error}") from error
        except BaseException:
            self._report(call, "failed")
            raise
        self._report(call, "completed")
        return words

    def _each_once(self, title: str, changes: Sequence[_Change]) -> list[_Change]:
        """Return the change of each file, which may have two names, of which one is a link. Raises `ToolError`."""
        by_path: dict[str, _Change] = {}
        for one in changes:
            if by_path.setdefault(one.path, one).after != one.after:
                words = f"the language server edits {self.roots.name(one.path)} by two names, in different ways"
                raise ToolError(f"{title}: nothing was changed, {words}.")
        return list(by_path.values())

    def _report(self, call: str, status: str) -> None:
        self._presenter.update(ToolCallChanged(ToolCallPatch(tool_call_id=call, status=status)))
        self._presenter.caught_up()

    async def _change(self, wanted: FileEdits, encoding: str, renamed: tuple[str, str] | None) -> _Change | None:
        """Return the new text of a file, or None if it would not change. Raises `ToolError`."""
        try:
            path = self.roots.resolve(wanted.path)
            async with self.files.alone(path):
                buffer = await self.files.read(path)
            if buffer is not None and wanted.state is not None and buffer.state != wanted.state:
                raise ToolError(f"{self.roots.name(path)} was changed meanwhile. Nothing was done; try again.")
            text = buffer.text if buffer is not None else (await disk.read(path)).text
            is_unended = buffer is not None and wanted.is_unended
            after = await anyio.to_thread.run_sync(applied, text, wanted.edits, encoding, is_unended)
            if buffer is not None and buffer.modified and renamed is not None:
                on_disk = await self.files.saved(path, buffer)
                after = await anyio.to_thread.run_sync(with_unsaved, on_disk, text, after, renamed)
        except FileRefusedError as error:
            raise ToolError(f"Nothing was changed: {error}") from error
        except UnsavedNameError as error:
            words = "has unsaved lines with that name, which the language server has not seen. Ask the user to save it"
            raise ToolError(f"{self.roots.name(wanted.path)} {words}. Nothing was changed.") from error
        saved = text if buffer is None else self.files.written(buffer)
        return None if after in (text, saved) else _Change(path, text, after)

    async def _write(self, title: str, changes: Sequence[_Change]) -> str:
        """Write all files, and return what was done. Raises `ToolError` if not all of it could be.

        A file is saved as the configuration says, unless it has unsaved text by now: the user's answer takes its time.
        """
        try:
            await self.ask("open", {"paths": [one.path for one in changes]})
        except ToolError as error:
            log.info("the files of an edit are not open, so that undo does not take it back: %s", error)
        done, failed = [], []
        left = list(changes)
        with anyio.move_on_after(WRITE_SECONDS, shield=True):  # a cancelled call must not leave a half of it
            while left:
                one, name = left[0], self.roots.name(left[0].path)
                try:
                    done.append(await self._write_one(one, name))
                except FileRefusedError as error:
                    failed.append(f"{name}: {error}")
                del left[0]
        failed += [f"{self.roots.name(one.path)}: Neovim has not answered in time" for one in left]
        words = f"{title}: changed {', '.join(done) or 'nothing'}."
        if failed:
            raise ToolError("\n".join([words, "Not changed:", *failed]))
        return words

    async def _write_one(self, change: _Change, name: str) -> str:
        """Write one file, and return its name, with what is special about it. Raises `FileRefusedError`."""
        async with self.files.alone(change.path):
            buffer = await self.files.read(change.path)
        save = self._requests.files.save and not (buffer is not None and buffer.modified)
        await self._requests.files.replace(change.path, change.before, change.after, save)
        return name if save else f"{name} (not saved)"


def _diff(change: _Change) -> Diff:
    piece = Piece(change.before, change.after)
    return Diff((FileChange(path=change.path, operation="modify", pieces=(piece,)),))
