"""Why there is no snapshot, or no longer what one held."""

from __future__ import annotations

from typing import Final

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
