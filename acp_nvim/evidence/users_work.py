"""What git and jj leave in a repository of the user: when they worked last, and which contents they have."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import stat
from contextlib import suppress
from typing import Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.limits import EXCLUDES_BYTES
from acp_nvim.snapshots.store import quoted
from acp_nvim.snapshots.users_objects import UsersObjects
from acp_nvim.snapshots.users_repository import PACKED_REFS_BYTES, Enclosing, repository_at
from acp_nvim.workspace.regular_files import read_regular

CONTENT_BYTES: Final = 16 * 1024 * 1024
"""Largest file that is read to compute its id in a repository of another format, or with other line ends."""
SETTINGS_BYTES: Final = 65_536
"""Maximum bytes read of a repository's configuration."""
STASH_LOG_BYTES: Final = 1024 * 1024
"""Bytes that are read of the log of stashes: 5,000 of them."""
EMPTY_BLOB: Final = hashlib.sha1(b"blob 0\0", usedforsecurity=False).hexdigest()
"""The id of an empty file."""

_SHA256 = pattern(rb"^\s*objectformat\s*=\s*\"?sha256", re.IGNORECASE | re.MULTILINE)
_CONVERTS = pattern(rb"\s(filter|working-tree-encoding)=|\sident(\s|$)")
"""Attributes by which a file may have another content than git has for it, beside its line ends."""
_JJ_TIMES: Final = ("working_copy", os.path.join("repo", "op_heads", "heads"))


