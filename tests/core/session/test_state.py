"""The table of a session's states: each event has an outcome in all of them, and one cancel leads to rest."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.contract.request_events import SignIn
from acp_nvim.session import empty_turns
from acp_nvim.session.state import AT_REST, PUBLIC, STATES, TABLE, Effect, Event, Situation, State, step
from tests.core.session.host import Host

EVENTS: tuple[Event, ...] = get_args(Event)
DOCUMENTED = {"starting", "idle", "running", "background", "waiting", "stopped", "failed"}


def reachable() -> set[Situation]:
    """All that a session can come to."""
    found, new = set[Situation](), {Situation()}
    while new:
        found |= new
        new = {step(now, event)[0] for now in found for event in EVENTS} - found
    return found


ALL = sorted(reachable(), key=repr)


def test_every_state_has_all_that_is_to_be_said_of_it() -> None:
    assert set(STATES) == set(TABLE) == set(get_args(State))
    assert {PUBLIC.get(state, state) for state in STATES} == DOCUMENTED
    assert {now.state for now in ALL} == set(STATES)


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_has_an_outcome_in_every_situation(event: Event) -> None:
    assert [now for now in ALL if not is_sound(*step(now, event))] == []


def is_sound(after: Situation, effects: tuple[Effect, ...]) -> bool:
    """Whether each state stands where it belongs, and a turn only where there is an agent."""
    levels = [(level, STATES[state]) for level, state in enumerate(after) if state is not None]
    has_agent = after.base in ("starting", "idle", "signing_in")
    is_placed = all(level == belongs for level, belongs in levels)
    return is_placed and (after.turn is None or has_agent) and set(effects) <= set(get_args(Effect))


def test_what_asks_to_stop_asks_once() -> None:
    asked = [now for now in ALL if now.turn == "cancelling"]
    again = [step(now, event)[1] for now in asked for event in ("cancel", "insist")]  # type: ignore[arg-type]
    assert set(again) == {("remind",), ("insist",)}


def rested(now: Situation, effects: tuple[Effect, ...], answers: bool) -> Situation:
    """After those effects: the agent `answers`, or has no time left and is ended. Its questions are withdrawn."""
    if "ask_to_stop" in effects or "remind" in effects:
        now = step(now, "stop" if now.base == "starting" else "end" if answers else "gone")[0]
    return step(now, "answered")[0]


@pytest.mark.parametrize("answers", [True, False])
def test_one_cancel_leads_to_rest_from_everywhere(answers: bool) -> None:
    done = [(now, *step(now, "cancel")) for now in ALL]
    assert [now for now, _, effects in done if not effects] == []
    assert [now for now, after, effects in done if rested(after, effects, answers).state not in AT_REST] == []


@dataclass
class Model:
    """A second description of the states: what is known of an agent, its turn, and its questions."""

    agent: str = "none"  # starting, there, refuses
    why: str = "stopped"  # there is none
    turn: str = ""
    asks: bool = False

    @property
    def state(self) -> str:
        if self.asks:
            return "waiting"
        return self.turn or {"starting": "starting", "there": "idle", "refuses": "signing_in"}.get(self.agent, self.why)

    def lose(self, why: str) -> None:
        if self.agent != "none":
            self.agent, self.turn, self.asks, self.why = "none", "", False, why

    def on(self, event: Event) -> None:  # noqa: C901  # one case for each event
        match event:
            case "asked" | "answered":
                self.asks = event == "asked"
            case "open":
                self.agent = "starting"
            case "open_again" if self.agent in ("there", "refuses"):
                self.agent = "there"
            case "opened" if self.agent == "starting":
                self.agent = "there"
            case "sign_in_wanted" if self.agent in ("starting", "there"):
                self.agent, self.turn, self.asks = "refuses", "", False
            case "failed":
                self.lose("failed")
            case "lost" if self.agent != "starting":
                self.lose("failed")
            case "gone" if self.agent != "starting":
                self.lose("stopped")
            case "sleep" if self.agent == "there":
                self.lose("asleep")
            case "stop":
                self.lose("failed" if self.agent == "refuses" else "stopped")
                if self.why == "asleep":
                    self.why, self.asks = "stopped", False
            case "begin" if self.turn == "background" or (self.agent == "there" and not self.turn):
                self.turn = "running"
            case "begin_own" if self.agent != "none" and self.turn == "":
                self.turn = "background"
            case "end":
                self.turn = ""
            case "cancel" | "insist" if self.turn:
                self.turn = "cancelling"
            case "cancel" | "insist" if self.agent == "starting":
                self.lose("stopped")


@given(st.lists(st.sampled_from(EVENTS), max_size=60))
def test_the_table_and_another_telling_of_it_agree(sequence: list[Event]) -> None:
    now, model = Situation(), Model()
    for event in sequence:
        if event in ("begin_own", "begin") and now.turn not in (None, "background"):
            continue  # at most one turn runs
        now, _ = step(now, event)
        model.on(event)
        assert now.state == model.state, (event, now, model)


# --- with an agent ---------------------------------------------------------------------------------------------------

AGENT = """
    INITIALIZE = {"agentCapabilities": {"loadSession": True}}
    COUNT = {"calls": 0}

    def turn(agent, prompt):
        word = prompt.text
        COUNT["calls"] += 1
        call = str(COUNT["calls"])
        if word == "say":
            prompt.say("said ")
        elif word == "call":
            prompt.tool(call, "Run", kind="execute", status="pending")
        elif word == "ask":
            prompt.say(str(prompt.ask(call)))
        elif word == "wait":
            prompt.tool(call, "Wait", kind="execute", status="in_progress")
            prompt.wait_cancelled()
            return "cancelled"
        elif word == "later":
            prompt.reply({"stopReason": "end_turn"})
            prompt.tool(call, "Later", kind="execute", status="pending")
            return NO_ANSWER
        elif word == "die":
            prompt.tool(call, "Die", kind="execute", status="in_progress")
            agent.exit(3)
