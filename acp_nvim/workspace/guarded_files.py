"""Decides by name, location and git's configuration whether a write needs the user's permission each time."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Final

import msgspec

from acp_nvim.agents.mcp_programs import of_text
from acp_nvim.lazy import pattern
from acp_nvim.workspace.guarded_names import GIT, PYTHON, plain_name, why_guarded
from acp_nvim.workspace.refusals import NotAllowedError
from acp_nvim.workspace.regular_files import read_regular
from acp_nvim.workspace.roots import Roots, real_path

CONFIG_BYTES: Final = 256 * 1024
"""Maximum bytes read of a git configuration: usual ones have 10 kB, with a thousand branches 150 kB."""
CONFIG_FILES: Final = 20
"""Maximum number of configuration files that include each other: each is read for every write."""


CONFIGURED = "git's configuration names it: git runs it, or what it names"

SERVED = "an MCP server of .mcp.json runs it, or is given it and may run it: agents start these servers"

_LINE = pattern(
    r'^[^\S\n]*(?:\[\s*([\w.-]+)(?:[^\S\n]+"(?:[^"\\\n]|\\.)*")?\s*\])?'
    r"[^\S\n]*(?:([a-z][a-z0-9-]*)[^\S\n]*=[^\S\n]*(.+))?$",
    re.I | re.M,
)
_DIRECTORIES = frozenset({"hookspath", "templatedir"})
_PROGRAMS = frozenset(
    {"fsmonitor", "sshcommand", "editor", "pager", "askpass", "external", "command", "textconv", "process", "clean"}
    | {"smudge", "driver", "helper", "cmd", "program", "alternaterefscommand", "gitproxy", "packobjectshook"}
    | {"difffilter", "defaultkeycommand", "uploadpack", "receivepack", "update", "path", "sendmailcmd", "tunnel"}
    | {"tocmd", "cccmd", "headercmd"}
)
_WORD = pattern(r"[^\s\"'!;|&()]+")

HARD_LINK = "it has another name (a hard link), which may be that of such a file"

_GIT_PLACES = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG")


def programs(top: str) -> Iterator[str]:
    """Yield the real paths of files and directories that git runs or reads settings from, for the work tree `top`.

    Includes candidates: each word in a setting that names a program. Skips unreadable files.
    """
    waiting = list(_configurations(top))
    seen: set[str] = set()
    while waiting and len(seen) < CONFIG_FILES:
        file = os.path.realpath(waiting.pop(0))
        if file in seen:
            continue
        seen.add(file)
        for name, value in _settings(file):
            if name == "include":
                included = _place(os.path.dirname(file), value)
                waiting.append(included)
                yield included
            else:
                yield from _named(top, name, value)


def _configurations(top: str) -> Iterator[str]:
    own = os.path.join(top, ".git")
    link = _small_text(own)
    if link is not None:
        own = os.path.join(top, link.removeprefix("gitdir:").strip())
    common = os.path.join(own, (_small_text(os.path.join(own, "commondir")) or "").strip())
    home = os.path.expanduser("~")
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    yield from (os.path.join(common, "config"), os.path.join(own, "config.worktree"))
    yield from (os.path.join(home, ".gitconfig"), os.path.join(settings, "git", "config"))


def _settings(file: str) -> Iterator[tuple[str, str]]:
    """Yield the settings that name a path or a program; what is no setting yields nothing.

    `include.path` is called `include`; an alias that is a line of shell, and a pager of one command, `command`.
    """
    section = ""
    for found in _LINE.finditer((_small_text(file) or "").replace("\\\n", "")):
        section = (found[1] or section).partition(".")[0].lower()
        name, value = (found[2] or "").lower(), re.sub(r"\s+[#;].*", "", found[3] or "").strip()
        if section.startswith("include") and name == "path":
            yield "include", value
        elif section == "pager" or (section == "alias" and value.lstrip('"').startswith("!")):
            yield "command", value
        elif name in _DIRECTORIES | _PROGRAMS:
            yield name, value


def _named(top: str, name: str, value: str) -> Iterator[str]:
    if name in _DIRECTORIES:
        yield _place(top, value)
        return
    for word in _WORD.findall(value):
        place = _place(top, word)
        if os.sep in word or not os.path.isdir(place):  # `helper = store` does not mean the project's directory
            yield place


def _place(base: str, value: str) -> str:
    return os.path.realpath(os.path.join(base, os.path.expanduser(value.strip().strip('"'))))


def _small_text(path: str) -> str | None:
    """Return the text of a regular file; None for anything else. Never waits."""
    try:
        return read_regular(path, CONFIG_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


class GuardedFiles:
    """The guarded files of one session, for one decision: git's configuration and links are read once."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._linked = cache(_linked)
        self._programs = cache(lambda tree: list(programs(tree)))
        self._served = cache(_served)
        self._from_environment = [os.path.realpath(os.environ[name]) for name in _GIT_PLACES if os.environ.get(name)]

    def why_asked(self, path: str, real: str) -> str | None:
        """Return why a write to the file needs the user's permission; None for an ordinary file.

        `path` is absolute, as the agent calls the file; `real` is its real path. They need not exist. Checks names,
        directories and git's small configuration files only; never raises.
        """
        root = max((one for one in self._roots.directories if _is_at(real, one)), key=len, default=None)
        top = None if root is None else _work_tree(root)
        try:
            for spelled in (real, *_spellings(path, real)):
                why = why_guarded(_components(spelled, top))
                if why is not None:
                    return why
            if _is_in_repository(real) or any(_is_at(real, one) for one in self._from_environment):
                return GIT
            if root is not None and _is_in_environment(real, root):
                return PYTHON
            return self._by_project(real, root, top) or (HARD_LINK if _has_other_names(real) else None)
        except (OSError, ValueError, NotAllowedError):  # a cycle of links, or no path: it cannot be written
            return None

    def _by_project(self, real: str, root: str | None, top: str | None) -> str | None:
        for place in dict.fromkeys(one for one in (top, root) if one is not None):
            for target, why in self._linked(place):
                if _is_at(real, target):
                    return why
            if any(_is_at(real.casefold(), served) for served in self._served(place)):
                return SERVED
        trees = dict.fromkeys(one for one in (top, _work_tree(os.path.dirname(real))) if one is not None)
        is_configured = any(_is_at(real, one) for tree in trees for one in self._programs(tree))
        return CONFIGURED if is_configured else None


