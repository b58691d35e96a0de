"""What ends a turn when the user wants it to end: the agent is asked, asked again, then its session and process go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import anyio

from acp_nvim.errors import Failure, FailureError
from acp_nvim.limits import CANCEL_SECONDS
from acp_nvim.process.stopping import Rung
from acp_nvim.session import failures
from acp_nvim.session.connection.calls import send
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.queue import PromptQueue
from acp_nvim.session.state import Effect, StateMachine
from acp_nvim.session.turns import Turns
from acp_nvim.tasks import Spawn

CANCEL_STEP_SECONDS: Final = 2.0
"""Time for each of the stronger means to work before the next is tried: the user has waited long enough by then."""

RUNGS: dict[Rung, str] = {
    "end of input": "Ending the agent's process (its input is closed) ...",
    "SIGTERM": "Ending the agent's process, and all that it started (SIGTERM) ...",
    "SIGKILL": "Ending the agent's process, and all that it started (SIGKILL) ...",
}


@dataclass(frozen=True)
class Patience:
    """Seconds: for the agent to stop by itself, and for each of the stronger means to work."""

    agent: float = CANCEL_SECONDS
    step: float = CANCEL_STEP_SECONDS


class Cancelling:
    """Stops what a session's agent does; `leave` gives the agent up, with whatever it still does."""

    def __init__(
        self, states: StateMachine, turns: Turns, queue: PromptQueue, spawn: Spawn, leave: Callable[[AgentPeer], None]
    ) -> None:
        self.patience = Patience()
        self._states = states
        self._presenter = turns.presenter
        self._queue = queue
        self._turns = turns
        self._spawn = spawn
        self._leave = leave
        self._since = 0.0
        self._overdue = False
        self._impatience: anyio.Event | None = None  # set to go on with the next means; None: they are not used
        self._settled = anyio.Event()
        self._settled.set()

    def __repr__(self) -> str:
        return f"<Cancelling asked={self._asked} overdue={self._overdue} insisting={self._impatience is not None}>"

    @property
    def _asked(self) -> bool:
        """Whether the agent was asked to stop the turn that runs."""
        return self._states.now.turn == "cancelling"

    def act(self, effect: Effect, peer: AgentPeer, session_id: str) -> None:
        """Do what `:AcpCancel` asks for in the state that the session was in."""
        match effect:
            case "ask_to_stop":
                self._queue.hold()
                self._ask(peer, session_id)
            case "remind" if not self._overdue:
                self._say_how_long()
            case "remind" | "insist" if self._asked:
                self._insist(peer, session_id, effect == "insist")
            case "end_rest" if not self._turns.cancel_rest(peer, session_id):
                self._queue.give_up()
            case "end_process":
                self._spawn(self._end_process, peer, session_id)

    async def wait(self) -> None:
        """Until no turn runs, and no means to end one is in use: the agent may be about to go."""
        await self._turns.wait()
        await self._settled.wait()

    # --- asking ------------------------------------------------------------------------------------------------------

    def _ask(self, peer: AgentPeer, session_id: str) -> None:
        self._since = anyio.current_time()
        self._overdue, self._impatience = False, None
        self._turns.cancel(peer, session_id)
        if self._asked:
            self._spawn(self._watch, peer, self._turns.turn.over)

    async def _watch(self, peer: AgentPeer, over: anyio.Event) -> None:
        with anyio.move_on_after(self.patience.agent):
            await over.wait()
        if self._asked and self._turns.turn.over is over and self._impatience is None:
            self._overdue = True
            self._presenter.failure(failures.hangs(peer.name, self.patience.agent, _others(peer)))

    def _say_how_long(self) -> None:
        seconds = anyio.current_time() - self._since
        self._presenter.notice(
            "info",
            f"The agent was asked to stop {seconds:.0f} s ago. :AcpCancel! insists: it asks again, then closes the "
            "session, then ends the agent's process.",
        )

    # --- insisting ---------------------------------------------------------------------------------------------------

    def _insist(self, peer: AgentPeer, session_id: str, force: bool) -> None:
        if self._impatience is None:
            self._impatience = anyio.Event()
            self._settled = self._spawn(self._climb, peer, session_id, self._turns.turn.over)
        elif force:
            self._impatience.set()

    async def _climb(self, peer: AgentPeer, session_id: str, over: anyio.Event) -> None:
        """From the friendliest means to the one that always works; the first that does is the last."""
        if self._turns.call.withdraw(peer):
            self._presenter.notice("info", "Asked the agent again to stop ($/cancel_request) ...")
        else:
            peer.notify(*peer.dialect.cancel(session_id))
            self._presenter.notice("info", "Asked the agent again to stop (session/cancel) ...")
        await self._any_of(over)
        if not over.is_set() and peer.abilities.close:
            await self._close(peer, session_id, over)
        if not over.is_set():
            await self._end_process(peer, session_id)

    async def _any_of(self, *events: anyio.Event) -> None:
        """Until one is set, or the patience ends."""
        self._impatience = anyio.Event()
        with anyio.move_on_after(self.patience.step):
            async with anyio.create_task_group() as tasks:
                for event in (self._impatience, *events):
                    tasks.start_soon(_until, event, tasks.cancel_scope)

    async def _close(self, peer: AgentPeer, session_id: str, over: anyio.Event) -> None:
        """Close the session (ACP "Session Setup"): an agent that answers has stopped all that it did in it.

        `leave` makes sure of it, unless its process serves others. Its answer may come before the end of the turn.
        """
        self._presenter.notice("info", "Closing the session (session/close) ...")
        refused: list[Failure] = []

        async def close() -> None:
            try:
                await send(peer, peer.dialect.close_session(session_id))
            except FailureError as error:
                refused.append(error.failure)

        closed = self._spawn(close)
        await self._any_of(over, closed)
        if over.is_set() is not closed.is_set() and not refused:
            await self._any_of(closed if over.is_set() else over)
        if not peer.alive:
            return
        if refused:
            self._presenter.notice("warn", str(refused[0]))
        elif over.is_set() or closed.is_set():
            self._leave(peer)
            self._presenter.notice("info", "The session is closed. Your next prompt opens it again, or a new one.")

    async def _end_process(self, peer: AgentPeer, session_id: str) -> None:
        if not peer.alive:
            return
        others = _others(peer)
        if others:
            self._presenter.notice("warn", failures.others_end(others))
        told = failures.ended_for_another(peer.name)
        await peer.end(told, session_id, lambda rung: self._presenter.notice("info", RUNGS[rung]))
        if peer.gone.is_set():
            self._presenter.notice("info", "The agent's process has ended. Your next prompt starts it again.")
        else:
            self._presenter.notice("warn", "The agent's process cannot be ended; it is left alone.")
        self._leave(peer)


def _others(peer: AgentPeer) -> int:
    """How many sessions beside one use the process."""
    return len(peer.router.sessions) - 1


async def _until(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
