"""What users set of a session, what sessions begin with, and what is kept for that: told, refused, late, and lost."""

from __future__ import annotations

import json

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.events import Config
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

AGENT = """
    NAMES = {"mode": ["ask", "plan", "code"], "engine": ["mini", "big"], "effort": ["low", "high"]}
    CATEGORIES = {"mode": "mode", "engine": "model"}
    def fresh():
        return {"mode": "ask", "engine": "mini", "effort": "low", "brave": False}
    NOW = {}
    def options(session_id):
        now = NOW.setdefault(session_id, fresh())
        told = [{"id": what, "name": what.title(), "type": "select", "currentValue": now[what], "category":
                CATEGORIES.get(what), "options": [{"value": one, "name": one.title()} for one in values]}
                for what, values in NAMES.items()]
        return [*told, {"id": "brave", "name": "Brave", "type": "boolean", "currentValue": now["brave"]}]
    def session_new(agent, request):
        session_id = f"s{len(NOW)}-{os.getpid()}"
        return {"sessionId": session_id, "configOptions": options(session_id)}
    def session_set_config_option(agent, request):
        session_id, what, value = (request.params[name] for name in ("sessionId", "configId", "value"))
        if value == "code":
            raise Error(-32602, "no code today")
        NOW[session_id][what] = value
        return {"configOptions": options(session_id)}
"""
OLD = """
    MODES = {"currentModeId": "ask", "availableModes": [
        {"id": "ask", "name": "Ask"}, {"id": "urn:plan", "name": "Plan"}]}
    MODELS = {"currentModelId": "big", "availableModels": [
        {"modelId": "big", "name": "Big"}, {"modelId": "mini", "name": "Mini"}]}
    SESSION = {"modes": MODES, "models": MODELS}
    def session_set_mode(agent, request):
        return {}
    def session_set_model(agent, request):
        return {}
"""


def put(host: Host, option: str, value: str | bool, key: int = 1, keep: bool = False) -> None:
    """Set an option as the user."""
    host.app.receive("config_set", {"session": key, "option": option, "value": value, "keep": keep})


def now(host: Host, key: int = 1) -> dict[str, object]:
    """What was told last of the options, by id."""
    told = host.of(Config, key)
    return {one.id: one.current for one in told[-1].options} if told else {}


def changing(host: Host, key: int = 1) -> dict[str, object]:
    """What was told last that is asked for."""
    return {one.id: one.changing for one in host.of(Config, key)[-1].options if one.changing is not None}


def sets(host: Host) -> list[tuple[str, object]]:
    """What the agent was asked to set, in order."""
    return [
        (one["params"]["configId"], one["params"]["value"])
        for one in host.scripts["it"].received("session/set_config_option")
    ]


def errors(host: Host) -> list[str]:
    """Return the errors that the user was shown."""
    return [event.text for event in host.editor.all(events.Error)]


async def opened(host: Host, script: str = AGENT) -> None:
    """An open session with that agent."""
    host.script(script)
    host.open()
    await host.until_state("idle")


async def test_what_is_set_is_told_as_changing_until_the_agent_has_answered(host: Host) -> None:
    await opened(host)
    put(host, "mode", "Plan")
    assert changing(host) == {"mode": "plan"}
    assert now(host)["mode"] == "ask"
    status = host.status()
    assert status is not None
    assert (status.mode, status.mode_next) == ("ask", "Plan")
    await host.until("the mode", lambda: now(host)["mode"] == "plan" and not changing(host))
    status = host.status()
    assert status is not None
    assert (status.mode, status.mode_next, status.mode_name) == ("plan", None, "Plan")


async def test_changes_are_made_in_their_order(host: Host) -> None:
    await opened(host)
    for mode in ("plan", "ask", "plan"):
        put(host, "mode", mode)
    put(host, "brave", "on")
    await host.until("the last", lambda: now(host)["brave"] is True)
    assert sets(host) == [("mode", "plan"), ("mode", "ask"), ("mode", "plan"), ("brave", True)]
    assert now(host)["mode"] == "plan"


async def test_a_refusal_leaves_what_was_and_says_whose_it_is(host: Host) -> None:
    await opened(host)
    put(host, "mode", "code")
    await host.until("the refusal", lambda: any("no code today" in text and "'it'" in text for text in host.notices()))
    await host.until("the end of it", lambda: not changing(host))
    assert now(host)["mode"] == "ask"


async def test_what_is_not_offered_is_said_to_who_typed_it_and_not_sent(host: Host) -> None:
    await opened(host)
    put(host, "colour", "red")
    put(host, "mode", "sing")
    await host.until("both", lambda: len(errors(host)) == 2)
    assert "no 'colour' to set, but mode, engine, effort, brave" in errors(host)[0]
    assert "no value 'sing', but ask, plan, code" in errors(host)[1]
    assert host.notices() == []
    assert sets(host) == []


