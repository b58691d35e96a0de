"""Manages our git index of a work tree, which git compares with the files."""

from __future__ import annotations

import math
import os
import re
import struct
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.process.git import Output
from acp_nvim.snapshots.objects import DIRECTORY
from acp_nvim.snapshots.run_git import run_git, together
from acp_nvim.snapshots.snapshot import TOO_MANY, GitFailedError, LimitError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_index import Examined, UsersIndex, plain_files

ADDED_FILES: Final = 2500
"""Files added to an index by one git: about 1 s of work, which is lost when git is stopped."""

BULK_SINCE: Final = (2, 37)
"""The first git version whose `update-index` writes all big files of one call into one pack."""


FEW_PATHS: Final = 500
"""Paths that are passed to git; of more, the whole index is listed."""

_INODE: Final = pattern(rb"^  dev: \d+\tino: (\d+)$", re.MULTILINE)


Look = Callable[[Sequence[bytes]], None]
"""A function that looks at directories, and blocks."""


class Differences(msgspec.Struct, frozen=True):
    """Paths relative to the top of a work tree that differ from the index."""

    changed: list[bytes]
    """Files in the index that may have changed; they may also be deleted, or the same."""
    others: list[bytes]
    """Files that are neither in the index nor ignored; nested work trees end with a slash."""


