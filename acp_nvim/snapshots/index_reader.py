"""Lets git read the user's index in any format, without a change to the user's repository, not even of times.

A git that reads a sparse index writes the trees of its directories, and updates the times of those that exist already:
it must not know the user's objects. One that reads a split index updates the time of the shared part.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from acp_nvim.snapshots.places import SHA256_CONFIG
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.store import Store
from acp_nvim.state.private_file import remove_directory
from acp_nvim.workspace.regular_files import read_regular

USERS_INDEX_BYTES: Final = 128 * 1024 * 1024
"""Maximum size of a user's index that we copy: one of 300,000 files has a third of it."""

_LINK: Final = b"link"
"""The name of the extension that a split index has; the hash of the shared part follows its size of 4 bytes."""


async def list_index(store: Store, git_dir: str, top: str, words: Sequence[str], *, is_sha256: bool) -> list[bytes]:
    """Return the rows, which end with NUL, that git writes about the index in the user's `git_dir`.

    `top` is the work tree. Raises `SnapshotError`.
    """
    index = os.path.join(git_dir, "index")
    shared = await store.blocking(partial(_shared_part, index, 32 if is_sha256 else 20))
    async with _directory(store, shared, is_sha256) as directory:
        answer = await run_git(directory, words, cwd=top, env={"GIT_INDEX_FILE": index})
    return answer.split(b"\0")[:-1]


@asynccontextmanager
async def _directory(store: Store, shared: str | None, is_sha256: bool) -> AsyncIterator[Path]:
    """Provide a git directory without the user's objects, with the shared part of a split index."""
    if shared is None and not is_sha256:
        yield store.places.directory
        return
    directory = store.places.new_incoming()
    try:
        await store.blocking(partial(_make, store, directory, shared, is_sha256))
        yield directory
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove_directory, directory)


def _make(store: Store, directory: Path, shared: str | None, is_sha256: bool) -> None:
    store.places.make_git_directory(directory, SHA256_CONFIG if is_sha256 else None)
    if shared is not None:
        (directory / os.path.basename(shared)).write_bytes(read_regular(shared, USERS_INDEX_BYTES))


def _shared_part(index: str, size: int) -> str | None:
    """Return the path of the shared part of a split index, whose hash has `size` bytes; None if it is not split."""
    directory = os.path.dirname(index)
    try:
        shared = {name for name in os.listdir(directory) if name.startswith("sharedindex.")}
        data = read_regular(index, USERS_INDEX_BYTES) if shared else b""
    except OSError:
        return None
    at = data.rfind(_LINK)
    while at >= 0:
        name = f"sharedindex.{data[at + 8 : at + 8 + size].hex()}"
        if name in shared:
            return os.path.join(directory, name)
        at = data.rfind(_LINK, 0, at)
    return None
