"""Finds what has changed outside of a session's directories while its agent ran commands, and is not reviewed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.evidence.activities import WHY_CHARS
from acp_nvim.evidence.work import Work
from acp_nvim.file_time import last_change
from acp_nvim.review.reviews import Reviews
from acp_nvim.workspace.roots import WatchedRoots

LOOK_SECONDS: Final = 2.0
"""Time to look at open buffers and the repository after a turn: nothing waits for it, and nothing is said beyond."""
LOOKED_AT: Final = 1000
"""Changed files of the repository that are looked at: most of them were changed long before the turn."""
NAMED: Final = 3
"""Files that the line names."""


async def unwatched(reviews: Reviews, roots: WatchedRoots, work: Work, began: int) -> str | None:
    """Return in words what has changed since `began` (nanoseconds since 1970) and is not reviewed; None if nothing has.

    Looks at the files of open buffers, and at the tracked files of the repository that contains the working directory,
    if the agent of `work` has run a command since then.
    """
    if not work.has_run_since(began):
        return None
    with anyio.move_on_after(LOOK_SECONDS):
        paths = await reviews.files.editor.untracked_buffers()
        repository = reviews.workspaces.at(roots.directories[0]).git
        paths += (await repository.changed_files(roots.directories[0]))[:LOOKED_AT]
        await anyio.to_thread.run_sync(reviews.files.saves.update)
        outside = [path for path in dict.fromkeys(paths) if not roots.contains(path)]
        times = await anyio.to_thread.run_sync(_times, outside, abandon_on_cancel=True)
        found = [(path, words) for path, at in times if at >= began and (words := _command(reviews, work, path, at))]
        if found:
            return _words([path for path, _ in found], found[0][1])
    return None


def _times(paths: Iterable[str]) -> list[tuple[str, int]]:
    return [(path, last_change(path)[0]) for path in paths]


def _command(reviews: Reviews, work: Work, path: str, at: int) -> str | None:
    """Return the command that ran when the file was changed; None if there was none, or if the user saved it."""
    if any(int(one.mtime) <= at <= int(one.ctime) for one in reviews.files.saves.of(path)):
        return None
    return next((one.words or one.kind for one in work.commands(at)), None)


def _words(paths: list[str], command: str) -> str:
    line = f"{command[: WHY_CHARS - 1]}…" if len(command) > WHY_CHARS else command
    names = ", ".join(_name(path) for path in paths[:NAMED])
    names += f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    are = "is" if len(paths) == 1 else "are"
    return (
        f"{names} changed on disk while `{line}` ran, and {are} not in the session's directories: what commands change "
        "there is not reviewed (additional_directories)."
    )


def _name(path: str) -> str:
    home = os.path.expanduser("~").rstrip(os.sep)
    return f"~{path[len(home) :]}" if home and path.startswith(home + os.sep) else path