async def test_what_the_agent_says_right_after_its_answer_counts(host: Host) -> None:
    await opened(
        host,
        AGENT
        + """
    def session_set_config_option(agent, request):
        session_id = request.params["sessionId"]
        first = {"jsonrpc": "2.0", "id": request.id, "result": {"configOptions": options(session_id)}}
        NOW[session_id]["mode"] = "plan"
        update = {"sessionUpdate": "config_option_update", "configOptions": options(session_id)}
        params = {"sessionId": session_id, "update": update}
        second = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        agent.raw((json.dumps(first) + "\\n" + json.dumps(second) + "\\n").encode())
        return NO_ANSWER
""",
    )
    put(host, "mode", "ask")
    await host.until("the end of it", lambda: now(host)["mode"] == "plan" and not changing(host))
    await host.turn()
    assert now(host)["mode"] == "plan"


async def test_without_an_agent_it_is_started_and_set_before_a_prompt_goes_out(host: Host) -> None:
    await opened(host)
    host.stop()
    await host.until_state("stopped")
    put(host, "mode", "plan")
    host.prompt("hi")
    await host.until("the turn", lambda: host.of(events.TurnEnd))
    methods = [one["method"] for one in host.scripts["it"].received() if "method" in one]
    assert methods[-2:] == ["session/set_config_option", "session/prompt"]


async def test_an_agent_that_does_not_answer_holds_nothing_up_for_ever(host: Host) -> None:
    await opened(host, AGENT + "    def session_set_config_option(agent, request):\n        return NO_ANSWER\n")
    host.app.sessions[1].configuration.patience = 0.05
    put(host, "mode", "plan")
    assert await host.turn() == "end_turn"
    assert any("has not answered within 0.05 s that 'Mode'" in text for text in host.notices())
    assert now(host)["mode"] == "ask"


async def test_who_stops_the_agent_meanwhile_does_not_wait_for_its_answer(host: Host) -> None:
    await opened(host, AGENT + "    def session_set_config_option(agent, request):\n        return NO_ANSWER\n")
    host.open(2)
    await host.until_state("idle", 2)  # the process goes on for this one
    host.app.sessions[1].configuration.patience = 1000
    put(host, "mode", "plan")
    await host.until_received("session/set_config_option")
    host.stop()
    await host.until_state("stopped")
    await host.until("the end of it", lambda: not changing(host))
    assert not any("has not answered" in text for text in host.notices())


async def test_an_agent_that_dies_of_it_is_told_once_and_not_asked_again(host: Host) -> None:
    await opened(
        host,
        AGENT + "    def session_set_config_option(agent, request):\n        os._exit(3)\n",
    )
    put(host, "mode", "plan")
    await host.until_state("failed")
    assert len([text for text in host.notices() if "exit code 3" in text]) == 1
    assert await host.turn() == "end_turn"
    assert sets(host) == [("mode", "plan")]


async def test_an_agent_that_was_started_anew_is_told_again_what_was_set_in_the_chat(host: Host) -> None:
    await opened(host, AGENT + "    def turn(agent, prompt):\n        prompt.text == 'die' and os._exit(3)\n")
    put(host, "mode", "plan")
    await host.until("the mode", lambda: now(host)["mode"] == "plan")
    host.prompt("die")
    await host.until_state("failed")
    await host.turn()
    assert sets(host) == [("mode", "plan"), ("mode", "plan")]
    assert now(host)["mode"] == "plan"


async def test_a_session_that_goes_on_after_a_death_has_the_mode_that_was_set(host: Host) -> None:
    await opened(
        host,
        AGENT
        + """
    INITIALIZE = {"agentCapabilities": {"sessionCapabilities": {"resume": {}}}}
    def session_resume(agent, request):
        return {"configOptions": options(request.params["sessionId"])}
    def turn(agent, prompt):
        prompt.text == "die" and os._exit(3)
""",
    )
    put(host, "mode", "plan")
    await host.until("the mode", lambda: now(host)["mode"] == "plan")
    host.prompt("die")
    await host.until_state("failed")
    await host.turn()
    assert len(host.scripts["it"].received("session/resume")) == 1
    assert sets(host) == [("mode", "plan"), ("mode", "plan")]


async def test_what_was_set_while_another_host_had_the_chat_is_set_again(host: Host) -> None:
    host.left_behind(options={"mode": "plan", "effort": "low"})
    host.script(AGENT)
    host.open()
    await host.turn()
    assert sets(host) == [("mode", "plan")]


