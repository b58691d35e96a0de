"""The rules by which a work tree ignores files, and which files of it the user's repository has all the same."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from acp_nvim.snapshots.enclosing import Enclosing
from acp_nvim.snapshots.failures import GitFailedError, SnapshotError
from acp_nvim.snapshots.ignored import exclude_text
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_settings import Settings, users_settings

GITLINK = b"160000"


class Tracked(NamedTuple):
    """What the user's repository has although a rule ignores it."""

    files: frozenset[bytes] = frozenset()
    inner: tuple[bytes, ...] = ()
    """Work trees of their own; they end with a slash."""


class Rules:
    """Those of one work tree; `excludes` is the file of ours that has them."""

    def __init__(self, store: Store, top: str, within: bytes, excludes: Path, private: Sequence[str]) -> None:
        self._store = store
        self._top = top
        self._within = os.fsdecode(within)
        self._excludes = excludes
        self._private = private
        self._written: bytes | None = None
        self._settings: tuple[Enclosing | None, Settings] | None = None
        self._index = ""
        self._asked: tuple[str, tuple[bytes, ...], frozenset[bytes]] = ("", (), frozenset())
        self._tracked = Tracked()

    async def refresh(self, repository: Enclosing | None) -> bool:
        """Bring our file up to the user's; whether it is another one now. Raises `SnapshotError`."""
        sources = [(await self.settings(repository)).excludes_file]
        if repository is not None:
            sources.append(os.path.join(repository.common_dir, "info", "exclude"))
        return await self._store.blocking(lambda: self._write(sources))

    async def settings(self, repository: Enclosing | None) -> Settings:
        """What the user's configuration says, as it was when we asked first."""
        if self._settings is None or self._settings[0] != repository:
            config = os.path.join(repository.common_dir, "config") if repository else None
            self._settings = (repository, await users_settings(self._store.places.directory, config))
        return self._settings[1]

    async def hide(self, path: str) -> bool:
        """Whether they ignore that directory; `refresh` must have been called. Raises `SnapshotError`."""
        words = ["-c", f"core.excludesFile={self._excludes}", "check-ignore", "-q", "--no-index", "--", path]
        env = {"GIT_LITERAL_PATHSPECS": "0"}  # this command takes every path as it is, and refuses to be told so
        try:
            await run_git(self._store.places.directory, words, cwd=self._top, env=env)
        except GitFailedError as error:
            if error.code != 1:
                raise
            return False
        return True

    async def tracked(self, repository: Enclosing | None) -> Tracked:
        """What the user's repository has all the same. An index that git cannot read alone has nothing."""
        index = os.path.join(repository.git_dir, "index") if repository else ""
        stamp = await self._store.blocking(lambda: _stamp(index))
        if stamp and stamp != self._index:
            self._tracked = await self._ask(index)
        elif not stamp:
            self._tracked = Tracked()
        self._index = stamp
        return self._tracked

    async def which_tracked(self, repository: Enclosing | None, paths: Sequence[bytes]) -> frozenset[bytes]:
        """Those of some paths that the user's repository has; none when its index cannot be read."""
        index = os.path.join(repository.git_dir, "index") if repository else ""
        stamp = await self._store.blocking(lambda: _stamp(index))
        if not stamp or not paths:
            return frozenset()
        if self._asked[:2] != (stamp, tuple(paths)):
            words = ["ls-files", "-z", "-c", "--", *map(os.fsdecode, paths)]
            env = {"GIT_INDEX_FILE": index}
            try:
                answer = await run_git(self._store.places.directory, words, cwd=self._top, env=env)
            except SnapshotError:
                answer = b""
            self._asked = (stamp, tuple(paths), frozenset(answer.split(b"\0")[:-1]))
        return self._asked[2]

    async def _ask(self, index: str) -> Tracked:
        words = ["-c", f"core.excludesFile={self._excludes}", "ls-files", "-z", "-s", "-c", "-i", "--exclude-standard"]
        words += ["--", self._within] if self._within else []
        env = {"GIT_INDEX_FILE": index}
        try:
            answer = await run_git(self._store.places.directory, words, cwd=self._top, env=env)
        except SnapshotError:
            return Tracked()
        rows = [row.partition(b"\t") for row in answer.split(b"\0")[:-1]]
        files = frozenset(path for what, _, path in rows if not what.startswith(GITLINK))
        return Tracked(files, tuple(path + b"/" for what, _, path in rows if what.startswith(GITLINK)))

    def _write(self, sources: Sequence[str]) -> bool:
        text = exclude_text(sources, self._top, self._private)
        if text == self._written and self._excludes.exists():
            return False
        self._excludes.write_bytes(text)  # only we read it
        self._written = text
        return True


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    if not stat.S_ISREG(status.st_mode):  # git would wait for the writer of a FIFO
        return ""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
