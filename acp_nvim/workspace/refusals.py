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
