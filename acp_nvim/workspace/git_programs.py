"""Files that git's configuration names: hook directories, programs, and more configuration."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from acp_nvim.limits.git_config import CONFIG_BYTES, CONFIG_FILES

CONFIGURED = "git's configuration names it: git runs it, or what it names"

_LINE = re.compile(
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
_WORD = re.compile(r"[^\s\"'!;|&()]+")


def programs(top: str) -> Iterator[str]:
    """The real paths of the files and directories that git runs, or reads settings from, for the work tree at `top`.

    What only may be one is among them: each word in the value of a setting that names a program. Files that cannot be
    read are skipped.
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
    """The settings that name something; read generously, as what is no setting names nothing here.

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
    """The text of a regular file; None for anything else. Never waits."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return os.read(descriptor, CONFIG_BYTES).decode("utf-8", "replace")
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None
