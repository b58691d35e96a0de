"""Permission requests in any order of asking, answering, withdrawing, cancelling and ending: one answer each."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acp_nvim.contract import events
from tests.core.jsonrpc.peer import all_done
from tests.core.session.inner_agent import InnerHost, inner_host
from tests.support.examples import examples

OPTIONS = {"reject": "allow_once", "allow": "reject_once", "never": "allow_always", "always": "reject_always"}
"""Ids that look like the opposite of their kind."""

Step = tuple[Any, ...]


@dataclass
class Play:
    """What happens between the three: `asked` are the wire ids of the requests, in order."""

    host: InnerHost
    asked: list[Any] = field(default_factory=list)
    chosen: dict[int, str] = field(default_factory=dict)
    given_up: set[int] = field(default_factory=set)
    undisturbed: bool = True
    _since_end: int | None = None

    async def step(self, step: Step) -> None:
        """One of them acts; nobody else does meanwhile, unless it is `settle`."""
        name, *rest = step
        if name != "ask" and name != "answer" and name != "settle":
            self.undisturbed = False
        if name == "settle":
            await all_done()
            self._since_end = None
        elif self.host.agent.returncode is None or name in ("answer", "cancel"):
            getattr(self, name)(*rest)

    def ask(self, ids: list[Any], batch: bool) -> None:
        """The agent asks, all at once."""
        requests = []
        for request_id in ids:
            self.asked.append(request_id)
            requests.append({"id": request_id, "method": "session/request_permission", "params": self._params()})
        self.host.agent.say(*requests, batch=batch)

    def _params(self) -> dict[str, Any]:
        call = {"toolCallId": f"c{len(self.asked) - 1}"}
        options = [{"optionId": option, "name": option, "kind": kind} for option, kind in OPTIONS.items()]
        if self.host.agent.v2:
            subject = {"type": "tool_call", "toolCall": call}
            return {"sessionId": "s", "title": "May I?", "subject": subject, "options": options}
        return {"sessionId": "s", "toolCall": call, "options": options}

    def answer(self, which: int, kind: str) -> None:
        """The user answers one that stands on the screen, by its kind."""
        shown = self.host.of(events.Permission)
        if shown:
            request = shown[which % len(shown)].request
            [option] = [one for one in request.options if one.kind == kind]
            self.host.say("answer", id=request.id, option_id=option.option_id)
            self.chosen.setdefault(self._number(request), option.option_id)

    def withdraw(self, which: int) -> None:
        """Let the agent withdraw a request."""
        if self.asked:
            request_id = self.asked[which % len(self.asked)]
            self.host.agent.say({"method": "$/cancel_request", "params": {"requestId": request_id}})

    def cancel(self) -> None:
        """Let the user cancel the turn."""
        if self.host.app.sessions[1].turns.turn.running:
            closed = {self._number(request) for request, _ in self.closed()}
            before = len(self.asked) if self._since_end is None else self._since_end
            self.given_up |= set(range(before)) - closed
        self.host.say("cancel")

    def end(self) -> None:
        """Let the agent end the turn."""
        if self.host.agent.heard_of("session/prompt"):
            self.host.agent.end_turn("end_turn")
            if self._since_end is None:
                self._since_end = len(self.asked)

    def work(self) -> None:
        """The agent, by itself, which only version 2 has."""
        if self.host.agent.v2:
            self.host.agent.update(sessionUpdate="state_update", state="running")

    def prompt(self) -> None:
        """Let the user send a prompt."""
        self.host.say("prompt", text="more")

    def die(self) -> None:
        """Let the agent die."""
        self.host.agent.die()

    def closed(self) -> list[tuple[events.RequestView, events.PermissionDone]]:
        """What the screen shows of requests that are done."""
        requests = {one.block: one.request for one in self.host.of(events.Permission)}
        return [(requests[done.block], done) for done in self.host.of(events.PermissionDone)]

    @staticmethod
    def _number(request: events.RequestView) -> int:
        return int(request.tool_call_id[1:])

    def check(self) -> None:
        """Each was asked once, answered once on the screen, and the same on the wire."""
        shown = [self._number(one.request) for one in self.host.of(events.Permission)]
        done = {self._number(request): answer for request, answer in self.closed()}
        assert len(done) == len(self.closed())
        assert sorted(shown) == sorted(done)
        if self.host.agent.returncode is None:
            assert shown == list(range(len(self.asked)))
        self._check_wire(done)
        for number, answer in done.items():
            if answer.outcome == "selected":
                assert answer.option_id == self.chosen[number]
                assert number not in self.given_up
            elif self.undisturbed:
                assert number not in self.chosen
        self._check_screen()

    def _check_wire(self, done: dict[int, events.PermissionDone]) -> None:
        told = Counter((self.asked[number], one.outcome, one.option_id) for number, one in done.items())
        heard: Counter[Any] = Counter()
        for answer in self.host.agent.answers():
            outcome = answer["result"]["outcome"]
            heard[answer["id"], outcome["outcome"], outcome.get("optionId")] += 1
        assert heard == told if self.host.agent.returncode is None else heard <= told

    def _check_screen(self) -> None:
        assert list(self.host.app.permissions) == []
        again = list(self.host.app.sessions[1].presenter.transcript.replay())
        blocks = [one.block for one in again if isinstance(one, events.Permission)]
        assert blocks == [one.block for one in again if isinstance(one, events.PermissionDone)]
        assert self.host.editor.status().pending_permissions == 0


async def play(steps: list[Step], v2: bool) -> None:
    """Do all that, then end it, and look."""
    with tempfile.TemporaryDirectory() as directory:
        async with inner_host(Path(directory), v2) as host:
            game = Play(host)
            for step in steps:
                await game.step(step)
            await all_done()
            undisturbed = game.undisturbed
            for step in (("cancel",), ("settle",), ("end",), ("settle",), ("cancel",), ("settle",)):
                await game.step(step)
            game.undisturbed = undisturbed
            game.check()


some_ids = st.sampled_from([0, 1, 2, "0", "a", 'ü"\n', -1, 2**53])
steps = st.one_of(
    st.tuples(st.just("ask"), st.lists(some_ids, min_size=1, max_size=4), st.booleans()),
    st.tuples(st.just("answer"), st.integers(0, 30), st.sampled_from(sorted(OPTIONS.values()))),
    st.tuples(st.just("withdraw"), st.integers(0, 30)),
    st.sampled_from([("cancel",), ("end",), ("prompt",), ("work",), ("settle",), ("settle",), ("settle",), ("die",)]),
)


@pytest.mark.hypothesis
@pytest.mark.timeout(300)
@pytest.mark.parametrize("v2", [False, True])
def test_each_has_exactly_one_answer_on_the_wire_and_on_the_screen(v2: bool) -> None:
    @settings(max_examples=examples(50))
    @given(st.lists(steps, max_size=16))
    @example([("ask", [1], False), ("settle",), ("answer", 0, "allow_once"), ("cancel",)])
    @example([("ask", [1, 1], False), ("settle",), ("withdraw", 0), ("settle",)])
    @example([("ask", [1, 2], True), ("settle",), ("answer", 0, "allow_once"), ("settle",), ("cancel",)])
    def any_order(order: list[Step]) -> None:
        anyio.run(play, order, v2)

    any_order()
