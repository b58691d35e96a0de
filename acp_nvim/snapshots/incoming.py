"""Objects that git is about to write: they go to the others when all of them are there, and leave nothing when not."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from acp_nvim.snapshots.places import Places


@asynccontextmanager
async def incoming(places: Places) -> AsyncIterator[Path]:
    """A directory of objects of its own, whose content is added to ours at the end, and removed after a failure.

    A git that is killed leaves a pack of any size behind, and nobody could tell whether it is still written. Raises
    `OSError`.
    """
    directory = places.new_incoming()
    await anyio.to_thread.run_sync(partial(os.makedirs, directory / "pack", exist_ok=True))
    try:
        yield directory
        await anyio.to_thread.run_sync(_move, directory, places.objects)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(partial(shutil.rmtree, directory, ignore_errors=True))


def reading_ours(directory: Path, places: Places) -> dict[str, str]:
    """The environment for a git that writes its objects to `directory`, and knows ours."""
    return {"GIT_OBJECT_DIRECTORY": str(directory), "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted(str(places.objects))}


def quoted(path: str) -> str:
    """A path in git's list of directories: between quotes a colon does not end it."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _move(directory: Path, to: Path) -> None:
    """Of a pack, the file that makes git see it comes last."""
    for where, _, names in os.walk(directory):
        target = to / os.path.relpath(where, directory)
        for name in sorted(names, key=lambda name: name.endswith(".idx")):
            if not name.startswith("tmp_"):
                target.mkdir(exist_ok=True)
                os.replace(os.path.join(where, name), target / name)
