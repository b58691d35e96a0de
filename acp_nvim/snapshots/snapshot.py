"""What a snapshot is, and what differs between two."""

from __future__ import annotations

import msgspec


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
