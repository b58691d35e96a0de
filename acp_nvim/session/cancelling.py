"""Cancels a turn: asks the agent, asks again, closes its session, ends its process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio
import msgspec

from acp_nvim.connection.calls import send
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.errors import Failure, FailureError
from acp_nvim.failures import failures
from acp_nvim.limits import CANCEL_SECONDS
from acp_nvim.process.stopping import Rung
from acp_nvim.session.queue import PromptQueue
from acp_nvim.session.state import Effect, StateMachine
from acp_nvim.session.turns import Turns
from acp_nvim.tasks import Spawn
from acp_nvim.transcript.presenter import Presenter

CANCEL_STEP_SECONDS: Final = 2.0
"""Time for each of the stronger measures before the next: the user has waited long enough by then."""

RUNGS: dict[Rung, str] = {
    "end of input": "Ending the agent's process (its input is closed) ...",
    "SIGTERM": "Ending the agent's process, and all that it started (SIGTERM) ...",
    "SIGKILL": "Ending the agent's process, and all that it started (SIGKILL) ...",
}


CLOSED: Final = "The connection to the agent is closed. What it still does there is not known."


class Patience(msgspec.Struct, frozen=True):
    """Seconds for the agent to stop by itself, and for each of the stronger measures."""

    agent: float = CANCEL_SECONDS
    step: float = CANCEL_STEP_SECONDS


class Cancelling:
    """Cancels the turns of a session; `leave` makes the session leave its agent."""

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
        self._impatience: anyio.Event | None = None  # set to skip to the next measure; None before the first
        self._settled = anyio.Event()
        self._settled.set()

    @property
    def _asked(self) -> bool:
        """Whether the agent was asked to stop the turn that runs."""
        return self._states.now.turn == "cancelling"

    def act(self, effect: Effect, peer: AgentPeer, session_id: str) -> None:
        """Carry out an effect of `:AcpCancel`, which depends on the state that the session was in."""
        match effect:
            case "ask_to_stop":
                self._queue.hold()
                self._ask(peer, session_id)
            case "remind" if not self._overdue:
                seconds = anyio.current_time() - self._since
                self._presenter.notice(
                    "info",
                    f"The agent was asked to stop {seconds:.0f} s ago. :AcpCancel! insists: it asks again, then closes "
                    f"the session, then {failures.last_measure(peer.definition)}.",
                )
            case "remind" | "insist" if self._asked:
                self._insist(peer, session_id, effect == "insist")
            case "end_rest" if not self._turns.cancel_rest(peer, session_id):
                self._queue.give_up()
            case "end_process" if not self._turns.end_left():
                self._spawn(self._end_process, peer, session_id)

    async def wait(self) -> None:
        """Wait until no turn runs and no measure to end one is in progress, which may end the agent."""
        await self._turns.wait()
        await self._settled.wait()

    def _ask(self, peer: AgentPeer, session_id: str) -> None:
        self._since = anyio.current_time()
        self._overdue, self._impatience = False, None
        self._turns.cancel(peer, session_id)
        if self._asked:
            self._spawn(self._watch, peer, session_id, self._turns.turn.over)

    def make_way(self, peer: AgentPeer, session_id: str) -> None:
        """Insist if an agent that has not stopped in time keeps a prompt waiting; not if other chats use it, too."""
        if self._overdue and self._asked and self._queue.next is not None and not _others(peer):
            self._insist(peer, session_id, force=False)

    async def _watch(self, peer: AgentPeer, session_id: str, over: anyio.Event) -> None:
        with anyio.move_on_after(self.patience.agent):
            await over.wait()
        if self._asked and self._turns.turn.over is over and self._impatience is None:
            self._overdue = True
            self._presenter.failure(failures.hangs(peer.definition, self.patience.agent, _others(peer)))
            self.make_way(peer, session_id)

    def _insist(self, peer: AgentPeer, session_id: str, force: bool) -> None:
        if self._impatience is None:
            self._impatience = anyio.Event()
            self._settled = self._spawn(self._escalate, peer, session_id, self._turns.turn.over)
        elif force:
            self._impatience.set()

    async def _escalate(self, peer: AgentPeer, session_id: str, over: anyio.Event) -> None:
        """Try stronger and stronger measures until the turn is over."""
        if not self._turns.withdraw(peer):
            peer.notify(*peer.dialect.cancel(session_id))
        self._presenter.notice("info", "Asked the agent again to stop ...")
        await self._any_of(over)
        if not over.is_set() and peer.abilities.close:
            await self._close(peer, session_id, over)
        if not over.is_set():
            await self._end_process(peer, session_id)

    async def _any_of(self, *events: anyio.Event) -> None:
        """Wait until one of the events is set, the user is impatient, or the time is up."""
        self._impatience = anyio.Event()
        with anyio.move_on_after(self.patience.step):
            async with anyio.create_task_group() as tasks:
                for event in (self._impatience, *events):
                    tasks.start_soon(_until, event, tasks.cancel_scope)

    async def _close(self, peer: AgentPeer, session_id: str, over: anyio.Event) -> None:
        """Close the session (ACP "Session Setup"): an agent that answers has stopped all work in it.

        Its answer may come before the end of the turn. `leave` ends its process unless other sessions use it.
        """
        self._presenter.notice("info", "Closing the session ...")
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
            self._presenter.notice("warn", failures.others_end(peer.definition, others))
        what = f"Agent {peer.name!r} was ended, because it did not stop what it did in another chat (:AcpCancel there)."
        await end_process(peer, what, session_id, self._presenter)
        self._leave(peer)


async def end_process(peer: AgentPeer, what: str, session_id: str, presenter: Presenter) -> None:
    """End the process for the session with that id, with notices in its chat; its other sessions are told `what`."""
    is_process = peer.definition.address is None
    step = failures.STARTS_AGAIN if is_process else failures.CONNECTS_AGAIN
    reason = Failure("agent_ended", what, step, peer.name)
    await peer.end(reason, session_id, lambda rung: presenter.notice("info", RUNGS[rung]))
    if peer.gone.is_set():
        done = "The agent's process has ended." if is_process else CLOSED
        presenter.notice("info", f"{done} {step}")
    else:
        presenter.notice("warn", "The agent's process cannot be ended; it is left alone.")


def _others(peer: AgentPeer) -> int:
    """Return the number of other sessions that use the process."""
    return peer.router.chats - 1


async def _until(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
