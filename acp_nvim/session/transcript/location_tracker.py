"""Tells the editor where the agent of one session is: a file and a line, as far as what it does shows."""

from __future__ import annotations

import os
from functools import partial
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.acp.diff import Diff, FileChange, Piece
from acp_nvim.acp.tool_call import Item, ToolCall, ToolCallPatch
from acp_nvim.review.locate import locate
from acp_nvim.review.reviews import Reviews
from acp_nvim.session.transcript.call_views import places as places_of
from acp_nvim.session.transcript.presenter import CHANGES_WHAT_IT_NAMES, Presenter
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.ui import events
from acp_nvim.workspace import disk
from acp_nvim.workspace.line_differences import common_head
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.roots import Roots

LOCATION_SECONDS: Final = 0.1
"""Between two places where an agent is that the editor is told of: people see no more of them."""


class LocationTracker:
    """Tells where the agent works: the first place at once, then the last one every `LOCATION_SECONDS`."""

    def __init__(self, presenter: Presenter, reviews: Reviews, roots: Roots, tasks: Tasks) -> None:
        self._presenter = presenter
        self._session = presenter.transcript.session
        self._reviews = reviews
        self._tasks = tasks
        self._roots = roots
        self._next: events.Location | None = None
        self._rests: anyio.Event | None = None
        self._looked_for: tuple[str, FileChange] | None = None
        self._looks: anyio.Event | None = None
        self._count = 0
        presenter.on_call.append(self.works)
        presenter.on_turn_end = self.flush

    def __repr__(self) -> str:
        return f"<LocationTracker of {self._session}: {self._count} places>"

    def at(self, path: str, line: int | None = None) -> None:
        """The agent is at that line (1-based) of that file (absolute path)."""
        self._count += 1
        self._looked_for = None
        self._next = events.Location(session=self._session, path=path, line=line or None)
        if not is_running(self._rests):
            self.flush()
            self._rests = self._tasks.spawn(self._rest)

    def works(self, call: ToolCall, patch: ToolCallPatch) -> None:
        """A tool call is different now: where it says to be, else where it changes something."""
        places = places_of(call.locations) if patch.locations else []
        change = _last_change(patch.content or (call.content if _has_edited(call, patch) else []))
        if places and places[-1].line is not None:
            self.at(self._absolute(places[-1].path), places[-1].line)
        elif change is not None and (not places or self._absolute(places[-1].path) == self._absolute(change.path)):
            self.changes(change)
        elif places:
            self.at(self._absolute(places[-1].path))

    def changes(self, change: FileChange) -> None:
        """The agent changes a file, or has changed it: at its first line that becomes another one."""
        path = self._absolute(change.path)
        piece = change.pieces[0] if change.pieces else None
        if piece is None or piece.old_text is None:
            self.at(path, 1 if change.operation == "add" else None)
        elif piece.line is not None:
            self.at(path, piece.line + _same_lines(piece))
        else:
            self._looked_for = path, change
            if not is_running(self._looks):
                self._looks = self._tasks.spawn(self._look)

    def flush(self) -> None:
        """Publish the location that waits, before its interval is over."""
        if self._next is not None:
            self._presenter.publish(self._next)
            self._next = None

    async def _rest(self) -> None:
        await anyio.sleep(LOCATION_SECONDS)
        while self._next is not None:
            self.flush()
            await anyio.sleep(LOCATION_SECONDS)

    async def _look(self) -> None:
        """Find the last change in its file; who is elsewhere meanwhile is not taken back."""
        try:
            while self._looked_for is not None:
                path, change = wanted = self._looked_for
                line = await self._line(path, change)
                if self._looked_for is wanted:
                    self.at(path, line)
                await anyio.sleep(LOCATION_SECONDS)  # to ask the editor more often is no use
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
        return os.path.join(self._presenter.cwd, path)  # which leaves an absolute one as it is


def first_change(before: str | None, after: str) -> int:
    """The first line, 1-based, in which two texts differ; of the same ones: the first."""
    if before is None or before == after:
        return 1
    return after.count("\n", 0, common_head(before, after)) + 1


def _has_edited(call: ToolCall, patch: ToolCallPatch) -> bool:
    """It says that it is done with what it was to change."""
    return bool(patch.status) and call.status == "completed" and call.kind in CHANGES_WHAT_IT_NAMES


def _last_change(content: list[Item]) -> FileChange | None:
    changes = [one for item in content if isinstance(item, Diff) for one in item.changes if one.operation != "patch"]
    return changes[-1] if changes else None


def _same_lines(piece: Piece) -> int:
    """Lines at the beginning of a piece that stay as they are."""
    return piece.new_text.count("\n", 0, common_head(piece.old_text or "", piece.new_text))
