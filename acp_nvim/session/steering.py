"""Sends a queued prompt into the running turn, if the agent takes prompts while it works."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from acp_nvim.acp.answers import Steered
from acp_nvim.acp.dialect import Call
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.errors import FailureError
from acp_nvim.failures import failures
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.jsonrpc.requests import Answer
from acp_nvim.prompt.prompt import Prompt
from acp_nvim.session.queue import PromptQueue
from acp_nvim.session.turns import Turns
from acp_nvim.tasks import Spawn


class Steering:
    """Sends prompts into the running turn; `agent` is `Session.at_work`, `wake` makes the session send its queue."""

    def __init__(
        self,
        turns: Turns,
        queue: PromptQueue,
        spawn: Spawn,
        agent: Callable[[], tuple[AgentPeer, str] | None],
        wake: Callable[[], None],
    ) -> None:
        self._turns = turns
        self._presenter = turns.presenter
        self._queue = queue
        self._spawn = spawn
        self._agent = agent
        self._wake = wake

    def steer(self, number: int | None) -> None:
        """Send the queued prompt with that number now, or the first one.

        If nothing runs, or the agent works by itself, it becomes the next prompt. An agent that takes no prompts while
        it works gets it after the turn, also if it was held.
        """
        waiting = self._queue.find(number)
        if waiting is None:
            return
        turn = self._turns.turn
        agent = self._agent() if turn.running and not turn.open_ended else None
        if agent is not None and not (agent[0].abilities.steering and self._turns.takes_more):
            never = "takes no prompts while it works" if self._turns.takes_more else "takes no prompt just now"
            self._presenter.notice("info", f"{agent[0].name} {never}: your prompt is sent when it is done.")
            self._queue.release()
            return
        prompt = self._queue.take_out(waiting)
        if agent is not None:
            self._spawn(self._send, *agent, prompt)
        else:
            self._queue.put_back(prompt)
            self._queue.release()
            self._wake()

    async def _send(self, peer: AgentPeer, session_id: str, prompt: Prompt) -> None:
        answers: list[Steered] = []
        try:
            if not await self._request(peer, session_id, prompt, answers):
                return
        except RpcError as error:
            self._presenter.notice("warn", str(failures.turn_failed(peer.name, error)))
        except FailureError:
            pass  # the session reports the end of its agent
        except Exception:
            if not answers:
                self._queue.put_back(prompt)
            raise
        if not answers or not answers[0].injected:
            waits_for_user = self._turns.is_cancelled and self._queue.next is None  # no newer prompt was sent
            if not answers or waits_for_user:
                prompt.shown = False  # show it again where it is sent in the end
            self._queue.put_back(prompt)
            if waits_for_user:
                self._queue.hold()
        self._presenter.publish_status()
        if peer.alive and not self._turns.turn.running:
            self._wake()

    async def _request(self, peer: AgentPeer, session_id: str, prompt: Prompt, answers: list[Steered]) -> bool:
        """Show the prompt and send it, unless the turn is over by then. Return False if nothing of it can be sent."""
        await prompt.ready()
        self._presenter.prompt(prompt)
        blocks = self._presenter.content(prompt, peer)
        await self._queue.leave(prompt)
        if blocks and self._turns.takes_more:  # else the turn was cancelled meanwhile, or is over
            call = peer.dialect.steer(session_id, blocks)
            self._turns.expect_echo()
            await peer.request(call.method, call.params, partial(self._on_answer, call, answers))
        return bool(blocks)

    def _on_answer(self, call: Call[Steered], answers: list[Steered], answer: Answer) -> None:
        """Accept the prompt before any later message is taken, which may be about it."""
        if isinstance(answer, Exception):
            return
        try:
            steered = call.read(answer)
        except msgspec.DecodeError:
            steered = Steered()  # a malformed result is no refusal
        self._turns.turn.accept(steered.message_id)
        answers.append(steered)
