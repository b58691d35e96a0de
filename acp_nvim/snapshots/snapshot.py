"""Snapshots, the changes between two of them, and the errors."""

from __future__ import annotations

from typing import Final

import msgspec

from acp_nvim.limits import SNAPSHOT_FILES
from acp_nvim.snapshots.objects import LEFT_OUT, SYMLINK
from acp_nvim.workspace.permissions import bits

TOO_MANY: Final = f"there are more than {SNAPSHOT_FILES} files"


class SnapshotError(Exception):
    """A snapshot could not be taken or read; the message says why, in words for the user."""


class LimitError(SnapshotError):
    """The workspace exceeds a limit: do not try again soon."""


class GitFailedError(SnapshotError):
    """git failed for another reason than a limit, perhaps because of what a killed git left; `said` is its stderr."""

    def __init__(self, words: str, code: int | None = None, said: str = "") -> None:
        super().__init__(words)
        self.code = code
        self.said = said


class GoneError(SnapshotError):
    """The requested object is not in the shadow repository, or not any more."""


class Snapshot(msgspec.Struct, frozen=True):
    """All files of a workspace at one time; can be written to JSON and back."""

    id: str
    """The id of the tree of these files."""
    time: int
    """When the snapshot was started, in nanoseconds since 1970."""
    rules: str = ""
    """The id of the ignore rules that are in no file of it; "" if they are not known."""
    permissions: str = ""
    """The id of the `PermissionTable` of these files; "" if nothing is known of their permissions."""


class Blob(msgspec.Struct, frozen=True, eq=False, omit_defaults=True):
    """The content of a file. `oid` is "" when the content is not kept: too large, or not readable.

    Two blobs are equal if `oid` and `mode` are: `permissions` may be unknown.
    """

    oid: str
    mode: int
    """The git mode: 0o100644, 0o100755, 0o120000; 0o160000 when the content is not kept."""
    permissions: tuple[int, ...] = ()
    """The permission numbers (`workspace.permissions`) of the file, and of the directories above it in the workspace,
    the innermost first; () if they are unknown."""

    def __eq__(self, other: object) -> bool:
        """Whether the other blob has the same content and git mode."""
        return isinstance(other, Blob) and (self.oid, self.mode) == (other.oid, other.mode)

    def __ne__(self, other: object) -> bool:
        """Whether they differ: a struct does not derive this from `__eq__`."""
        return not self == other

    def __hash__(self) -> int:
        """Return a hash of content and git mode."""
        return hash((self.oid, self.mode))

    @property
    def bits(self) -> int | None:
        """The permission bits of the file; None if they are unknown, or it is a link, which has none."""
        return bits(self.permissions[0]) if self.permissions and self.mode != SYMLINK else None

    def has_other_mode(self, other: Blob) -> bool:
        """Whether the git modes differ, or the permission bits, if both are known."""
        return self.mode != other.mode or (None is not self.bits != other.bits is not None)

    def with_mode(self, other: Blob) -> Blob:
        """Return this content with the mode and the permissions of `other`."""
        return msgspec.structs.replace(other, oid=self.oid)


UNKNOWN: Final = Blob("", LEFT_OUT)
"""The earlier contents of a file, if they are not known: a change of it is listed, and left as it is."""


class DirectoryMove(msgspec.Struct, frozen=True):
    """A directory that has another name than in the earlier snapshot: absolute real paths.

    Directories below it that moved with it have no move of their own. `origin` is the earlier name, where `old` is
    that after other renames; "" if it is to be found out.
    """

    old: str
    new: str
    origin: str = ""


class Changed(msgspec.Struct, frozen=True):
    """A file that differs between two snapshots; `before` or `after` is None where it does not exist.

    Paths are absolute. For a rename, `before` belongs to `old_path`. `moved` is the outermost directory whose rename
    has brought the file to `path`; then the contents may be the same, and another file may be at `old_path`. It has no
    `before` if it was ignored at its earlier place, and is the same. `appears`: the earlier snapshot has no such file,
    and `before` is what else is known of it. A directory without files in the snapshots that took the place of a
    renamed one has a row of its own, without contents; its path ends with a slash.
    """

    path: str
    before: Blob | None
    after: Blob | None
    old_path: str | None = None
    moved: DirectoryMove | None = None
    appears: bool = False
