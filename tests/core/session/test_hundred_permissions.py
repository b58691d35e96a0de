"""A hundred permission requests at once, to a real process: each gets exactly one answer, and none stays open."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.request_events import PermissionAuto
from tests.core.session.host import Host
from tests.support.below import below

pytestmark = pytest.mark.anyio

COUNT = 100

ASKS = """
    V2 = %r
    if V2:
        INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}

    # ids that look like the opposite of their kind
    OPTIONS = [
        {"optionId": "reject", "name": "Reject!", "kind": "allow_once"},
        {"optionId": "always-allow", "name": "Allow!", "kind": "reject_always"},
        {"optionId": "allow", "name": "Allow!", "kind": "reject_once"},
        {"optionId": "never", "name": "Never!", "kind": "allow_always"},
    ]

    def params(session_id, number):
        call = {"toolCallId": f"c{number}", "title": f"Number {number}", "kind": "execute"}
        if number < %d:
            call["rawInput"] = {"command": f"safe {number}"}
        shown = {"sessionId": session_id, "options": OPTIONS}
        if V2:
            return {**shown, "title": f"Number {number}?", "subject": {"type": "tool_call", "toolCall": call}}
        return {**shown, "toolCall": call}

    def turn(agent, prompt):
        if V2:
            prompt.reply({})
            prompt.update("state_update", state="running")
        agent.wire.send_lines(
            json.dumps({"jsonrpc": "2.0", "id": f"p{number}", "method": "session/request_permission",
                        "params": params(prompt.session_id, number)}).encode()
            for number in range(100)
        )
        prompt.wait_cancelled()
        if V2:
            prompt.update("state_update", state="idle", stopReason="cancelled")
            return NO_ANSWER
        return "cancelled"

    def withdraw(agent, request):
        for one in request.params["ids"]:
            agent.notify("$/cancel_request", {"requestId": one})

    def die_now(agent, request):
        agent.die()
