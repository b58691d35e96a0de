"""Finds the user's repository of a workspace, its settings, and what it ignores."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.limits import EXCLUDES_BYTES, GIT_LOOK_SECONDS
from acp_nvim.snapshots.earlier_rules import TreeRules
from acp_nvim.snapshots.index_reader import list_index
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.snapshot import GitFailedError, SnapshotError
from acp_nvim.snapshots.store import Store
from acp_nvim.workspace.regular_files import read_regular

PACKED_REFS_BYTES: Final = 16 * 1024 * 1024
"""Maximum bytes read of a `packed-refs` file: 200,000 branches and tags."""


class Enclosing(msgspec.Struct, frozen=True):
    """A repository of the user, with absolute paths."""

    top: str
    """The top of its work tree."""
    git_dir: str
    """The git directory of this work tree, with its index."""
    common_dir: str
    """The git directory shared by all work trees; equal to `git_dir` when there is only one."""


def enclosing(directory: str) -> Enclosing | None:
    """Return the innermost repository whose work tree contains or is `directory`."""
    while True:
        found = repository_at(directory)
        parent = os.path.dirname(directory)
        if found is not None or parent == directory:
            return found
        directory = parent


def repository_at(top: str) -> Enclosing | None:
    """Return the repository with the work tree `top`; None when there is none."""
    git_dir = os.path.join(top, ".git")
    if os.path.isfile(git_dir):
        git_dir = _pointed(git_dir, b"gitdir: ", top)
    if not git_dir or not os.path.lexists(os.path.join(git_dir, "HEAD")):
        return None
    common_dir = _pointed(os.path.join(git_dir, "commondir"), b"", git_dir) or git_dir
    return Enclosing(top, git_dir, common_dir) if os.path.isdir(os.path.join(common_dir, "objects")) else None


def main_directory(directory: str) -> str:
    """Return the main work tree if the directory is a linked one of the same repository, else the directory.

    A bare repository stands for its main work tree.
    """
    repository = repository_at(directory)
    if repository is None or repository.common_dir == repository.git_dir:
        return directory
    common = os.path.realpath(repository.common_dir)
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def head_commit(repository: Enclosing) -> str | None:
    """Return the id of the commit that is checked out; None when no file contains it."""
    head = _pointed(os.path.join(repository.git_dir, "HEAD"), b"", "")
    if not head.startswith("ref: "):
        return head if _is_id(head) else None
    name = head.removeprefix("ref: ")
    loose = _pointed(os.path.join(repository.common_dir, name), b"", "")
    if _is_id(loose):
        return loose
    try:
        packed = read_regular(os.path.join(repository.common_dir, "packed-refs"), PACKED_REFS_BYTES)
    except OSError:
        return None
    found = re.search(rb"^([0-9a-f]{40}) " + re.escape(os.fsencode(name)) + rb"$", packed, re.MULTILINE)
    return found[1].decode() if found else None


def _is_id(word: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{40}", word) is not None


def _pointed(file: str, prefix: bytes, base: str) -> str:
    """Return the path in a file, made absolute; "" without one."""
    try:
        line = read_regular(file, 65_536).rstrip(b"\r\n")
    except OSError:
        return ""
    return os.path.join(base, os.fsdecode(line.removeprefix(prefix))) if line.startswith(prefix) else ""


_KEYS: Final = r"^(core\.(excludesfile|attributesfile|autocrlf)|extensions\.objectformat)$"
_WORDS: Final = pattern(rb"excludesfile|attributesfile|autocrlf|objectformat|include", re.IGNORECASE)
"""One of these is in each file that has such a key, or names another file that may have one."""
_NO_CONVERSION: Final = (b"", b"false", b"no", b"off", b"0")
_SYSTEM_ATTRIBUTES: Final = "/etc/gitattributes"


class Settings(msgspec.Struct, frozen=True):
    """The git settings of one repository, or of a directory without one."""

    excludes_file: str
    """`core.excludesFile`, or git's default."""
    attributes_file: str
    """`core.attributesFile`, or git's default."""
    autocrlf: bool
    is_sha256: bool

    def may_convert(self, repository: Enclosing) -> bool:
        """Whether contents may be converted, whatever the `.gitattributes` files of the work tree say. Blocks."""
        files = (self.attributes_file, _SYSTEM_ATTRIBUTES, _own_attributes(repository))
        return self.autocrlf or any(os.path.isfile(file) for file in files)

    def own_attributes(self, repository: Enclosing) -> bytes:
        """Return the repository's attribute rules that are not in its work tree. Blocks."""
        return _read(_own_attributes(repository))


