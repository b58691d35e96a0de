"""Bounds of git processes in repositories of the user's."""

from __future__ import annotations

from typing import Final

GIT_LOOK_SECONDS: Final = 2.0
"""Time for git to look at what a repository is: it takes 10 ms. One that waits for a FIFO would take for ever."""

GIT_WORK_SECONDS: Final = 120.0
"""Time for git to read or to write all files of a work tree: 100,000 take 20 s."""

BLOCKED_SECONDS: Final = 1.0
"""Time of a snapshot after which files that git might be waiting for are looked for: 1 s for 100,000 files."""

BLOCKING_FILES: Final = 10
"""Files that git cannot read which are looked for in one go: the first one is told."""

SECRET_FILE_BYTES: Final = 1024 * 1024
"""Size of a file with secrets whose content is remembered: keys and settings have some thousand bytes."""

SECRET_FILES_BYTES: Final = 32 * 1024 * 1024
"""Memory for all of them, of one workspace and in all their versions."""

PRIVATE_FILES: Final = 200
"""Files that nobody else may read, up to which that means something: more of them say how the user makes files."""