async def test_what_is_refused_when_the_session_goes_on_is_not_asked_for_each_time(host: Host) -> None:
    host.left_behind(options={"mode": "code"})
    host.script(AGENT)
    host.open()
    for _ in range(2):
        await host.turn()
        host.stop()
        await host.until_state("stopped")
    assert len([text for text in host.notices() if "no code today" in text]) == 1


async def test_modes_and_models_of_agents_without_options_are_set_the_same_way(host: Host) -> None:
    await opened(host, OLD)
    put(host, "mode", "Plan")
    put(host, "model", "mini")
    await host.until("both", lambda: now(host) == {"mode": "urn:plan", "model": "mini"})
    assert host.scripts["it"].received("session/set_mode")[0]["params"]["modeId"] == "urn:plan"
    assert host.scripts["it"].received("session/set_model")[0]["params"]["modelId"] == "mini"
    status = await host.until_state("idle")
    assert (status.mode_name, status.model, status.model_name) == ("Plan", "mini", "Mini")


async def test_sessions_begin_with_what_is_configured_the_model_first(host: Host) -> None:
    host.script(AGENT)
    wanted = {"mode": "plan", "model": "Big", "options": {"effort": "high", "brave": True}}
    host.config["agents"]["it"]["defaults"] = wanted
    host.hello()
    await host.turn()
    assert sets(host)[0] == ("engine", "big")
    assert sorted(map(str, sets(host)[1:])) == sorted(map(str, [("effort", "high"), ("brave", True), ("mode", "plan")]))
    methods = [one["method"] for one in host.scripts["it"].received() if "method" in one]
    assert methods == ["initialize", "session/new", *["session/set_config_option"] * 4, "session/prompt"]


async def test_what_is_kept_is_for_new_sessions_and_the_configuration_goes_first(host: Host) -> None:
    await opened(host)
    put(host, "model", "big", keep=True)
    put(host, "effort", "high", keep=True)
    await host.until("both", lambda: any("begin with Effort: High" in text for text in host.notices()))
    host.config["agents"]["it"]["defaults"] = {"model": "mini"}
    host.hello()
    host.open(2)
    await host.until("the options", lambda: now(host, 2).get("effort") == "high")
    assert await host.turn(key=2) == "end_turn"
    assert now(host, 2) == {"mode": "ask", "engine": "mini", "effort": "high", "brave": False}
    host.app.receive("config_forget", {"session": 2})
    await host.until("that", lambda: any("forgotten (engine: big, effort: high)" in text for text in host.notices(2)))
    host.open(3)
    await host.turn(key=3)
    assert now(host, 3)["effort"] == "low"


async def test_what_is_not_offered_any_more_is_said_once_and_stops_nothing(host: Host) -> None:
    host.script(AGENT)
    host.config["agents"]["it"]["defaults"] = {"mode": "gone", "options": {"old": "x", "effort": "high"}}
    host.hello()
    await host.turn()
    assert sets(host) == [("effort", "high")]
    assert len([text for text in host.notices() if "as it should be here" in text]) == 2
    await host.turn(key=2)
    assert host.notices(2) == []


async def test_a_session_that_is_taken_up_is_left_as_it_was(host: Host) -> None:
    host.script(
        AGENT
        + """
    INITIALIZE = {"agentCapabilities": {"loadSession": True}}
    def session_load(agent, request):
        return {"configOptions": options(request.params["sessionId"])}
"""
    )
    host.config["agents"]["it"]["defaults"] = {"mode": "plan"}
    host.hello()
    wanted = {"session": 1, "agent": "it", "cwd": str(host.cwd), "session_id": "old", "how": "load"}
    host.app.receive("resume", wanted)
    await host.until_state("idle")
    await host.turn()
    assert sets(host) == []


async def test_a_redraw_tells_it_again(host: Host) -> None:
    await opened(host)
    before = now(host)
    host.editor.events.clear()
    host.app.receive("redraw", {"session": 1})
    assert now(host) == before


async def test_a_file_that_others_wrote_is_put_aside_and_told(host: Host) -> None:
    state = host.log_path.parent.with_name("state")
    state.mkdir(parents=True, exist_ok=True)
    (state / "defaults.json").write_text('{"agents": 3}')
    host.script(AGENT)
    await host.turn()
    assert any("cannot be read or written" in text and "broken" in text for text in host.notices())
    assert "Expected `object`, got `int` - at `$.agents`" in host.log_path.read_text()
    put(host, "mode", "plan", keep=True)
    await host.until("it is kept", lambda: (state / "defaults.json").exists())
    assert json.loads((state / "defaults.json").read_bytes()) == {"agents": {"it": {"mode": "plan"}}}
    assert [path.name for path in state.glob("defaults.broken-*")] != []
