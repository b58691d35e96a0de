"""The repository of the user that a workspace is in: where it is, its settings, and what it ignores."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import anyio
import anyio.to_thread

from acp_nvim.limits import EXCLUDES_BYTES, GIT_LOOK_SECONDS
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.snapshot import GitFailedError, SnapshotError
from acp_nvim.snapshots.store import Store
from acp_nvim.workspace.regular_files import read_regular

PACKED_REFS_BYTES: Final = 16 * 1024 * 1024
"""Read of a `packed-refs` file: 200,000 branches and tags."""


class Enclosing(NamedTuple):
    """A repository of the user's. Absolute paths."""

    top: str
    """Its work tree."""
    git_dir: str
    """That of this work tree: its index is there."""
    common_dir: str
    """What all its work trees share: the same, when there is just one."""


def enclosing(directory: str) -> Enclosing | None:
    """The innermost repository whose work tree `directory` is, or is in."""
    while True:
        found = repository_at(directory)
        parent = os.path.dirname(directory)
        if found is not None or parent == directory:
            return found
        directory = parent


def repository_at(top: str) -> Enclosing | None:
    """The repository with the work tree `top`."""
    git_dir = os.path.join(top, ".git")
    if os.path.isfile(git_dir):
        git_dir = _pointed(git_dir, b"gitdir: ", top)
    if not git_dir or not os.path.lexists(os.path.join(git_dir, "HEAD")):
        return None
    common_dir = _pointed(os.path.join(git_dir, "commondir"), b"", git_dir) or git_dir
    return Enclosing(top, git_dir, common_dir) if os.path.isdir(os.path.join(common_dir, "objects")) else None


def main_directory(directory: str) -> str:
    """The main work tree, when the directory is a linked one of the same repository; else the directory itself.

    A bare repository stands for its main work tree.
    """
    repository = repository_at(directory)
    if repository is None or repository.common_dir == repository.git_dir:
        return directory
    common = os.path.realpath(repository.common_dir)
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def head_commit(repository: Enclosing) -> str | None:
    """The id of the commit that is checked out; None when that does not stand in a file."""
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
    """The path that stands in a file, made absolute; "" without one."""
    try:
        line = read_regular(file, 65_536).rstrip(b"\r\n")
    except OSError:
        return ""
    return os.path.join(base, os.fsdecode(line.removeprefix(prefix))) if line.startswith(prefix) else ""


_KEYS: Final = r"^(core\.(excludesfile|attributesfile|autocrlf)|extensions\.objectformat)$"
_NO_CONVERSION: Final = (b"", b"false", b"no", b"off", b"0")
_SYSTEM_ATTRIBUTES: Final = "/etc/gitattributes"


class Settings(NamedTuple):
    """The git settings of one repository, or of a directory without one."""

    excludes_file: str
    """`core.excludesFile`, or git's default."""
    attributes_file: str
    """`core.attributesFile`, or git's default."""
    autocrlf: bool
    is_sha256: bool

    def may_convert(self, repository: Enclosing) -> bool:
        """Whether files may be stored in other bytes, whatever the work tree's `.gitattributes` files say. Blocks."""
        files = (self.attributes_file, _SYSTEM_ATTRIBUTES, _own_attributes(repository))
        return self.autocrlf or any(os.path.isfile(file) for file in files)

    def own_attributes(self, repository: Enclosing) -> bytes:
        """The rules of the repository that are not in its work tree. Blocks."""
        try:
            return read_regular(_own_attributes(repository), EXCLUDES_BYTES)
        except OSError:
            return b""


async def users_settings(directory: Path, configuration: str | None) -> Settings:
    """Read them. `configuration` is the repository's file; `directory` is a git directory of ours."""
    home = await anyio.to_thread.run_sync(os.path.expanduser, "~")
    default = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    usual = [os.path.join(home, ".gitconfig"), os.path.join(default, "config"), "/etc/gitconfig"]
    found: dict[bytes, bytes] = {}
    with anyio.move_on_after(GIT_LOOK_SECONDS):  # one of the user's may include what waits when it is read
        for file in [*([configuration] if configuration else []), *usual]:
            # what the repository includes is not read: anybody may have made that
            includes = "--no-includes" if file == configuration else "--includes"
            words = ["config", "--file", file, includes, "--type=path", "-z", "--get-regexp", _KEYS]
            if not await anyio.to_thread.run_sync(os.path.isfile, file):
                continue
            try:
                answer = await run_git(directory, words, env={"HOME": home})
            except GitFailedError:
                continue  # it has none, or git cannot read it
            said = dict(row.partition(b"\n")[::2] for row in answer.split(b"\0")[:-1])
            found = said | found
    return Settings(
        os.fsdecode(found.get(b"core.excludesfile", os.fsencode(os.path.join(default, "ignore")))),
        os.fsdecode(found.get(b"core.attributesfile", os.fsencode(os.path.join(default, "attributes")))),
        found.get(b"core.autocrlf", b"").lower() not in _NO_CONVERSION,
        found.get(b"extensions.objectformat", b"sha1").lower() != b"sha1",
    )


def _own_attributes(repository: Enclosing) -> str:
    return os.path.join(repository.common_dir, "info", "attributes")


GITLINK = b"160000"


class Tracked(NamedTuple):
    """What the user's repository has although a rule ignores it."""

    files: frozenset[bytes] = frozenset()
    inner: tuple[bytes, ...] = ()
    """Work trees of their own; they end with a slash."""


class Rules:
    """The ignore rules of one work tree; `excludes` is the file of ours that has them."""

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
        """Bring our file up to the user's. Raises `SnapshotError`."""
        sources = [(await self.settings(repository)).excludes_file]
        if repository is not None:
            sources.append(os.path.join(repository.common_dir, "info", "exclude"))
        await self._store.blocking(lambda: self._write(sources))

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
        """Return which paths the user's repository has; none when its index cannot be read."""
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
    """The rules in the files `sources`, the strongest last, and rules for the directories `private`. Blocks."""
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


def _literal(path: bytes) -> bytes:
    return re.sub(rb"([\\*?\[ #!])", rb"\\\1", path)
