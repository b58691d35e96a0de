"""Which paths belong to a session: those really below its directories; and which more directories it may use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Final

from acp_nvim.workspace.refusals import NotAllowedError

LINKS_IN_PATH: Final = 40
"""Symbolic links that one path leads through: Linux opens no path with more (path_resolution(7)), so a circle ends."""
PATH_BYTES: Final = 4096
"""Length of a path: Linux opens none that is longer (PATH_MAX)."""
PATH_PARTS: Final = 128
"""Names in a path, as an agent gives it and as it is: projects nest 30 deep. Each is looked up several times."""
PATH_LOOKUPS: Final = 1024
"""Names that are looked up for one path, with those of the links that it leads through: 25 for each link."""

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

    @property
    def outermost(self) -> list[str]:
        """The directories that are not below another one."""
        others = {one: Roots([other for other in self._directories if other != one]) for one in self._directories}
        return [one for one, rest in others.items() if not rest.contains(one)]

    def name(self, real_path: str) -> str:
        """The path as the user is told it: relative to the working directory if it is in there."""
        return real_path.removeprefix(self._directories[0].rstrip(os.sep) + os.sep)

    def contains(self, real_path: str) -> bool:
        """Whether that real path is one of the directories, or below one."""
        tops = (directory.rstrip(os.sep) for directory in self._directories)
        return real_path in self._directories or any(real_path.startswith(top + os.sep) for top in tops)

    def resolve(self, path: str) -> str:
        """The real path of `path`. Raises `NotAllowedError` when it is relative, no path at all, or lies outside."""
        if not os.path.isabs(path):
            raise NotAllowedError(f"{path} is not an absolute path, which the protocol asks for")
        real = real_path(path)
        if path.endswith(os.sep) and not os.path.isdir(real):
            raise NotAllowedError(f"{path} names a directory, and there is none")
        if self.contains(real):
            return real
        raise NotAllowedError(f"{path} is outside of the session's {self._named()}")

    def _named(self) -> str:
        several = len(self._directories) > 1
        return ("directories " if several else "directory ") + ", ".join(self._directories)


def real_path(path: str) -> str:
    """All symlinks of an absolute path resolved; what is not there is taken as it is written, as `realpath` does.

    Raises `NotAllowedError` for what cannot be a path, for links in a circle, and for what is too long or too deep.
    What `realpath` makes of circles and of what comes behind them depends on the version of Python; the system opens
    neither.
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
        except OSError:  # no link, not there, or not for us to see
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
    """The absolute paths of those that are there, in order; and, as they were written, those that are not.

    `~` is the user's home; the rest is relative to `cwd`, which itself is none of them.
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
