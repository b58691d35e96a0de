"""What Neovim says to the host about files, their review, and turns to go back to."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.review.tracker import Edit
from acp_nvim.rpc.messages import Message
from acp_nvim.ui.events import wire_name


class DiskChanged(Message):
    """The files of tracked buffers are others than the buffers have read or written."""

    paths: list[str]  #: real paths


class Stamp(msgspec.Struct):
    """The state of a file that a save of the user has made."""

    size: int  #: bytes
    mtime: str  #: nanoseconds since 1970, as decimal digits
    ctime: str  #: nanoseconds since 1970, as decimal digits
    ino: int
    was: str | None = None  #: `ctime` of the state that the saved text was based on, when that is known


class Saved(Message):
    """The user wrote a tracked buffer; `stamp` is its file right afterwards."""

    path: str
    stamp: Stamp | None = None


class Edited(Edit, frozen=True, tag_field="message", tag=wire_name):
    """The user changed a buffer under review."""


class ReviewOpen(Message):
    """Send the hunks of that file: its buffer was loaded, or somebody wants to see them."""

    path: str


class PreviewOpen(Message):
    """Send previews of that file again: its buffer has another text than they are of."""

    path: str


class ReviewLoad(Message):
    """Send what an earlier Neovim left to review there."""

    cwd: str


class Review(Message):
    """Decide about hunks, a file, all that a session has changed, or everything; of many files `judged` tells."""

    action: Literal["keep", "reject", "mine", "theirs", "both"]
    path: str | None = None
    hunks: list[int] | None = None  #: ids; None: the whole file
    session: int | None = None
    force: bool = False  #: reject also what is not proven to be the agent's


class Checkpoints(Message):
    """Ask for the moments that can be gone back to; `checkpoints` answers."""

    cwd: str


class RestorePlan(Message):
    """What would a restore of that checkpoint do? `restore_plan` answers."""

    id: str
    cwd: str
    force: bool = False  #: also of what is not proven to be the agent's


class Restore(RestorePlan):
    """Bring the files back as they were before that turn; of a restore or a rejection: undo it. `restored` answers."""
