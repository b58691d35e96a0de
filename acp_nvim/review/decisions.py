"""Carries out the user's decisions: keeps and rejects changes, resolves conflicts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final, Literal

import msgspec

from acp_nvim.contract import events
from acp_nvim.contract.events import Event
from acp_nvim.contract.review_events import Judged, LeftFile
from acp_nvim.evidence.evidence import is_proven
from acp_nvim.hunks.conflict_blocks import resolve
from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.change import Entry
from acp_nvim.review.entry_files import EntryFiles
from acp_nvim.review.obstacles import in_order
from acp_nvim.review.progress import Progress, Steps
from acp_nvim.review.rejections import Rejections
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.undo_log import UndoLog
from acp_nvim.review.workspace import Workspace
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError, InTheWayError

Choice = Literal["mine", "theirs", "both"]
Action = Literal["keep", "reject", "mine", "theirs", "both"]

LEFT_FILES: Final = 20
"""Files that one message lists: more lines fill the screen."""


class Decisions:
    """Carries out the user's decisions on files under review.

    `workspace_of` maps a path to its workspace; `notify` reports to the chats of the workspace at a directory;
    `find_missing` finds out what has become of files under review that are gone.
    """

    def __init__(
        self,
        tracker: ChangeTracker,
        files: OpenFiles,
        workspace_of: Callable[[str], Workspace],
        publish: Callable[[Event], None],
        notify: Callable[[str, str], None],
        find_missing: Callable[[], Awaitable[None]],
        progress: Progress,
    ) -> None:
        self._tracker = tracker
        self._ledger = tracker.ledger
        self._files = files
        self._workspace_of = workspace_of
        self._publish = publish
        self._notify = notify
        self._find_missing = find_missing
        self._progress = progress
        self._own = EntryFiles(tracker, files)
        self._rejections = Rejections(tracker, files, self._own, workspace_of)

    @property
    def save(self) -> bool:
        """Whether a rejection saves the buffers that it changes."""
        return self._own.save

    @save.setter
    def save(self, save: bool) -> None:
        self._own.save = save

    async def judge(
        self, action: Action, path: str | None, ids: Collection[int] | None, session: int | None, force: bool
    ) -> None:
        """Carry out an action: on hunks, on a file, or on all that a session (None: any) has changed.

        A rejection of all is limited to changes proven to be agents'; `force` includes those of unknown origin.
        """
        undo_log = UndoLog("reject", self._workspace_of, self._ledger.is_in_turn)
        asked = self._ledger.open(session)
        if path is not None:
            asked = [one for one in (self._ledger.entries.get(path),) if one is not None]
        await self._find_missing()
        if path is not None:
            await self._decide(action, asked, ids, undo_log, [])
            return
        files, left = list[str](), list[LeftFile]()
        try:
            with self._progress.shown("keeping" if action == "keep" else "rejecting") as steps:
                await self._judge_all(action, asked, session, force, undo_log, (files, left), steps)
        finally:  # the editor waits for it
            if action in ("keep", "reject"):
                undo_id = undo_log.checkpoint_id(self._workspace_of(files[0]).root) if files else ""
                self._publish(Judged(action=action, files=files, left=left, undo_id=undo_id))

    async def _judge_all(
        self,
        action: Action,
        asked: Sequence[Entry],
        session: int | None,
        force: bool,
        undo_log: UndoLog,
        told: tuple[list[str], list[LeftFile]],
        steps: Steps,
    ) -> None:
        """Carry out an action on all files; add those where it succeeded to `told`, and those that are left alone.

        `asked` are those that the user has seen.
        """
        done, left_alone = told
        entries = self._ledger.open(session)
        if action == "reject":
            entries = await self._refreshed(entries, steps)
        over = [one for one in asked if one.is_over or self._ledger.entries.get(one.path) is not one]
        words = "you have deleted it, or undone what was left to review"
        left_alone += [LeftFile(one.path, "user", words) for one in over]
        if action != "reject":
            steps.begin("keeping", len(entries))
            await self._decide(action, entries, None, undo_log, done, steps)
            return
        taken = in_order([one for one in entries if is_proven(one.verdict.by, force)])
        paths = {one.path for one in taken}
        left = [one for one in entries if one.path not in paths]
        left_alone[:0] = [LeftFile(one.path, one.verdict.by, one.verdict.why) for one in left]
        await self._rejections.store_all(undo_log, [one for one in taken if not one.is_directory])
        steps.begin("rejecting", len(taken))
        await self._decide(action, taken, None, undo_log, done, steps)

    async def _refreshed(self, entries: Sequence[Entry], steps: Steps) -> list[Entry]:
        """Bring the entries up to date with the disk; return those that are still under review."""
        steps.begin("checking", len(entries))
        for entry in entries:
            async with self._files.alone(entry.path):
                await self._tracker.refresh(entry.path)
            steps.done += 1
        return [one for one in entries if self._ledger.entries.get(one.path) is one]

    async def _decide(
        self,
        action: Action,
        entries: Sequence[Entry],
        ids: Collection[int] | None,
        undo_log: UndoLog,
        done: list[str],
        steps: Steps | None = None,
    ) -> None:
        """Carry out an action on files; add those where it succeeded to `done`, and report why others failed.

        What has others in its way is tried again after these.
        """
        waiting, is_one = list(entries), len(entries) == 1
        problems: list[str] = []
        while waiting:
            blocked: dict[str, Entry] = {}
            for entry in waiting:
                path = entry.path
                try:
                    await self._carry_out(action, path, ids, undo_log, is_one=is_one, is_checked=steps is not None)
                    done.append(path)
                except InTheWayError as error:
                    blocked[str(error)] = entry
                except FileRefusedError as error:
                    problems.append(str(error))
                if steps is not None:
                    steps.done = min(steps.done + 1, steps.total)
            is_stuck = len(blocked) == len(waiting)
            waiting = list(blocked.values())
            if is_stuck:
                waiting = [part for entry in waiting for part in await self._rejections.split(entry)]
            if is_stuck and len(waiting) == len(blocked):
                problems += blocked
                break
        self._warn_of_secrets(undo_log)
        if problems:
            self._publish(events.Error(text="\n".join(_bounded(problems)), code="review"))

    async def _carry_out(
        self,
        action: Action,
        path: str,
        ids: Collection[int] | None,
        undo_log: UndoLog,
        *,
        is_one: bool,
        is_checked: bool,
    ) -> None:
        if action == "keep":
            await self._keep(path, ids)
        elif action == "reject":
            await self._rejections.reject(path, ids, undo_log, clears=is_one, is_checked=is_checked)
        else:
            await self._resolve(path, ids, action)

    def _warn_of_secrets(self, undo_log: UndoLog) -> None:
        paths = [one.path for one in undo_log.changes if self._ledger.contents(one.path).shadow.is_secret(one.path)]
        for root in dict.fromkeys(self._workspace_of(path).root for path in paths):
            names = _bounded([path for path in paths if self._workspace_of(path).root == root])
            self._notify(
                root,
                f"{', '.join(names)}: looks secret, so that what was rejected of it is not written to the disk. "
                ":AcpRestore undo brings it back only as long as this Neovim runs.",
            )

    async def _keep(self, path: str, ids: Collection[int] | None) -> None:
        """Accept hunks; None: the whole file."""
        async with self._files.alone(path):
            entry = await self._own.entry(path)
            if entry is None:
                return
            entry.keep(ids)
            entry.is_guessed = False  # the user has decided on the base
            self._tracker.tell_kept(entry)
            self._ledger.publish(path)

    async def _resolve(self, path: str, ids: Collection[int] | None, choice: Choice) -> None:
        """Resolve conflict blocks with the user's lines, the other version's, or both."""
        async with self._files.alone(path):
            for _ in range(FOLLOW_ATTEMPTS):
                entry = await self._own.entry(path)
                if entry is None or entry.conflict is None or entry.text is None:
                    return
                blocks = [block for number, block in entry.blocks().items() if ids is None or number in ids]
                conflict, now = entry.conflict, entry.text.current
                base, text = resolve(conflict.base, now, conflict.theirs, blocks, choice)
                if text == now or await self._apply_resolved(entry, text):
                    entry.conflict = msgspec.structs.replace(conflict, base=base)
                    if not entry.blocks():
                        entry.conflict = None
                        self._files.conflicts.settle(path)
                    self._ledger.publish(path)
                    return
        raise FileRefusedError(f"{path} is being changed all the time. Nothing was decided; try again.")

    async def _apply_resolved(self, entry: Entry, text: str) -> bool:
        """Return False if the file was changed meanwhile."""
        wanted = self._own.content(entry, text)
        if not await self._own.write(entry, wanted):
            return False
        await self._ledger.apply_user(entry.path, wanted)
        self._own.update_state(entry)
        return True


def _bounded(lines: Sequence[str]) -> list[str]:
    more = len(lines) - LEFT_FILES
    return list(lines) if more <= 0 else [*lines[:LEFT_FILES], f"... and {more} more"]
