"""Runs the turns of one session: prompts, one after the other, and turns that the agent begins by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Protocol

import anyio
import msgspec

from acp_nvim.acp import updates
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract import events
from acp_nvim.errors import Failure, FailureError, Severity
from acp_nvim.failures import failures
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.jsonrpc.requests import Answer
from acp_nvim.prompt.prompt import Content, Prompt
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.session.background import Background
from acp_nvim.session.empty_turns import EmptyTurns
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.session.state import CrashLoopGuard, StateMachine
from acp_nvim.session.turn import Turn
from acp_nvim.transcript.presenter import Presenter

STOPPED: Final = {
    "max_tokens": "the agent has used up the tokens of a turn",
    "max_turn_requests": "the agent has reached its limit of model requests in a turn",
    "refusal": "the agent refuses to go on",
}
"""Stop reasons (ACP "Prompt Turn", Stop Reasons) in words."""


class ChildSessions(Protocol):
    """What a session's turns need of its child sessions (`acp_nvim.session.subagents`)."""

    @property
    def is_busy(self) -> bool:
        """Whether one of the children works at the moment."""

    def begin_turn(self) -> None:
        """Tell all children that the user has prompted the parent."""

    def end_turn(self) -> None:
        """Tell all children that the turn of the parent has ended."""

    def refuse(self) -> None:
        """Cancel the questions and commands of all children, as their parent is cancelled."""

    def cancel_rest(self) -> tuple[int, int]:
        """Cancel what the children do between turns; return how many commands were ended, and how many worked."""