class Index:
    """Our index of one work tree; `name` is unique in the workspace, `within` the part that is inspected."""

    def __init__(self, store: Store, top: str, within: bytes, name: str, private: Sequence[str]) -> None:
        self.excludes = store.places.excludes(name)
        self._store = store
        self._directory = store.places.directory
        self._top = top
        self._within = within
        self.own = store.places.own_index(name)
        self._saved = store.places.saved_index(name)
        self.known_tree: str | None = None
        """The tree of the files in the index; None when there are no files, or it is not known yet."""
        self._is_saved = False
        self._private = [path for path in private if path.startswith(os.path.join(top, ""))]

    def start(self) -> int | None:
        """Return the number of files in our index; copy the saved one if ours is missing. None when there is neither.

        Blocks.
        """
        if not self.own.exists():
            self.known_tree = None
            with suppress(OSError):
                _copy(self._saved, self.own)
        return self._number_of_files()

    def _number_of_files(self) -> int | None:
        """Return the number of files in our index; None when there is no index. Blocks."""
        try:
            with open(self.own, "rb") as file:
                return int(struct.unpack(">4sII", file.read(12))[2])
        except FileNotFoundError:
            return None
        except (OSError, struct.error):
            return 0

    async def take_over(
        self, users: UsersIndex, room: int, is_ours: Callable[[bytes], bool], look: Look
    ) -> Differences | None:
        """Copy the user's index, and return the `differences` from it; None when that cannot be used.

        `room` is the maximum number of new files. `look` is called in a thread beside git, with the directories if the
        index names them. Raises `SnapshotError`.
        """
        if not await self._store.blocking(users.copy):
            return None
        try:
            return await self._make_ours(users, room, is_ours, look)
        except GitFailedError:
            self.own.unlink(missing_ok=True)
            return None

    async def _make_ours(
        self, users: UsersIndex, room: int, is_ours: Callable[[bytes], bool], look: Look
    ) -> Differences:
        """Compare the files before the copy is examined: usually nothing has to be repaired."""

        def look_at_directories() -> None:
            if users.directories is not None:
                look(users.directories)

        names, [plain, staged, _] = await self._compare(
            room,
            lambda: users.is_plain(self._private),
            users.staged,
            partial(self._store.blocking, look_at_directories),
        )
        converts = await users.converts(names.others)
        examined = Examined([], [])
        if converts or not plain:
            examined = await users.examine(await users.rows(is_ours), converts=converts)
        tree = await users.tree(staged, examined.remove)
        await users.repair(examined)
        if tree is None:
            await self.write_tree()
        else:
            await self._set_known_tree(tree)
        return await self.differences(room) if examined.remove or examined.refresh else names

    async def differences(self, room: int) -> Differences:
        """Compare the index with the files; `room` is the maximum number of new files. Raises `SnapshotError`."""
        return (await self._compare(room))[0]

    async def _compare(self, room: int, *others: Callable[[], Awaitable[Any]]) -> tuple[Differences, list[Any]]:
        """Return the `differences`, and the results of `others`, which run beside git.

        Git is started first, because threads of `others` that work without a pause delay whatever waits for a thread.
        """
        is_there, is_empty = await self._store.blocking(lambda: (self._number_of_files() is not None, self._is_empty()))
        output = Output(room, of_names=True)

        async def ask_changed() -> list[bytes]:
            if not is_there:  # most first snapshots: nothing has changed
                return []
            # without the option git runs `git status` in submodules, which the copy of the user's index has at first
            return await self._list("diff-files", "--name-only", "--ignore-submodules=all")

        async def ask_new() -> list[bytes]:
            return [] if is_empty else await self._list("ls-files", "--others", "--exclude-standard", output=output)

        changed, new, *found = await together(ask_changed, ask_new, *others)
        if output.full:
            raise LimitError(TOO_MANY)
        return Differences(changed, new), found

    async def ignored(self) -> list[bytes]:
        """Return what is not in the index, and ignored; a directory that is ignored as a whole ends with a slash.

        Takes as long as finding new files. Raises `SnapshotError`.
        """
        if await self._store.blocking(self._is_empty):
            return []
        return await self._list("ls-files", "--others", "--ignored", "--exclude-standard", "--directory")

    async def inodes(self, paths: Sequence[bytes]) -> set[int]:
        """Return the numbers, modulo 2 ** 32, of the files that the index has under these paths."""
        wanted = [os.fsdecode(path) for path in paths] if len(paths) <= FEW_PATHS else []
        words = ["ls-files", "-z", "--debug", "--", *wanted]
        return {int(number) for number in _INODE.findall(await self._git(words, reads=True))}

    async def _list(self, *words: str, output: Output | None = None) -> list[bytes]:
        options = ["-c", f"core.excludesFile={self.excludes}", *words, "-z", "--"]
        options += [os.fsdecode(self._within)] if self._within else []
        return (await self._git(options, reads=True, output=output)).split(b"\0")[:-1]

    def _is_empty(self) -> bool:
        """Return whether the inspected part of the work tree has no files that git would look at. Blocks."""
        try:
            with os.scandir(os.path.join(os.fsencode(self._top), self._within)) as entries:
                return all(entry.name == b".git" for entry in entries)
        except OSError:
            return False  # git says what is wrong

    async def names(self) -> list[bytes]:
        """Return the inspected files in the index. Raises `SnapshotError`."""
        within = [os.fsdecode(self._within)] if self._within else []
        return (await self._git(["ls-files", "-z", "--", *within], reads=True)).split(b"\0")[:-1]

    def names_of_few(self, most: int) -> list[bytes] | None:
        """Return the same without git; None if there are more than `most` files, or only git can tell. Blocks."""
        try:
            if self._number_of_files() not in range(1, most + 1):
                return None
            found = plain_files(self.own.read_bytes(), ())
        except OSError:
            return None
        below = self._within + b"/" if self._within else b""
        return None if found is None else [path for path in found.names if path.startswith(below)]

    async def tree(self) -> str | None:
        """Return the tree of the files in the index; None when there is none."""
        if self.known_tree is None and self.own.exists():
            await self.write_tree()
        return self.known_tree

    async def update(self, paths: Sequence[bytes], gone: Sequence[bytes]) -> None:
        """Update the index for these changed or new files, and for others that are `gone`; save it for others.

        Works in steps, so that a stopped update continues where it was. Raises `SnapshotError`.
        """
        if gone:  # a directory or a link may have taken their places, so git must not look at these
            self._begin_step()
            await self._git(["update-index", "-z", "--force-remove", "--stdin"], stdin=b"\0".join([*gone, b""]))
        bulk = ["-c", "core.bigFileThreshold=1"] if await self._has_bulk() else []
        words = [*bulk, "update-index", "-z", "--add", "--remove", "--replace", "--stdin"]
        for start in range(0, len(paths), ADDED_FILES) or [0]:
            began = math.floor(time.time())
            self._begin_step()
            lines = b"".join(path + b"\0" for path in paths[start : start + ADDED_FILES])
            await self._store.add(words, self._top, {"GIT_INDEX_FILE": str(self.own)}, lines)
            # git reads a file again that was changed in or after the second in which its index was written, but it
            # reads files seconds before it writes the index
            os.utime(self.own, (began, began))
            await self._store.blocking(self._save)
        await self.write_tree()
        os.utime(self.own, (began, began))
        await self._store.blocking(self._save)

    def _begin_step(self) -> None:
        self._unlock()
        self.known_tree = None

    def save_again(self) -> None:
        """Save the index for other hosts again, if it was saved before. Blocks."""
        if self._is_saved and self.own.exists():
            self._save()

    def forget(self) -> None:
        """Delete the index, so that the next snapshot starts without one. Blocks."""
        self.known_tree = None
        for path in (self.own, self._saved):
            with suppress(OSError):
                path.unlink()
        self._unlock()

    async def write_tree(self) -> None:
        """Write the index as a tree object and set `known_tree`. Raises `SnapshotError`."""
        self._unlock()
        await self._set_known_tree((await self._git(["write-tree", "--missing-ok"])).decode().strip())

    async def _set_known_tree(self, tree: str) -> None:
        """Set `known_tree` to the inspected part of the index's tree."""
        found = await self._store.find(tree, self._within)
        self.known_tree = found.oid if found is not None and found.mode == DIRECTORY else None

    async def _git(
        self, words: list[str], *, reads: bool = False, stdin: bytes = b"", output: Output | None = None
    ) -> bytes:
        env = {"GIT_INDEX_FILE": str(self.own), **(self._store.borrowing if reads else {})}
        return await run_git(self._directory, words, cwd=self._top, env=env, stdin=stdin, output=output)

    def _unlock(self) -> None:
        """Remove a lock left by a killed git: no other process writes to our index."""
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
    """Copy an index with its times, by which git judges it. A hard link is enough: git replaces indexes."""
    try:
        os.link(path, to)
    except FileNotFoundError:
        raise
    except OSError:
        import shutil  # here: the host starts without it

        shutil.copy2(path, to)
