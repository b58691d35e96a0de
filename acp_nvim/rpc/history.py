"""Handles messages about what is stored: show a conversation, export it, remember prompts, write to the log."""

from __future__ import annotations

import errno
import logging
import os
import stat
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.contract import events
from acp_nvim.contract.editor import Editor
from acp_nvim.contract.events import CallDetailsListed
from acp_nvim.contract.messages import Handlers
from acp_nvim.contract.session_events import Exported, TranscriptShown
from acp_nvim.contract.stored_messages import Export, LogLine, RememberPrompt, TranscriptCall, TranscriptOpen
from acp_nvim.history.markdown import Markdown
from acp_nvim.history.records import Masking, remember
from acp_nvim.history.store import TranscriptStore
from acp_nvim.session.conversation import Conversation
from acp_nvim.traffic.masking import without_secrets
from acp_nvim.transcript.kept_views import shown

EXPORT_PIECE_CHARS: Final = 64 * 1024
"""Characters of an export that one event contains."""
EXPORT_BLOCKS: Final = 20
"""Blocks of a session that are converted at once, so that a long session does not block the event loop."""

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

log = logging.getLogger(__name__)


class HistoryHandlers:
    """Handles messages about the conversations in `store`, and exports `sessions`.

    `trouble` is called with a message for the user, once, when sent prompts cannot be stored.
    """

    def __init__(
        self,
        store: TranscriptStore,
        sessions: Mapping[int, Conversation],
        editor: Editor,
        trouble: Callable[[str], None],
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._editor = editor
        self._trouble: Callable[[str], None] | None = trouble
        self._remembering = anyio.Lock()  # keeps the prompts in order
        self._showing: dict[int, int] = {}
        self.handlers: Handlers = {
            TranscriptOpen: self._show,
            TranscriptCall: self._tell_call,
            Export: self._export,
            RememberPrompt: self._remember,
            LogLine: lambda wanted: logging.getLogger("acp_nvim.lua").info("%s", wanted.text),
        }

    async def _remember(self, wanted: RememberPrompt) -> None:
        try:
            async with self._remembering:
                await anyio.to_thread.run_sync(remember, Path(wanted.path), wanted.text, wanted.time)
        except OSError as error:
            log.warning("a prompt is not remembered: %s: %s", wanted.path, error)
            trouble, self._trouble = self._trouble, None
            if trouble is not None:
                trouble(f"prompts are not remembered: {wanted.path}: {error.strerror or error}")

    async def _show(self, wanted: TranscriptOpen) -> None:
        key = wanted.session
        turn = self._showing[key] = self._showing.get(key, 0) + 1
        self._editor.publish(events.Reset(session=key))
        problem = None
        try:
            async for blocks in self._store.blocks(wanted.id):
                if self._showing[key] != turn:
                    return  # another request shows it again, from the beginning
                for block in blocks:
                    for event in shown(key, block):
                        self._editor.publish(event)
        except OSError as error:
            problem = error.strerror or str(error)
        self._editor.publish(TranscriptShown(session=key, problem=problem))

    async def _tell_call(self, wanted: TranscriptCall) -> None:
        try:
            events_of_block = await self._store.block(wanted.id, wanted.block)
        except OSError as error:  # the transcript was deleted
            log.info("block %d of conversation %s cannot be read: %s", wanted.block, wanted.id, error)
            return
        for event in events_of_block:
            if isinstance(event, events.ToolCall):
                self._editor.publish(CallDetailsListed(session=wanted.session, block=wanted.block, call=event.call))

    async def _export(self, wanted: Export) -> None:
        session, problem = wanted.session, None
        masking = None if wanted.exact else self._store.masking
        if wanted.transcript:
            pieces = self._stored(wanted.transcript, masking)
        else:
            pieces = self._live(self._sessions[session], masking)
        try:
            if wanted.path is not None:
                await _to_file(Path(wanted.path), wanted.exact, pieces)
            else:
                async for text in pieces:
                    for start in range(0, len(text), EXPORT_PIECE_CHARS):
                        self._editor.publish(Exported(session=session, text=text[start : start + EXPORT_PIECE_CHARS]))
        except FileExistsError:
            problem = f"{wanted.path} exists: name another file (:AcpExport! overwrites it, with the exact text)"
        except OSError as error:
            problem = f"{wanted.path or wanted.transcript}: {error.strerror or error}"
        path = None if problem else wanted.path
        self._editor.publish(Exported(session=session, path=path, exact=wanted.exact, problem=problem, done=True))

    async def _live(self, session: Conversation, masking: Masking | None) -> AsyncIterator[str]:
        """Export an open session, with what is added to it meanwhile."""
        transcript, export = session.presenter.transcript, _Export(session.agent, masking)
        yield export.head(session.place.cwd, None, session.presenter.metadata.title)
        at = 1
        while at <= len(transcript):
            blocks = [
                list(transcript.shown(number)) for number in range(at, min(at + EXPORT_BLOCKS, len(transcript) + 1))
            ]
            at += EXPORT_BLOCKS
            yield await anyio.to_thread.run_sync(export.blocks, blocks)

    async def _stored(self, transcript_id: str, masking: Masking | None) -> AsyncIterator[str]:
        known = await self._store.summary(transcript_id)
        export = _Export(known.header.agent, masking)
        yield export.head(known.header.cwd, known.header.started, known.about.title)
        async for blocks in self._store.blocks(transcript_id):
            yield await anyio.to_thread.run_sync(export.blocks, blocks)


class _Export:
    """Converts a conversation to markdown; without `masking` only what the user has entered is masked."""

    def __init__(self, agent: str, masking: Masking | None) -> None:
        self._markdown = Markdown(agent)
        self._masking = masking

    def head(self, cwd: str, started: float | None, title: str | None) -> str:
        """Return the beginning, as `Markdown.head` does."""
        text = self._markdown.head(cwd, started, title)
        return self._masking.masker.text(text) if self._masking else without_secrets(text)

    def blocks(self, blocks: Sequence[Sequence[events.Event]]) -> str:
        """Return the next blocks. Blocks: a long text takes milliseconds."""
        masking = self._masking
        if masking is not None:
            blocks = [[masking.event(event) for event in block] for block in blocks]
        return without_secrets("".join(map(self._markdown.block, blocks)))


async def _to_file(path: Path, overwrite: bool, pieces: AsyncIterator[str]) -> None:
    """Write a file that only the user can read, completely or not at all. Raises `OSError`, also if it exists already.

    `overwrite`: replace the file, also the one that a link of the user points to.
    """
    target = await anyio.to_thread.run_sync(_target, path) if overwrite else path
    new = target.with_name(f".{target.name[:200]}.{uuid.uuid4().hex[:8]}") if overwrite else path
    descriptor = await anyio.to_thread.run_sync(os.open, new, _NEW, 0o600)
    try:
        text = os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass", newline="")
        async with anyio.wrap_file(text) as file:
            async for piece in pieces:
                await file.write(piece)
        if new != target:
            await anyio.to_thread.run_sync(os.replace, new, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(new)
        raise


def _target(path: Path) -> Path:
    """Return the file that is replaced: what a link of the user points to. Raises `OSError` if it must not be."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            if status.st_uid not in (os.geteuid(), 0):
                raise PermissionError(errno.EPERM, "it is a link of another user")
            path = Path(os.path.realpath(path))
            status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
    except FileNotFoundError:
        pass  # it is a new one
    return path