"""


@dataclass
class Hundred:
    """A turn that asks a hundred things; what is done with them is drawn from a seed."""

    host: Host
    seed: int
    by_rule: int = 0
    chosen: dict[int, str] = field(default_factory=dict)
    withdrawn: set[int] = field(default_factory=set)

    async def begin(self, v2: bool) -> None:
        """All of them are on the screen."""
        self.random = random.Random(self.seed)
        rules = [{"command": "safe *", "action": "allow"}, {"command": "unsafe *", "action": "reject"}]
        self.host.hello(protocol={"v2": v2}, permissions={"rules": rules})
        self.host.script(ASKS % (v2, self.by_rule))
        self.host.open()
        self.host.prompt("go")
        asks = COUNT - self.by_rule
        await self.host.until(f"{asks} questions", lambda: len(self.host.of(events.Permission)) == asks)
        await self.host.until("the answers by rule", lambda: len(self.host.of(PermissionAuto)) == self.by_rule)
        self.agent = self.host.app.sessions[1].peer
        self.requests = {int(one.request.tool_call_id[1:]): one.request for one in self.host.of(events.Permission)}
        self.order = self.random.sample(sorted(self.requests), asks)

    def act(self, share: float) -> None:
        """The next ones are answered, or withdrawn; nobody waits for anything in between."""
        take, self.order = self.order[: int(share * len(self.order))], self.order[int(share * len(self.order)) :]
        for number in take:
            if self.random.random() < 0.3:
                self.withdrawn.add(number)
                self.agent.notify("withdraw", {"ids": [f"p{number}"]})
            else:
                kind = self.random.choice(["allow_once", "allow_always", "reject_once", "reject_always"])
                [option] = [one for one in self.requests[number].options if one.kind == kind]
                self.host.answer(self.requests[number].id, option.option_id)
                self.chosen[number] = option.option_id

    async def all_answered(self) -> None:
        """Wait until each request is answered on the wire, as the agent recorded it."""
        await self.host.until("all answers", lambda: len(self.host.sent_answers()) >= COUNT)

    def on_the_wire(self) -> dict[int, str | None]:
        """The option that each was answered with; None for `cancelled`. None has two answers."""
        answers = self.host.sent_answers()
        assert max(Counter(one["id"] for one in answers).values(), default=1) == 1
        outcomes = {int(one["id"][1:]): one["result"]["outcome"] for one in answers}
        assert all((one["outcome"] == "selected") is ("optionId" in one) for one in outcomes.values())
        return {number: one.get("optionId") for number, one in outcomes.items()}

    def number(self, done: events.PermissionDone) -> int:
        """Return the number of the request that was answered."""
        [number] = [number for number, request in self.requests.items() if request.id == done.id]
        return number

    def check_screen(self, wire: dict[int, str | None]) -> None:
        """Each block was opened once and closed once, as the agent was told; nothing waits."""
        shown = {one.block: int(one.request.tool_call_id[1:]) for one in self.host.of(events.Permission)}
        done = self.host.of(events.PermissionDone)
        assert sorted(one.block for one in done) == sorted(shown)
        told = {shown[one.block]: one.option_id for one in done}
        told |= {int(one.request.tool_call_id[1:]): one.option_id for one in self.host.of(PermissionAuto)}
        assert sorted(told) == list(range(COUNT))
        assert {number: told[number] for number in wire} == wire
        assert list(self.host.app.permissions) == []
        self.host.app.receive("redraw", {"session": 1})
        again = self.host.editor.events[self.host.editor.events.index(self.host.of(events.Reset)[-1]) :]
        open_blocks = {one.block for one in again if isinstance(one, events.Permission)}
        assert open_blocks == {one.block for one in again if isinstance(one, events.PermissionDone)} == set(shown)
        assert self.host.status().pending_permissions == 0


@pytest.mark.parametrize("v2", [False, True], ids=["v1", "v2"])
@pytest.mark.parametrize("seed", range(4))
async def test_answered_withdrawn_by_rule_and_cancelled(host: Host, seed: int, v2: bool) -> None:
    hundred = Hundred(host, seed, by_rule=20)
    await hundred.begin(v2)
    hundred.act(0.4)
    first = dict(hundred.chosen)
    wanted = {hundred.requests[number].id for number in first}
    await host.until("their answers", lambda: wanted <= {one.id for one in host.of(events.PermissionDone)})
    hundred.act(0.4)
    host.cancel()
    await hundred.all_answered()
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd))
    wire = hundred.on_the_wire()
    assert sorted(wire) == list(range(COUNT))
    assert [wire[number] for number in range(20)] == ["reject"] * 20  # the option with this id allows
    untouched = set(hundred.order)
    assert {wire[number] for number in untouched} == {None}
    assert {one.why for one in host.of(events.PermissionDone) if hundred.number(one) in untouched} == {"cancelled"}
    assert {wire[number] for number in hundred.withdrawn} == {None}
    assert {number: wire[number] for number in first} == first
    assert all(wire[number] is None for number in hundred.chosen if number not in first)  # the cancel came first
    hundred.check_screen(wire)


@pytest.mark.parametrize("v2", [False, True], ids=["v1", "v2"])
@pytest.mark.parametrize("seed", range(3))
async def test_all_answered_in_a_random_order(host: Host, seed: int, v2: bool) -> None:
    hundred = Hundred(host, seed)
    await hundred.begin(v2)
    hundred.act(1)
    await hundred.all_answered()
    wire = hundred.on_the_wire()
    for number in range(COUNT):
        assert wire[number] == hundred.chosen.get(number), number
    hundred.check_screen(wire)
    assert host.of(events.TurnEnd) == []


@pytest.mark.parametrize("v2", [False, True], ids=["v1", "v2"])
@pytest.mark.parametrize("seed", range(3))
async def test_the_agent_is_killed_midway(host: Host, seed: int, v2: bool) -> None:
    hundred = Hundred(host, seed, by_rule=10)
    await hundred.begin(v2)
    hundred.act(0.3)
    hundred.agent.notify("die/now", {})
    hundred.act(0.5)
    await host.until_state("failed")
    hundred.check_screen(hundred.on_the_wire())
    assert host.of(events.TurnEnd)[-1].stop_reason == "error"
    whys = {hundred.number(one): one.why for one in host.of(events.PermissionDone)}
    never_touched = set(hundred.order)
    assert {whys[number] for number in never_touched} == {"agent_gone"}
    assert {why for number, why in whys.items() if number not in hundred.withdrawn} <= {None, "agent_gone"}


@pytest.mark.parametrize("v2", [False, True], ids=["v1", "v2"])
async def test_the_session_is_stopped_midway(host: Host, v2: bool) -> None:
    hundred = Hundred(host, 7)
    await hundred.begin(v2)
    hundred.act(0.3)
    host.stop()
    hundred.act(0.5)
    await host.until("all blocks to be closed", lambda: len(host.of(events.PermissionDone)) == COUNT)
    hundred.check_screen(hundred.on_the_wire())


async def test_our_own_record_of_the_wire_says_the_same(host: Host) -> None:
    host.hello(log={"traffic": True})
    hundred = Hundred(host, 11)
    await hundred.begin(v2=False)
    hundred.act(0.6)
    host.cancel()
    await hundred.all_answered()
    host.stop()
    [path] = [one for one in below(host.directory) if one.match("traffic/*.jsonl")]
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    sent: list[Any] = [line["message"] for line in lines if line["direction"] == "sent"]
    ours = [one for one in sent if "method" not in one]
    assert ours == host.sent_answers()
    cancelled = [one.get("method") for one in sent].index("session/cancel")
    outcomes = {one["result"]["outcome"]["outcome"] for one in sent[cancelled:] if "method" not in one}
    assert outcomes <= {"cancelled"}
