"""Removes what is too old or too much from the state directory."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import anyio.to_thread
import msgspec

from acp_nvim.limits.state import GONE_SECONDS, SMALL, TEMPORARY_SECONDS, UNUSED_SECONDS
from acp_nvim.review.in_use import NAME, mark_of

log = logging.getLogger(__name__)

WORKSPACES = "workspaces"
WORKTREES = "worktrees"
"""In the state directory: files of the user, which are not ours to count or to remove."""

_REMOVED = ".removed-"
"""How the name of a directory begins that is being removed."""


class Swept(msgspec.Struct, frozen=True):
    """Bytes in the state directory after a sweep, and of each workspace in it, by its directory's name."""

    total: int
    workspaces: dict[str, int]

    def room(self, name: str, max_bytes: int) -> int:
        """Bytes that this workspace may have when all together may have `max_bytes`.

        Never less than a part of that: what others take is not made good by cleaning a small one again and again.
        """
        return max(max_bytes - (self.total - self.workspaces.get(name, 0)), max_bytes // SMALL)


class _Found(msgspec.Struct, frozen=True):
    """A directory of a workspace: `used` is the time of its last use."""

    path: Path
    size: int
    used: float

    @property
    def unused_seconds(self) -> float:
        return time.time() - self.used

    def is_too_old(self) -> bool:
        """Whether it goes however little it takes."""
        if self.unused_seconds > UNUSED_SECONDS:
            return True
        return self.unused_seconds > GONE_SECONDS and _is_gone(self.path) and not has_more_to_say(self.path)


async def sweep(state: Path, max_bytes: int) -> Swept | None:
    """Remove from the state directory what has no use, and what is more than `max_bytes`, in a thread.

    Temporary files that a killed git has left go, workspaces that are gone or long unused, then others that no host
    uses, the longest unused first. One that has something left to review, or rejected text that could come back, stays
    until it is long unused. None when another host is sweeping. Never raises `OSError`.
    """
    stop = threading.Event()
    try:
        return await anyio.to_thread.run_sync(_sweep, state, max_bytes, stop, abandon_on_cancel=True)
    except OSError as error:
        log.warning("the state directory %s could not be cleaned up: %s", state, error)
        return None
    finally:
        stop.set()


def _sweep(state: Path, max_bytes: int, stop: threading.Event) -> Swept | None:
    workspaces = state / WORKSPACES
    with ExitStack() as held:
        if not workspaces.is_dir() or not _lock(workspaces / ".sweeping", held):
            return None
        others = sum(
            _walk(Path(one.path), stop)[0] for one in _entries(state) if one.name not in (WORKSPACES, WORKTREES)
        )
        found = []
        for one in _entries(workspaces):
            if one.name.startswith(_REMOVED):
                shutil.rmtree(one.path, ignore_errors=True)
            elif one.is_dir(follow_symlinks=False):
                found.append(_Found(Path(one.path), *_walk(Path(one.path), stop)))
        left = _without_too_old(found, stop)
        return _within(left, others, max_bytes, stop)


def _without_too_old(found: Sequence[_Found], stop: threading.Event) -> list[_Found]:
    return [one for one in found if stop.is_set() or not (one.is_too_old() and _remove(one, "it is not used any more"))]


def _within(found: Sequence[_Found], others: int, max_bytes: int, stop: threading.Event) -> Swept:
    sizes = {one.path.name: one.size for one in found}
    total = others + sum(sizes.values())
    for one in sorted(found, key=lambda one: one.used):
        if total <= max_bytes or stop.is_set():
            break
        if not has_more_to_say(one.path) and _remove(one, "the state directory is too large"):
            total -= sizes.pop(one.path.name)
    return Swept(total, sizes)


def _remove(one: _Found, why: str) -> bool:
    """False when a host uses it."""
    removed = one.path.with_name(f"{_REMOVED}{os.urandom(4).hex()}")
    try:
        with ExitStack() as held:
            for lock in (NAME, "git/users"):  # a host of an older version holds only the second
                if (one.path / lock).exists() and not _lock(one.path / lock, held):
                    return False
            one.path.rename(removed)
    except OSError as error:
        log.warning("%s could not be removed: %s", one.path, error)
        return False
    log.info("%s was removed with its checkpoints: %s", one.path, why)
    shutil.rmtree(removed, ignore_errors=True)
    return True


def _is_gone(directory: Path) -> bool:
    """Whether the workspace does not exist any more.

    Its parent must be there, on the file system that the workspace was on: else a disk is not mounted.
    """
    mark = mark_of(directory)
    if mark is None:
        return False
    try:
        os.lstat(mark.root)
    except FileNotFoundError:
        with suppress(OSError):
            return os.stat(os.path.dirname(mark.root)).st_dev == mark.device
    except OSError:
        pass
    return False


def has_more_to_say(directory: Path) -> bool:
    """Whether something in a workspace's directory is left to review, or was rejected and could be brought back."""
    with suppress(OSError):
        if b'"kind":"reject"' in (directory / "checkpoints.jsonl").read_bytes():
            return True
    return any(_is_left(file) for file in (directory / "review").glob("*.json"))


def _is_left(file: Path) -> bool:
    try:
        kept = json.loads(file.read_bytes())
        return any(isinstance(value, list) and value for value in kept.values())
    except FileNotFoundError:
        return False
    except (OSError, ValueError, AttributeError, RecursionError):
        return True  # of another version: nobody knows what is in it


def _walk(directory: Path, stop: threading.Event) -> tuple[int, float]:
    """Bytes of all files, and when something was last made or removed in it; git's old temporary files are removed."""
    size, used = 0, 0.0
    with suppress(OSError):
        used = os.stat(directory / NAME).st_mtime
    with suppress(OSError):  # also a file may be asked about
        status = os.lstat(directory)
        if not stat.S_ISDIR(status.st_mode):
            return status.st_size, status.st_mtime
    for where, _, names in os.walk(directory):
        if stop.is_set():
            break
        with suppress(OSError):
            used = max(used, os.stat(where).st_mtime)
        for name in names:
            with suppress(OSError):
                size += _size(os.path.join(where, name))
    return size, used


def _size(path: str) -> int:
    """Of a file; 0 of a temporary one of git's, which goes when nobody has written to it for long."""
    status = os.lstat(path)
    name, parent = os.path.basename(path), os.path.dirname(path)
    is_temporary = name.startswith(("tmp_", ".tmp-")) and "objects" in (
        os.path.basename(parent),
        os.path.basename(os.path.dirname(parent)),
    )
    if is_temporary and time.time() - status.st_mtime > TEMPORARY_SECONDS:
        os.unlink(path)
        return 0
    return status.st_size


def _entries(directory: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        yield from entries


def _lock(file: Path, held: ExitStack) -> bool:
    """Hold it until `held` is closed; False when somebody else does."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    held.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
