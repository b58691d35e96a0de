"""Publishes the location (file and line) at which the agent of one session works, as inferred from its activity."""

from __future__ import annotations

import os
from functools import partial
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.acp.diff import Diff, FileChange
from acp_nvim.acp.tool_call import CHANGES_WHAT_IT_NAMES, Item, ToolCall, ToolCallPatch
from acp_nvim.contract import events
from acp_nvim.hunks.locate import locate
from acp_nvim.review.reviews import Reviews
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.transcript.call_views import places as places_of
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace import disk
from acp_nvim.workspace.line_differences import common_head
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.roots import WatchedRoots

LOCATION_SECONDS: Final = 0.1
"""Minimum time between two published locations: users cannot follow faster."""


class LocationTracker:
    """Publishes the first location at once, and then the latest one every `LOCATION_SECONDS`."""

    def __init__(self, presenter: Presenter, reviews: Reviews, roots: WatchedRoots, tasks: Tasks) -> None:
        self._presenter = presenter
        self._session = presenter.transcript.session
        self._reviews = reviews
        self._tasks = tasks
        self._roots = roots
        self._next: events.Location | None = None
        self._rests: anyio.Event | None = None
        self._looked_for: tuple[str, FileChange] | None = None
        self._looks: anyio.Event | None = None
        presenter.on_call.append(self.works)
        presenter.on_turn_end = self.flush

    def at(self, path: str, line: int | None = None) -> None:
        """Note that the agent is at that line (1-based) of that file (absolute path)."""
        self._looked_for = None
        self._next = events.Location(session=self._session, path=path, line=line or None)
        if not is_running(self._rests):
            self.flush()
            self._rests = self._tasks.spawn(self._rest)

    def works(self, call: ToolCall, patch: ToolCallPatch) -> None:
        """Locate the agent by an update of a tool call: by its locations, else by its changes."""
        places = places_of(call.locations) if patch.locations else []
        has_edited = bool(patch.status) and call.status == "completed" and call.kind in CHANGES_WHAT_IT_NAMES
        change = _last_change(patch.content or (call.content if has_edited else []))
        if places and places[-1].line is not None:
            self.at(self._absolute(places[-1].path), places[-1].line)
        elif change is not None and (not places or self._absolute(places[-1].path) == self._absolute(change.path)):
            self.changes(change)
        elif places:
            self.at(self._absolute(places[-1].path))

    def changes(self, change: FileChange) -> None:
        """Locate the agent at the first line that a change of a file changes."""
        path = self._absolute(change.path)
        piece = change.pieces[0] if change.pieces else None
        if piece is None or piece.old_text is None:
            self.at(path, 1 if change.operation == "add" else None)
        elif piece.line is not None:
            same = common_head(piece.old_text, piece.new_text)
            self.at(path, piece.line + piece.new_text.count("\n", 0, same))
        else:
            self._looked_for = path, change
            if not is_running(self._looks):
                self._looks = self._tasks.spawn(self._look)

    def flush(self) -> None:
        """Publish the pending location without waiting for the end of the interval."""
        if self._next is not None:
            self._presenter.publish(self._next)
            self._next = None

    async def _rest(self) -> None:
        await anyio.sleep(LOCATION_SECONDS)
        while self._next is not None:
            self.flush()
            await anyio.sleep(LOCATION_SECONDS)

    async def _look(self) -> None:
        """Find the latest change in its file, unless the agent has moved on meanwhile."""
        try:
            while self._looked_for is not None:
                path, change = wanted = self._looked_for
                line = await self._line(path, change)
                if self._looked_for is wanted:
                    self.at(path, line)
                await anyio.sleep(LOCATION_SECONDS)  # asking the editor more often is useless
        finally:
            self._looked_for = None

    async def _line(self, path: str, change: FileChange) -> int | None:
        try:
            real = self._roots.resolve(path)
            async with self._reviews.files.alone(real):
                buffer = await self._reviews.files.read(real)
            text = (await disk.read(real)).text if buffer is None else buffer.text
        except (FileRefusedError, OSError):
            return None
        found = await anyio.to_thread.run_sync(partial(locate, text, change))
        return found[0].first + 1 if found else None

    def _absolute(self, path: str) -> str:
        return os.path.join(self._presenter.cwd, path)  # keeps an absolute path


def first_change(before: str | None, after: str) -> int:
    """Return the first line (1-based) in which two texts differ, or 1 if they are equal."""
    if before is None or before == after:
        return 1
    return after.count("\n", 0, common_head(before, after)) + 1


def _last_change(content: list[Item]) -> FileChange | None:
    changes = [one for item in content if isinstance(item, Diff) for one in item.changes if one.operation != "patch"]
    return changes[-1] if changes else None
