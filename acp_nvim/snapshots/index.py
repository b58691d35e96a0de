"""Our index of a work tree: what git compares the files with."""

from __future__ import annotations

import math
import os
import re
import shutil
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from acp_nvim.process.git import Output
from acp_nvim.snapshots.objects import DIRECTORY
from acp_nvim.snapshots.run_git import run_git, together
from acp_nvim.snapshots.snapshot import TOO_MANY, GitFailedError, LimitError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_index import Examined, UsersIndex

ADDED_FILES: Final = 2500
"""Files that go into an index at once: about 1 s of work, which is lost when git is stopped."""

BULK_SINCE: Final = (2, 37)
"""The git whose `update-index` writes all big files of one call into one pack."""


class Names(NamedTuple):
    """What is in the work tree that is not in the index like this. Relative to the top."""

    changed: list[bytes]
    """Of files in the index; they may be gone, or be the same after all."""
    others: list[bytes]
    """Files that are neither in it nor ignored; work trees of their own end with a slash."""


class Index:
    """`name` tells one work tree of a workspace from another; `within` is the part of it that is looked at."""

    def __init__(self, store: Store, top: str, within: bytes, name: str, private: Sequence[str]) -> None:
        self.excludes = store.places.excludes(name)
        self._store = store
        self._directory = store.places.directory
        self._top = top
        self._within = within
        self.own = store.places.own_index(name)
        self._saved = store.places.saved_index(name)
        self._tree: str | None = None
        self._is_saved = False
        self._private = [path for path in private if path.startswith(os.path.join(top, ""))]

    def __repr__(self) -> str:
        return f"<Index {self.own.name} of {self._top}>"

    def start(self) -> int | None:
        """Begin with the index that was saved last, if ours is not there; returns the number of files in it.

        None when there is neither. Blocks.
        """
        if not self.own.exists():
            self._tree = None
            with suppress(OSError):
                _copy(self._saved, self.own)
        try:
            with open(self.own, "rb") as file:
                return int(struct.unpack(">4sII", file.read(12))[2])
        except FileNotFoundError:
            return None
        except (OSError, struct.error):
            return 0

    async def take_over(self, users: UsersIndex, room: int, is_ours: Callable[[bytes], bool]) -> Names | None:
        """Begin with a copy of the user's index; returns `differences` then.

        None when that is of no use, and there is no index as before. `room` is the number of new files that there may
        be.
        Raises `SnapshotError`.
        """
        if not await self._store.blocking(users.copy):
            return None
        try:
            return await self._make_ours(users, room, is_ours)
        except GitFailedError:
            self.own.unlink(missing_ok=True)
            return None

    async def _make_ours(self, users: UsersIndex, room: int, is_ours: Callable[[bytes], bool]) -> Names:
        """The files are compared at once: mostly nothing is to be mended."""
        plain, names, staged = await together(
            lambda: users.is_plain(self._private), lambda: self.differences(room), users.staged
        )
        converts = await users.converts(names.others)
        examined = Examined([], [])
        if converts or not plain:
            examined = await users.examine(await users.rows(is_ours), converts=converts)
        tree = await users.tree(staged, examined.remove)
        await users.mend(examined)
        if tree is None:
            await self.write_tree()
        else:
            await self._part(tree)
        return await self.differences(room) if examined.remove or examined.refresh else names

    async def differences(self, room: int) -> Names:
        """Compare with the files; `room` is the number of new ones that there may be. Raises `SnapshotError`."""
        others = Output(room, of_names=True)

        async def ask(*words: str, output: Output | None = None) -> list[bytes]:
            options = ["-c", f"core.excludesFile={self.excludes}", *words, "-z", "--"]
            options += [os.fsdecode(self._within)] if self._within else []
            return (await self._git(options, reads=True, output=output)).split(b"\0")[:-1]

        changed, new = await together(
            # git would run `git status` in submodules; the copy of the user's index has them at first
            lambda: ask("diff-files", "--name-only", "--ignore-submodules=all"),
            lambda: ask("ls-files", "--others", "--exclude-standard", output=others),
        )
        if others.full:
            raise LimitError(TOO_MANY)
        return Names(changed, new)

    async def tree(self) -> str | None:
        """The tree of the files in the index; None when there is none."""
        if self._tree is None and self.own.exists():
            await self.write_tree()
        return self._tree

    async def add(self, paths: Sequence[bytes]) -> None:
        """Bring these up to the files: changed, new or gone; and save the index for others. Raises `SnapshotError`.

        Step by step: who is stopped in the middle goes on where that was.
        """
        bulk = ["-c", "core.bigFileThreshold=1"] if await self._has_bulk() else []
        words = [*bulk, "update-index", "-z", "--add", "--remove", "--replace", "--stdin"]
        for start in range(0, len(paths), ADDED_FILES) or [0]:
            began = math.floor(time.time())
            self._unlock()
            self._tree = None
            lines = b"".join(path + b"\0" for path in paths[start : start + ADDED_FILES])
            await self._store.add(words, self._top, {"GIT_INDEX_FILE": str(self.own)}, lines)
            # git looks into a file that was changed in the second in which its index was written, or later. It was
            # looked at before that, perhaps seconds before.
            os.utime(self.own, (began, began))
            await self._store.blocking(self._save)
        await self.write_tree()
        os.utime(self.own, (began, began))
        await self._store.blocking(self._save)

    @property
    def known_tree(self) -> str | None:
        """The tree of the files in the index, when it is known."""
        return self._tree

    def save_again(self) -> None:
        """Let others begin with it, when they could before. Blocks."""
        if self._is_saved and self.own.exists():
            self._save()

    def forget(self) -> None:
        """Begin without one the next time. Blocks."""
        self._tree = None
        for path in (self.own, self._saved):
            with suppress(OSError):
                path.unlink()
        self._unlock()

    async def write_tree(self) -> None:
        """Write the index as a tree object, whose id is known afterwards. Raises `SnapshotError`."""
        self._unlock()
        await self._part((await self._git(["write-tree", "--missing-ok"])).decode().strip())

    async def _part(self, tree: str) -> None:
        """Remember what we look at of the tree of the whole index."""
        found = await self._store.find(tree, self._within)
        self._tree = found.oid if found is not None and found.mode == DIRECTORY else None

    async def _git(
        self, words: list[str], *, reads: bool = False, stdin: bytes = b"", output: Output | None = None
    ) -> bytes:
        env = {"GIT_INDEX_FILE": str(self.own), **(self._store.borrowing if reads else {})}
        return await run_git(self._directory, words, cwd=self._top, env=env, stdin=stdin, output=output)

    def _unlock(self) -> None:
        """Nobody else writes to our index: whose lock this is was killed."""
        with suppress(OSError):
            os.unlink(f"{self.own}.lock")

    def _save(self) -> None:
        self._is_saved = True
        temporary = self.own.with_suffix(".saved")
        with suppress(FileNotFoundError):
            temporary.unlink()
        _copy(self.own, temporary)
        temporary.replace(self._saved)

    async def _has_bulk(self) -> bool:
        found = re.search(rb"(\d+)\.(\d+)", await run_git(self._directory, ["version"]))
        return found is not None and (int(found[1]), int(found[2])) >= BULK_SINCE


def _copy(path: Path, to: Path) -> None:
    """The same with the same times: git judges an index by them. git replaces indexes, and never writes into one."""
    try:
        os.link(path, to)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(path, to)
