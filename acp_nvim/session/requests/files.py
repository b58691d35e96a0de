"""Serves `fs/read_text_file` and `fs/write_text_file`, and shows notices about merged and failed writes."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from functools import partial
from typing import Any

from acp_nvim.acp.answers import FileToRead, FileToWrite
from acp_nvim.contract.editor import LineChange
from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError
from acp_nvim.permissions.request.access import PathAccess
from acp_nvim.permissions.request.bounds import Share
from acp_nvim.permissions.request.broker import PermissionBroker
from acp_nvim.permissions.request.subject import SessionPaths
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.session.requests.followed import kept_in
from acp_nvim.transcript.location_tracker import LocationTracker, first_change
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.read_text_file import read_text_file
from acp_nvim.workspace.refusals import (
    ConflictError,
    DisallowedError,
    FileRefusedError,
    NoSuchFileError,
    NotAllowedError,
)
from acp_nvim.workspace.write_text_file import Written, write_text_file

log = logging.getLogger(__name__)


class AgentFiles:
    """Serves one session's requests for files below its roots, and for other files that `access` allows."""

    def __init__(
        self,
        presenter: Presenter,
        changes: TurnChanges,
        where: SessionPaths,
        seen: LastSeen,
        broker: PermissionBroker,
        share: Share,
    ) -> None:
        self.save = True
        self.quirks: frozenset[str] = frozenset()
        self.access = PathAccess(where, broker)
        self._presenter = presenter
        self._named = changes.named
        self._reviews = changes.reviews
        self._files = changes.reviews.files
        self._roots = where.roots
        self._turn = changes.log
        self._work = changes.work
        self._seen = seen
        self._share = share
        self._locations = LocationTracker(presenter, changes.reviews, changes.log.roots, changes.tasks)

    def read(self, wanted: FileToRead) -> Awaitable[dict[str, Any]]:
        """Return an awaitable of the answer to `fs/read_text_file`, which raises `RpcError`."""
        return self._read(wanted, self.access.resolve(wanted.path, "read"))

    def write(self, wanted: FileToWrite) -> Awaitable[dict[str, Any]]:
        """Return an awaitable of the answer to `fs/write_text_file`, which raises `RpcError`."""
        return self._write(wanted, self.access.resolve(wanted.path, "write"))

    def locate(self, path: str, line: int | None) -> None:
        """Show where the agent is: at that line of that file."""
        self._locations.at(path, line)

    async def replace(self, path: str, before: str, after: str, save: bool) -> None:
        """Change the text of a file from `before` to `after` for the agent, and save it if wanted.

        What the user has changed since is merged. Raises `FileRefusedError`.
        """
        base = LastSeen(None)
        await base.remember(path, before)
        on_written = partial(self._reviews.tracker.wrote, self._turn, path, save)
        async with self._share.turn():
            self._work.before_write(path)
            written = await write_text_file(self._files, base, path, after, save, on_written)
        self._locations.at(path, _first_line(written))

    async def _read(self, wanted: FileToRead, real_path: Awaitable[str]) -> dict[str, Any]:
        try:
            path = await real_path
            async with self._share.turn():
                text = await read_text_file(self._files, self._seen, path, wanted.line, wanted.limit)
        except NoSuchFileError as error:
            if "missing_file_reads_empty" in self.quirks:
                return {"content": ""}
            raise RpcError(RESOURCE_NOT_FOUND, str(error), {"uri": wanted.path}) from error
        except FileRefusedError as error:
            raise _refusal("fs/read_text_file", error) from error
        self._locations.at(path, wanted.line)
        return {"content": text}

    async def _write(self, wanted: FileToWrite, real_path: Awaitable[str]) -> dict[str, Any]:
        try:
            path = await real_path
            on_written = partial(self._reviews.tracker.wrote, self._turn, path, self.save)
            async with self._share.turn():
                self._named.watch(path)
                self._work.before_write(path)
                written = await write_text_file(self._files, self._seen, path, wanted.content, self.save, on_written)
        except FileRefusedError as error:
            if isinstance(error, ConflictError):
                await self._reviews.tracker.refused(self._turn, path)
            if not isinstance(error, DisallowedError):
                self._presenter.notice("warn", _what_failed(self._roots.name(wanted.path), error))
            raise _refusal("fs/write_text_file", error) from error
        self._locations.at(path, _first_line(written))
        if written.how == "merged":
            name = self._roots.name(path)
            words = f"What the agent wrote into {name} was merged with edits that it had not seen."
            self._presenter.notice("info", words)
        return {}


def _first_line(written: Written) -> int:
    """Return the first line (1-based) that was changed, or 1 if none was."""
    change = written.change
    if isinstance(change, LineChange) and (change.count or change.lines):
        return change.first + 1
    return first_change(written.before, written.after)


def _what_failed(path: str, error: FileRefusedError) -> str:
    """Return the user's message for a failed write; the message of the error is for the agent."""
    if isinstance(error, ConflictError):
        return (
            f"Your edits were kept: the agent wanted to write {path}, but has not seen what was changed there, and the "
            f"two cannot be merged: {error.why}. Nothing was written, and it was told to read the file "
            f"again.{kept_in('Its version', error.kept)}"
        )
    return f"The agent's write failed: {error}"


def _refusal(method: str, error: FileRefusedError) -> RpcError:
    log.info("%s refused: %s", method, error)
    code = INVALID_PARAMS if isinstance(error, NotAllowedError) else INTERNAL_ERROR
    return RpcError(code, str(error))