"""


def closed(host: Host) -> bool:
    """Whether nothing is left open in the chat: every turn, tool call and request has its end."""
    begun, ended = host.of(events.TurnStart), host.of(events.TurnEnd)
    asked = [one.request.id for one in host.of(events.Permission)]
    done = [one.id for one in host.of(events.PermissionDone)]
    is_open = any(call.status in ("pending", "in_progress") for call in host.calls().values())
    return len(begun) == len(ended) and sorted(asked) == sorted(done) and not is_open


@pytest.mark.anyio
@pytest.mark.parametrize("seed", range(4))
async def test_whatever_was_done_one_cancel_closes_all_of_it(host: Host, seed: int) -> None:
    chance = random.Random(seed)
    script = host.script(AGENT)
    host.open()
    prompts = 0
    for _ in range(6):
        word = chance.choice(["say", "call", "ask", "wait", "later", "die", "stop", "cancel", "none"])
        if word in ("stop", "cancel"):
            getattr(host, word)()
        else:
            host.prompt(word)
            prompts += 1
        if prompts and chance.random() < 0.5:
            await host.until(
                "something of it", lambda: host.of(events.TurnStart) or not host.app.sessions[1].queue.next
            )
    host.cancel()
    await host.until("the end of all of it", lambda: closed(host) and host.app.sessions[1].states.now.state in AT_REST)
    sent = [one["params"]["prompt"][0]["text"] for one in script.received("session/prompt")]
    assert len(sent) + host.app.sessions[1].queue.__len__() <= prompts


@pytest.mark.anyio
async def test_one_cancel_takes_back_a_prompt_that_waits_for_a_sign_in(host: Host) -> None:
    host.script('def turn(agent, prompt): raise Error(-32000, "Authentication required")')
    host.open()
    host.prompt("hi")
    await host.editor.until_event(SignIn)
    await host.until_state("failed")
    host.cancel()
    status = host.status()
    assert status is not None
    assert (status.queue, status.state) == (0, "failed")
    assert any("taken out of the queue" in one for one in host.notices())


@pytest.mark.anyio
async def test_one_cancel_ends_a_turn_although_the_user_signs_in_beside_it(host: Host) -> None:
    host.script("""
        INITIALIZE = {"authMethods": [{"id": "browser", "name": "Browser"}]}

        def authenticate(agent, request):
            return NO_ANSWER

        def turn(agent, prompt):
            prompt.say("works")
            prompt.wait_cancelled()
            return "cancelled"
    """)
    host.open()
    host.prompt("hi")
    await host.until("its words", lambda: host.text() == "works")
    login = {"agent": "it", "cwd": str(host.cwd), "method": "browser", "session": 1}
    host.app.receive("login", login)
    await host.until_received("authenticate")
    host.cancel()
    assert (await host.editor.until_event(events.TurnEnd)).stop_reason == "cancelled"
    await host.until_state("idle")


@pytest.mark.anyio
@pytest.mark.parametrize("silent", ["nothing", "blank"])
async def test_an_empty_turn_is_told(host: Host, monkeypatch: pytest.MonkeyPatch, silent: str) -> None:
    monkeypatch.setattr(empty_turns, "EMPTY_TURN_SECONDS", 0.0)
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "say":
                prompt.say("said")
            if prompt.text == "blank":
                prompt.say(" \\n ")
    """)
    assert await host.turn("say") == "end_turn"
    assert host.notices() == []
    assert await host.turn(silent) == "end_turn"
    await host.until("words", lambda: host.notices() == ["Agent 'it' answered nothing."])
    assert await host.turn("/clear all") == "end_turn"
    told = "Agent 'it' has ended /clear without an answer."
    await host.until("words", lambda: [(one.level, one.text) for one in host.of(events.Notice)][1:] == [("info", told)])


