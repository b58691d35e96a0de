"""Handles messages about stored conversations: show one, export it as markdown, remember prompts."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.history.markdown import Markdown
from acp_nvim.history.records import remember
from acp_nvim.history.store import TranscriptStore
from acp_nvim.process import umask
from acp_nvim.rpc.messages import Export, Handlers, RememberPrompt, TranscriptCall, TranscriptOpen
from acp_nvim.session.conversation import Conversation
from acp_nvim.session.transcript.kept_views import shown
from acp_nvim.traffic.masking import without_secrets
from acp_nvim.ui import events
from acp_nvim.ui.editor import Editor
from acp_nvim.ui.events import CallDetails
from acp_nvim.ui.session_events import Exported, TranscriptShown

EXPORT_PIECE_CHARS: Final = 64 * 1024
"""Characters of an export that one event contains."""
EXPORT_BLOCKS: Final = 20
"""Blocks of a session that are converted at once, so that a long session does not block the event loop."""

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
                self._editor.publish(CallDetails(session=wanted.session, block=wanted.block, call=event.call))

    async def _export(self, wanted: Export) -> None:
        session, problem = wanted.session, None
        pieces = self._stored(wanted.transcript) if wanted.transcript else self._live(self._sessions[session])
        try:
            if wanted.path is not None:
                await _to_file(wanted.path, wanted.overwrite, pieces)
            else:
                async for text in pieces:
                    for start in range(0, len(text), EXPORT_PIECE_CHARS):
                        self._editor.publish(Exported(session=session, text=text[start : start + EXPORT_PIECE_CHARS]))
        except FileExistsError:
            problem = f"{wanted.path} exists: :AcpExport! overwrites it"
        except OSError as error:
            problem = f"{wanted.path or wanted.transcript}: {error.strerror or error}"
        path = None if problem else wanted.path
        self._editor.publish(Exported(session=session, path=path, problem=problem, done=True))

    async def _live(self, session: Conversation) -> AsyncIterator[str]:
        """Export an open session, with what is added to it meanwhile."""
        transcript, markdown = session.presenter.transcript, Markdown(session.agent)
        yield markdown.head(session.place.cwd, None, session.presenter.metadata.title)
        at = 1
        while at <= len(transcript):
            blocks = [
                list(transcript.shown(number)) for number in range(at, min(at + EXPORT_BLOCKS, len(transcript) + 1))
            ]
            at += EXPORT_BLOCKS
            yield await anyio.to_thread.run_sync(_joined, markdown, blocks)

    async def _stored(self, transcript_id: str) -> AsyncIterator[str]:
        known = await self._store.summary(transcript_id)
        markdown = Markdown(known.header.agent)
        yield markdown.head(known.header.cwd, known.header.started, known.about.title)
        async for blocks in self._store.blocks(transcript_id):
            yield await anyio.to_thread.run_sync(_joined, markdown, blocks)


def _joined(markdown: Markdown, blocks: Sequence[Sequence[events.Event]]) -> str:
    return without_secrets("".join(map(markdown.block, blocks)))


async def _to_file(path: str, overwrite: bool, pieces: AsyncIterator[str]) -> None:
    is_new = not await anyio.Path(path).exists()
    async with await anyio.open_file(
        path, "w" if overwrite else "x", encoding="utf-8", errors="surrogatepass", newline=""
    ) as file:
        if is_new:
            umask.share(file.wrapped.fileno(), 0o666)  # the user's file is not private to the host
        async for text in pieces:
            await file.write(text)
