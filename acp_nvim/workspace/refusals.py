"""Errors for files that were not read or written; the messages are for the agent and the log."""

from __future__ import annotations


class FileRefusedError(Exception):
    """The request cannot be served; the message says why and what to do."""


class NotAllowedError(FileRefusedError):
    """The path does not belong to the session, or cannot be one."""


class DisallowedError(NotAllowedError):
    """The user was asked, and did not allow it."""


class NoSuchFileError(FileRefusedError):
    """There is no file of that path, neither on the disk nor in a buffer."""


class ConflictError(FileRefusedError):
    """The agent's change conflicts with changes of the user that it has not seen.

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
    """The file on disk is not in the expected state."""


class InTheWayError(FileRefusedError):
    """Something stands where a file or directory has to be; another rejection may remove it."""