@pytest.mark.anyio
async def test_an_empty_turn_is_told_above_the_next_prompt(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "say":
                prompt.say("said")
    """)
    host.open()
    for text in ("nothing", "/clear all", "say", "say"):
        host.prompt(text)
    await host.until("the end of all turns", lambda: len(host.of(events.TurnEnd)) == 4)
    told = [one.text for one in host.editor.events if isinstance(one, events.Append | events.Notice)]
    assert told == [
        *("nothing", "Agent 'it' answered nothing."),
        *("/clear all", "Agent 'it' has ended /clear without an answer."),
        *("say", "said", "say", "said"),
    ]


@pytest.mark.anyio
async def test_a_cancelled_turn_is_not_called_empty(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(empty_turns, "EMPTY_TURN_SECONDS", 0.0)
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "long":
                prompt.wait_cancelled()
    """)
    host.open()
    host.prompt("long")
    await host.until_received("session/prompt")
    host.cancel()
    assert (await host.editor.until_event(events.TurnEnd)).stop_reason == "cancelled"
    assert (await host.until_state("idle")).stop_reason == "cancelled"
    assert await host.turn("nothing") == "end_turn"
    await host.until("words on the second", lambda: "answered nothing" in "".join(host.notices()))
    assert host.notices() == ["Stopped: cancelled", "Agent 'it' answered nothing."]
    assert [one.empty for one in host.of(events.TurnEnd)] == [False, True]


@pytest.mark.anyio
async def test_a_command_that_the_agent_does_not_list_is_named(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(empty_turns, "EMPTY_TURN_SECONDS", 0.0)
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "list":
                listed = [{"name": "clear", "description": "d"}, {"name": "/web", "description": "d"}]
                prompt.update("available_commands_update", availableCommands=listed)
                prompt.say("listed")
    """)
    await host.turn("list")
    expected = []
    for text, words in (
        ("/clear all", "has ended /clear without an answer."),
        ("/web", "has ended /web without an answer."),
        ("/clea r", "answered nothing: it does not know the command /clea."),
    ):
        await host.turn(text)
        expected.append(f"Agent 'it' {words}")
        await host.until("the words", lambda: host.notices() == expected)


@pytest.mark.anyio
async def test_a_call_that_is_told_again_as_pending_does_not_stay_so(host: Host) -> None:
    host.script("""
        INITIALIZE = {"agentCapabilities": {"loadSession": True}}

        def session_load(agent, request):
            agent.update("old", {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run", "status": "pending"})
            return {}
    """)
    host.app.receive("resume", {"session": 1, "agent": "it", "cwd": str(host.cwd), "session_id": "old", "how": "load"})
    await host.until_state("idle")
    await host.until("the end of the call", lambda: [call.status for call in host.calls().values()] == ["unfinished"])


@pytest.mark.anyio
async def test_a_call_from_after_its_turn_is_closed_when_the_agent_is_gone(host: Host) -> None:
    host.script(AGENT)
    await host.turn("later")
    await host.until("the late call", host.calls)
    host.stop()
    await host.until("its end", lambda: closed(host))


@pytest.mark.anyio
async def test_an_agent_that_works_after_its_turn_is_not_idle(host: Host) -> None:
    host.script(AGENT)
    await host.turn("later")
    await host.until_state("background")
