"""Decides which commands the agent may run in terminals, and which files it may read and write.

The broker decides by rules or by asking the user; the requests are made here.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable
from typing import Final, Literal

import msgspec

from acp_nvim.acp.answers import CommandToRun
from acp_nvim.contract import events
from acp_nvim.limits import COMMAND_SHOWN_CHARS
from acp_nvim.permissions.input_commands import command_chars
from acp_nvim.permissions.request.broker import Outcome, PermissionBroker, Request, settled
from acp_nvim.permissions.request.grants import variables
from acp_nvim.permissions.request.subject import OUTSIDE, SessionPaths, always_asked, of_file, of_terminal
from acp_nvim.terminals import command_line
from acp_nvim.workspace.guarded_files import GuardedFiles
from acp_nvim.workspace.refusals import DisallowedError, FileRefusedError, NotAllowedError
from acp_nvim.workspace.regular_files import in_words, regular_file
from acp_nvim.workspace.roots import Roots

COMMAND_TITLE_CHARS: Final = 200
"""Characters of a command in the title of a request, which also shows the whole command."""

DEFAULT = "ask_unless_asked"
"""The default of `permissions.terminal`."""

Access = Literal["read", "write"]
"""What an agent wants to do with a file."""

_EVERYWHERE = Roots([os.sep])


def _options(what: str) -> list[events.Option]:
    return [
        events.Option("allow_once", "Allow once", "allow_once"),
        events.Option("allow_always", f"Allow {what} in this session", "allow_always"),
        events.Option("reject_once", "Reject once", "reject_once"),
        events.Option("reject_always", f"Reject {what} in this session", "reject_always"),
    ]


class CommandAccess:
    """Decides which commands may run for one session; `mode` is the configured `permissions.terminal`."""

    def __init__(self, where: SessionPaths, broker: PermissionBroker) -> None:
        self.mode = DEFAULT
        self.broker = broker
        self._where = where

    def allowed(self, wanted: CommandToRun, run: command_line.Command) -> Awaitable[Outcome]:
        """Return an awaitable that tells whether `run` may be run for `wanted`.

        If the user has to decide, the request is shown immediately; a command that is too long to be shown raises
        `RpcError` then.
        """
        if self.mode == "ask_unless_asked" and self.broker.grants.take(wanted, run):
            return settled(Outcome(True))
        words, env = command_line.in_words(wanted.command, wanted.args), variables(wanted)
        length, too_long = command_chars(words, env), None
        if length > COMMAND_SHOWN_CHARS:
            too_long = f"The command has {length} characters. The user cannot be shown more than {COMMAND_SHOWN_CHARS}."
        first = words.partition("\n")[0][:COMMAND_TITLE_CHARS]
        view = events.RequestView(
            id=0,
            tool_call_id="",
            title=f"Run {first}{' …' if first != words else ''}",
            kind="execute",
            options=_options("this command"),
            content=[],
            locations=[],
            command=words,
            cwd=run.cwd,
            env=env,
        )
        request = Request(
            view=view,
            wanted=of_terminal(wanted, run, self._where),
            otherwise="allow" if self.mode == "allow" else "ask",
            key=("terminal", tuple(run.argv), run.cwd, tuple(sorted(wanted.env.items()))),
            unaskable=too_long,
        )
        return self.broker.ask(request)


class _Wanted(msgspec.Struct, frozen=True):
    """A file to ask the user about: the path as the agent writes it, and the real path.

    `outside` is an error message if the file is in none of the session's directories. `why` is the reason why no rule
    may allow it.
    """

    path: str
    real: str
    access: Access
    outside: str | None = None
    why: str | None = None

    @property
    def kind(self) -> str:
        """The matching kind of tool call."""
        return "read" if self.access == "read" else "edit"

    @property
    def refusal(self) -> str:
        """The beginning of the error for the agent if access is refused."""
        return self.outside or f"{self.path} is written only if the user allows it: {self.why}"


class PathAccess:
    """Decides which files the agent of one session may use. If it `asks`, the user decides about files outside.

    Inside of the session's roots, only writing files that make programs run needs permission.
    """

    def __init__(self, where: SessionPaths, broker: PermissionBroker) -> None:
        self.asks = False
        self._where = where
        self._roots = where.roots
        self._broker = broker

    def __repr__(self) -> str:
        return f"<PathAccess of {self._roots!r} asks={self.asks}>"

    def resolve(self, path: str, access: Access) -> Awaitable[str]:
        """Return an awaitable of the real path. If the user has to decide, the request is shown immediately.

        Awaiting raises `NotAllowedError`.
        """
        outside = None
        try:
            try:
                real = self._roots.resolve(path)
            except NotAllowedError as error:
                if not self.asks:
                    raise
                outside, real = str(error), _EVERYWHERE.resolve(path)
        except NotAllowedError as error:
            return _refused(error)
        why = GuardedFiles(self._roots).why_asked(path, real) if access == "write" else None
        if outside is None and why is None:
            return _allowed(real)
        wanted = _Wanted(path, real, access, outside, why)
        fault = _fault(wanted)
        if fault is not None:
            return _refused(NotAllowedError(f"{wanted.refusal}, and {fault}"))
        about = of_file(wanted.kind, real, self._where, outside=outside is not None, guarded=why)
        key = access, real, why  # an answer no longer applies once the file makes programs run
        return self._decide(wanted, self._broker.ask(Request(view=_view(wanted), wanted=about, key=key)))

    async def _decide(self, wanted: _Wanted, answer: Awaitable[Outcome]) -> str:
        if not (await answer).allowed:
            raise DisallowedError(f"{wanted.refusal}, and the user did not allow it")
        if _EVERYWHERE.resolve(wanted.path) != wanted.real:
            raise NotAllowedError(f"{wanted.path} is another file by now than the one that the user was asked about")
        return wanted.real


async def _allowed(real: str) -> str:
    return real


async def _refused(error: NotAllowedError) -> str:
    raise error


def _fault(wanted: _Wanted) -> str | None:
    """Return why the file cannot be used at all. A missing file can: it may be created, or exist in the editor only."""
    try:
        regular_file(wanted.real)
    except FileRefusedError as error:
        return str(error)
    except OSError as error:
        return str(in_words(wanted.real, "read" if wanted.access == "read" else "written", error))
    return None


def _view(wanted: _Wanted) -> events.RequestView:
    options = _options(f"{'reading' if wanted.access == 'read' else 'writing'} this file")
    if wanted.why is not None:  # a file that makes programs run is only allowed once
        options = [one for one in options if one.kind != "allow_always"]
    where = "" if wanted.outside is None else OUTSIDE
    called = None if wanted.path == wanted.real else f"The agent calls it {wanted.path}"
    why = None if wanted.why is None else always_asked(wanted.real, wanted.why)
    return events.RequestView(
        id=0,
        tool_call_id="",
        title=f"{wanted.access.capitalize()} {wanted.real}{where}",
        kind=wanted.kind,
        options=options,
        content=[],
        locations=[events.FileLine(wanted.real)],
        description="\n".join(filter(None, (called, why))) or None,
    )
