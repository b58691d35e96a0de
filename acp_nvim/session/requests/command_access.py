"""Decides whether a command of the agent may run in a terminal; where the user does, the question is made here."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from acp_nvim.acp.answers import CommandToRun
from acp_nvim.limits import COMMAND_SHOWN_CHARS
from acp_nvim.session.requests.broker import Outcome, PermissionBroker, Request
from acp_nvim.session.requests.grants import variables
from acp_nvim.session.requests.subject import SessionPaths, of_terminal
from acp_nvim.session.transcript.views import command_chars
from acp_nvim.terminals.command_line import Command, in_words
from acp_nvim.ui import events

COMMAND_TITLE_CHARS: Final = 200
"""Characters of a command in the title of our question: the whole of it is shown below."""

DEFAULT = "ask_unless_asked"
"""The default of `permissions.terminal`."""

OPTIONS = (
    events.Option("allow_once", "Allow once", "allow_once"),
    events.Option("allow_always", "Allow this command in this session", "allow_always"),
    events.Option("reject_once", "Reject once", "reject_once"),
    events.Option("reject_always", "Reject this command in this session", "reject_always"),
)


class CommandAccess:
    """Decides it for one session; `mode` is `permissions.terminal` of the configuration."""

    def __init__(self, where: SessionPaths, broker: PermissionBroker) -> None:
        self.mode = DEFAULT
        self._where = where
        self._broker = broker

    def __repr__(self) -> str:
        return f"<CommandAccess {self.mode}>"

    @property
    def refusing(self) -> bool:
        """Whether the user has cancelled the turn: nothing is run for it any more."""
        return self._broker.refusing

    def allowed(self, wanted: CommandToRun, run: Command) -> Awaitable[Outcome]:
        """Whether `run` may be run for `wanted`, to come. If the user has to be asked, the question is shown now.

        Raises `RpcError` for a command that is too long to be shown whole, when the user would have to be asked.
        """
        if self.mode == "ask_unless_asked" and self._broker.grants.take(wanted, run):
            return _granted()
        words, env = in_words(wanted.command, wanted.args), variables(wanted)
        length, too_long = command_chars(words, env), None
        if length > COMMAND_SHOWN_CHARS:
            too_long = f"The command has {length} characters. The user cannot be shown more than {COMMAND_SHOWN_CHARS}."
        first = words.partition("\n")[0][:COMMAND_TITLE_CHARS]
        view = events.RequestView(
            id=0,
            tool_call_id="",
            title=f"Run {first}{' …' if first != words else ''}",
            kind="execute",
            options=list(OPTIONS),
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
        return self._broker.ask(request)


async def _granted() -> Outcome:
    return Outcome(True)
