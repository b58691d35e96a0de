"""A prompt goes out as a request of ours, and its answer comes: what that says of the turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from acp_nvim.acp.answers import PromptAnswer
from acp_nvim.acp.dialect import Call
from acp_nvim.acp.schema_common import ContentBlock
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.jsonrpc.requests import Answer
from acp_nvim.session import failures
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.requests.broker import PermissionBroker
from acp_nvim.session.transcript.presenter import Presenter
from acp_nvim.session.turn import Turn
from acp_nvim.tasks import Tasks, failed


class PromptCall:
    """The request of the turn that runs; `finish` ends the turn with a stop reason.

    While the `broker` refuses, the user has cancelled the turn.
    """

    def __init__(
        self,
        turn: Turn,
        presenter: Presenter,
        broker: PermissionBroker,
        tasks: Tasks,
        finish: Callable[[str], None],
    ) -> None:
        self._turn = turn
        self._presenter = presenter
        self._broker = broker
        self._tasks = tasks
        self._finish = finish
        self._id: int | None = None  # until it is answered

    def __repr__(self) -> str:
        return f"<PromptCall {self._id}>"

    async def send(self, peer: AgentPeer, session_id: str, prompt: Prompt) -> None:
        """Send the prompt, and wait for the answer. Raises as `AgentPeer.request` does."""
        self._turn.is_sent = True
        call = peer.dialect.prompt(session_id, blocks(prompt, peer, self._presenter))
        await peer.request(call.method, call.params, partial(self._on_answer, call, peer), self._begin)

    def withdraw(self, peer: AgentPeer) -> bool:
        """Ask the agent to give up the prompt as a request; False when it is answered, or there was none."""
        if self._id is None:
            return False
        peer.withdraw(self._id)
        return True

    def forget(self) -> None:
        """Nobody waits for the answer any more."""
        self._id = None

    def _begin(self, call_id: int) -> None:
        self._id = call_id

    def _on_answer(self, call: Call[PromptAnswer], peer: AgentPeer, answer: Answer) -> None:
        """The turn of version 1 is over the moment its answer is read, before any later message."""
        self._id = None
        if not self._turn.running:
            return
        try:
            self._take_outcome(call, peer, answer)
        except Exception as error:
            failed("taking the answer to a prompt", error, self._tasks.on_failure)
            if self._turn.running:  # nobody else would end it
                self._finish("error")

    def _take_outcome(self, call: Call[PromptAnswer], peer: AgentPeer, answer: Answer) -> None:
        if isinstance(answer, RpcError):
            if not (self._broker.refusing or failures.wants_sign_in(answer)):
                self._presenter.failure(failures.turn_failed(peer.name, answer))
            self._finish("cancelled" if self._broker.refusing else "error")
        elif isinstance(answer, Exception):
            return  # the agent is gone: who lost it ends the turn
        else:
            self._take_answer(call, peer, answer)

    def _take_answer(self, call: Call[PromptAnswer], peer: AgentPeer, raw: msgspec.Raw) -> None:
        try:
            answer = call.read(raw)
        except msgspec.DecodeError as error:
            self._presenter.failure(failures.malformed_answer(peer.name, call.method, error))
            self._finish("error")
            return
        if peer.dialect.answer_ends_turn:
            self._finish(answer.stop_reason or "end_turn")
        else:
            self._turn.accept(answer.message_id)


def blocks(prompt: Prompt, peer: AgentPeer, presenter: Presenter) -> list[ContentBlock]:
    """What that agent gets of a prompt that is ready; what it does not get is told."""
    made, remarks = prompt.blocks(peer.abilities)
    for remark in remarks:
        presenter.notice("warn", remark)
    return made