def _work_tree(directory: str) -> str | None:
    """Return the nearest ancestor, or the directory itself, that git takes for the top of a work tree."""
    while not os.path.lexists(os.path.join(directory, ".git")):
        above = os.path.dirname(directory)
        if above == directory:
            return None
        directory = above
    return directory


def _components(path: str, top: str | None) -> list[str]:
    """Return the components to check: those above a work tree are not the project's (`.claude/worktrees/x`)."""
    above = "" if top is None else os.path.dirname(top)
    within = above and path.startswith(above.rstrip(os.sep) + os.sep)
    return [one for one in (path[len(above) :] if within else path).split(os.sep) if one]


def _spellings(path: str, real: str) -> Iterator[str]:
    """Yield the path of each symbolic link on the way, with a real directory, and what `..` leaves."""
    directory = spelled = os.sep
    for name in path.split(os.sep) if path != real else ():
        if name == os.pardir:
            yield spelled
            directory = spelled = os.path.dirname(directory)
        elif name not in ("", os.curdir):
            spelled = os.path.join(directory, name)
            directory = spelled
            if os.path.islink(spelled):
                yield spelled
                directory = real_path(spelled)
    yield spelled


def _is_in_repository(real: str) -> bool:
    """Whether an ancestor is a git repository, or writing the file may make it one (git's setup.c).

    A repository has `HEAD`, `objects` and `refs`, or `HEAD` and `commondir` in a linked work tree; its name does not
    matter. A file named `HEAD` counts alone: hardly any other directory has one, and the rest may be written at the
    same time. A work tree inside a repository's directory does not belong to it.
    """
    directory, name = os.path.split(real)
    if plain_name(name) == "head":
        return True
    while name:
        if _exists(directory, "HEAD"):
            has = {plain_name(name), *(one for one in ("objects", "refs", "commondir") if _exists(directory, one))}
            if {"objects", "refs"} <= has or "commondir" in has:
                return True
        if _exists(directory, ".git"):
            return False
        directory, name = os.path.split(directory)
    return False


def _is_in_environment(real: str, root: str) -> bool:
    """Whether the file is in a Python virtual environment below `root`, under any name."""
    directory = os.path.dirname(real)
    while directory != root and _is_at(directory, root):
        if _exists(directory, "pyvenv.cfg"):
            return True
        directory = os.path.dirname(directory)
    return False


def _has_other_names(real: str) -> bool:
    """Whether the file has another hard link, whose name cannot be found."""
    try:
        status = os.lstat(real)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1


def _exists(directory: str, name: str) -> bool:
    return os.path.lexists(os.path.join(directory, name))


def _linked(directory: str) -> list[tuple[str, str]]:
    """Return the targets of symbolic links with guarded names in `directory`, with the reasons."""
    found = []
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            why = why_guarded([entry.name]) if entry.is_symlink() else None
            if why is not None:
                found.append((os.path.realpath(entry.path), why))
    return found


def _served(directory: str) -> list[str]:
    """Return what the MCP servers of a project run, below it: as it is named, and its real path; in lower case.

    Whether the user trusts them does not matter: other programs start them, too.
    """
    text = _small_text(os.path.join(directory, ".mcp.json"))
    if text is None:
        return []
    try:
        written = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return []
    files = of_text(written.get("mcpServers"), os.path.realpath(directory)) if isinstance(written, dict) else []
    return list(dict.fromkeys(one.casefold() for file in files for one in (file, os.path.realpath(file))))


def _is_at(real: str, place: str) -> bool:
    return real == place or real.startswith(place.rstrip(os.sep) + os.sep)