class Turns:
    """The turns of one session; at most one runs."""

    def __init__(
        self,
        states: StateMachine,
        presenter: Presenter,
        requests: AgentRequests,
        changes: TurnChanges,
        crash_loop: CrashLoopGuard,
        children: ChildSessions,
    ) -> None:
        self.turn = Turn()
        self.presenter = presenter
        self.on_begin: Callable[[Prompt | None], None] = lambda prompt: None
        """Called before a turn begins, with its prompt if it has one."""
        self.on_end: Callable[[str], None] = lambda stop_reason: None
        """Called when a turn has ended, with its stop reason; "cancelled" also if the agent does not say so."""
        self._agent = changes.log.agent
        self._key = presenter.transcript.session
        self._states = states
        self._requests = requests
        self._changes = changes
        self._crash_loop = crash_loop
        self._children = children
        self._tasks = changes.tasks
        self._prompting = anyio.CancelScope()
        self._call_id: int | None = None  # of the prompt's request, until it is answered
        self._empty = EmptyTurns(self._agent, self.turn, presenter, requests, self._tasks)
        begin, finish = partial(self.begin, prompted=False), partial(self._finish, "end_turn")
        self.background = Background(self.turn, presenter, requests, self._tasks, begin, finish)
        self.background.silence.is_held = lambda: children.is_busy

    @property
    def takes_more(self) -> bool:
        """Whether another prompt may be sent into the running turn: its own was sent, and it is not cancelled."""
        return self.turn.is_sent and self._states.now.turn in ("running", "background")

    @property
    def is_cancelled(self) -> bool:
        """Whether the user has cancelled the running turn, or the last one."""
        return self._states.now.turn == "cancelling" or self.turn.stop_reason == "cancelled"

    def begin_agent(self, peer: AgentPeer, fresh: bool) -> None:
        """Begin to work with an agent process, in a `fresh` session or in one that has turns already."""
        self._requests.begin_agent(peer, fresh)
        self.presenter.metadata.counts.begin("session_tokens" in peer.quirks, fresh)

    async def wait(self) -> None:
        """Wait until no turn runs that a prompt has to wait for."""
        while self.turn.running and not self.turn.open_ended:
            await self.turn.over.wait()

    async def run_prompt(
        self, peer: AgentPeer, session_id: str, prompt: Prompt, leave: Callable[[Prompt], Awaitable[None]]
    ) -> Failure | None:
        """Send one prompt, and wait for the end of its turn. Await `leave` right before it is sent.

        Return the failure if the agent refused the prompt until the user signs in.
        """
        try:
            with anyio.CancelScope() as self._prompting:
                self._empty.prompted(prompt.command)
                await self._begin_with(prompt)
                self._empty.shown()
                await self._changes.begin(prompt.text)
                await prompt.ready()
                if not (blocks := self.presenter.content(prompt, peer)):
                    self.end("cancelled")
                    return None
                if not prompt.command:  # which may take all texts of the prompt for its arguments
                    blocks.extend(await self._changes.decided.blocks(peer))
                await leave(prompt)
                await self.presenter.told()  # without a limit: a host that dies now would have it sent twice
                await self._send(peer, session_id, blocks)
                await self.turn.over.wait()
        except RpcError as error:  # `_take_answer` has reported any other error
            is_refused = failures.wants_sign_in(error) and self.turn.stop_reason == "error"
            return failures.sign_in_wanted(self._agent, error, self._empty.failed_again) if is_refused else None
        except FailureError:
            return None  # the session reports the end of its agent
        finally:
            self._call_id = None
        return None

    async def _begin_with(self, prompt: Prompt) -> None:
        """Show the prompt and begin its turn; first conclude a turn that the agent has begun by itself."""
        continues = self.turn.running
        if continues:  # its work continues in the turn of the prompt, so nothing is settled
            self.turn.end("end_turn")
            self.presenter.metadata.end_turn()
            self._changes.end(goes_on=True)  # first, so that the end of the turn comes with the beginning of that
            self.presenter.publish(events.TurnEnd(session=self._key, stop_reason="end_turn", background=True))
        else:
            self.presenter.prompt(prompt)
        self.on_begin(prompt)
        self.begin(prompted=True, continues=continues, of_checks=prompt.of_checks)
        if continues:
            try:
                await self._changes.settled()
            finally:
                self.presenter.prompt(prompt)

    async def _send(self, peer: AgentPeer, session_id: str, blocks: Content) -> None:
        """Send the prompt's request and wait for the answer. Raises as `AgentPeer.request` does."""
        self.turn.is_sent = True
        self._changes.decided.told()
        call = peer.dialect.prompt(session_id, blocks)

        def take(answer: Answer) -> None:
            if isinstance(answer, Exception):
                self._take_error(peer, answer)
                return
            try:
                accepted = call.read(answer)
            except msgspec.DecodeError as error:
                self.presenter.failure(failures.malformed_answer(peer.name, call.method, error))
                self._finish("error")
                return
            if peer.dialect.answer_ends_turn:  # version 1, before any later message is taken
                self.presenter.metadata.take_tokens(accepted.tokens)
                self._finish(accepted.stop_reason or "end_turn")
            else:
                self.turn.accept(accepted.message_id)

        def on_answer(answer: Answer) -> None:
            self._call_id, is_taken = None, False
            if not self.turn.running:
                return
            with self._tasks.contained("taking the answer to a prompt"):
                take(answer)
                is_taken = True
            if not is_taken and self.turn.running:  # nothing else would end it
                self._finish("error")

        def on_call(call_id: int) -> None:
            self._call_id = call_id

        await peer.request(call.method, call.params, on_answer, on_call)

    def _take_error(self, peer: AgentPeer, error: Exception) -> None:
        """End the turn of a prompt that was refused. If the agent is gone instead, the session ends the turn."""
        if not isinstance(error, RpcError):
            return
        is_cancelled = self._requests.permissions.refusing
        again = self._empty.fails(error.describe())
        if not (is_cancelled or failures.wants_sign_in(error)):
            self.presenter.failure(failures.turn_failed(peer.name, error, again))
        self._finish("cancelled" if is_cancelled else "error")

    def withdraw(self, peer: AgentPeer) -> bool:
        """Send `$/cancel_request` for the prompt; False when no answer is awaited."""
        if self._call_id is None:
            return False
        peer.withdraw(self._call_id)
        return True

    def expect_echo(self) -> None:
        """Note that another prompt goes into the running turn, which becomes the turn of a prompt."""
        self.turn.expect_echo()
        if self._states.now.turn == "background":
            self._states.on("begin")

    def abandon(self) -> None:
        """Stop waiting for the end of a turn, because the agent is gone."""
        self._prompting.cancel()

    def begin(self, prompted: bool, continues: bool = False, reported: bool = False, of_checks: bool = False) -> None:
        """Begin a turn, with a prompt or without.

        With `continues` the agent works already: its calls and commands stay, its grants do not. `reported`: by a
        `state_update`. `of_checks`: its prompt tells what the checks have found after the last turn.
        """
        self._changes.left.turn_begins()
        if not continues:
            self.presenter.close_calls("unfinished", self._requests.rejected, self.turn.background)
        if not prompted:
            self.on_begin(None)
        self.presenter.transcript.begin_turn(prompted, continues, self.turn.background)
        if continues:
            self._requests.granted.begin_turn()
        else:
            self._requests.begin_turn()
        self._requests.refusals.begin_turn()
        self.turn.begin(prompted, reported, continues)
        self._states.on("begin" if prompted else "begin_own")
        if prompted:
            self._children.begin_turn()
        self.background.begun()
        if not prompted:
            self._changes.begun()
        self.presenter.metadata.begin_turn()
        began = events.TurnStart(session=self._key, background=not prompted, of_checks=of_checks)
        self.presenter.publish(began)
        self.presenter.publish_status()

    def cancel(self, peer: AgentPeer, session_id: str) -> None:
        """Ask the agent to stop (ACP "Prompt Turn", Cancellation), and end the commands that we run for the turn.

        A turn that the agent began by itself ends at once: in version 1 the agent does not report its end.
        """
        self._changes.left.note_cancel()
        self._requests.permissions.refusing = True
        self._requests.terminals.cancel_turn()
        self._children.refuse()
        if self.turn.is_sent or self.turn.continues:
            peer.notify(*peer.dialect.cancel(session_id))
        if not self.turn.is_sent:
            self.end("cancelled")
            self._prompting.cancel()
        elif self.turn.open_ended or self.turn.cancel():
            self.end("cancelled")
        else:
            self._settle("cancelled")

    def cancel_rest(self, peer: AgentPeer, session_id: str) -> bool:
        """Cancel questions, background work (v2) and commands between turns; False if there are none."""
        of_children, children = self._children.cancel_rest()
        commands = self._requests.terminals.end_all() + of_children
        if commands:
            words = "1 command" if commands == 1 else f"{commands} commands"
            self.presenter.notice("info", f"Stopped: {words} that went on after the turn")
        left = self._changes.left.shown
        for one in left:
            self.presenter.notice("info", f"{one.words} still runs: the agent is asked again. :AcpCancel! ends it.")
        if not (self.turn.background or self._requests.waiting or commands or children or left):
            return False
        peer.notify(*peer.dialect.cancel(session_id))
        self._requests.cancel_waiting(overrule=True)
        return True

    def end_left(self) -> bool:
        """End the commands that run on after their turns, by their processes; return False if there are none."""
        found = [one for one in self._changes.left.with_children() if one.running]
        for one in found:
            self._tasks.spawn(one.end_all)
        return bool(found)

    def take_state(self, news: updates.StateChanged) -> None:
        """Take a `state_update` of the agent: it may begin or end a turn."""
        self.presenter.heard()
        change = self.turn.take_state(news)
        if change == "begun":
            self.begin(prompted=False, reported=True)
        elif change == "ended":
            with self._tasks.contained("telling why a turn failed"):
                if news.error is not None:
                    again = self._empty.fails(news.error)
                    self.presenter.failure(failures.turn_failed_with(self._agent, news.error, again))
            self.presenter.metadata.take_tokens(news.tokens)
            self._finish(news.stop_reason or "end_turn")
            if self.turn.prompted:
                self._prompting.cancel()  # an answer that is still missing must not hold up the next prompt
        else:
            self.presenter.publish_status()

    def _finish(self, stop_reason: str) -> None:
        """End a turn that the agent has ended."""
        if stop_reason == "end_turn" and self._requests.permissions.refusing:
            stop_reason = "cancelled"  # not all agents answer that
        is_empty = stop_reason == "end_turn" and self._empty.is_empty
        self.end(stop_reason, is_empty)
        if is_empty:
            self._empty.ended()
        self._crash_loop.turn_done()

    def end(self, stop_reason: str, is_empty: bool = False) -> None:
        """End the turn: close its tool calls, drop its grants, tell the editor; `is_empty`: it had no effect."""
        is_own = not self.turn.prompted
        ended = events.TurnEnd(session=self._key, stop_reason=stop_reason, background=is_own, empty=is_empty)
        self.turn.end(stop_reason)
        self._states.on("end")
        self._tasks.all_of(
            "ending a turn",
            self._requests.granted.end_turn,
            self._children.end_turn,
            self.presenter.metadata.end_turn,
            partial(self._settle, "cancelled" if stop_reason == "cancelled" else "unfinished"),
            partial(self._report_end, stop_reason),
            partial(self._changes.end, goes_on=bool(self.turn.background)),
            partial(self.presenter.publish, ended),
            partial(self.presenter.publish, events.FilesMaybeChanged(session=self._key)),
            partial(self.on_end, "cancelled" if self._requests.permissions.refusing else stop_reason),
            self.presenter.publish_status,
        )

    def _report_end(self, stop_reason: str) -> None:
        self.background.ended()
        if stop_reason not in ("end_turn", "error"):
            level: Severity = "info" if stop_reason == "cancelled" else "warn"
            self.presenter.notice(level, f"Stopped: {STOPPED.get(stop_reason, stop_reason.replace('_', ' ').strip())}")

    def lose_agent(self, stop_reason: str) -> None:
        """End what the agent did, also in the background and in terminals: its process is gone."""
        with self._tasks.contained("ending the terminals"):
            self._requests.terminals.close()
        self.turn.background = frozenset()
        if self.turn.running:
            self.end(stop_reason)
        else:
            self._settle("unfinished")

    def _settle(self, status: str) -> None:
        """Close the turn's questions and tool calls, except calls that continue in the background."""
        refusing = self._requests.permissions.refusing
        self._tasks.all_of(
            "closing what a turn left open",
            partial(self.presenter.close_calls, status, self._requests.rejected, self.turn.background),
            partial(self._requests.cancel_waiting, overrule=refusing, of_session=True),
            self.presenter.publish_status,
        )
