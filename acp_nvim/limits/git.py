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

USERS_INDEX_BYTES: Final = 128 * 1024 * 1024
"""Size of an index of the user's that we begin with: one of 300,000 files has a third of it."""

PACKED_REFS_BYTES: Final = 16 * 1024 * 1024
"""Read of a `packed-refs` file: 200,000 branches and tags."""

STAGED_FILES: Final = 1000
"""Staged files up to which the trees of the last commit are changed one by one: 0.1 s. Else git writes all trees."""

LOOSE_OBJECTS: Final = 20_000
"""Loose objects of a repository up to which git is asked for the sizes of all: 15 us each, a tenth when packed."""

KNOWN_TREES: Final = 4096
"""Trees that are remembered because they are in a pack or in the user's repository: 1 MB for 800 files each."""

ADDED_FILES: Final = 2500
"""Files that go into an index at once: about 1 s of work, which is lost when git is stopped."""

FRESH_SECONDS: Final = 600.0
"""Time for which contents and trees that nobody has held are kept when a shadow repository is cleaned."""

GROWN_BYTES: Final = 8 * 1024 * 1024
"""What a shadow repository has grown by since it was cleaned, at least, when it is cleaned again."""
