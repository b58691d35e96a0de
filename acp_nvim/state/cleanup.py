"""Cleans up the state directory: removes what is kept of workspaces that are not in use."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import stat
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.memory import give_back
from acp_nvim.state.private_file import lock_now, make_directory, remove_directory

MARKER: Final = "root"
"""The file with the device number and the path of a workspace, in its directory; its time is the last use."""


class WorkspaceMarker(msgspec.Struct, frozen=True):
    """The content of a marker: the real path of the workspace, and the number of its file system."""

    root: str
    device: int


class WorkspaceLease:
    """A shared lock that hosts hold from `begin` to `close`, so that `directory` is not removed meanwhile."""

    def __init__(self, directory: Path, root: str) -> None:
        self._file = directory / MARKER
        self._root = root
        self._lock: int | None = None

    def begin(self) -> None:
        """Make and mark the directory. Blocks while it is being removed. Raises `OSError`."""
        content = b"%d %s" % (os.stat(self._root).st_dev, os.fsencode(self._root))
        while self._lock is None:
            make_directory(self._file.parent)
            with suppress(FileNotFoundError):  # removed just now
                self._lock = self._locked()
        if os.pread(self._lock, len(content) + 1, 0) != content:
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, content, 0)
        os.utime(self._lock)

    def close(self) -> None:
        """Release the lock, and note the time of the last use."""
        if self._lock is not None:
            with suppress(OSError):
                os.utime(self._lock)
            os.close(self._lock)
            self._lock = None

    def _locked(self) -> int | None:
        """Return None if the locked file is no longer the one in the directory."""
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_SH)
            if os.path.samestat(os.fstat(descriptor), os.stat(self._file)):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None


def read_marker(directory: Path) -> WorkspaceMarker | None:
    """Return the marker in a directory; None if there is none."""
    try:
        device, _, root = (directory / MARKER).read_bytes().partition(b" ")
        return WorkspaceMarker(os.fsdecode(root), int(device)) if root else None
    except (OSError, ValueError):
        return None


UNUSED_SECONDS: Final = 30 * 24 * 3600.0
"""Age at which an unused workspace is removed; checkpoints are not kept longer either."""
GONE_SECONDS: Final = 7 * 24 * 3600.0
"""The same for one whose directory is gone: it may come back if it was moved, or is on a disk that is not mounted."""
TEMPORARY_SECONDS: Final = 3600.0
"""Age at which a temporary file of git is removed: git writes to it all the time until it is done, or was killed."""
MIN_SHARE: Final = 10
"""Each workspace may have this fraction of the limit, whatever others take: cleaning one costs a first snapshot."""

log = logging.getLogger(__name__)

WORKSPACES = "workspaces"
WORKTREES = "worktrees"
"""In the state directory: the user's own files, which are neither counted nor removed."""

_REMOVED = ".removed-"
"""Prefix of the names of directories that are being removed."""


