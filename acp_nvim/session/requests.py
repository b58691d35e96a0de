"""What an agent asks of us in a session: permissions and files."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from acp_nvim import events
from acp_nvim.editor import Editor
from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError
from acp_nvim.permissions.pending import PendingPermission, PendingPermissions
from acp_nvim.protocol.answers import FileToRead, FileToWrite, PermissionAsked
from acp_nvim.protocol.dialect import Dialect, Place
from acp_nvim.protocol.updates import ToolCallChanged
from acp_nvim.session import views
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.outside import Outside
from acp_nvim.session.permission_requests import PermissionRequests
from acp_nvim.wire.facts import CancelledPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome
from acp_nvim.workspace.read_text_file import read_text_file
from acp_nvim.workspace.refusals import (
    ChangedSinceReadError,
    FileRefusedError,
    NoSuchFileError,
    NotAllowedError,
    NotSavedError,
)
from acp_nvim.workspace.roots import Roots
from acp_nvim.workspace.seen import SeenTexts
from acp_nvim.workspace.write_text_file import write_text_file

log = logging.getLogger(__name__)


class AgentRequests:
    """Serves one session's requests; `on_permissions` is called whenever the number of waiting ones changes."""

    def __init__(
        self,
        narrator: Narrator,
        place: Place,
        editor: Editor,
        permissions: PendingPermissions,
        on_permissions: Callable[[], None],
    ) -> None:
        self.save = True
        self.quirks: frozenset[str] = frozenset()
        self.permissions = PermissionRequests(narrator, permissions, on_permissions)
        self.rejected: set[str] = set()
        self._narrator = narrator
        self._transcript = narrator.transcript
        self._editor = editor
        self.outside = Outside(Roots([place.cwd, *place.additional_directories]), self.permissions)
        self._seen = SeenTexts()

    def __repr__(self) -> str:
        return f"<AgentRequests {self.outside!r} {self._seen!r}>"

    def serve(self, dialect: Dialect, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """The answer to come. What it changes on screen is changed now, in the order of the agent's messages."""
        try:
            asked = dialect.asked(method, params)
        except msgspec.DecodeError as error:
            raise RpcError(INVALID_PARAMS, f"{method}: {error}") from error
        if isinstance(asked, FileToRead):
            return self._read(asked, self.outside.resolve(asked.path, "read"))
        if isinstance(asked, FileToWrite):
            return self._write(asked, self.outside.resolve(asked.path, "write"))
        return self._decide(self._ask(asked))

    def _ask(self, asked: PermissionAsked) -> PendingPermission:
        if asked.patch is not None:
            self._narrator.update(ToolCallChanged(asked.patch))
        options = [events.Option(one.option_id, one.name, one.kind) for one in asked.options]
        tool_call_id = asked.tool_call_id or ""
        call = self._transcript.find_call(tool_call_id)
        return self.permissions.ask(tool_call_id, options, lambda new: views.request_view(new, asked, options, call))

    async def _decide(self, pending: PendingPermission) -> RequestPermissionResponse:
        try:
            chosen = await self.permissions.answer(pending)
        except anyio.get_cancelled_exc_class():
            chosen = None  # withdrawn (`$/cancel_request`): the answer says so itself (v2 "Tool Calls")
        if chosen is None:
            return RequestPermissionResponse(outcome=CancelledPermissionOutcome())
        if chosen.kind.startswith("reject"):
            self.rejected.add(pending.tool_call_id)
        return RequestPermissionResponse(outcome=SelectedPermissionOutcome(option_id=chosen.option_id))

    async def _read(self, wanted: FileToRead, real_path: Awaitable[str]) -> dict[str, Any]:
        try:
            text = await read_text_file(self._editor, self._seen, await real_path, wanted.line, wanted.limit)
        except NoSuchFileError as error:
            if "missing_file_reads_empty" in self.quirks:
                return {"content": ""}
            raise RpcError(RESOURCE_NOT_FOUND, str(error), {"uri": wanted.path}) from error
        except FileRefusedError as error:
            raise _refusal("fs/read_text_file", error) from error
        return {"content": text}

    async def _write(self, wanted: FileToWrite, real_path: Awaitable[str]) -> dict[str, Any]:
        try:
            path = await real_path
            await write_text_file(self._editor, self._seen, path, wanted.content, self.save)
        except FileRefusedError as error:
            if isinstance(error, NotSavedError):
                self._file_changed(error.path)
            self._narrator.publish(self._transcript.notice("warn", _told(wanted.path, error)))
            raise _refusal("fs/write_text_file", error) from error
        self._file_changed(path)
        return {}

    def _file_changed(self, path: str) -> None:
        self._narrator.publish(events.FileChanged(session=self._transcript.session, path=path, by="agent"))


def _told(path: str, error: FileRefusedError) -> str:
    """A write that failed, in words for the user; the error's own are for the agent."""
    if isinstance(error, ChangedSinceReadError):
        return (
            f"Your edits were kept: the agent wanted to write {path}, but has not seen what you changed there. "
            "Nothing was written, and it was told to read the file again."
        )
    return f"The agent's write failed: {error}"


def _refusal(method: str, error: FileRefusedError) -> RpcError:
    log.info("%s refused: %s", method, error)
    code = INVALID_PARAMS if isinstance(error, NotAllowedError) else INTERNAL_ERROR
    return RpcError(code, str(error))
