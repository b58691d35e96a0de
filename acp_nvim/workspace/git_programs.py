"""Files that git's configuration names: hook directories, programs, and more configuration."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from acp_nvim.limits.git_config import CONFIG_BYTES, CONFIG_FILES

CONFIGURED = "git's configuration names it: git runs it, or what it names"

_SETTING = re.compile(r"^[^\S\n]*(?:\[[^\]\n]*\])?[^\S\n]*([a-z][a-z0-9-]*)[^\S\n]*=[^\S\n]*(.+)$", re.I | re.M)
_DIRECTORIES = frozenset({"hookspath", "path"})
_PROGRAMS = frozenset(
    {"fsmonitor", "sshcommand", "editor", "pager", "askpass", "external", "command", "textconv", "process", "clean"}
    | {"smudge", "driver", "helper", "cmd", "program", "alternaterefscommand", "gitproxy", "packobjectshook"}
)
_WORD = re.compile(r"[^\s\"'!;|&()]+")


def programs(top: str) -> Iterator[str]:
    """The real paths of the files and directories that git runs, or reads settings from, for the work tree at `top`.

    What only may be one is among them: a word with a slash in the value of a setting that names a program. Files that
    cannot be read are skipped.
    """
    waiting = list(_configurations(top))
    seen: set[str] = set()
    while waiting and len(seen) < CONFIG_FILES:
        file = os.path.realpath(waiting.pop(0))
        if file in seen:
            continue
        seen.add(file)
        for name, value in _settings(file):
            if name == "path":  # of `include` and `includeIf`
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
    """The settings that name something; read generously, as what is no setting names nothing here."""
    text = (_small_text(file) or "").replace("\\\n", "")
    for name, value in _SETTING.findall(text):
        if name.lower() in _DIRECTORIES | _PROGRAMS:
            yield name.lower(), re.sub(r"\s+[#;].*", "", value).strip()


def _named(top: str, name: str, value: str) -> Iterator[str]:
    if name in _DIRECTORIES:
        yield _place(top, value)
    else:
        yield from (_place(top, word) for word in _WORD.findall(value) if os.sep in word)


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