class UsersWork(msgspec.Struct, frozen=True):
    """A work tree of the user's with its repository. All methods block.

    `git` is its git repository, None for a jj repository without one beside it; `jj` is the `.jj` directory, or "".
    """

    top: str
    git: Enclosing | None
    jj: str
    objects: UsersObjects
    is_sha256: bool

    @property
    def key(self) -> tuple[str, Enclosing | None, bool]:
        """Return what identifies it among other work trees."""
        return self.top, self.git, self.is_sha256

    @property
    def program(self) -> str:
        """The program that works in it, for the user."""
        return "git" if self.git is not None else "jj"

    @property
    def index(self) -> str:
        """The path of the index of git."""
        return os.path.join(self.git.git_dir, "index") if self.git is not None else os.devnull

    @property
    def alternate(self) -> str:
        """Its objects, as git takes them in its environment."""
        return quoted(self.objects.directory)

    def name_of(self, path: str) -> bytes:
        """Return the name of a file in the work tree."""
        return os.fsencode(os.path.relpath(path, self.top))

    def had(self, oid: str, moment: int, is_used: bool) -> bool:
        """Return whether git had a content at that time (nanoseconds since 1970); `is_used`: it has it now, surely.

        Packed objects count as old.
        """
        time = self.objects.loose_time(oid)
        return time <= moment if time is not None else is_used or self.objects.has(oid)

    def index_stamp(self) -> tuple[int, int, int] | None:
        """Return inode, size and time (nanoseconds since 1970) of the index; None without one."""
        try:
            status = os.lstat(self.index)
        except OSError:
            return None
        return (status.st_ino, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None

    def last_work(self) -> float:
        """Return when git or jj worked last (nanoseconds since 1970); infinity while git does.

        Most commands that change files lock the index, which changes the time of the directory: also `git restore
        --source`, which does not write it.
        """
        places = [os.path.join(self.jj, name) for name in _JJ_TIMES] if self.jj else []
        if self.git is not None:
            if os.path.lexists(self.index + ".lock"):
                return float("inf")
            places += [self.git.git_dir, self.index]
        times = [0]
        for place in places:
            with suppress(OSError):
                times.append(os.stat(place).st_mtime_ns)
        return max(times)

    @property
    def _stash_files(self) -> list[str]:
        """The log of the stashes, the newest one, and packed refs."""
        names = ("logs/refs/stash", "refs/stash", "packed-refs")
        return [] if self.git is None else [os.path.join(self.git.common_dir, name) for name in names]

    def stash_stamp(self) -> list[int]:
        """Return the times of the files that name the stashes (nanoseconds since 1970), 0 for missing ones."""
        times = []
        for file in self._stash_files:
            try:
                times.append(os.stat(file).st_mtime_ns)
            except OSError:
                times.append(0)
        return times

    def stashes(self) -> list[str]:
        """Return the ids of the stashes, the newest first. Those of other kinds of refs than files are not found."""
        if self.git is None or self.is_sha256:
            return []
        logged, newest, refs = self._stash_files
        found = list[bytes]()
        with suppress(OSError):
            found += re.findall(rb"^[0-9a-f]{40} ([0-9a-f]{40}) ", _read_end(logged), re.MULTILINE)
        with suppress(OSError):
            found.append(read_regular(newest, 100).strip())
        with suppress(OSError):
            packed = read_regular(refs, PACKED_REFS_BYTES)
            found += re.findall(rb"^([0-9a-f]{40}) refs/stash$", packed, re.MULTILINE)
        oids = [one.decode() for one in reversed(found) if len(one) == 40 and one.isalnum()]
        return list(dict.fromkeys(oids))

    def has(self, oid: str) -> bool:
        """Return whether git has that content (the id of the review). Of another format that is not known: False."""
        return not self.is_sha256 and self.objects.has(oid)

    def may_have_written(self, path: str, data: bytes) -> str | None:
        """Return the program, in words, that may have given a file its content `data`; None if none did.

        Git may have it in another format, with other line ends, or converted.
        """
        contents = {data, data.replace(b"\r\n", b"\n")}
        if any(self.objects.has(self._id(content)) for content in contents):
            return self.program
        return f"{self.program} perhaps" if self._may_convert(path) else None

    def may_have_removed(self, path: str) -> str | None:
        """Return the program, in words, that may have removed a file of whose content git `has` no object."""
        return f"{self.program} perhaps" if self.is_sha256 or self._may_convert(path) else None

    def _id(self, content: bytes) -> str:
        """Return the id of a blob in the format of the repository."""
        kind = hashlib.sha256 if self.is_sha256 else hashlib.sha1
        return kind(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()

    def _may_convert(self, path: str) -> bool:
        """Return whether git may have the file with another content, because of its attributes."""
        name = os.path.relpath(path, self.top)
        directory = os.path.dirname(path)
        while directory.startswith(self.top):
            if _converts(os.path.join(directory, ".gitattributes"), os.path.relpath(path, directory)):
                return True
            directory = os.path.dirname(directory)
        return self.git is not None and _converts(os.path.join(self.git.common_dir, "info", "attributes"), name)


def users_work(directory: str) -> UsersWork | None:
    """Return the innermost work tree of git or jj that contains or is `directory`; None without one. Blocks."""
    while True:
        git, jj = repository_at(directory), os.path.join(directory, ".jj")
        jj = jj if os.path.lexists(os.path.join(jj, "repo")) else ""
        objects = os.path.join(git.common_dir, "objects") if git is not None else _objects_of_jj(jj) if jj else ""
        if objects:
            config = os.path.join(os.path.dirname(objects), "config")
            return UsersWork(directory, git, jj, UsersObjects(objects), _is_sha256(config))
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def _objects_of_jj(jj: str) -> str:
    """Return the objects of the git repository in which jj keeps its contents; "" without one."""
    repo = os.path.join(jj, "repo")
    if os.path.isfile(repo):  # of another work tree
        repo = os.path.join(jj, _line(repo))
    store = os.path.join(repo, "store")
    objects = os.path.join(store, _line(os.path.join(store, "git_target")) or "git", "objects")
    return os.path.normpath(objects) if os.path.isdir(objects) else ""


def _line(file: str) -> str:
    try:
        return os.fsdecode(read_regular(file, SETTINGS_BYTES).strip())
    except OSError:
        return ""


def _is_sha256(config: str) -> bool:
    try:
        return _SHA256.search(read_regular(config, SETTINGS_BYTES)) is not None
    except OSError:
        return False


def _read_end(file: str) -> bytes:
    """Return the end of a file, up to `STASH_LOG_BYTES`. Raises `OSError`."""
    return read_regular(file, 4 * STASH_LOG_BYTES)[-STASH_LOG_BYTES:]


def content_at(path: str) -> bytes | None:
    """Return what git would store of a file; None if it cannot be read, or is too large. Blocks."""
    try:
        if os.path.islink(path):
            return os.fsencode(os.readlink(path))
        data = read_regular(path, CONTENT_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= CONTENT_BYTES else None


def _converts(attributes: str, name: str) -> bool:
    """Return whether a file of attributes has one for the file `name` that converts contents; `*` matches anything."""
    try:
        rules = read_regular(attributes, EXCLUDES_BYTES)
    except OSError:
        return False
    for line in rules.splitlines():
        if _CONVERTS.search(line):
            rule = os.fsdecode(line.split()[0])
            subject = name if "/" in rule else os.path.basename(name)
            if fnmatch.fnmatchcase(subject, rule.lstrip("/")) or rule.startswith("["):
                return True
    return False
