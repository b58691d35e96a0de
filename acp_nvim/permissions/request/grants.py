"""Grants: commands that the user has allowed in the agent's own permission requests, before their terminals exist.

A grant is one whole command as the request named it. It covers one terminal that runs exactly that command in the
directory that was shown. It ends when it is used, when its tool call finishes, or with its turn. The next prompt ends
it in any case, also if the agent goes on with what it began by itself.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable

import msgspec

from acp_nvim.acp.answers import CommandToRun, PermissionAsked
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.tool_call import NO_CHANGE, OF_FILES, Shown, ToolCall, ToolCallPatch
from acp_nvim.permissions.input_commands import NamedCommand, named_command
from acp_nvim.permissions.request.asked_command import harmless
from acp_nvim.permissions.shell_line import read_line
from acp_nvim.terminals.command_line import Command, shell_line
from acp_nvim.transcript.transcript import Transcript
from acp_nvim.workspace.refusals import NotAllowedError
from acp_nvim.workspace.roots import Roots

BEFORE_COMMAND = "Requesting approval to Running: "
"""The text before the command in a request of an agent with the quirk `command_in_content`."""


class Grant(msgspec.Struct, frozen=True):
    """A command, its variables, the real path of its directory, and its tool call.

    `ends` is how often the call had ended at the time of the request, as agents may reopen it. `turn` identifies the
    turn of the request; None between turns.
    """

    command: str | tuple[str, ...]
    cwd: str
    tool_call_id: str
    ends: int
    env: frozenset[str] = frozenset()
    turn: object = None


class Grants:
    """The grants of one session; `quirks` are those of its agent (`agents.definition.QUIRKS`)."""

    def __init__(self, transcript: Transcript, roots: Roots) -> None:
        self.quirks: frozenset[str] = frozenset()
        self._transcript = transcript
        self._roots = roots
        self._turn: object = None
        self._grants: list[Grant] = []
        self._ends: Counter[str] = Counter()
        transcript.on_end = self._call_ended

    def __repr__(self) -> str:
        return f"<Grants {len(self._grants)}>"

    def _call_ended(self, tool_call_id: str) -> None:
        self._ends[tool_call_id] += 1

    def begin_turn(self) -> None:
        """Begin a turn, in which requests can make grants. Those of before end, also if the agent goes on."""
        self._grants.clear()
        self._turn = object()
        self._ends.clear()

    def end_turn(self) -> None:
        """Forget all grants. Requests before the next turn make none."""
        self._grants.clear()
        self._turn = None

    def named(self, asked: PermissionAsked) -> tuple[NamedCommand | None, Grant | None]:
        """Return the command that a request is about, and the grant that it makes if the user allows it.

        There is no grant if the request itself does not name one whole command. The transcript must already have taken
        the update of its tool call.
        """
        tool_call_id = asked.tool_call_id or ""
        call = self._transcript.call(tool_call_id)
        own = self._own_command(asked, call)
        if own is not None:
            return own, self._grant_for(own, tool_call_id)
        if call is None or call.kind in NO_CHANGE | OF_FILES:
            return None, None
        return named_command(call.raw_input), None

    def add(self, grant: Grant | None) -> None:
        """Add the grant of an allowed request, unless the request is of another turn, or of none."""
        if grant is not None and grant.turn is not None and grant.turn is self._turn:
            self._grants.append(grant)

    def take(self, wanted: CommandToRun, run: Command) -> bool:
        """Use up a grant that covers the terminal `wanted`, which would run `run`; return False if there is none."""
        for at, grant in enumerate(self._grants):
            if self._is_open(grant) and self._covers(grant, wanted, run):
                del self._grants[at]
                return True
        return False

    def _own_command(self, asked: PermissionAsked, call: ToolCall | None) -> NamedCommand | None:
        """Return the command that the request itself names, not an earlier or later update of its call."""
        if asked.command is not None:
            return NamedCommand(asked.command, asked.cwd)
        if asked.patch is None or call is None:
            return None
        said = asked.patch.kind if isinstance(asked.patch.kind, str) else None
        if said not in (None, "execute") or call.kind not in ("execute", "other"):
            return None
        if asked.patch.raw_input:
            return named_command(asked.patch.raw_input)
        is_in_content = "command_in_content" in self.quirks and call.kind == "execute"
        return _command_in_content(asked.patch) if is_in_content else None

    def _grant_for(self, own: NamedCommand, tool_call_id: str) -> Grant | None:
        """Return a grant, or None if the command cannot be shown whole, or its directory is outside."""
        if not own.command or not own.is_shown:
            return None
        home = self._roots.directories[0]
        try:
            cwd = self._roots.resolve(os.path.join(home, own.cwd)) if own.cwd else home
        except NotAllowedError:
            return None
        return Grant(own.command, cwd, tool_call_id, self._ends[tool_call_id], _that_matter(own.env), self._turn)

    def _is_open(self, grant: Grant) -> bool:
        call = self._transcript.call(grant.tool_call_id)
        return call is not None and not call.finished and self._ends[grant.tool_call_id] == grant.ends

    def _covers(self, grant: Grant, wanted: CommandToRun, run: Command) -> bool:
        if run.cwd != grant.cwd or _that_matter(variables(wanted)) != grant.env:
            return False
        if not isinstance(grant.command, str):
            return grant.command == tuple(run.argv)
        line = line_for_shell(wanted, run)
        if line is None:
            return "words_for_line" in self.quirks and _are_words(grant.command, run)
        return line == grant.command or (
            "cd_before_command" in self.quirks and line == _with_cd(grant.command, run.cwd)
        )


def _that_matter(env: Iterable[str]) -> frozenset[str]:
    """Return the variables (`NAME=value`) that affect more than the look of the output."""
    return frozenset(one for one in env if not harmless(dict([one.partition("=")[::2]])))


def variables(wanted: CommandToRun) -> list[str]:
    """Return the variables that an agent wants for a terminal, as `NAME=value`."""
    return [f"{name}={value}" for name, value in wanted.env.items()]


def line_for_shell(wanted: CommandToRun, run: Command) -> str | None:
    """Return the exact line that a shell reads, or None if the program runs without a shell.

    A plain word without arguments counts as a line, too: a shell would run the same program.
    """
    line = shell_line(wanted.command, wanted.args)
    is_program = not wanted.args and list(run.argv) == [wanted.command]
    return None if is_program and shlex.quote(wanted.command) != wanted.command else line


def _command_in_content(patch: ToolCallPatch) -> NamedCommand | None:
    """Return the command of an agent with the quirk `command_in_content`: the rest of the request's only text."""
    content = patch.content if isinstance(patch.content, list) else []
    if len(content) != 1 or not isinstance(content[0], Shown) or not isinstance(content[0].block, TextContent):
        return None
    text = content[0].block.text
    return NamedCommand(text.removeprefix(BEFORE_COMMAND)) if text.startswith(BEFORE_COMMAND) else None


def _with_cd(line: str, cwd: str) -> str | None:
    """Return the line after a `cd` to its own directory, or None if shells read the name differently."""
    return None if "'" in cwd or "\\" in cwd else f"cd '{cwd}' && {line}"


def _are_words(line: str, run: Command) -> bool:
    """Whether every shell runs exactly that program with these words for the line, and nothing else."""
    read = read_line(line)
    commands = [list(one.words) for one in read.commands if not one.inner]
    return read.plain and commands == [list(run.argv)] and shlex.split(line) == list(run.argv)
