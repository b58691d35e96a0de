"""Finds files that only new ignore rules hide: an agent may have made them, and the rules."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec

from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_repository import repository_at

HIDDEN_FILES: Final = 200
"""Files of one directory that are found; one with more is what a build or an installer made, and is only named."""
WALKED_FILES: Final = 20_000
"""Files of one directory that are walked through: 0.04 s, without asking what the earlier rules ignored."""
_ASKED: Final = 1000

WasIgnored = Callable[[Sequence[bytes]], Awaitable[frozenset[bytes]]]
"""Returns which paths the earlier rules ignored; a directory ends with a slash."""


class Hidden(msgspec.Struct, frozen=True):
    """Paths relative to the top of a work tree that the rules ignore now and did not before."""

    files: list[bytes]
    inner: list[bytes]
    """Nested work trees, with a slash at the end."""
    too_many: list[bytes]
    """Directories with more files than are found, with a slash at the end."""


async def hidden_since(store: Store, top: bytes, now: Sequence[bytes], was_ignored: WasIgnored) -> Hidden:
    """Find the files in `now`, what `git ls-files --others --ignored --directory` says, that were not ignored.

    Raises `SnapshotError`.
    """
    before = await was_ignored(now)
    new = [path for path in now if path not in before]
    found = Hidden([path for path in new if not path.endswith(b"/")], [], [])
    for directory in new:
        if directory.endswith(b"/"):
            await _look_into(store, top, directory, was_ignored, found)
    return found


async def _look_into(store: Store, top: bytes, directory: bytes, was_ignored: WasIgnored, found: Hidden) -> None:
    inside = await store.blocking(lambda: list(islice(_walk(top, directory), WALKED_FILES)))
    shown: list[bytes] = []
    for start in range(0, len(inside), _ASKED):
        some = inside[start : start + _ASKED]
        before = await was_ignored(some)
        shown += [path for path in some if path not in before]
        if len(shown) > HIDDEN_FILES:
            found.too_many.append(directory)
            return
    found.files.extend(path for path in shown if not path.endswith(b"/"))
    found.inner.extend(path for path in shown if path.endswith(b"/"))


def _walk(top: bytes, directory: bytes) -> Iterator[bytes]:
    """Yield the files and the nested work trees below a directory, which may be one."""
    path = directory.rstrip(b"/")
    if repository_at(os.fsdecode(os.path.join(top, path))) is not None:
        yield directory
        return
    try:
        with os.scandir(os.path.join(top, path)) as entries:
            inside = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError:
        return
    for name, is_directory in inside:
        if is_directory and name != b".git":
            yield from _walk(top, directory + name + b"/")
        elif not is_directory:
            yield directory + name
