"""Why a file was not read or written, in words for the agent (and the log)."""

from __future__ import annotations


class FileRefusedError(Exception):
    """The request cannot be served; the message says why and what to do."""


class NotAllowedError(FileRefusedError):
    """The path is none of the session's."""


class NoSuchFileError(FileRefusedError):
    """There is no such file."""


class ChangedSinceReadError(FileRefusedError):
    """The user has changed the file since the agent read it."""


class ChangedOnDiskError(FileRefusedError):
    """The file on disk is not the one that was to be replaced."""


class NotSavedError(FileRefusedError):
    """The text is in the buffer of `path` (a real path), but could not be saved."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path
