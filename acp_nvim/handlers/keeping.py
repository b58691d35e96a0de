"""Takes what the user wants of kept conversations: to find one, to see it, to have one as markdown."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import anyio.to_thread
import msgspec

from acp_nvim import events
from acp_nvim.call_events import CallDetails
from acp_nvim.editor import Editor
from acp_nvim.handlers.method import Methods
from acp_nvim.history.keeper import Keeper
from acp_nvim.history.markdown import Markdown
from acp_nvim.history.prompts import remember
from acp_nvim.history_events import Exported, SessionsFound, TranscriptShown
from acp_nvim.limits.history import EXPORT_BLOCKS, EXPORT_PIECE_CHARS
from acp_nvim.process import umask
from acp_nvim.session.kept_views import shown
from acp_nvim.session.session import Session
from acp_nvim.tasks import Tasks
from acp_nvim.traffic.words import without_secrets

log = logging.getLogger(__name__)


class SessionsFind(msgspec.Struct):
    """`sessions_find`: conversations in which that text stands (of the project at `cwd`); `id` is the question's."""

    id: int
    query: str = ""
    cwd: str | None = None


class RememberPrompt(msgspec.Struct):
    """`remember_prompt`: a line for the file `path` with the prompts of a project, `time` in seconds since 1970."""

    path: str
    text: str
    time: int


class TranscriptOpen(msgspec.Struct):
    """`transcript_open`: show the kept conversation of that id in a session that has no agent."""

    session: int
    id: str


class TranscriptCall(msgspec.Struct):
    """`transcript_call`: all that is kept of the tool call at that block, as `call_details` has it."""

    session: int
    id: str
    block: int


class Export(msgspec.Struct):
    """`export`: a session, or the kept `transcript` that it shows, as markdown: into the file `path`, else as text."""

    session: int
    path: str | None = None
    overwrite: bool = False
    transcript: str | None = None


class Keeping:
    """The messages about what `keeper` keeps, and `sessions` as markdown."""

    def __init__(self, keeper: Keeper, sessions: Mapping[int, Session], editor: Editor, tasks: Tasks) -> None:
        self._keeper = keeper
        self._sessions = sessions
        self._editor = editor
        self._tasks = tasks
        self._showing: dict[int, int] = {}
        self.methods: Methods = {
            "sessions_find": (SessionsFind, self._find),
            "transcript_open": (TranscriptOpen, self._open),
            "transcript_call": (TranscriptCall, self._call),
            "export": (Export, self._export),
            "remember_prompt": (RememberPrompt, self._remember),
        }

    def _find(self, wanted: SessionsFind) -> None:
        project = os.path.realpath(wanted.cwd) if wanted.cwd else None
        self._tasks.spawn(self._tell_found, wanted, project)

    def _open(self, wanted: TranscriptOpen) -> None:
        self._showing[wanted.session] = self._showing.get(wanted.session, 0) + 1
        self._tasks.spawn(self._show, wanted, self._showing[wanted.session])

    def _call(self, wanted: TranscriptCall) -> None:
        self._tasks.spawn(self._tell_call, wanted)

    def _export(self, wanted: Export) -> None:
        self._tasks.spawn(self._write, wanted)

    def _remember(self, wanted: RememberPrompt) -> None:
        self._tasks.spawn(anyio.to_thread.run_sync, remember, Path(wanted.path), wanted.text, wanted.time)

    async def _tell_found(self, wanted: SessionsFind, project: str | None) -> None:
        try:
            async for found in self._keeper.find(wanted.query, project):
                self._editor.publish(SessionsFound(id=wanted.id, found=found))
        finally:
            self._editor.publish(SessionsFound(id=wanted.id, found=[], done=True))

    async def _show(self, wanted: TranscriptOpen, turn: int) -> None:
        key = wanted.session
        self._editor.publish(events.Reset(session=key))
        problem = None
        try:
            async for blocks in self._keeper.blocks(wanted.id):
                if self._showing[key] != turn:
                    return  # it is shown again, from the beginning
                for block in blocks:
                    for event in shown(key, block):
                        self._editor.publish(event)
        except OSError as error:
            problem = error.strerror or str(error)
        self._editor.publish(TranscriptShown(session=key, problem=problem))

    async def _tell_call(self, wanted: TranscriptCall) -> None:
        try:
            events_of_block = await self._keeper.block(wanted.id, wanted.block)
        except OSError as error:  # it was deleted meanwhile
            log.info("block %d of conversation %s cannot be read: %s", wanted.block, wanted.id, error)
            return
        for event in events_of_block:
            if isinstance(event, events.ToolCall):
                self._editor.publish(CallDetails(session=wanted.session, block=wanted.block, call=event.call))

    async def _write(self, wanted: Export) -> None:
        pieces = self._kept(wanted.transcript) if wanted.transcript else self._live(self._sessions[wanted.session])
        try:
            if wanted.path is None:
                await self._tell_text(wanted.session, pieces)
            else:
                await _to_file(wanted.path, wanted.overwrite, pieces)
                self._editor.publish(Exported(session=wanted.session, path=wanted.path, done=True))
        except FileExistsError:
            words = f"{wanted.path} exists: :AcpExport! overwrites it"
            self._editor.publish(Exported(session=wanted.session, problem=words, done=True))
        except OSError as error:
            words = f"{wanted.path or wanted.transcript}: {error.strerror or error}"
            self._editor.publish(Exported(session=wanted.session, problem=words, done=True))

    async def _tell_text(self, session: int, pieces: AsyncIterator[str]) -> None:
        async for text in pieces:
            for start in range(0, len(text), EXPORT_PIECE_CHARS):
                self._editor.publish(Exported(session=session, text=text[start : start + EXPORT_PIECE_CHARS]))
        self._editor.publish(Exported(session=session, done=True))

    async def _live(self, session: Session) -> AsyncIterator[str]:
        """A session that is alive, as it is now; what comes while it is written is in it, too."""
        transcript, markdown = session.narrator.transcript, Markdown(session.agent)
        yield markdown.head(session.place.cwd, None, session.narrator.facts.title)
        at = 1
        while at <= len(transcript):
            blocks = [
                list(transcript.shown(number)) for number in range(at, min(at + EXPORT_BLOCKS, len(transcript) + 1))
            ]
            at += EXPORT_BLOCKS
            yield await anyio.to_thread.run_sync(_joined, markdown, blocks)

    async def _kept(self, transcript_id: str) -> AsyncIterator[str]:
        known = await self._keeper.summary(transcript_id)
        markdown = Markdown(known.header.agent)
        yield markdown.head(known.header.cwd, known.header.started, known.about.title)
        async for blocks in self._keeper.blocks(transcript_id):
            yield await anyio.to_thread.run_sync(_joined, markdown, blocks)


def _joined(markdown: Markdown, blocks: Sequence[Sequence[events.Event]]) -> str:
    return without_secrets("".join(map(markdown.block, blocks)))


async def _to_file(path: str, overwrite: bool, pieces: AsyncIterator[str]) -> None:
    is_new = not await anyio.Path(path).exists()
    async with await anyio.open_file(
        path, "w" if overwrite else "x", encoding="utf-8", errors="surrogatepass", newline=""
    ) as file:
        if is_new:
            umask.share(file.wrapped.fileno(), 0o666)  # it is the user's, not one of ours
        async for text in pieces:
            await file.write(text)