class StateUsage(msgspec.Struct, frozen=True):
    """Bytes in the state directory, and of each workspace in it, by its directory's name."""

    total: int
    workspaces: dict[str, int]

    def room(self, name: str, max_bytes: int) -> int:
        """Return the bytes that this workspace may take when all together may take `max_bytes`.

        It is never less than a fraction of that: cleaning a small workspace repeatedly does not help against large
        ones.
        """
        return max(max_bytes - (self.total - self.workspaces.get(name, 0)), max_bytes // MIN_SHARE)


class _Found(msgspec.Struct, frozen=True):
    """The directory of a workspace: `used` is the time of its last use."""

    path: Path
    size: int
    used: float

    def is_expired(self) -> bool:
        """Return whether it is to be removed whatever its size."""
        unused = time.time() - self.used
        if unused > UNUSED_SECONDS:
            return True
        return unused > GONE_SECONDS and _is_gone(self.path) and not _has_recoverable(self.path)


async def clean_memory() -> None:
    """Give back the memory that the host does not need, in a thread. It delays an agent at work by 10 ms."""
    await anyio.to_thread.run_sync(give_back)


async def clean_state(state: Path, max_bytes: int) -> StateUsage | None:
    """Remove unused data from the state directory, and what is more than `max_bytes`, in a thread.

    First go temporary files of killed gits, then workspaces that are gone or long unused, then others that no host
    uses, the longest unused first. One with something left to review, or a rejection that can be undone, stays until it
    is long unused. Returns None if another host is cleaning up. Never raises `OSError`.
    """
    stop = threading.Event()
    try:
        return await anyio.to_thread.run_sync(_clean, state, max_bytes, stop, abandon_on_cancel=True)
    except OSError as error:
        log.warning("the state directory %s could not be cleaned up: %s", state, error)
        return None
    finally:
        stop.set()


def _clean(state: Path, max_bytes: int, stop: threading.Event) -> StateUsage | None:
    workspaces = state / WORKSPACES
    with ExitStack() as held:
        if not workspaces.is_dir() or not _lock(workspaces / ".sweeping", held):
            return None
        others = sum(
            _walk(Path(one.path), stop)[0] for one in os.scandir(state) if one.name not in (WORKSPACES, WORKTREES)
        )
        found = []
        for one in list(os.scandir(workspaces)):
            if one.name.startswith(_REMOVED):
                remove_directory(one.path)
            elif one.is_dir(follow_symlinks=False):
                found.append(_Found(Path(one.path), *_walk(Path(one.path), stop)))
        why = "it is not used any more"
        left = [one for one in found if stop.is_set() or not one.is_expired() or not _remove(one, why)]
        return _evict(left, others, max_bytes, stop)


def _evict(found: Sequence[_Found], others: int, max_bytes: int, stop: threading.Event) -> StateUsage:
    sizes = {one.path.name: one.size for one in found}
    total = others + sum(sizes.values())
    for one in sorted(found, key=lambda one: one.used):
        if total <= max_bytes or stop.is_set():
            break
        if not _has_recoverable(one.path) and _remove(one, "the state directory is too large"):
            total -= sizes.pop(one.path.name)
    return StateUsage(total, sizes)


def _remove(one: _Found, why: str) -> bool:
    """Return False if a host uses it."""
    removed = one.path.with_name(f"{_REMOVED}{os.urandom(4).hex()}")
    try:
        with ExitStack() as held:
            for lock in (MARKER, "git/users"):  # hosts of older versions hold only the second
                if (one.path / lock).exists() and not _lock(one.path / lock, held):
                    return False
            one.path.rename(removed)
    except OSError as error:
        log.warning("%s could not be removed: %s", one.path, error)
        return False
    log.info("%s was removed with its checkpoints: %s", one.path, why)
    remove_directory(removed)
    return True


def _is_gone(directory: Path) -> bool:
    """Return whether the workspace does not exist any more.

    Its parent must exist, on the file system that the workspace was on: otherwise a disk is not mounted.
    """
    mark = read_marker(directory)
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


def _has_recoverable(directory: Path) -> bool:
    """Return whether a workspace has something left to review, or a rejection that can be undone."""
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
        return True  # another version: it may have anything


def _walk(directory: Path, stop: threading.Event) -> tuple[int, float]:
    """Return the size in bytes and the time of the last change; remove old temporary files of git."""
    size, used = 0, 0.0
    with suppress(OSError):
        used = os.stat(directory / MARKER).st_mtime
    with suppress(OSError):  # `directory` may be a file
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
    """Return the size of a file; remove it and return 0 if it is an abandoned temporary file of git."""
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


def _lock(file: Path, held: ExitStack) -> bool:
    """Lock a file until `held` is closed; return False if another process has locked it."""
    descriptor = lock_now(file)
    if descriptor is not None:
        held.callback(os.close, descriptor)
    return descriptor is not None
