"""Checks after a turn: new problems in the files that it has changed, and a command of the user's such as the tests."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import Final

import anyio
import msgspec

from acp_nvim.acp.fields import shortened
from acp_nvim.acp.tool_call import TerminalShown, ToolCallPatch
from acp_nvim.contract.settings import COMMAND_SECONDS
from acp_nvim.lazy import pattern
from acp_nvim.prompt.blocks import fenced
from acp_nvim.session.block_cancelling import NAME_CHARS
from acp_nvim.session.services import Services
from acp_nvim.tasks import Tasks
from acp_nvim.terminals.command_line import command_to_run
from acp_nvim.terminals.terminal import Ended, Listener, Terminal
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.transcript.shown_terminals import ShownTerminals

OUTPUT_BYTES: Final = 16 * 1024
"""The end of a command's output that is kept for the agent: the failures of most test runs."""
PROBLEM_LINES: Final = 100
"""Problems that are listed for the agent; the others are counted."""
SETTLE_SECONDS: Final = 10.0
"""Time for the language servers to look at the changed files."""

_POSITION = pattern(r":\d+:\d+: ")
_OVERWRITTEN = pattern(r"[^\n]*\r(?=[^\n])")
_CONTROL = pattern(r"[\x00-\x08\x0b-\x1f\x7f]")
_DURATION = pattern(r"\d+\.\d+")

log = logging.getLogger(__name__)


class FailedCommand(msgspec.Struct, frozen=True):
    """A command that did not succeed: how it ended, and the end of its output."""

    line: str
    how: str
    output: str


class Findings(msgspec.Struct, frozen=True):
    """What the checks have found. `problems` are lines like `path:line:col: error: text`.

    `are_complete`: all that is configured was checked.
    """

    problems: Sequence[str] = ()
    command: FailedCommand | None = None
    are_complete: bool = True

    def __bool__(self) -> bool:
        return bool(self.problems) or self.command is not None

    @property
    def words(self) -> str:
        """A short sentence for the user, without a full stop."""
        parts = []
        if self.problems:
            number = len(self.problems)
            parts.append("1 new problem" if number == 1 else f"{number:,} new problems")
        if self.command is not None:
            line = _named(self.command.line)
            parts.append(f"`{line}` {self.command.how}")
        return ", ".join(parts)

    def prompt(self) -> str:
        """Return the prompt that tells the agent of them."""
        parts = ["Checks after your last turn have found problems."]
        if self.problems:
            shown, left = self.problems[:PROBLEM_LINES], len(self.problems) - PROBLEM_LINES
            more = [f"… and {left:,} more"] if left > 0 else []
            parts.append("New diagnostics in files that you have changed:\n" + fenced("\n".join([*shown, *more])))
        if self.command is not None:
            words = f"`{self.command.line}` {self.command.how}."
            output = _plain(self.command.output).strip("\n")
            parts.append(
                f"{words} The end of its output:\n{fenced(output)}" if output.strip() else f"{words} No output."
            )
        return "\n\n".join(parts)

    def same_as(self, earlier: Findings) -> bool:
        """Whether an agent has got no further since: the same problems, in whatever lines, and the same output."""
        return self._kind() == earlier._kind()

    def _kind(self) -> tuple[list[str], str]:
        output = "" if self.command is None else f"{self.command.how}\n{_DURATION.sub('', self.command.output)}"
        return sorted(_POSITION.sub(": ", one) for one in self.problems), output


def _plain(output: str) -> str:
    """Return output as it is read: of a line that was written over, such as a progress bar, only the last text."""
    return _CONTROL.sub("", _OVERWRITTEN.sub("", output.replace("\r\n", "\n")))


def _named(line: str) -> str:
    """Return the command for a message: it may be a whole script."""
    return shortened(" ".join(line.split()), NAME_CHARS)


class Checks:
    """Carries out the checks of one session. The command is shown as a tool call of the plugin's own.

    While it runs, it is in `commands` with `cancel`, by the id of its terminal.
    """

    def __init__(
        self,
        presenter: Presenter,
        services: Services,
        tasks: Tasks,
        commands: dict[str, Callable[[], object]],
        cancel: Callable[[], object],
    ) -> None:
        self.seconds = COMMAND_SECONDS
        self.shell: str | None = None
        self._commands = commands
        self._cancel = cancel
        self._presenter = presenter
        self._services = services
        self._shown = ShownTerminals(presenter, tasks)

    async def problems(self, paths: Sequence[str], least: str) -> tuple[list[str], bool]:
        """Return the problems of these files that are new since the turn began, and whether these are all."""
        from acp_nvim.mcp.tools.tool import ToolError  # loaded with the first client otherwise

        arguments = {
            "session": self._presenter.transcript.session,
            "cwd": self._presenter.cwd,
            "paths": list(paths),
            "severity": least,
            "wait_ms": int(SETTLE_SECONDS * 1000),
            "since_turn": True,
            "brief": True,
        }
        try:
            answer = await self._services.mcp.calls.ask("diagnostics", arguments)
        except ToolError as error:
            log.warning("the diagnostics after a turn: %s", error)
            self._presenter.notice("warn", "The diagnostics after the turn are not known: Neovim has not answered.")
            return [], False
        if answer.note:
            self._presenter.notice("info", f"The diagnostics after the turn may not be complete. {answer.note}")
        return answer.lines, not answer.note

    async def command(self, line: str) -> tuple[FailedCommand | None, bool]:
        """Run the command; return how it failed, if it did, and whether it could be run. A cancellation ends it."""
        call = terminal_id = f"acp_nvim:check:{os.urandom(6).hex()}"  # random: agents choose ids, too
        run = command_to_run(line, [], self._presenter.cwd, {}, self.shell)
        try:
            terminal = await Terminal.start(run, OUTPUT_BYTES, self._services.guard)
        except (OSError, ValueError) as error:  # ValueError: a NUL
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._presenter.notice("warn", f"`{_named(line)}` (after_turn.command) cannot be run: {reason}.")
            return None, False
        self._shown.begin(terminal_id, line, run.cwd)
        begun = ToolCallPatch(tool_call_id=call, title=line, kind="execute", status="in_progress")
        begun.content = [TerminalShown(terminal_id)]
        self._presenter.own_call(begun)
        status = "cancelled"
        self._commands[terminal_id] = self._cancel
        try:
            with self._services.reviews.evidence.running(_named(line)):
                how = await self._wait(terminal, terminal_id)
            status = "failed" if how else "completed"
        finally:
            del self._commands[terminal_id]
            self._shown.end(terminal_id, terminal.ended or Ended())
            self._presenter.own_call(ToolCallPatch(tool_call_id=call, status=status))
        return (FailedCommand(line, how, terminal.output.text) if how else None), True

    async def _wait(self, terminal: Terminal, terminal_id: str) -> str:
        """Wait for the end of the command, and end what it leaves running; return how it failed, "" if it did not."""
        listener = Listener(lambda data: self._shown.printed(terminal_id, data), lambda _: None)
        async with anyio.create_task_group() as group:
            group.start_soon(terminal.run, listener)
            with anyio.move_on_after(self.seconds) as limit:
                await terminal.wait()
            group.cancel_scope.cancel()
        if limit.cancelled_caught:
            return f"has not ended within {self.seconds:g} s"
        ended = await terminal.wait()
        if ended.signal is not None:
            return f"was ended by {ended.signal}"
        return f"failed (exit code {ended.exit_code})" if ended.exit_code else ""
