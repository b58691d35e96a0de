"""Whether an agent may run a command in a terminal: the user or a rule says so, or the agent has just asked for it."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial

from acp_nvim import events
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.limits.calls import COMMAND_SHOWN_CHARS, COMMAND_TITLE_CHARS
from acp_nvim.protocol.answers import CommandToRun
from acp_nvim.session.asked_for import of_terminal
from acp_nvim.session.granted_commands import GrantedCommands, variables
from acp_nvim.session.left_out import command_chars
from acp_nvim.session.session_answers import SessionAnswers
from acp_nvim.terminals.command_line import Command, in_words

DEFAULT = "ask_unless_asked"
"""Of `permissions.terminal`."""

OPTIONS = (
    events.Option("allow_once", "Allow once", "allow_once"),
    events.Option("allow_always", "Allow this command in this session", "allow_always"),
    events.Option("reject_once", "Reject once", "reject_once"),
    events.Option("reject_always", "Reject this command in this session", "reject_always"),
)


class CommandPermissions:
    """Decides for one session; `mode` is `permissions.terminal` of the configuration."""

    def __init__(self, granted: GrantedCommands, answers: SessionAnswers) -> None:
        self.mode = DEFAULT
        self._granted = granted
        self._answers = answers

    def __repr__(self) -> str:
        return f"<CommandPermissions {self.mode} {self._granted!r}>"

    def decide(self, wanted: CommandToRun, run: Command) -> Awaitable[bool]:
        """Whether `run` may be run for `wanted`, to come. If the user has to be asked, the question is shown now.

        Raises `RpcError` for a command that is too long to be shown whole, when the user would have to be asked.
        """
        if self.mode == "ask_unless_asked" and self._granted.take(wanted, run):
            return _yes()
        automatic = self._answers.automatic
        allows = self.mode == "allow"
        answer = automatic.say(of_terminal(wanted, run, automatic.where), "allow" if allows else "ask")
        if answer.action == "allow" and answer.rule is None:
            return _yes()
        length = command_chars(in_words(wanted.command, wanted.args), variables(wanted))
        if answer.action == "ask" and length > COMMAND_SHOWN_CHARS:
            words = f"The command has {length} characters. The user cannot be shown more than {COMMAND_SHOWN_CHARS}."
            raise RpcError(INVALID_PARAMS, words)
        which = ("terminal", tuple(run.argv), run.cwd, tuple(sorted(wanted.env.items())))
        return self._answers.ask(which, OPTIONS, partial(_view, wanted, run.cwd), answer)


async def _yes() -> bool:
    return True


def _view(wanted: CommandToRun, cwd: str, request_id: int) -> events.RequestView:
    words = in_words(wanted.command, wanted.args)
    first = words.partition("\n")[0][:COMMAND_TITLE_CHARS]
    return events.RequestView(
        id=request_id,
        tool_call_id="",
        title=f"Run {first}{' …' if first != words else ''}",
        kind="execute",
        options=list(OPTIONS),
        content=[],
        locations=[],
        command=words,
        cwd=cwd,
        env=variables(wanted),
    )
