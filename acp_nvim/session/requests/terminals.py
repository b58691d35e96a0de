"""Serves `terminal/*` (ACP version 1): asks for permission to run a command, runs it, and shows its output."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable
from typing import Any, Final

import anyio

from acp_nvim.acp.answers import CommandToRun, TerminalAsked
from acp_nvim.contract import events
from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from acp_nvim.limits import TERMINAL_BYTES
from acp_nvim.permissions.request.access import CommandAccess
from acp_nvim.permissions.request.bounds import Refusals, Share
from acp_nvim.permissions.request.broker import Outcome, PermissionBroker
from acp_nvim.permissions.request.subject import SessionPaths
from acp_nvim.process.guarding import Guard
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.terminals.command_line import Command, command_to_run, in_words
from acp_nvim.terminals.terminal import Ended, Listener, Terminal
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.transcript.shown_terminals import ShownTerminals
from acp_nvim.workspace.refusals import NotAllowedError

TERMINALS: Final = 100
"""Terminals kept for the agent of a session; agents forget to release some that have ended."""
STARTING_TERMINALS: Final = 4
"""Commands of one session that start concurrently; each start keeps the host busy for a few milliseconds."""

log = logging.getLogger(__name__)


class AgentTerminals:
    """The terminals of one session's agent. Commands run below the roots of `where`, if `access` allows them.

    `changes` is notified before a command runs and after it has ended, before the agent is: it may change files.
    """

    def __init__(
        self,
        presenter: Presenter,
        where: SessionPaths,
        broker: PermissionBroker,
        changes: TurnChanges,
        share: Share,
        refusals: Refusals,
        guard: Guard,
    ) -> None:
        self._presenter = presenter
        self._roots = where.roots
        self.access = CommandAccess(where, broker)
        self.shell: str | None = None
        self._changes = changes
        self._tasks = changes.tasks
        self._shown = ShownTerminals(presenter, changes.tasks)
        self._known: dict[str, Terminal] = {}
        self._alive: set[Terminal] = set()
        self._of_turn: set[Terminal] = set()  # those of `_alive` that belong to the latest turn
        self._killed: set[Terminal] = set()  # those of `_alive` that a cancel has killed
        self._cancels = 0
        self._agents = 0
        self._share = share
        self._guard = guard
        self._refusals = refusals
        self._beginning = 0
        self._starting = anyio.Semaphore(STARTING_TERMINALS)

    def __repr__(self) -> str:
        return f"<AgentTerminals {self._known} {self.access.mode}>"

    @property
    def running(self) -> bool:
        """Whether a command runs in one of the terminals."""
        return bool(self._alive)

    @property
    def running_in_turn(self) -> bool:
        """Whether a command of the current or the last turn runs."""
        return bool(self._of_turn)

    def begin_turn(self) -> None:
        """Assign running commands to an earlier turn: cancelling the new turn does not end them."""
        self._of_turn.clear()

    def cancel_turn(self) -> None:
        """Kill the commands of a cancelled turn. The agent can still read their output, and release them."""
        self._cancels += 1
        self._kill_all(self._of_turn)

    def end_all(self) -> int:
        """Kill the commands of all turns as `cancel_turn` does; return how many."""
        return self._kill_all(self._alive)

    def is_running(self, terminal_id: str) -> bool:
        """Whether a command runs in that terminal, which is not being ended already."""
        terminal = self._known.get(terminal_id)
        return terminal is not None and terminal in self._alive - self._killed

    def end(self, terminal_id: str) -> None:
        """Kill the command in that terminal as `cancel_turn` does; the agent goes on."""
        if self.is_running(terminal_id):
            self._kill_all({self._known[terminal_id]})

    def create(self, wanted: CommandToRun) -> Awaitable[dict[str, Any]]:
        """Return an awaitable of the answer to `terminal/create`. If the user has to decide, that is shown now."""
        if not wanted.command:
            raise RpcError(INVALID_PARAMS, "terminal/create: there is no command")
        if self.access.broker.refusing:
            raise RpcError(INVALID_PARAMS, "The user has cancelled this: nothing is run for it any more")
        self._make_room()
        run = command_to_run(wanted.command, wanted.args, self._directory(wanted), wanted.env, self.shell)
        # the state as of now: a cancel may come before the coroutine begins
        return self._create(wanted, run, self.access.allowed(wanted, run), self._agents, self._cancels)

    def serve(self, asked: TerminalAsked) -> Awaitable[dict[str, Any]]:
        """Return an awaitable of the answer to a request about an existing terminal."""
        terminal = self._known.get(asked.terminal_id)
        if terminal is None:
            words = f"{asked.method}: there is no terminal {asked.terminal_id!r}, or it was released"
            raise RpcError(INVALID_PARAMS, words)
        match asked.method:
            case "terminal/output":
                return self._output(terminal)
            case "terminal/wait_for_exit":
                return _wait_for_exit(terminal)
            case "terminal/kill":
                return _kill(terminal)
            case "terminal/release":
                del self._known[asked.terminal_id]
                return _kill(terminal) if terminal.ended is None else _nothing()

    def close(self) -> None:
        """End all terminals in the background, as the agent is gone."""
        self._agents += 1
        self._known.clear()
        for terminal in self._alive:
            self._end(terminal)

    def _directory(self, wanted: CommandToRun) -> str:
        try:
            cwd = self._roots.resolve(wanted.cwd) if wanted.cwd else self._roots.directories[0]
        except NotAllowedError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        if not os.path.isdir(cwd):
            raise RpcError(INVALID_PARAMS, f"{wanted.cwd or cwd} is not a directory, so that no command can run there")
        return cwd

    def _make_room(self) -> None:
        """Forget ended terminals that the agent has not released, oldest first."""
        while len(self._known) + self._beginning >= TERMINALS:
            ended = next((known for known, terminal in self._known.items() if terminal.ended), None)
            if ended is None:
                raise self._refusals.refuse("terminals", TERMINALS, "release some")
            del self._known[ended]

    async def _create(
        self, wanted: CommandToRun, run: Command, allowed: Awaitable[Outcome], agents: int, cancels: int
    ) -> dict[str, Any]:
        """Run exactly the command that was decided on: its words may mean another program by now."""
        words = in_words(wanted.command, wanted.args)
        if not (await allowed).allowed:
            raise RpcError(INVALID_PARAMS, f"The user did not allow to run: {words}")
        self._make_room()
        self._beginning += 1
        try:
            terminal_id, terminal = await self._start(wanted, run, words)
        finally:
            self._beginning -= 1
        if agents != self._agents:  # the agent is gone meanwhile
            self._end(terminal)
            return {"terminalId": terminal_id}
        self._known[terminal_id] = terminal
        if cancels != self._cancels:  # cancelled meanwhile
            self._kill_all({terminal})
        return {"terminalId": terminal_id}

    async def _start(self, wanted: CommandToRun, run: Command, words: str) -> tuple[str, Terminal]:
        limit = TERMINAL_BYTES if wanted.output_byte_limit is None else wanted.output_byte_limit
        terminal_id = f"terminal-{os.urandom(6).hex()}"  # random: an agent may know ids of an earlier host
        self._changes.work.command(terminal_id, words, "", finished=False)
        try:
            async with self._starting:
                terminal = await Terminal.start(run, max(0, min(limit, TERMINAL_BYTES)), self._guard)
        except (OSError, ValueError) as error:  # ValueError: a NUL, or an invalid name of a variable
            self._changes.work.command(terminal_id, words, "", finished=True)
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise RpcError(INTERNAL_ERROR, f"{wanted.command} cannot be run in {run.cwd}: {reason}") from error
        log.info("%s: %s in %s is process %d", terminal_id, run.argv, run.cwd, terminal.pid)
        self._alive.add(terminal)
        self._shown.begin(terminal_id, words, run.cwd)
        self._of_turn.add(terminal)
        self._tasks.spawn(self._live, terminal_id, terminal, words)
        return terminal_id, terminal

    def _end(self, terminal: Terminal) -> None:
        self._tasks.spawn(terminal.end)

    def _kill_all(self, terminals: set[Terminal]) -> int:
        """Kill those terminals that are not killed yet; return how many."""
        wanted = terminals - self._killed
        self._killed |= wanted
        for terminal in wanted:
            self._tasks.spawn(terminal.kill)
        return len(wanted)

    async def _output(self, terminal: Terminal) -> dict[str, Any]:
        async with self._share.turn():
            answer = {"output": terminal.output.text, "truncated": terminal.output.truncated}
            return answer | ({"exitStatus": _status(terminal.ended)} if terminal.ended else {})

    async def _live(self, terminal_id: str, terminal: Terminal, words: str) -> None:
        def ended(how: Ended) -> None:
            log.info("%s: %s", terminal_id, how)
            self._changes.left_terminal(terminal_id)
            self._shown.end(terminal_id, how)
            self._presenter.publish(events.FilesMaybeChanged(session=self._presenter.transcript.session))
            self._changes.request_scan()

        try:
            await terminal.run(Listener(lambda data: self._shown.printed(terminal_id, data), ended))
        finally:
            self._alive.discard(terminal)
            self._of_turn.discard(terminal)
            self._killed.discard(terminal)
            self._changes.end_terminal(terminal_id, words, terminal.ran_on)


async def _wait_for_exit(terminal: Terminal) -> dict[str, Any]:
    return _status(await terminal.wait())


async def _kill(terminal: Terminal) -> dict[str, Any]:
    await terminal.kill()
    return {}


async def _nothing() -> dict[str, Any]:
    return {}


def _status(ended: Ended) -> dict[str, Any]:
    return {"exitCode": ended.exit_code, "signal": ended.signal}
