"""What a snapshot is, what differs between two, and why there is none."""

from __future__ import annotations

from typing import Final

import msgspec

from acp_nvim.limits import SNAPSHOT_FILES

TOO_MANY: Final = f"there are more than {SNAPSHOT_FILES} files"


class SnapshotError(Exception):
    """There is no snapshot, or no answer about one; the message says why, in words for the user."""


class LimitError(SnapshotError):
    """The workspace is beyond one of the limits: trying again soon is of no use."""


class GitFailedError(SnapshotError):
    """git ended with a failure that has nothing to do with limits, perhaps because of what a killed one left."""

    def __init__(self, words: str, code: int | None = None) -> None:
        super().__init__(words)
        self.code = code


class GoneError(SnapshotError):
    """The shadow repository does not have (or no longer) what was asked for."""


class Snapshot(msgspec.Struct, frozen=True):
    """All files of a workspace at one moment; can be written to JSON and back."""

    id: str
    """The tree that has them."""
    time: int
    """Nanoseconds since 1970 when it was begun."""


class Blob(msgspec.Struct, frozen=True):
    """What a file holds. `oid` is "" when the content is not kept: too large, or not readable."""

    oid: str
    mode: int
    """As git counts: 0o100644, 0o100755, 0o120000; 0o160000 when the content is not kept."""


class Changed(msgspec.Struct, frozen=True):
    """One file that differs between two snapshots: None is a file that is not there.

    Paths are absolute. Of a rename, `before` is that of `old_path`.
    """

    path: str
    before: Blob | None
    after: Blob | None
    old_path: str | None = None
