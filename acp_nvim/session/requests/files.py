"""Serves `fs/read_text_file` and `fs/write_text_file`, and tells the user what they should know of it."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from acp_nvim.acp.answers import FileToRead, FileToWrite
from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.errors import Severity
from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError
from acp_nvim.review.evidence import Verdict
from acp_nvim.review.ledger import TurnLog
from acp_nvim.review.reviews import Reviews
from acp_nvim.session.requests.bounds import Share
from acp_nvim.session.requests.path_access import PathAccess
from acp_nvim.session.transcript.location_tracker import LocationTracker, first_change
from acp_nvim.session.transcript.presenter import CHANGES_WHAT_IT_NAMES, Presenter
from acp_nvim.tasks import Tasks
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.merge import merge
from acp_nvim.workspace.open_files import Followed
from acp_nvim.workspace.read_text_file import read_text_file
from acp_nvim.workspace.refusals import (
    ConflictError,
    DisallowedError,
    FileRefusedError,
    NoSuchFileError,
    NotAllowedError,
)
from acp_nvim.workspace.roots import Roots
from acp_nvim.workspace.stamps import stamp_of
from acp_nvim.workspace.write_text_file import write_text_file

OWN_PATHS: Final = 200
"""Files looked at when a tool call says that it has changed them: what one call edits; each is a task."""

log = logging.getLogger(__name__)


class AgentFiles:
    """Serves one session's requests for files below `roots`, and others that `outside` lets through."""

    def __init__(
        self,
        presenter: Presenter,
        reviews: Reviews,
        roots: Roots,
        seen: LastSeen,
        access: PathAccess,
        turn: TurnLog,
        tasks: Tasks,
        share: Share,
    ) -> None:
        self.save = True
        self.quirks: frozenset[str] = frozenset()
        self.roots = roots
        self.access = access
        self._presenter = presenter
        self._reviews = reviews
        self._files = reviews.files
        self._turn = turn
        self._seen = seen
        self._share = share
        self._locations = LocationTracker(presenter, reviews, roots, tasks)
        self._own: dict[str, str] = {}  # the stamps that the files had when the agent was done with them
        presenter.on_call.append(self._call_changed)

    def __repr__(self) -> str:
        return f"<AgentFiles {self.access!r} {self._seen!r}>"

    def read(self, wanted: FileToRead) -> Awaitable[dict[str, Any]]:
        """The answer to `fs/read_text_file`, to come; raises `RpcError`."""
        return self._read(wanted, self.access.resolve(wanted.path, "read"))

    def write(self, wanted: FileToWrite) -> Awaitable[dict[str, Any]]:
        """The answer to `fs/write_text_file`, to come; raises `RpcError`."""
        return self._write(wanted, self.access.resolve(wanted.path, "write"))

    def begin(self, quirks: frozenset[str], fresh: bool) -> None:
        """An agent of these quirks works from now on; in a `fresh` session it has seen nothing."""
        self.quirks = quirks
        self._own.clear()
        if fresh:
            self._seen.clear()

    def _call_changed(self, call: ToolCall, _patch: ToolCallPatch) -> None:
        if call.finished and call.kind in CHANGES_WHAT_IT_NAMES:
            self.wrote(os.path.join(self._presenter.cwd, path) for path, _ in call.files())

    def wrote(self, paths: Iterable[str]) -> None:
        """The agent says that it has changed these files (absolute paths) itself: as they are now, it knows them."""
        for path in list(dict.fromkeys(paths))[:OWN_PATHS]:
            with suppress(NotAllowedError, OSError):
                real = self.roots.resolve(path)
                self._own[real] = stamp_of(os.stat(real))
        for old in list(self._own)[:-OWN_PATHS]:
            del self._own[old]

    async def followed(self, what: Followed) -> None:
        """A file of the session was changed on disk."""
        if what.kind == "moved":
            self._seen.moved(what.path, what.detail)
        if what.kind in ("read", "merged") and self._own.get(what.path) == what.stamp:
            await self._see_own(what)
        if what.kind != "read":
            self._tell("info" if what.kind in ("merged", "moved") else "warn", what_followed(what, self._name))

    async def _see_own(self, what: Followed) -> None:
        """Note that the agent has seen its own change; it may not have seen what else was in the file."""
        seen = await self._seen.text(what.path)
        if seen is not None and what.before is not None and what.after is not None:
            view = await merge(what.before, seen, what.after)
            if view.text is not None:
                await self._seen.remember(what.path, view.text)

    async def _read(self, wanted: FileToRead, real_path: Awaitable[str]) -> dict[str, Any]:
        try:
            path = await real_path
            async with self._share:
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
            async with self._share:
                self._reviews.evidence.writes(self._turn.session, path)
                written = await write_text_file(self._files, self._seen, path, wanted.content, self.save, on_written)
        except FileRefusedError as error:
            if isinstance(error, ConflictError):
                async with self._files.alone(path):
                    verdict = Verdict("agent", f"written by {self._turn.agent}", (self._turn.session,))
                    await self._reviews.tracker.conflict(path, verdict)
            if not isinstance(error, DisallowedError):
                self._tell("warn", _what_failed(self._name(wanted.path), error))
            raise _refusal("fs/write_text_file", error) from error
        self._locations.at(path, first_change(written.before, written.after))
        if written.how == "merged":
            words = f"What the agent wrote into {self._name(path)} was merged with edits that it had not seen."
            self._tell("info", words)
        return {}

    def _name(self, path: str) -> str:
        """The path, relative to the session's directory if it is in there."""
        top = self.roots.directories[0].rstrip(os.sep) + os.sep
        return path.removeprefix(top)

    def _tell(self, level: Severity, words: str) -> None:
        self._presenter.notice(level, words)


def _what_failed(path: str, error: FileRefusedError) -> str:
    """A write that failed, in words for the user; the error's own are for the agent."""
    if isinstance(error, ConflictError):
        return (
            f"Your edits were kept: the agent wanted to write {path}, but has not seen what was changed there, and the "
            f"two cannot be merged: {error.why}. Nothing was written, and it was told to read the file "
            f"again.{_kept('Its version', error.kept)}"
        )
    return f"The agent's write failed: {error}"


def what_followed(what: Followed, name_of: Callable[[str], str] = str) -> str:
    """Return what the chat says of a file that was changed on disk below a buffer."""
    name = name_of(what.path)
    match what.kind:
        case "read":
            return f"{name} was changed on disk, and read again."
        case "merged":
            return f"{name} was changed on disk. That was merged with your unsaved edits: the buffer has both."
        case "conflict":
            return (
                f"Your edits were kept: {name} was changed on disk, and the two cannot be merged: {what.why}. "
                f"To :write the buffer makes your text the file's.{_kept('The version on disk', what.detail)}"
            )
        case "deleted":
            return f"{name} was deleted. Its buffer keeps the text; to :write it brings the file back."
        case "moved":
            return f"{name} is now {name_of(what.detail)}, and so is its buffer."
        case "unreadable":
            return f"A buffer cannot follow its file: {what.detail}"


def _kept(what: str, file: str) -> str:
    return f" {what} is kept in {file}: compare with :diffsplit." if file else ""


def _refusal(method: str, error: FileRefusedError) -> RpcError:
    log.info("%s refused: %s", method, error)
    code = INVALID_PARAMS if isinstance(error, NotAllowedError) else INTERNAL_ERROR
    return RpcError(code, str(error))
