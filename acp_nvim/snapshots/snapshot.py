"""Snapshots, the changes between two of them, and the errors."""

from __future__ import annotations

from typing import Final

import msgspec

from acp_nvim.limits import SNAPSHOT_FILES

TOO_MANY: Final = f"there are more than {SNAPSHOT_FILES} files"


class SnapshotError(Exception):
    """A snapshot could not be taken or read; the message says why, in words for the user."""


class LimitError(SnapshotError):
    """The workspace exceeds a limit: do not try again soon."""


class GitFailedError(SnapshotError):
    """git failed for another reason than a limit, perhaps because of what a killed git left."""

    def __init__(self, words: str, code: int | None = None) -> None:
        super().__init__(words)
        self.code = code


class GoneError(SnapshotError):
    """The requested object is not in the shadow repository, or not any more."""


class Snapshot(msgspec.Struct, frozen=True):
    """All files of a workspace at one time; can be written to JSON and back."""

    id: str
    """The id of the tree of these files."""
    time: int
    """When the snapshot was started, in nanoseconds since 1970."""


class Blob(msgspec.Struct, frozen=True):
    """The content of a file. `oid` is "" when the content is not kept: too large, or not readable."""

    oid: str
    mode: int
    """The git mode: 0o100644, 0o100755, 0o120000; 0o160000 when the content is not kept."""


class DirectoryMove(msgspec.Struct, frozen=True):
    """A directory that has another name than in the earlier snapshot: absolute real paths.

    Directories below it that moved with it have no move of their own.
    """

    old: str
    new: str


class Changed(msgspec.Struct, frozen=True):
    """A file that differs between two snapshots; `before` or `after` is None where it does not exist.

    Paths are absolute. For a rename, `before` belongs to `old_path`.
    """

    path: str
    before: Blob | None
    after: Blob | None
    old_path: str | None = None
    moved: DirectoryMove | None = None
    """The renamed directory that the file came with; None if its earlier name is unknown, too.

    `old_path` is then the file's path in the earlier snapshot, where another file may be now. Contents may be equal.
    """
