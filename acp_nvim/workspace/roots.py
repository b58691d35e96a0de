"""Decides which paths belong to a session: those whose real path is in its directories; and which files it watches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from acp_nvim.workspace.refusals import NotAllowedError

LINKS_IN_PATH: Final = 40
"""Maximum symbolic links on a path: Linux follows no more (path_resolution(7)), so a cycle ends."""
PATH_BYTES: Final = 4096
"""Maximum length of a path in bytes, as on Linux (PATH_MAX)."""
PATH_PARTS: Final = 128
"""Maximum names in a path, before and after resolution: projects nest 30 deep. Each is looked up several times."""
PATH_LOOKUPS: Final = 1024
"""Maximum names looked up for one path, with those of its links: 25 for each link."""

MAX_OUTSIDE: Final = 200
"""Files outside of its directories that a session watches: each costs a `stat` after each tool call."""
MAX_OUTSIDE_CHARS: Final = 65_536
"""Total characters of their paths, which are in each status of the session: 200 usual ones have 16,000."""

_TOO_LONG = f"one has at most {PATH_BYTES} bytes and {PATH_PARTS} names"


class Roots:
    """The directories of a session (ACP "Session Setup": the working directory is the boundary)."""

    def __init__(self, directories: Sequence[str]) -> None:
        self._directories = [os.path.realpath(directory) for directory in directories]

    def __repr__(self) -> str:
        return f"<Roots {self._directories}>"

    @property
    def directories(self) -> list[str]:
        """The real paths of the directories in which the agent works; the first is its working directory."""
        return list(self._directories)

    def move(self, directories: Sequence[str]) -> None:
        """Use other directories from now on: the agent of a child session may move it."""
        self._directories = [os.path.realpath(directory) for directory in directories]

    def inside(self, directories: Sequence[str]) -> list[str]:
        """Return those of the absolute paths that are in these directories; all of these if the first is elsewhere."""
        kept = [one for one in directories if self._has(one)]
        return kept if kept[:1] == list(directories[:1]) else self.directories

    def _has(self, path: str) -> bool:
        try:
            return bool(self.resolve(path))
        except NotAllowedError:
            return False

    @property
    def outermost(self) -> list[str]:
        """The directories that are not below another one."""
        others = {one: Roots([other for other in self._directories if other != one]) for one in self._directories}
        return [one for one, rest in others.items() if not rest.contains(one)]

    def name(self, real_path: str) -> str:
        """Return the path for messages to the user: relative to the working directory if it is in there."""
        return real_path.removeprefix(self._directories[0].rstrip(os.sep) + os.sep)

    def contains(self, real_path: str) -> bool:
        """Whether that real path is one of the directories, or below one."""
        tops = (directory.rstrip(os.sep) for directory in self._directories)
        return real_path in self._directories or any(real_path.startswith(top + os.sep) for top in tops)

    def resolve(self, path: str) -> str:
        """Return the real path. Raises `NotAllowedError` when `path` is relative, invalid, or outside."""
        if not os.path.isabs(path):
            raise NotAllowedError(f"{path} is not an absolute path, which the protocol asks for")
        real = real_path(path)
        if path.endswith(os.sep) and not os.path.isdir(real):
            raise NotAllowedError(f"{path} names a directory, and there is none")
        if self.contains(real):
            return real
        what = "directories" if len(self._directories) > 1 else "directory"
        raise NotAllowedError(f"{path} is outside of the session's {what} {', '.join(self._directories)}")


class WatchedRoots:
    """The directories of a session, and the files outside of them that its tool calls have named to change them.

    This is about what is watched. What the agent may read and write is decided by `Roots`.
    """

    def __init__(self, directories: Sequence[str]) -> None:
        self._roots = Roots(directories)
        self._outside: dict[str, None] = {}
        self._chars = 0
        self.is_full = False
        """Whether a file was named for which there was no room: it is not watched."""

    def __repr__(self) -> str:
        return f"<WatchedRoots {self.directories} outside={self.outside}>"

    @property
    def directories(self) -> list[str]:
        """The real paths of the directories; the first is the session's working directory."""
        return self._roots.directories

    @property
    def outermost(self) -> list[str]:
        """The directories that are not below another one."""
        return self._roots.outermost

    @property
    def outside(self) -> list[str]:
        """The real paths of the watched files outside of the directories, in the order in which they were named."""
        return list(self._outside)

    def name(self, real_path: str) -> str:
        """Return the path for messages to the user: relative to the working directory if it is in there."""
        return self._roots.name(real_path)

    def contains(self, real_path: str) -> bool:
        """Whether changes of the file at that real path are looked for."""
        return real_path in self._outside or self._roots.contains(real_path)

    def is_outside(self, real_path: str) -> bool:
        """Whether that is a watched file outside of the directories."""
        return real_path in self._outside and not self._roots.contains(real_path)

    def resolve(self, path: str) -> str:
        """Return the real path of a watched file. Raises `NotAllowedError` if it is none, or `path` is relative."""
        try:
            return self._roots.resolve(path)
        except NotAllowedError:
            real = real_path(path) if os.path.isabs(path) else None
            if real is None or real not in self._outside:
                raise
            return real

    def admit(self, path: str) -> str | None:
        """Return the real path of a file that a call names, and watch it from now on.

        A relative path begins at the working directory. Returns None for what is no path, and if there is no room.
        """
        given = given_path(path, self.directories[0])
        try:
            real = None if given is None else real_path(given)
        except NotAllowedError:
            return None
        if real is None or self.contains(real):
            return real
        if len(self._outside) >= MAX_OUTSIDE or self._chars + len(real) > MAX_OUTSIDE_CHARS:
            self.is_full = True
            return None
        self._outside[real] = None
        self._chars += len(real)
        return real

    def drop(self, real_path: str) -> None:
        """Watch that file outside of the directories no longer, because it is no regular file, say."""
        if real_path in self._outside:
            del self._outside[real_path]
            self._chars -= len(real_path)


