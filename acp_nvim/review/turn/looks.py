"""Looks at the directories of a session for what its agent has changed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import anyio

from acp_nvim.errors import Severity
from acp_nvim.review.checkpoint_views import file_views
from acp_nvim.review.named_files import NamedFiles
from acp_nvim.review.reviews import Reviews
from acp_nvim.review.storage import Checkpoint
from acp_nvim.snapshots.hidden_files import HIDDEN_FILES
from acp_nvim.snapshots.snapshot import Snapshot, SnapshotError
from acp_nvim.tasks import Tasks
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.roots import WatchedRoots

KEPT_SHARE: Final = 4
"""The copies of the user's objects take at most this fraction of the state directory's limit."""


class TurnNotices:
    """Tells the user something in the chat, once a turn, and what the turn has changed."""

    def __init__(self, presenter: Presenter) -> None:
        self._presenter = presenter
        self._said: set[str] = set()

    def begin_turn(self) -> None:
        """Forget what was said in the turn before."""
        self._said.clear()

    def summarize(self, made: Checkpoint) -> None:
        """Show a summary of what the turn has changed."""
        shown = self._presenter.transcript.summary(made.id, made.time, file_views(made.changes))
        self._presenter.publish(shown)

    def say(self, words: str, level: Severity = "info") -> None:
        """Say it, unless that was said in this turn."""
        if words not in self._said:
            self._said.add(words)
            self._presenter.notice(level, words)


class Looks:
    """Looks at the workspaces of `roots`, and at the `named` files; `notices` tell what cannot be seen."""

    def __init__(
        self, roots: WatchedRoots, reviews: Reviews, named: NamedFiles, notices: TurnNotices, tasks: Tasks
    ) -> None:
        self._roots = roots
        self._reviews = reviews
        self._named = named
        self._say = notices.say
        self._tasks = tasks
        self._looking = anyio.Lock()
        self._further = anyio.CancelScope()

    async def prepare(self) -> None:
        """Load what dead hosts have left to review, and take snapshots: what is different then is not the agent's."""
        for directory in self._roots.directories:
            await self._reviews.open(directory)
        for path in self._reviews.workspaces.adopted(self._roots.directories[0]):
            if path in self._reviews.ledger.entries:  # a dead host has left it
                self._roots.admit(path)
                self._named.on_outside()
        await self._scan()
        await self._scan_outside()
        self._tasks.spawn(self._look_at_permissions)

    async def _look_at_permissions(self) -> None:
        """Look at what a first snapshot has no time for."""
        for directory in self._roots.outermost:
            with suppress(SnapshotError):  # the next turn tries again; until then, what is unknown is the user's alone
                await self._reviews.workspaces.at(directory).scanner.shadow.look_at_permissions()

    async def look(self) -> None:
        """Record all changes so far in the ledger."""
        async with self._looking:
            for path in await self._reviews.files.editor.stale_buffers():
                if self._roots.contains(path):
                    await self._reviews.files.disk_changed(path)
            await self._scan()
            await self._named.scan()  # also files that git ignores
            await self._scan_outside()

    async def look_further(self, is_idle: Callable[[], bool]) -> None:
        """Do what no prompt has to wait for, but helps the next turn, until it is stopped, or not `is_idle`."""
        self._further.cancel()  # it is begun anew
        workspaces = self._reviews.workspaces
        with anyio.CancelScope() as self._further:
            for directory in self._roots.outermost:
                if is_idle():
                    await workspaces.at(directory).look_further(workspaces.max_bytes // KEPT_SHARE)

    def stop_looking_further(self) -> None:
        """Stop `look_further` at once, because a turn begins."""
        self._further.cancel()

    def note_prompt(self, moment: int) -> bool:
        """Note that a prompt is sent at `moment` (nanoseconds since 1970) while a snapshot is still being taken.

        Returns whether that is the first one, so that it is not known what there was before.
        """
        scanners = [self._reviews.workspaces.at(directory).scanner for directory in self._roots.outermost]
        for one in scanners:
            one.prompt_sent(moment)
        return any(one.last is None for one in scanners)

    def last_snapshots(self) -> dict[str, Snapshot]:
        """Return the last snapshot of each directory, as far as there is one."""
        workspaces = self._reviews.workspaces
        found = {directory: workspaces.at(directory).scanner.last for directory in self._roots.outermost}
        return {directory: last for directory, last in found.items() if last is not None}

    async def _scan_outside(self) -> None:
        for path in await self._named.scan_outside():
            self._say(f"{path} cannot be looked at any more: what the agent changes there is not reviewed.", "warn")

    async def _scan(self) -> None:
        self._named.is_blind = False
        for directory in self._roots.outermost:
            workspace = self._reviews.workspaces.at(directory)
            try:
                await workspace.scanner.scan()
            except SnapshotError as error:
                self._named.is_blind = True
                if not workspace.complain("snapshot", error):
                    self._say_missing(f"{directory}: {error}")
            else:
                workspace.works("snapshot")
                for path in workspace.scanner.too_many_hidden:
                    self._say(
                        f"New rules make git ignore {path}, which has more than {HIDDEN_FILES} new files: they are not "
                        "in the review, and a rejection leaves them there.",
                        "warn",
                    )
                if await workspace.scanner.sees_nothing():
                    self._say_missing(f"git ignores every file of {directory}")

    def _say_missing(self, why: str) -> None:
        """Warn that there is no snapshot, or an empty one."""
        self._say(
            f"There is no snapshot of the workspace: {why}. What the agent writes through Neovim and what its tool "
            "calls name can be reviewed all the same; what else its commands change cannot be seen.",
            "warn",
        )
