"""The review of one workspace without agents and without Neovim: turns and changes of files are made by hand."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import anyio

from acp_nvim.contract import events, review_events
from acp_nvim.contract.messages import Edited
from acp_nvim.evidence.work import TURN_LATE_NS, now
from acp_nvim.process.end_times import note_end
from acp_nvim.review.decisions import Action
from acp_nvim.review.reviews import Reviews
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.tasks import Tasks
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.conflicts import Conflicts
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.read_text_file import read_text_file
from acp_nvim.workspace.refusals import NoSuchFileError
from acp_nvim.workspace.roots import WatchedRoots
from acp_nvim.workspace.saves import Saves
from acp_nvim.workspace.write_text_file import write_text_file
from tests.support.agent_edits import Tree, look
from tests.support.fake_editor import FakeEditor, stamp
from tests.support.waiting import LIMIT, wait_until


class Desk:
    """`cwd` is the workspace; its host may be ended, and another one begun, by `restart`."""

    def __init__(self, directory: Path) -> None:
        self.cwd = Path(os.path.realpath(directory)) / "project"
        self.cwd.mkdir()
        self.state = Path(os.path.realpath(directory)) / "state"
        self.editor = FakeEditor()

    async def begin(self) -> None:
        """Start a host for the workspace."""
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        directories = [str(self.cwd)]
        conflicts, saves = Conflicts(self.state / "conflicts"), Saves(self.state / "saves")
        self.files = OpenFiles(self.editor, conflicts, saves, self._followed, lambda: directories)
        tasks = Tasks(self._tasks, lambda error: None)
        self.reviews = Reviews(self.state, self.files, self.editor.publish, tasks)
        self.files.on_read = self.reviews.tracker.buffer_read
        roots = WatchedRoots(directories)
        presenter = Presenter(1, str(self.cwd), self.editor, lambda: None)
        self.changes = TurnChanges(1, "it", roots, self.reviews, presenter, tasks)
        self.changes.snapshot_wait = LIMIT
        self.seen = LastSeen(None)
        self.mark = os.urandom(4).hex()
        self.changes.work.process_started(self.mark, now())

    async def _followed(self, what) -> None:
        await self.reviews.tracker.followed(what)

    async def begin_turn(self, prompt: str = "do it") -> None:
        """Begin a turn: from now on the agent works."""
        await self.changes.begin(prompt)
        self.changes.work.command("all that it does", "make", "")

    async def end_turn(self) -> None:
        """End the turn and wait for its checkpoint."""
        self.changes.work.command("all that it does", "make", "", finished=True)
        self.changes.end(goes_on=False)
        await self.changes.settled()
        done, work = time.time_ns(), self.changes.work
        for turn in work._turns:
            turn.ended = min(turn.ended or done, done) - TURN_LATE_NS  # nothing comes late: next is the user
        for activity in work._activities.values():
            activity.time.ended = min(activity.time.ended or done, done)
        wait_until(lambda: now() > done)

    async def look_around(self) -> None:
        """The host looks what has changed, as it does after tool calls."""
        await self.changes.look()

    async def lose_host(self) -> None:
        """The host ends, and the agent with it; the next one has been asked nothing yet. The buffers stay."""
        note_end(self.reviews.journal.ends, self.mark)
        await self.end()
        await self.begin()

    async def restart(self) -> None:
        """The host ends; the next one takes up what is left. Buffers go with Neovim."""
        await self.reviews.keep()
        self.editor.buffers.clear()
        await self.lose_host()
        await self.reviews.open(str(self.cwd))

    async def end(self) -> None:
        """All that the host has begun is over, and what it has open is closed."""
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)
        for workspace in self.reviews.workspaces.all.values():
            workspace.scanner.shadow.close()
            if workspace.saved._lock is not None:
                os.close(workspace.saved._lock)
                workspace.saved._lock = None

    # --- what is done -----------------------------------------------------------------------------------------------

    async def fs_write(self, name: str, change: Callable[[str], str]) -> None:
        """The agent reads a file and writes another text, both through us; a file that is not there has no text."""
        path, text = str(self.cwd / name), ""
        with suppress(NoSuchFileError):
            text = await read_text_file(self.files, self.seen, path, None, None)
        on_written = partial(self.reviews.tracker.wrote, self.changes.log, path, True)
        await write_text_file(self.files, self.seen, path, change(text), True, on_written)

    async def type(self, name: str, text: str, is_told: bool) -> None:
        """Type this text into a buffer; Lua reports it now, or the host notices when it looks."""
        buffer = self.editor.buffers[str(self.cwd / name)]
        before, old = buffer.state, buffer.text.split("\n")[:-1]
        buffer.type(text)
        if is_told:
            edit = Edited(str(self.cwd / name), before, buffer.state, 0, len(old), text.split("\n")[:-1])
            await self.reviews.tracker.edited(edit)

    async def save(self, name: str) -> None:
        """The user writes the buffer, and Lua tells."""
        path, buffer = str(self.cwd / name), self.editor.buffers[str(self.cwd / name)]
        self.put(name, buffer.text.encode())
        buffer.is_at(stamp(path), buffer.text)
        await self.reviews.tracker.saved(path)

    def put(self, name: str, data: bytes) -> None:
        """Somebody writes the file on disk, in place; at another time than whoever did it last."""
        path = self.cwd / name
        before = path.stat().st_mtime_ns if path.exists() else 0
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        when = max(path.stat().st_mtime_ns, before + 1_000_000)
        os.utime(path, ns=(when, when))

    def open(self, name: str) -> None:
        """Open the file in a buffer, as the user."""
        self.editor.open(self.cwd / name)

    async def judge(self, action: Action, name: str | None = None, ids: list[int] | None = None) -> None:
        """Keep, reject or undo as Lua asks for it: a file, some of its hunks, or all."""
        await self.reviews.judge(action, None if name is None else str(self.cwd / name), ids, None)

    async def restore(self, checkpoint_id: str) -> review_events.Restored:
        """Restore the files of a checkpoint."""
        await self.reviews.restore(str(self.cwd), checkpoint_id)
        return self.editor.all(review_events.Restored)[-1]

    # --- what is seen -----------------------------------------------------------------------------------------------

    def look(self) -> Tree:
        """Return the files of the workspace."""
        return look(self.cwd)

    def text(self, name: str) -> str:
        """Return the text of the buffer, or else of the file."""
        buffer = self.editor.buffers.get(str(self.cwd / name))
        return buffer.text if buffer is not None else (self.cwd / name).read_text()

    async def review(self, name: str) -> review_events.Review | None:
        """Return what is reported of a file under review; None if nothing is left."""
        await self.reviews.tracker.show(str(self.cwd / name))
        told = [one for one in self.editor.all(review_events.Review) if one.path == str(self.cwd / name)]
        return told[-1] if told and told[-1].operation != "none" else None

    def shown(self) -> dict[str, tuple[str, int, int, str | None]]:
        """What a list of files says."""
        return {
            os.path.relpath(one.path, self.cwd): (
                one.operation or "none",
                one.added,
                one.removed,
                None if one.old_path is None else os.path.relpath(one.old_path, self.cwd),
            )
            for one in self.reviews.ledger.open()
        }

    async def checkpoints(self) -> list[review_events.CheckpointView]:
        """Return the checkpoints, newest first."""
        await self.reviews.list(str(self.cwd), str(self.cwd))
        return self.editor.all(review_events.CheckpointsListed)[-1].checkpoints

    def errors(self) -> list[str]:
        """What the user was told that could not be done."""
        return [one.text for one in self.editor.all(events.Error)]


class Complaints(logging.Handler):
    """What the host only writes into its log."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.words: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.words.append(self.format(record))


@asynccontextmanager
async def running_desk(directory: Path) -> AsyncIterator[Desk]:
    """All that it has begun is over at the end, and nothing of it has failed."""
    complaints, logger = Complaints(), logging.getLogger("acp_nvim")
    logger.addHandler(complaints)
    try:
        desk = Desk(directory)
        await desk.begin()
        try:
            yield desk
            assert not complaints.words, complaints.words[0]
        finally:
            await desk.end()
    finally:
        logger.removeHandler(complaints)


def play(steps: Callable[[Desk], Awaitable[None]]) -> None:
    """Play the steps on an event loop and in a directory of their own."""

    async def played() -> None:
        with tempfile.TemporaryDirectory() as directory:
            async with running_desk(Path(directory)) as desk:
                await steps(desk)

    anyio.run(played)
