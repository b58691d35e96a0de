"""Finds the command that a permission request names, and whether the request says anything beyond it.

A command is *completely known* if each member of the input is known to be harmless, to say how it is run, or to repeat
the command, and if title and content name no other one. Otherwise neither a rule about commands nor an earlier answer
allows it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from acp_nvim.acp.answers import CommandToRun, PermissionAsked
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.tool_call import NO_CHANGE, OF_FILES, Item, Shown, TerminalShown, ToolCall
from acp_nvim.lazy import pattern
from acp_nvim.permissions import wrapped
from acp_nvim.permissions.input_commands import all_commands, line_of
from acp_nvim.permissions.input_members import (
    HIDDEN,
    SHOWN_MEMBERS,
    TOO_MUCH,
    InputMembers,
    Member,
    of_command,
    of_other,
    shown,
)
from acp_nvim.permissions.shell_line import COMMAND_CHARS, UNKNOWN, Command, ShellLine, read_line, read_words
from acp_nvim.terminals.command_line import ENVIRONMENT, SHELLS, without_cd
from acp_nvim.terminals.command_line import Command as Run

RUNS: Final = frozenset({"execute", "other"})
"""Known kinds of tool calls whose input member `command` may be a command; other kinds use it differently."""

NOT_KNOWN: Final = "not completely known"
"""The feature of a line in a request that says more than the command."""

_HARMLESS_NAMES = frozenset(
    {"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "TERM", "COLUMNS", "LINES", "CI", "TZ"}
    | {"GIT_TERMINAL_PROMPT", "DEBIAN_FRONTEND", "LANG", "LC_ALL", "PYTHONUNBUFFERED", "CLAUDECODE"}
)
_HARMLESS_VALUE = pattern(r"[\w.:-]*", re.ASCII)

_LABEL = pattern(r"(?:Requesting approval to Running|Proposed Amendment): ")
_DECISIONS = pattern(r"\nAvailable Decisions: [A-Z][A-Za-z]*(?:\n[A-Z][A-Za-z]*)*\Z")
_FENCE = pattern(r"```\w*\n(.*?)\n?```", re.DOTALL)
_QUOTED = pattern(r"`(?!``)(.+)`", re.DOTALL)


class Named(msgspec.Struct, frozen=True):
    """A command as it would run: a shell line, or the words of a program. `text` is what a user would type."""

    text: str
    read: ShellLine


class AskedCommand(msgspec.Struct, frozen=True):
    """The command of a request: as `named`, and as rules `read` it, with all else that may be a command.

    `directories` are those that the request names for it. `is_strange`: only the user may allow it. `remarks` say, for
    the user, what the request has beyond the command; without that it `is_known` completely.
    """

    named: Named | None = None
    read: ShellLine | None = None
    directories: Sequence[str] = ()
    is_strange: bool = False
    is_known: bool = True
    remarks: tuple[str, ...] = ()


def asked_command(asked: PermissionAsked, call: ToolCall | None, kind: str, cwd: str) -> AskedCommand:
    """Return the command that a request of that kind names; `cwd` is the session's directory."""
    raw = call.raw_input if call is not None else None
    earlier = [*asked.beyond.items(), *(call.earlier_input if call is not None else ())]
    runs = asked.command is not None or kind in RUNS or kind not in NO_CHANGE | OF_FILES
    members = of_command(raw, earlier) if runs else InputMembers()
    if asked.command is None and not members.commands:
        members, runs = of_other(raw, earlier), False
    commands = [] if asked.command is None else [line_named(asked.command, cwd)]
    where = next((one for one in members.directories if isinstance(one, str)), cwd)
    commands += [
        line_named(one, where) if isinstance(one, str) else words_named(one, where) for one in all_commands(members)
    ]
    directories = [one for one in (asked.cwd, *members.directories) if one is not None]
    more = list(_beyond(asked, call, members, commands)) if runs else []
    hidden = [*members.hidden, *(text for _, text in more)]
    unknown = [*members.unknown, *(member for member, _ in more)]
    is_elsewhere = any(one != directories[0] or not isinstance(one, str) for one in directories)
    unknown += [("directories", directories)] if is_elsewhere else []
    rights = [*members.more_rights, *of_other(_metadata(asked, call)).more_rights]
    is_strange = (
        bool(rights)
        or len({one.text for one in commands}) > 1
        or not all(harmless(env) for env in members.environments)
        or (bool(hidden) and kind in NO_CHANGE | OF_FILES)
        or TOO_MUCH in members.unknown
        or is_elsewhere
    )
    return AskedCommand(
        named=commands[0] if commands else None,
        read=_read(commands, hidden, bool(unknown)),
        directories=[one for one in directories if isinstance(one, str)],
        is_strange=is_strange,
        is_known=not unknown,
        remarks=tuple(_remarks(rights, unknown)),
    )