def given_path(path: str, cwd: str) -> str | None:
    """Return the absolute form of an agent's path, with its symlinks; None if it is not a path.

    The path may be a `file:` URI, relative to `cwd`, or below `~`.
    """
    try:
        parts = urlsplit(path) if path[:5].lower() == "file:" else None
        text = unquote(parts.path) if parts else os.path.expanduser(path)
    except ValueError:
        return None
    return os.path.join(cwd, text) if text else None


def real_path(path: str) -> str:
    """Resolve all symlinks of an absolute path; missing components stay as written, as in `realpath`.

    Raises `NotAllowedError` for invalid paths, cycles of links, and paths that are too long or too deep. The results of
    `realpath` for cycles depend on the version of Python, and the system does not open such paths.
    """
    left = [name for name in reversed(path[: PATH_BYTES + 1].split(os.sep)) if name not in ("", os.curdir)]
    if len(path) > PATH_BYTES or len(left) > PATH_PARTS:
        raise NotAllowedError(f"{path[:100]}... cannot be the path of a file: {_TOO_LONG}")
    real, links, lookups = "", 0, 0
    while left:
        name = left.pop()
        if name in ("", os.curdir):
            continue
        lookups += 1
        if name == os.pardir:
            real = real.rpartition(os.sep)[0]
            continue
        real += os.sep + name
        try:
            target = os.readlink(real)
        except OSError:  # no link, missing, or not permitted
            continue
        except ValueError as error:  # a NUL, or half a pair of surrogates
            raise NotAllowedError(f"{path!r} cannot be the path of a file: {error}") from error
        links += 1
        if links > LINKS_IN_PATH or lookups > PATH_LOOKUPS:
            raise NotAllowedError(f"{path} leads through symbolic links in a circle, or through too many of them")
        real = "" if os.path.isabs(target) else real.rpartition(os.sep)[0]
        left += target.split(os.sep)[::-1]
    if real.count(os.sep) > PATH_PARTS:
        raise NotAllowedError(f"{path} leads to a file that has no usable path: {_TOO_LONG}")
    return real or os.sep


def additional(cwd: str, configured: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the absolute paths of existing directories, in order, and the missing ones as configured.

    `~` is the user's home; relative paths start at `cwd`, which itself is not returned.
    """
    there: dict[str, None] = {}
    missing: dict[str, None] = {}
    for one in configured:
        path = os.path.abspath(os.path.join(cwd, os.path.expanduser(one)))
        if os.path.isdir(path):
            there[path] = None
        else:
            missing[one] = None
    there.pop(os.path.abspath(cwd), None)
    return list(there), list(missing)
