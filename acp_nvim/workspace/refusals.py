"""Why a file was not read or written, in words for the agent (and the log)."""

from __future__ import annotations


class FileRefusedError(Exception):
    """The request cannot be served; the message says why and what to do."""


class NotAllowedError(FileRefusedError):
    """The path is none of the session's."""


class DisallowedError(NotAllowedError):
    """The user was asked, and did not allow it."""


class NoSuchFileError(FileRefusedError):
    """There is no file of that path, neither on the disk nor in a buffer."""


class ConflictError(FileRefusedError):
    """The user has changed what the agent wants to change, and it has not seen that.

    `kept` is a file with the agent's version, or "".
    """

    def __init__(self, path: str, why: str, kept: str) -> None:
        super().__init__(
            f"{path} has changes that you have not seen, of the user perhaps. They cannot be merged with yours: {why}. "
            "Nothing was written. Read the file again and redo your change."
        )
        self.why = why
        self.kept = kept


class ChangedOnDiskError(FileRefusedError):
    """The file on disk is not the one that was to be replaced."""
