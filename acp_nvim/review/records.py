"""Changes as checkpoints store them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from acp_nvim.contract.events import By, Operation
from acp_nvim.evidence.evidence import Verdict
from acp_nvim.snapshots.renames import is_directory
from acp_nvim.snapshots.snapshot import Blob

CheckpointKind = Literal["turn", "restore", "reject"]


class Version(msgspec.Struct, frozen=True):
    """What was at a path. Versions with the same `content`, and permission bits if both are known, are the same.

    `text` is None if it has none, or may not be told.
    """

    content: tuple[object, ...]
    bits: int | None = None
    text: str | None = None

    def is_same(self, other: Version | None) -> bool:
        """Return whether the other version is the same; None stands for nothing."""
        if other is None or self.content != other.content:
            return False
        return self.bits is None or other.bits is None or self.bits == other.bits


class Decided(msgspec.Struct, frozen=True):
    """What the user has decided on a file or a directory, and what was there before and after; None: nothing.

    `sessions` are those whose agents had changed it; empty: unknown. Of what is kept, nothing else is known.
    """

    path: str
    action: Literal["kept", "rejected", "restored"]
    was: Version | None = None
    now: Version | None = None
    sessions: frozenset[int] = frozenset()

    @property
    def is_undone(self) -> bool:
        """Whether all is as it was before the decision."""
        is_same = self.now is None if self.was is None else self.was.is_same(self.now)
        return is_same and self.action != "kept"


class ReviewState(msgspec.Struct, frozen=True):
    """The review of a file before a rejection: its base, the sessions whose agents changed it, and the verdict."""

    base: Blob | None
    sessions: list[int]
    old_path: str | None = None
    by: By = "agent"
    why: str = ""

    @property
    def verdict(self) -> Verdict:
        """Who had made the change, as the review knew it."""
        return Verdict(self.by, self.why)


class ChangeRecord(msgspec.Struct, frozen=True):
    """A change of a file as a checkpoint stores it."""

    path: str
    before: Blob | None
    after: Blob | None
    added: int = 0
    removed: int = 0
    old_path: str | None = None
    note: str | None = None
    operation: Operation = "modify"
    by: By = "agent"
    why: str = ""
    review: ReviewState | None = None
    """The review that this change ended, if it was a rejection."""
    made: list[str] = []
    """Directories that were created with the file."""
    joins: bool = False
    """True for the rename of a directory that was made at once with the one before it."""
    in_turn: bool = False
    """True if it was rejected or restored before a turn was recorded that had changed it: the record of the turn, if
    there is one, is undone without this one.
    """

    def blobs(self) -> list[Blob | None]:
        """Return the contents that the record names."""
        return [self.before, self.after, None if self.review is None else self.review.base]


def joined(changes: Iterable[ChangeRecord]) -> list[ChangeRecord]:
    """Return the changes of one checkpoint: the last one of each file, and all renames of directories, in order."""
    found: dict[tuple[str, int], ChangeRecord] = {}
    for number, change in enumerate(changes):
        found[change.path, number if is_directory(change.path) else 0] = change
    return list(found.values())
