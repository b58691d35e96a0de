"""One file under review, in the editor's words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from acp_nvim.review.change import Change
from acp_nvim.review.conflict_blocks import ConflictBlock, conflict_blocks
from acp_nvim.review.contents import Content
from acp_nvim.review_events import FileView, HunkView, Review
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.workspace.conflicts import Conflict


class Entry(Change):
    """`on_disk` is what we know to be in the file; `state` is that of its buffer, None without one."""

    def __init__(self, path: str, before: Content, old_path: str | None = None) -> None:
        super().__init__(path, before, old_path)
        self.sessions: set[int] = set()
        self.on_disk: Blob | None = before.blob
        self.state: str | None = None
        self.is_asked_for = False
        self.is_guessed = False  # what it was: no snapshot had the file
        self.conflict: Conflict | None = None
        self._ids: dict[tuple[int, tuple[str, ...], tuple[str, ...]], int] = {}
        self._blocks: dict[int, ConflictBlock] = {}

    @property
    def is_over(self) -> bool:
        """Nothing is left to review."""
        return self.operation is None and self.conflict is None

    def view(self) -> FileView:
        """As a list shows it."""
        return FileView(
            self.path,
            self.operation or "modify",
            self.added,
            self.removed,
            self.old_path,
            self.note,
            self.verdict.by,
            self.verdict.why,
        )

    def review(self) -> Review:
        """As its buffer shows it."""
        is_shown = (self.state is not None or self.is_asked_for) and self.is_looked_at
        blocks = self.blocks()
        return Review(
            path=self.path,
            operation=self.operation or ("modify" if self.conflict is not None else "none"),
            added=self.added,
            removed=self.removed,
            sessions=sorted(self.sessions),
            hunks=[*self._hunks(), *self._conflict_hunks(blocks)] if is_shown else None,
            state=self.state,
            old_path=self.old_path,
            note=self.note,
            conflicts=len(blocks),
            by=self.verdict.by,
            why=self.verdict.why,
            tool_call=self.verdict.tool_call,
        )

    def blocks(self) -> dict[int, ConflictBlock]:
        """What of a version that could not be merged is not decided yet, by id; ids stay while the lines do."""
        if self.conflict is None or self.text is None:
            return {}
        found: dict[int, ConflictBlock] = {}
        ids, self._ids = self._ids, {}
        for block in conflict_blocks(self.conflict.base, self.text.current, self.conflict.theirs):
            for turn in count():
                key = (turn, tuple(block.mine), tuple(block.theirs))
                if key not in self._ids:
                    break
            self._ids[key] = ids.get(key) or next(_conflict_ids)
            found[self._ids[key]] = block
        return found

    def _hunks(self) -> Iterable[HunkView]:
        if self.text is None:
            return
        for hunk in self.text.hunks:
            block = hunk.block
            yield HunkView(hunk.id, block.j1, block.j2 - block.j1, self.text.old_lines(hunk))

    def _conflict_hunks(self, blocks: dict[int, ConflictBlock]) -> Iterable[HunkView]:
        for number, block in blocks.items():
            yield HunkView(number, block.first, block.count, by="conflict", theirs=list(block.theirs))


_conflict_ids = count(-1, -1)
"""Ids of hunks are positive."""
