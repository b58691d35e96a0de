"""What a request is about, for rules: the command that would run, the files that it names; never its title."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from acp_nvim.permissions import wrapped
from acp_nvim.permissions.rules import Wanted
from acp_nvim.permissions.shell_line import ShellLine, read_line, read_words
from acp_nvim.permissions.stored import Subject
from acp_nvim.protocol.answers import CommandToRun, PermissionAsked
from acp_nvim.protocol.diff import Diff
from acp_nvim.protocol.tool_call import ToolCall
from acp_nvim.session.named_files import NO_CHANGE, Where, named_files
from acp_nvim.terminals.command_line import ENVIRONMENT, SHELLS, Command, shell_line, without_cd

RUNS: Final = frozenset({"execute", "other"})
"""Known kinds of tool calls of which `command` may be a command; other tools mean other things by it."""

OF_FILES: Final = frozenset({"read", "edit", "delete", "move", "search"})
"""Kinds that say what is done to files, so that an answer may count for the next time."""

_HARMLESS_NAMES = frozenset(
    {"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "TERM", "COLUMNS", "LINES", "CI", "TZ"}
    | {"GIT_TERMINAL_PROMPT", "DEBIAN_FRONTEND", "LANG", "LC_ALL", "PYTHONUNBUFFERED", "CLAUDECODE"}
)
_HARMLESS_VALUE = re.compile(r"[\w.:-]*", re.ASCII)


class Named(msgspec.Struct, frozen=True):
    """A command as it would be run: a line for a shell, or the words of a program. `text` is what a user would type."""

    text: str
    read: ShellLine


class Asking(msgspec.Struct, frozen=True):
    """For rules, and for what the user answers for good (None: there is nothing that could be known again).

    `why`, in words: what makes it a request that no rule may allow.
    """

    wanted: Wanted
    about: Subject | None
    why: str | None = None


def of_permission(asked: PermissionAsked, call: ToolCall | None, diffs: Sequence[Diff], where: Where) -> Asking:
    """`diffs` are all that the tool call has shown."""
    kind = "execute" if asked.command is not None else call.kind if call else "other"
    raw = call.raw_input if call else None
    commands = _commands(raw, where) if kind in RUNS or kind not in NO_CHANGE | OF_FILES else []
    cwds = [asked.cwd, *(_texts(raw, ("cwd", "workdir")) if commands else ())]
    if asked.command is not None:
        commands = [_line(asked.command, where.cwd), *commands]
    changes = [change for diff in diffs for change in diff.changes]
    of_files = named_files(kind, call, diffs, bool(commands), where)
    why = of_files.guarded
    strange = (
        asked.subject is not None
        or (call is not None and call.incomplete)
        or len({one.text for one in commands}) > 1
        or any(cwd is not None and not where.has(cwd) for cwd in cwds)
        or (bool(changes) and kind in NO_CHANGE)
        or (isinstance(raw, dict) and bool(commands) and not harmless(raw.get("env") or {}))
        or why is not None
    )
    command = commands[0] if commands else None
    wanted = Wanted(
        agent=where.agent,
        kind=kind,
        roots=where.roots.directories,
        paths=of_files.paths,
        command=command.read if command else None,
        strange=strange,
    )
    unknown = strange or not of_files.certain
    about = None if unknown else _subject(wanted, command, next(filter(None, cwds), None), where)
    return Asking(wanted, about, why)


def _subject(wanted: Wanted, command: Named | None, cwd: str | None, where: Where) -> Subject | None:
    """Just this command there; or just these files, if all are known and the kind says what is done to them."""
    paths = tuple(sorted({path for path in wanted.paths if path is not None}))
    if None in wanted.paths or (command is None and (not paths or wanted.kind not in OF_FILES)):
        return None
    place = where.real(cwd or where.cwd) if command else None
    text = command.text if command else None
    return Subject(agent=where.agent, kind=wanted.kind, command=text, cwd=place, paths=paths)


def of_terminal(wanted: CommandToRun, run: Command, where: Where) -> Asking:
    """A command in a terminal that the agent wants, and what would be run for it."""
    cwd = run.cwd
    if wanted.args:
        command = _words([wanted.command, *wanted.args], cwd)
    elif list(run.argv) == [wanted.command]:
        command = Named(shlex.quote(wanted.command), read_words([wanted.command]))
    else:
        command = _line(wanted.command, cwd)
    is_read_otherwise = not wanted.args and os.path.basename(run.argv[0]) not in wrapped.SHELLS and len(run.argv) > 1
    strange = is_read_otherwise or not harmless(wanted.env)
    asked = Wanted(
        agent=where.agent, kind="execute", roots=where.roots.directories, command=command.read, strange=strange
    )
    about = Subject(agent=where.agent, kind="execute", command=command.text, cwd=cwd)
    return Asking(asked, None if strange else about)


def of_file(kind: str, path: str, where: Where, *, outside: bool, guarded: str | None) -> Asking:
    """A file (a real path) that is in none of the session's directories, or that is `guarded`: the reason."""
    is_guarded = guarded is not None
    roots = where.roots.directories
    wanted = Wanted(agent=where.agent, kind=kind, roots=roots, paths=[path], outside=outside, strange=is_guarded)
    about = None if is_guarded else Subject(agent=where.agent, kind=kind, paths=(path,))
    return Asking(wanted, about, guarded)


# --- commands --------------------------------------------------------------------------------------------------------


def _commands(raw: Any, where: Where) -> list[Named]:
    """Those that the input of a tool call names."""
    if not isinstance(raw, dict):
        return []
    found = [raw[name] for name in ("command", "cmd") if raw.get(name)]
    args = raw.get("args")
    if args:
        more = args if isinstance(args, list) else [None]  # a text may be any number of words
        found = [[*(one if isinstance(one, list) else [one]), *more] for one in found]
    cwd = next(iter(_texts(raw, ("cwd", "workdir"))), None) or where.cwd
    return [_line(one, cwd) if isinstance(one, str) else _words(one, cwd) for one in found]


def _line(line: str, cwd: str) -> Named:
    text = without_cd(line, cwd)
    return Named(text, read_line(text))


def _words(words: Any, cwd: str) -> Named:
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return Named(repr(words), read_line("\0"))
    line = shell_line(words[0], words[1:]) if len(words) > 1 else None
    if line is not None:
        return _line(line, cwd)
    return Named(shlex.join(words), read_words(words))


def harmless(env: Any) -> bool:
    """Whether these variables change nothing but looks."""
    if not isinstance(env, Mapping):
        return False
    return all(_is_harmless(name, value) for name, value in env.items())


def _is_harmless(name: Any, value: Any) -> bool:
    if not isinstance(value, str) or not isinstance(name, str):
        return False
    if name == "SHELL":
        return value in SHELLS
    return ENVIRONMENT.get(name) == value or (name in _HARMLESS_NAMES and bool(_HARMLESS_VALUE.fullmatch(value)))


def _texts(raw: Any, names: Iterable[str]) -> list[str]:
    values = [raw.get(name) for name in names] if isinstance(raw, dict) else []
    return [value for value in values if isinstance(value, str) and value]
