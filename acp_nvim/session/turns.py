"""Prompts, one after the other, each to the end of its turn; and the turns that an agent begins by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio
import msgspec

from acp_nvim import events
from acp_nvim.errors import Failure, FailureError, Severity
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.jsonrpc.pending import Answer
from acp_nvim.permissions.pending import PendingPermissions
from acp_nvim.protocol import updates
from acp_nvim.protocol.answers import PromptAnswer
from acp_nvim.protocol.dialect import Call
from acp_nvim.session import failures
from acp_nvim.session.background import Background
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.requests import AgentRequests
from acp_nvim.session.turn import Turn
from acp_nvim.session.turn_changes import TurnChanges
from acp_nvim.tasks import Tasks, failed
from acp_nvim.wire.content import ContentBlock


class Turns:
    """The turns of one session; at most one runs. `on_finished` is called when the agent has ended one."""

    def __init__(
        self,
        agent: str,
        narrator: Narrator,
        requests: AgentRequests,
        permissions: PendingPermissions,
        changes: TurnChanges,
        tasks: Tasks,
    ) -> None:
        self.turn = Turn()
        self.had_any = False
        self.on_finished: Callable[[], None] = lambda: None
        self.is_sent = True
        self._is_refused = False  # the last prompt: the user has to sign in first
        self._agent = agent
        self.narrator = narrator
        self._requests = requests
        self._permissions = permissions
        self._changes = changes
        self._tasks = tasks
        self._prompting = anyio.CancelScope()
        self._call_id: int | None = None  # of our prompt, until it is answered
        self._goes_on = False  # the turn that runs began as one of the agent's own
        begin, finish = partial(self.begin, prompted=False), partial(self._finish, "end_turn")
        self.background = Background(self.turn, narrator, requests, tasks, begin, finish)

    def __repr__(self) -> str:
        return f"<Turns {self.turn!r}>"

    @property
    def key(self) -> int:
        """The key of the session."""
        return self.narrator.transcript.session

    @property
    def takes_more(self) -> bool:
        """Whether another prompt can go into the turn that runs: its own was sent, and nobody wants it to end."""
        return self.is_sent and not self._requests.permissions.refusing

    async def wait(self) -> None:
        """Wait until no turn runs that a prompt has to wait for."""
        while self.turn.running and not self.turn.open_ended:
            await self.turn.over.wait()

    async def take(self, peer: AgentPeer, session_id: str, prompt: Prompt) -> Failure | None:
        """One prompt, to the end of its turn; what it was refused with when the user has to sign in first."""
        try:
            with anyio.CancelScope() as self._prompting:
                await self._begin_with(prompt)
                self._is_refused = False
                await self._changes.begin(prompt.text)
                await prompt.ready()
                await self.narrator.told()  # without a limit: who dies right then would have it sent twice
                self.is_sent = True
                call = peer.dialect.prompt(session_id, self.blocks(prompt, peer))
                await peer.request(call.method, call.params, partial(self._on_answer, call, peer), self._on_call)
                await self.turn.over.wait()
        except RpcError as error:  # who took the answer has told it, else
            return failures.sign_in_wanted(self._agent, error) if self._is_refused else None
        except FailureError:
            return None  # who lost the agent has told it
        finally:
            self._call_id = None
        return None

    async def _begin_with(self, prompt: Prompt) -> None:
        """Show the prompt, and begin its turn; before it what the agent has done by itself is summed up."""
        goes_on = self.turn.running
        if goes_on:
            self._end_before_prompt()
        else:
            self.narrator.prompt(prompt)
        self.begin(prompted=True, goes_on=goes_on)
        if goes_on:
            try:
                await self._changes.settled()
            finally:
                self.narrator.prompt(prompt)

    def blocks(self, prompt: Prompt, peer: AgentPeer) -> list[ContentBlock]:
        """What that agent gets of a prompt that is ready; what it does not get is told."""
        blocks, remarks = prompt.blocks(peer.abilities)
        for remark in remarks:
            self.narrator.notice("warn", remark)
        return blocks

    def abandon(self) -> None:
        """The agent is gone: nobody waits for the end of its turn."""
        self._prompting.cancel()

    def begin(self, prompted: bool, goes_on: bool = False, told: bool = False) -> None:
        """A turn begins: with our prompt, or without.

        `goes_on`: the agent works already, so its calls, grants and commands stay. `told`: it says when it is idle.
        """
        self.narrator.transcript.begin_turn(prompted, goes_on)
        self.is_sent, self._goes_on = not prompted, goes_on
        if not goes_on:
            self._requests.begin_turn()
        self._requests.refusals.begin_turn()
        self.turn.begin(prompted, told)
        self.background.begun()
        self.had_any = True
        if not prompted:
            self._changes.begun()
        self.narrator.facts.begin_turn()
        self.narrator.publish(events.TurnStart(session=self.key, background=not prompted))
        self.narrator.on_facts()

    def _end_before_prompt(self) -> None:
        """End a turn of the agent's own, whose work goes on in the turn of a prompt: nothing is settled."""
        self.turn.end("end_turn")
        self.narrator.facts.end_turn()
        self.narrator.publish(events.TurnEnd(session=self.key, stop_reason="end_turn", background=True))
        self._changes.end(goes_on=True)

    def cancel(self, peer: AgentPeer, session_id: str) -> None:
        """Ask the agent to stop (ACP "Prompt Turn", Cancellation), and end the commands that we run for the turn.

        A turn that the agent began by itself is over then: nobody would say so.
        """
        self._requests.permissions.refusing = True
        self._requests.terminals.cancel_turn()
        if self.is_sent or self._goes_on:
            peer.notify(*peer.dialect.cancel(session_id))
        if not self.is_sent:
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
        waiting = self._permissions.count(self.key) or self._requests.elicitations.count
        commands = self._requests.terminals.end_all()
        if commands:
            words = "1 command" if commands == 1 else f"{commands} commands"
            self.narrator.notice("info", f"Stopped: {words} that went on after the turn")
        if not (self.turn.background or waiting or commands):
            return False
        peer.notify(*peer.dialect.cancel(session_id))
        self._permissions.cancel_session(self.key, overrule=True)
        self._requests.elicitations.cancel(overrule=True)
        return True

    def withdraw(self, peer: AgentPeer) -> bool:
        """Ask the agent to give up our prompt as a request; False when it is answered, or there was none."""
        if self._call_id is None:
            return False
        peer.withdraw(self._call_id)
        return True

    def take_state(self, news: updates.StateChanged) -> None:
        """What the agent says of its work."""
        change = self.turn.take_state(news)
        if change == "begun":
            self.begin(prompted=False, told=True)
        elif change == "ended":
            with self._tasks.contained("telling why a turn failed"):
                if news.error is not None:
                    self.narrator.failure(failures.turn_failed_with(self._agent, news.error))
            self._finish(news.stop_reason or "end_turn")
            if self.turn.prompted:
                self._prompting.cancel()  # an answer that is still missing must not hold up the next prompt
        else:
            self.narrator.on_facts()

    def _finish(self, stop_reason: str) -> None:
        """The agent has brought it to its end."""
        self.end(stop_reason)
        self.on_finished()

    def end(self, stop_reason: str) -> None:
        """End the turn: settle its tool calls, forget its grants, tell the editor."""
        ended = events.TurnEnd(session=self.key, stop_reason=stop_reason, background=not self.turn.prompted)
        self.turn.end(stop_reason)
        self._tasks.all_of(
            "ending a turn",
            self._requests.granted.end_turn,
            self.narrator.facts.end_turn,
            partial(self._settle, "cancelled" if stop_reason == "cancelled" else "unfinished"),
            partial(self._tell_end, stop_reason),
            partial(self.narrator.publish, ended),
            partial(self.narrator.publish, events.FilesMaybeChanged(session=self.key)),
            partial(self._changes.end, goes_on=bool(self.turn.background)),
            self.narrator.on_facts,
        )

    def _tell_end(self, stop_reason: str) -> None:
        self.background.ended()
        if stop_reason not in ("end_turn", "error"):
            level: Severity = "info" if stop_reason == "cancelled" else "warn"
            self.narrator.notice(level, f"Stopped: {stop_reason}")

    def lose_agent(self, stop_reason: str) -> None:
        """The agent is gone, and with it what it did in the background, and in terminals."""
        with self._tasks.contained("ending the terminals"):
            self._requests.terminals.close()
        background, self.turn.background = self.turn.background, frozenset()
        if self.turn.running:
            self.end(stop_reason)
        elif background:
            self._settle("unfinished")

    def _settle(self, status: str) -> None:
        """Nothing of the turn stays open: neither questions nor tool calls, but those that go on in the background."""
        refusing = self._requests.permissions.refusing
        self._tasks.all_of(
            "closing what a turn left open",
            partial(self.narrator.close_calls, status, self._requests.rejected, self.turn.background),
            partial(self._permissions.cancel_session, self.key, overrule=refusing),
            partial(self._requests.elicitations.cancel, overrule=refusing, of_session=True),
            self.narrator.on_facts,
        )

    def _on_call(self, call_id: int) -> None:
        self._call_id = call_id

    def _on_answer(self, call: Call[PromptAnswer], peer: AgentPeer, answer: Answer) -> None:
        """The turn of version 1 is over the moment its answer is read, before any later message."""
        self._call_id = None
        if not self.turn.running:
            return
        try:
            self._take_outcome(call, peer, answer)
        except Exception as error:
            failed("taking the answer to a prompt", error, self._tasks.on_failure)
            if self.turn.running:  # nobody else would end it
                self._finish("error")

    def _take_outcome(self, call: Call[PromptAnswer], peer: AgentPeer, answer: Answer) -> None:
        if isinstance(answer, RpcError):
            refusing = self._requests.permissions.refusing
            self._is_refused = failures.wants_sign_in(answer) and not refusing
            if not (refusing or self._is_refused):
                self.narrator.failure(failures.turn_failed(self._agent, answer))
            self._finish("cancelled" if self._requests.permissions.refusing else "error")
        elif isinstance(answer, Exception):
            return  # the agent is gone: who lost it ends the turn
        else:
            self._take_answer(call, peer, answer)

    def _take_answer(self, call: Call[PromptAnswer], peer: AgentPeer, raw: msgspec.Raw) -> None:
        try:
            answer = call.read(raw)
        except msgspec.DecodeError as error:
            self.narrator.failure(failures.malformed_answer(self._agent, call.method, error))
            self._finish("error")
            return
        if peer.dialect.answer_ends_turn:
            self._finish(answer.stop_reason or "end_turn")
        else:
            self.turn.accept(answer.message_id)
