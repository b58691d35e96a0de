"""Which workspaces are in use, and the removal of what the review keeps of those that are not."""

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
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.workspace.private_file import lock_now, make_directory

NAME: Final = "root"
"""The file's name. It holds the device number of the workspace, a space, and its path; its time is the last use."""


class Mark(msgspec.Struct, frozen=True):
    """`root` is the real path of the workspace, `device` the file system that it was on."""

    root: str
    device: int


class InUse:
    """Held by a host from `begin` to `close`, together with others; `directory` is not removed meanwhile."""

    def __init__(self, directory: Path, root: str) -> None:
        self._file = directory / NAME
        self._root = root
        self._lock: int | None = None

    def __repr__(self) -> str:
        return f"<InUse {self._root}>"

    def begin(self) -> None:
        """Make the directory, and mark it. Blocks while somebody removes it. Raises `OSError`."""
        content = b"%d %s" % (os.stat(self._root).st_dev, os.fsencode(self._root))
        while self._lock is None:
            make_directory(self._file.parent)
            with suppress(FileNotFoundError):  # it was removed just now
                self._lock = self._locked()
        if os.pread(self._lock, len(content) + 1, 0) != content:
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, content, 0)
        os.utime(self._lock)

    def close(self) -> None:
        """Give the workspace up: its last use was now."""
        if self._lock is not None:
            with suppress(OSError):
                os.utime(self._lock)
            os.close(self._lock)
            self._lock = None

    def _locked(self) -> int | None:
        """None when what was locked is not the directory's file any more."""
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_SH)
            if os.path.samestat(os.fstat(descriptor), os.stat(self._file)):
                held, descriptor = descriptor, -1
                return held
            return None
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def mark_of(directory: Path) -> Mark | None:
    """What `InUse` has written there; None when it has written nothing."""
    try:
        device, _, root = (directory / NAME).read_bytes().partition(b" ")
        return Mark(os.fsdecode(root), int(device)) if root else None
    except (OSError, ValueError):
        return None


UNUSED_SECONDS: Final = 30 * 24 * 3600.0
"""A workspace that no Neovim has used for so long is removed; checkpoints are not kept longer either."""
GONE_SECONDS: Final = 7 * 24 * 3600.0
"""The same when its directory is gone: one that was moved away for a while, or is on a disk that is elsewhere, may come
back."""
TEMPORARY_SECONDS: Final = 3600.0
"""Age at which a temporary file of git is removed: git writes to one all the time until it is done, or was killed."""
SMALL: Final = 10
"""A workspace below this part of the limit is not cleaned for what others take: to clean costs a first snapshot."""

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
    descriptor = lock_now(file)
    if descriptor is not None:
        held.callback(os.close, descriptor)
    return descriptor is not None