async def users_settings(directory: Path, configuration: str | None) -> Settings:
    """Read the settings; `configuration` is the repository's file, `directory` a git directory of ours."""
    home = await anyio.to_thread.run_sync(os.path.expanduser, "~")
    default = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    usual = [os.path.join(home, ".gitconfig"), os.path.join(default, "config"), "/etc/gitconfig"]
    found: dict[bytes, bytes] = {}
    with anyio.move_on_after(GIT_LOOK_SECONDS):  # an included file may be a FIFO
        for file in [*([configuration] if configuration else []), *usual]:
            # do not follow includes of the repository: its author may be hostile
            includes = "--no-includes" if file == configuration else "--includes"
            words = ["config", "--file", file, includes, "--type=path", "-z", "--get-regexp", _KEYS]
            if not await anyio.to_thread.run_sync(_may_set, file):
                continue
            try:
                answer = await run_git(directory, words, env={"HOME": home})
            except GitFailedError:
                continue  # no such setting, or unreadable
            said = dict(row.partition(b"\n")[::2] for row in answer.split(b"\0")[:-1])
            found = said | found
    return Settings(
        os.fsdecode(found.get(b"core.excludesfile", os.fsencode(os.path.join(default, "ignore")))),
        os.fsdecode(found.get(b"core.attributesfile", os.fsencode(os.path.join(default, "attributes")))),
        found.get(b"core.autocrlf", b"").lower() not in _NO_CONVERSION,
        found.get(b"extensions.objectformat", b"sha1").lower() != b"sha1",
    )


def _may_set(file: str) -> bool:
    """Whether a file of settings has a word that git has to understand: most have none. Blocks."""
    text = _read(file)
    return len(text) == EXCLUDES_BYTES or _WORDS.search(text) is not None


def _own_attributes(repository: Enclosing) -> str:
    return os.path.join(repository.common_dir, "info", "attributes")


GITLINK = b"160000"


class Tracked(msgspec.Struct, frozen=True):
    """Files and nested work trees that the user's repository tracks although a rule ignores them."""

    files: frozenset[bytes] = frozenset()
    inner: tuple[bytes, ...] = ()
    """Nested work trees, with a slash at the end."""


