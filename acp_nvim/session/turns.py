"""Prompts, one after the other, each to the end of its turn; and the turns that an agent begins by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import anyio

from acp_nvim.acp import updates
from acp_nvim.errors import Failure, FailureError, Severity
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.session import failures
from acp_nvim.session.background import Background
from acp_nvim.session.connection.connecting import CrashLoopGuard
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.prompt_call import PromptCall
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.session.state import StateMachine
from acp_nvim.session.transcript.presenter import Presenter
from acp_nvim.session.turn import Turn
from acp_nvim.session.turn_changes import TurnChanges
from acp_nvim.ui import events

EMPTY_TURN_SECONDS: Final = 2.0
"""Time after a turn in which nothing happened until the user is told: some agents end a turn, and speak then."""


class Turns:
    """The turns of one session; at most one runs."""

    def __init__(
        self,
        states: StateMachine,
        presenter: Presenter,
        requests: AgentRequests,
        changes: TurnChanges,
        crash_loop: CrashLoopGuard,
    ) -> None:
        self.turn = Turn()
        self._agent = changes.log.agent
        self._states = states
        self.presenter = presenter
        self._requests = requests
        self._changes = changes
        self._crash_loop = crash_loop
        self._tasks = tasks = changes.tasks
        self._prompting = anyio.CancelScope()
        self._shown = 0  # blocks of the transcript up to the last prompt
        self.call = PromptCall(self.turn, presenter, requests.permissions, tasks, self._finish)
        begin, finish = partial(self.begin, prompted=False), partial(self._finish, "end_turn")
        self.background = Background(self.turn, presenter, requests, tasks, begin, finish)

    def __repr__(self) -> str:
        return f"<Turns {self.turn!r}>"

    @property
    def key(self) -> int:
        """The key that the editor chose for the session."""
        return self.presenter.transcript.session

    @property
    def had_any(self) -> bool:
        """Whether the session has had a turn."""
        return self.turn.count > 0

    @property
    def takes_more(self) -> bool:
        """Whether another prompt can go into the turn that runs: its own was sent, and nobody wants it to end."""
        return self.turn.is_sent and self._states.now.turn in ("running", "background")

    @property
    def is_cancelled(self) -> bool:
        """Whether the user wants the turn to end, or has ended it."""
        return self._states.now.turn == "cancelling" or self.turn.stop_reason == "cancelled"

    async def wait(self) -> None:
        """Wait until no turn runs that a prompt has to wait for."""
        while self.turn.running and not self.turn.open_ended:
            await self.turn.over.wait()

    async def take(
        self, peer: AgentPeer, session_id: str, prompt: Prompt, leave: Callable[[Prompt], Awaitable[None]]
    ) -> Failure | None:
        """Send one prompt, and wait for the end of its turn. `leave` is called right before it is sent.

        Returns what it was refused with when the user has to sign in first.
        """
        try:
            with anyio.CancelScope() as self._prompting:
                await self._begin_with(prompt)
                self._shown = len(self.presenter.transcript)
                await self._changes.begin(prompt.text)
                await prompt.ready()
                await leave(prompt)
                await self.presenter.told()  # without a limit: who dies right then would have it sent twice
                await self.call.send(peer, session_id, prompt)
                await self.turn.over.wait()
        except RpcError as error:  # who took the answer has told it, else
            is_refused = failures.wants_sign_in(error) and self.turn.stop_reason == "error"
            return failures.sign_in_wanted(self._agent, error) if is_refused else None
        except FailureError:
            return None  # who lost the agent has told it
        finally:
            self.call.forget()
        return None

    async def _begin_with(self, prompt: Prompt) -> None:
        """Show the prompt, and begin its turn; before it what the agent has done by itself is summed up."""
        goes_on = self.turn.running
        if goes_on:
            self._end_before_prompt()
        else:
            self.presenter.prompt(prompt)
        self.begin(prompted=True, goes_on=goes_on)
        if goes_on:
            try:
                await self._changes.settled()
            finally:
                self.presenter.prompt(prompt)

    def expect_echo(self) -> None:
        """One more prompt of ours goes into the turn that runs: it is the turn of a prompt from now on."""
        self.turn.expect_echo()
        if self._states.now.turn == "background":
            self._states.on("begin")

    def abandon(self) -> None:
        """The agent is gone: nobody waits for the end of its turn."""
        self._prompting.cancel()

    def begin(self, prompted: bool, goes_on: bool = False, told: bool = False) -> None:
        """A turn begins: with our prompt, or without.

        `goes_on`: the agent works already, so its calls, grants and commands stay. `told`: it says when it is idle.
        """
        if not goes_on:
            self.presenter.close_calls("unfinished", self._requests.rejected, self.turn.background)
        self.presenter.transcript.begin_turn(prompted, goes_on, self.turn.background)
        if not goes_on:
            self._requests.begin_turn()
        self._requests.refusals.begin_turn()
        self.turn.begin(prompted, told, goes_on)
        self._states.on("begin" if prompted else "begin_own")
        self.background.begun()
        if not prompted:
            self._changes.begun()
        self.presenter.metadata.begin_turn()
        self.presenter.publish(events.TurnStart(session=self.key, background=not prompted))
        self.presenter.publish_status()

    def _end_before_prompt(self) -> None:
        """End a turn of the agent's own, whose work goes on in the turn of a prompt: nothing is settled."""
        self.turn.end("end_turn")
        self.presenter.metadata.end_turn()
        self.presenter.publish(events.TurnEnd(session=self.key, stop_reason="end_turn", background=True))
        self._changes.end(goes_on=True)

    def cancel(self, peer: AgentPeer, session_id: str) -> None:
        """Ask the agent to stop (ACP "Prompt Turn", Cancellation), and end the commands that we run for the turn.

        A turn that the agent began by itself is over then: nobody would say so.
        """
        self._requests.permissions.refusing = True
        self._requests.terminals.cancel_turn()
        if self.turn.is_sent or self.turn.goes_on:
            peer.notify(*peer.dialect.cancel(session_id))
        if not self.turn.is_sent:
            self.end("cancelled")
            self._prompting.cancel()
        elif self.turn.open_ended or self.turn.cancel():
            self.end("cancelled")
        else:
            self._settle("cancelled")

    def cancel_rest(self, peer: AgentPeer, session_id: str) -> bool:
        """The same for what goes on between turns: questions, work in the background (v2), commands of earlier turns.

        False if there is nothing.
        """
        commands = self._requests.terminals.end_all()
        if commands:
            words = "1 command" if commands == 1 else f"{commands} commands"
            self.presenter.notice("info", f"Stopped: {words} that went on after the turn")
        if not (self.turn.background or self._requests.waiting or commands):
            return False
        peer.notify(*peer.dialect.cancel(session_id))
        self._requests.cancel_waiting(overrule=True)
        return True

    def take_state(self, news: updates.StateChanged) -> None:
        """What the agent says of its work."""
        change = self.turn.take_state(news)
        if change == "begun":
            self.begin(prompted=False, told=True)
        elif change == "ended":
            with self._tasks.contained("telling why a turn failed"):
                if news.error is not None:
                    self.presenter.failure(failures.turn_failed_with(self._agent, news.error))
            self._finish(news.stop_reason or "end_turn")
            if self.turn.prompted:
                self._prompting.cancel()  # an answer that is still missing must not hold up the next prompt
        else:
            self.presenter.publish_status()

    def _finish(self, stop_reason: str) -> None:
        """The agent has brought it to its end."""
        self.end(stop_reason)
        if stop_reason == "end_turn" and self._is_empty():
            self._tasks.spawn(self._tell_of_empty_turn, self.turn.count)
        self._crash_loop.turn_done()

    def _is_empty(self) -> bool:
        """Whether the prompt had no effect that the user, or we, could see."""
        did_something = self.turn.requests or self.presenter.transcript.has_more_than(self._shown)
        return self.turn.prompted and not did_something

    async def _tell_of_empty_turn(self, number: int) -> None:
        """Some agents end a turn, and speak then: they have a moment to do so."""
        await anyio.sleep(EMPTY_TURN_SECONDS)
        if self.turn.count == number and self._is_empty():
            self.presenter.notice("warn", f"Agent {self._agent!r} ended its turn without saying or doing anything.")

    def end(self, stop_reason: str) -> None:
        """End the turn: settle its tool calls, forget its grants, tell the editor."""
        ended = events.TurnEnd(session=self.key, stop_reason=stop_reason, background=not self.turn.prompted)
        self.turn.end(stop_reason)
        self._states.on("end")
        self._tasks.all_of(
            "ending a turn",
            self._requests.granted.end_turn,
            self.presenter.metadata.end_turn,
            partial(self._settle, "cancelled" if stop_reason == "cancelled" else "unfinished"),
            partial(self._tell_end, stop_reason),
            partial(self.presenter.publish, ended),
            partial(self.presenter.publish, events.FilesMaybeChanged(session=self.key)),
            partial(self._changes.end, goes_on=bool(self.turn.background)),
            self.presenter.publish_status,
        )

    def _tell_end(self, stop_reason: str) -> None:
        self.background.ended()
        if stop_reason not in ("end_turn", "error"):
            level: Severity = "info" if stop_reason == "cancelled" else "warn"
            self.presenter.notice(level, f"Stopped: {stop_reason}")

    def lose_agent(self, stop_reason: str) -> None:
        """The agent is gone, and with it what it did in the background, and in terminals."""
        with self._tasks.contained("ending the terminals"):
            self._requests.terminals.close()
        self.turn.background = frozenset()
        if self.turn.running:
            self.end(stop_reason)
        else:
            self._settle("unfinished")

    def _settle(self, status: str) -> None:
        """Nothing of the turn stays open: neither questions nor tool calls, but those that go on in the background."""
        refusing = self._requests.permissions.refusing
        self._tasks.all_of(
            "closing what a turn left open",
            partial(self.presenter.close_calls, status, self._requests.rejected, self.turn.background),
            partial(self._requests.cancel_waiting, overrule=refusing, of_session=True),
            self.presenter.publish_status,
        )
