"""Which commands the user has allowed when the agent asked for them itself, before it makes a terminal for them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from acp_nvim.protocol.answers import CommandToRun, PermissionAsked
from acp_nvim.protocol.tool_call import Shown, ToolCall
from acp_nvim.session.transcript import Transcript
from acp_nvim.terminals.command_line import shell_line
from acp_nvim.wire.content import TextContent

_ORDINARY = re.compile(r"[\w ./@+:,-]*")
"""Means the same in any quotes."""


class NamedCommand(msgspec.Struct, frozen=True):
    """A command, as the input of a tool call has it: a line, or its words; where it runs, if that is said."""

    command: str | Sequence[str]
    cwd: str | None = None

    @property
    def line(self) -> str:
        """As a user would type it."""
        return self.command if isinstance(self.command, str) else shlex.join(self.command)


class Seen(msgspec.Struct, frozen=True):
    """What a request for a permission shows: its words, and the command that its tool call names."""

    tool_call_id: str
    words: Sequence[str]
    named: NamedCommand | None

    @property
    def hidden(self) -> NamedCommand | None:
        """The command, when the words do not say it: some agents have it in the input only, which nobody sees."""
        return None if self.named and self.says(self.named) else self.named

    def says(self, named: NamedCommand) -> bool:
        """Whether the words have that command in them, whole."""
        whole = re.compile(rf"(?<!\w){re.escape(named.line)}(?!\w)")
        return any(whole.search(words) for words in self.words)


class GrantedCommands:
    """Those of one session, which works at `home`. What was allowed once counts once, while its tool call is open."""

    def __init__(self, transcript: Transcript, home: str) -> None:
        self._transcript = transcript
        self._home = home
        self._once: list[Seen] = []
        self._always: list[Seen] = []

    def __repr__(self) -> str:
        return f"<GrantedCommands {len(self._once)} once, {len(self._always)} always>"

    def seen(self, asked: PermissionAsked) -> Seen:
        """What the user gets to see of a request."""
        tool_call_id = asked.tool_call_id or ""
        call = self._transcript.call(tool_call_id)
        named = _named(call)
        if asked.command is not None:
            named = NamedCommand(asked.command, asked.cwd)
        titles = [asked.title, call.title if call else None, asked.description]
        words = [*filter(None, titles), *(_texts(call) if call else ())]
        return Seen(tool_call_id, words, named)

    def grant(self, seen: Seen, kind: str) -> None:
        """The user allowed it; `kind` is that of the option."""
        (self._always if kind == "allow_always" else self._once).append(seen)

    def take(self, wanted: CommandToRun, cwd: str) -> bool:
        """Whether the user has allowed just this command in `cwd`; what counts once is used up."""
        open_calls = self._transcript.unfinished()
        self._once = [seen for seen in self._once if seen.tool_call_id in open_calls]
        for granted in (self._once, self._always):
            for seen in granted:
                if self._is_about(seen, wanted, cwd):
                    if granted is self._once:
                        self._once.remove(seen)
                    return True
        return False

    def _is_about(self, seen: Seen, wanted: CommandToRun, cwd: str) -> bool:
        """Named in the request, or in its tool call by now, if the words of the request had it."""
        named = seen.named
        if named is None:
            later = _named(self._transcript.call(seen.tool_call_id))
            named = later if later and seen.says(later) else None
        if named is not None:
            there = named.cwd in (wanted.cwd, cwd) if named.cwd else cwd == self._home
            return there and is_same(named.command, wanted, cwd)
        return cwd == self._home and any(is_same(words, wanted, cwd) for words in seen.words)


def named_command(raw_input: Any) -> NamedCommand | None:
    """The command in the input of a tool call, under the names that agents use."""
    if not isinstance(raw_input, dict):
        return None
    command = _first(raw_input, ("command", "cmd"))
    cwd = _first(raw_input, ("cwd", "workdir"))
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        line = shell_line(command[0], command[1:]) if len(command) > 1 else None
        command = command if line is None else line
    elif not isinstance(command, str):
        return None
    return NamedCommand(command, cwd if isinstance(cwd, str) else None) if command else None


def is_same(named: str | Sequence[str], wanted: CommandToRun, cwd: str) -> bool:
    """Whether what the user has seen is what the terminal would run."""
    if not isinstance(named, str):
        return list(named) == [wanted.command, *wanted.args]
    named = named.strip()
    named = named[1:-1] if len(named) > 1 and named[0] == named[-1] == "`" else named
    line = shell_line(wanted.command, wanted.args)
    if line is not None:
        return named in (line.strip(), without_cd(line.strip(), cwd))
    try:
        return shlex.split(named) == [wanted.command, *wanted.args]
    except ValueError:  # a quote without an end
        return False


def without_cd(line: str, cwd: str) -> str:
    """Some agents begin each line with the directory that the terminal is in anyway.

    An agent may say that it is in a directory whose name a shell would run: that one has to be quoted well.
    """
    ways = [shlex.quote(cwd)]
    if _ORDINARY.fullmatch(cwd):
        ways += [f"'{cwd}'", f'"{cwd}"']
    for quoted in ways:
        line = line.removeprefix(f"cd {quoted} && ")
    return line


def _named(call: ToolCall | None) -> NamedCommand | None:
    """What other tools call a command is none."""
    return named_command(call.raw_input) if call and call.kind == "execute" else None


def _texts(call: ToolCall) -> Iterable[str]:
    for item in call.content:
        if isinstance(item, Shown) and isinstance(item.block, TextContent):
            yield item.block.text


def _first(members: dict[str, Any], names: Iterable[str]) -> Any:
    return next((members[name] for name in names if members.get(name)), None)