def terminal_command(wanted: CommandToRun, run: Run) -> tuple[Named, bool]:
    """Return the command of a terminal, which would be run as `run`, and whether only the user may allow it."""
    if wanted.args:
        command = words_named([wanted.command, *wanted.args], run.cwd)
    elif list(run.argv) == [wanted.command]:
        command = Named(shlex.quote(wanted.command), read_words([wanted.command]))
    else:
        command = line_named(wanted.command, run.cwd)
    is_read_otherwise = not wanted.args and os.path.basename(run.argv[0]) not in wrapped.SHELLS and len(run.argv) > 1
    return command, is_read_otherwise or not harmless(wanted.env)


def line_named(line: str, cwd: str) -> Named:
    """Return the command that is a line for a shell, without a change to `cwd`, where it begins anyway."""
    text = without_cd(line, cwd)
    return Named(text, read_line(text))


def words_named(words: Any, cwd: str) -> Named:
    """Return the command with these words, as it would run in `cwd`."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return Named(repr(words), read_line("\0"))
    line = line_of(words)
    if line is not None:
        return line_named(line, cwd)
    return Named(shlex.join(words), read_words(words))


def _read(commands: Sequence[Named], hidden: Sequence[Any], unknown: bool) -> ShellLine | None:
    """Return all that may be run, as one line: what is not certain can be a reason to reject it, not to allow it."""
    if not commands and not hidden:
        return None
    first = commands[0].read if commands else ShellLine((UNKNOWN,), frozenset({NOT_KNOWN}))
    inner = [one for other in commands[1:] for one in other.read.commands]
    left = COMMAND_CHARS
    for text in hidden[:HIDDEN]:
        left -= len(text) if isinstance(text, str) else sum(map(len, text))
        if left >= 0:
            inner += (read_line(text) if isinstance(text, str) else read_words(text)).commands
    if unknown or len(commands) > 1:
        inner.append(UNKNOWN)
    if not inner:
        return first
    more = tuple(Command(one.words, inner=True) for one in inner)
    return ShellLine((*first.commands, *more), first.features | {NOT_KNOWN})


def _remarks(rights: Sequence[Member], unknown: Sequence[Member]) -> Iterator[str]:
    for one in rights[:SHOWN_MEMBERS]:
        yield f"It asks to run without the sandbox, or with more rights than usual: {shown(one)}"
    if unknown:
        yield "Not completely known: acp_nvim cannot tell what the following means."
        yield from (f"  {shown(one)}" for one in unknown[:SHOWN_MEMBERS])
    if len(unknown) > SHOWN_MEMBERS:
        yield f"  … and {len(unknown) - SHOWN_MEMBERS:,} more"


# --- what is beyond the command --------------------------------------------------------------------------------------


def _beyond(
    asked: PermissionAsked, call: ToolCall | None, members: InputMembers, commands: Sequence[Named]
) -> Iterator[tuple[Member, Any]]:
    """Yield what the request names beside the command: the member that names it, and a text or words."""
    known = {text for one in (*commands, *_as_sent(asked, members)) for text in _ways(one)}
    if len({one.text for one in commands}) > 1:
        yield from ((("command", one.text), one.text) for one in commands)
    for value in members.commands:
        if not _ways(value):
            yield ("command", value), ""
    for member, part in members.repeated:
        if not any(_contains(one, part) for one in commands) and not _ways(part) & known:
            yield member, part
    if members.arguments and not all(isinstance(one, list) for one in members.arguments):
        yield ("args", members.arguments), ""
    for member in of_other(_metadata(asked, call)).unknown:
        if not _ways(member[1]) & known:
            yield member, member[1] if isinstance(member[1], str) else ""
    if call is not None:
        yield from _texts_beyond(call, known, {note.strip() for note in members.notes})


def _texts_beyond(call: ToolCall, known: set[str], notes: set[str]) -> Iterator[tuple[Member, Any]]:
    """Yield what title and content name that is not the `known` command; the content may have the `notes`."""
    quoted = _QUOTED.fullmatch(call.title.strip())
    if quoted is not None and not _is_known(quoted[1].replace("\\`", "`"), known):
        yield ("title", call.title), quoted[1]
    for item in call.content:
        rest = "" if isinstance(item, TerminalShown) else _rest(item, known, notes)
        if rest != "":
            yield ("content", rest or "no text"), rest or ""


def _metadata(asked: PermissionAsked, call: ToolCall | None) -> list[Any]:
    """Return the metadata, and what the request itself says of the output of a command that has not run."""
    output = asked.patch.raw_output if asked.patch is not None else None
    return [asked.meta, None if call is None else call.meta, None if output is msgspec.UNSET else output]


def _as_sent(asked: PermissionAsked, members: InputMembers) -> list[Any]:
    return [*([] if asked.command is None else [asked.command]), *members.commands]


def _ways(command: Any) -> set[str]:
    """Return the texts that are this command, and nothing else."""
    if isinstance(command, Named):
        return {command.text.strip()}
    if isinstance(command, str):
        return {command.strip()}
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return set()
    line = line_of(command)
    return {shlex.join(command), " ".join(command), "\n".join(command), *([] if line is None else [line.strip()])}


def _contains(command: Named, part: Any) -> bool:
    """Whether a line or words are a part of the command: its beginning, or one of its simple commands."""
    ours = [one.words for one in command.read.commands if not one.inner]
    if isinstance(part, list):
        return any(one[: len(part)] == tuple(part) for one in ours)
    theirs = read_line(part)
    is_plain = theirs.plain and command.read.plain
    return part in command.text or (is_plain and all(one.words in ours for one in theirs.commands if not one.inner))


def _is_known(text: str, known: set[str]) -> bool:
    """Whether a text is a known one, or the beginning of one that was cut."""
    text = text.strip()
    beginning = text.removesuffix("…").removesuffix("...")
    is_cut = beginning != text and len(beginning) > 0
    return text in known or (is_cut and any(one.startswith(beginning) for one in known))


def _rest(item: Item, known: set[str], notes: set[str]) -> str | None:
    """Return what an item of the content says beside the `known` command, without its marks; None if it is no text."""
    if not isinstance(item, Shown) or not isinstance(item.block, TextContent):
        return None
    text = item.block.text.strip()
    if text in notes or not text:
        return ""
    for note in notes:  # some agents put the reason first
        text = text.removeprefix(f"{note}\n")
    text = _DECISIONS.sub("", _LABEL.sub("", text, count=1))
    fenced = _FENCE.fullmatch(text) or _QUOTED.fullmatch(text)
    text = (fenced[1] if fenced is not None else text).removeprefix("$ ")
    return "" if _is_known(text, known) else text


# --- variables -------------------------------------------------------------------------------------------------------


def harmless(env: Any) -> bool:
    """Whether these variables only affect the look of the output."""
    return isinstance(env, Mapping) and all(_is_harmless(name, value) for name, value in env.items())


def _is_harmless(name: Any, value: Any) -> bool:
    if not isinstance(value, str) or not isinstance(name, str):
        return False
    if name == "SHELL":
        return value in SHELLS
    return ENVIRONMENT.get(name) == value or (name in _HARMLESS_NAMES and bool(_HARMLESS_VALUE.fullmatch(value)))