class Rules:
    """The ignore rules of one work tree, which we write to the file `excludes`."""

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

    async def refresh(self, repository: Enclosing | None) -> None:
        """Update our file from the user's. Raises `SnapshotError`."""
        sources = [(await self.settings(repository)).excludes_file]
        if repository is not None:
            sources.append(os.path.join(repository.common_dir, "info", "exclude"))
        await self._store.blocking(lambda: self._write(sources))

    def above(self) -> tuple[tuple[bytes, bytes], ...]:
        """Return the `.gitignore` files above the inspected part, with their texts, relative to the top. Blocks."""
        names = self._within.split(os.sep) if self._within else []
        paths = [os.path.join(*names[:end], ".gitignore") for end in range(len(names))]
        texts = [(os.fsencode(path), _read_rules(os.path.join(self._top, path))) for path in paths]
        return tuple((path, text) for path, text in texts if text)

    async def now(self, directory: bytes) -> TreeRules:
        """Return the rules that `refresh` found, of the work tree whose inspected part is `directory`."""
        files = self._tracked.files
        tracked = hashlib.sha1(b"\0".join(sorted(files)), usedforsecurity=False).hexdigest() if files else ""
        above = await self._store.blocking(self.above)
        return TreeRules(directory, os.fsencode(self._within), self._written or b"", above, tracked)

    async def settings(self, repository: Enclosing | None) -> Settings:
        """Return the user's settings, as they were when read first."""
        if self._settings is None or self._settings[0] != repository:
            config = os.path.join(repository.common_dir, "config") if repository else None
            self._settings = (repository, await users_settings(self._store.places.directory, config))
        return self._settings[1]

    async def ignores(self, path: str) -> bool:
        """Whether the rules ignore that directory; call `refresh` first. Raises `SnapshotError`."""
        words = ["-c", f"core.excludesFile={self._excludes}", "check-ignore", "-q", "--no-index", "--", path]
        env = {"GIT_LITERAL_PATHSPECS": "0"}  # check-ignore takes all paths literally, and rejects this variable
        try:
            await run_git(self._store.places.directory, words, cwd=self._top, env=env)
        except GitFailedError as error:
            if error.code != 1:
                raise
            return False
        return True

    async def tracked(self, repository: Enclosing | None) -> Tracked:
        """Return what the repository tracks although it is ignored; nothing when git cannot read its index."""
        stamp = await self._stamp(repository)
        if stamp != self._index:
            self._tracked = await self._find_tracked(repository) if stamp and repository is not None else Tracked()
        self._index = stamp
        return self._tracked

    async def which_tracked(self, repository: Enclosing | None, paths: Sequence[bytes]) -> frozenset[bytes]:
        """Return which paths the user's repository tracks; none when its index cannot be read."""
        stamp = await self._stamp(repository)
        if repository is None or not stamp or not paths:
            return frozenset()
        if self._asked[:2] != (stamp, tuple(paths)):
            found = await self._list(repository, ["ls-files", "-z", "-c", "--", *map(os.fsdecode, paths)])
            self._asked = (stamp, tuple(paths), frozenset(found))
        return self._asked[2]

    async def _find_tracked(self, repository: Enclosing) -> Tracked:
        words = ["-c", f"core.excludesFile={self._excludes}", "ls-files", "-z", "-s", "-c", "-i", "--exclude-standard"]
        words += ["--", self._within] if self._within else []
        rows = [row.partition(b"\t") for row in await self._list(repository, words)]
        files = frozenset(path for what, _, path in rows if not what.startswith(GITLINK))
        return Tracked(files, tuple(path + b"/" for what, _, path in rows if what.startswith(GITLINK)))

    async def _list(self, repository: Enclosing, words: Sequence[str]) -> list[bytes]:
        is_sha256 = (await self.settings(repository)).is_sha256
        try:
            return await list_index(self._store, repository.git_dir, self._top, words, is_sha256=is_sha256)
        except SnapshotError:
            return []

    async def _stamp(self, repository: Enclosing | None) -> str:
        """Return what changes with the repository's index; "" when it is no regular file."""
        index = os.path.join(repository.git_dir, "index") if repository else ""
        return await self._store.blocking(lambda: _stamp(index))

    def _write(self, sources: Sequence[str]) -> None:
        text = exclude_text(sources, self._top, self._private)
        if text != self._written or not self._excludes.exists():
            self._excludes.write_bytes(text)  # only we read it
            self._written = text


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    if not stat.S_ISREG(status.st_mode):  # git would wait for the writer of a FIFO
        return ""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"


def exclude_text(sources: Sequence[str], top: str, private: Sequence[str]) -> bytes:
    """Return the rules in the files `sources`, the strongest last, and rules for the directories `private`. Blocks."""
    rules = [_read(source) + b"\n" for source in sources]
    for path in private:
        if path.startswith(os.path.join(top, "")):
            rules.append(b"/%s/\n" % _literal(os.fsencode(os.path.relpath(path, top))))
    return b"".join(rules)


def _read(path: str) -> bytes:
    try:
        return read_regular(path, EXCLUDES_BYTES)
    except OSError:
        return b""


def _read_rules(path: str) -> bytes:
    return b"" if os.path.islink(path) else _read(path)  # as git does


def _literal(path: bytes) -> bytes:
    return re.sub(rb"([\\*?\[ #!])", rb"\\\1", path)
