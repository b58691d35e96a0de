"""The scripted agent: what it answers by itself, and what a turn can do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.raw_client import AnswerError

# What is answered by default


def test_an_empty_script_is_a_whole_agent(start):
    client = start("")
    assert client.request("initialize", {"protocolVersion": 1})["agentInfo"]["name"] == "scripted"
    assert client.turn("hello") == {"stopReason": "end_turn"}
    assert client.text() == "You said: hello"
    with pytest.raises(AnswerError) as caught:
        client.request("session/load", {})
    assert caught.value.code == -32601
    client.close_stdin()
    assert client.wait_exit() == 0
    assert client.stderr() == ""


def test_default_results_can_be_changed(start):
    client = start("""
        INITIALIZE = {"agentCapabilities": {"loadSession": True}, "authMethods": [{"id": "x", "name": "X"}]}
        SESSION = {"sessionId": "mine", "modes": {"currentModeId": "a", "availableModes": []}}
    """)
    answer = client.request("initialize", {"protocolVersion": 1})
    assert answer["agentCapabilities"] == {"loadSession": True}
    assert answer["agentInfo"]["name"] == "scripted"
    assert client.open() == "mine"


def test_functions_named_after_methods_answer(start):
    client = start("""
        def initialize(agent, request):
            return {**agent.initialize_result(), "protocolVersion": request.params["protocolVersion"] + 1}

        def session_set_mode(agent, request):
            agent.note(mode=request.params["modeId"])

        def authenticate(agent, request):
            raise Error(-32000, "Authentication required", {"why": "no key"})
    """)
    assert client.request("initialize", {"protocolVersion": 1})["protocolVersion"] == 2
    assert client.request("session/set_mode", {"modeId": "ask"}) == {}
    assert client.script.notes("mode") == ["ask"]
    with pytest.raises(AnswerError):
        client.request("authenticate", {"methodId": "x"})
    assert client.messages[-1]["error"]["data"] == {"why": "no key"}


def test_opened_comes_after_the_session(start):
    client = start("""
        def opened(agent, session_id):
            agent.update(session_id, {"sessionUpdate": "available_commands_update", "availableCommands": []})
    """)
    session = client.open()
    message = client.take_until(lambda message: message.get("method") == "session/update")
    assert message["params"]["sessionId"] == session


# Turns


@pytest.mark.parametrize(
    ("given", "result"),
    [
        ("None", {"stopReason": "end_turn"}),
        ("'refusal'", {"stopReason": "refusal"}),
        ("{'stopReason': 'end_turn', 'x': 1}", {"stopReason": "end_turn", "x": 1}),
        ("[]", []),
    ],
)
def test_what_a_turn_returns_is_its_answer(start, given, result):
    assert start(f"def turn(agent, prompt): return {given}").turn() == result


def test_a_turn_shows_asks_reads_and_writes(start):
    client = start("""
        def turn(agent, prompt):
            prompt.think("hm")
            prompt.plan(("one", "in_progress"), ("two", "pending"))
            prompt.tool("c1", "Edit", kind="edit", status="pending")
            if prompt.ask("c1", kind="edit") == "allow":
                prompt.write("/f", prompt.read("/f", line=2) + "!")
                prompt.tool_update("c1", status="completed")
            prompt.say("done", messageId="m1")
    """)
    client.handlers["session/request_permission"] = lambda params: {
        "outcome": {"outcome": "selected", "optionId": "allow"}
    }
    client.handlers["fs/read_text_file"] = lambda params: {"content": f"line {params['line']}"}
    client.handlers["fs/write_text_file"] = lambda params: None
    client.turn()
    kinds = [update["sessionUpdate"] for update in client.updates()]
    assert kinds == ["agent_thought_chunk", "plan", "tool_call", "tool_call_update", "agent_message_chunk"]
    assert client.requests("fs/write_text_file")[0]["content"] == "line 2!"


def test_an_error_answer_can_be_caught(start):
    client = start("""
        def turn(agent, prompt):
            try:
                prompt.read("/f")
            except Error as error:
                prompt.say(f"{error.code} {error.message}")
    """)

    def refuse(params: Any) -> Any:
        raise AnswerError(-32002, "gone")

    client.handlers["fs/read_text_file"] = refuse
    client.turn()
    assert client.text() == "-32002 gone"


def test_a_turn_waits_until_the_client_has_heard_what_it_said(start):
    client = start("""
        def turn(agent, prompt):
            prompt.say("hello")
            prompt.until_heard()
            agent.note(heard=True)
    """)
    prompt = client.begin(client.open())
    asked = client.take_until(lambda message: message.get("method") == "_heard")
    assert client.text() == "hello"
    assert client.script.notes("heard") == []
    client.send({"id": asked["id"], "error": {"code": -32601, "message": "Method not found"}})
    assert client.finish(prompt) == {"stopReason": "end_turn"}
    assert client.script.notes("heard") == [True]


def test_a_turn_sees_its_cancel_only(start):
    client = start("""
        def turn(agent, prompt):
            prompt.say(prompt.text)
            prompt.wait_cancelled()
            return "cancelled"
    """)
    first, second = client.open(), client.open()
    turns = [client.begin(first, "a"), client.begin(second, "b")]
    client.notify("session/cancel", {"sessionId": second})
    assert client.finish(turns[1]) == {"stopReason": "cancelled"}
    assert not [message for message in client.messages if message.get("id") == turns[0]]
    client.notify("session/cancel", {"sessionId": first})
    assert client.finish(turns[0]) == {"stopReason": "cancelled"}


def test_a_pause_ends_with_the_cancel(start):
    client = start("""
        def turn(agent, prompt):
            prompt.say("waiting")
            return "cancelled" if prompt.pause(60) else "end_turn"
    """)
    session = client.open()
    turn = client.begin(session)
    client.notify("session/cancel", {"sessionId": session})
    assert client.finish(turn) == {"stopReason": "cancelled"}


def test_no_answer_is_no_answer(start):
    client = start("""
        def turn(agent, prompt):
            prompt.say("that is all")
            return NO_ANSWER
    """)
    session = client.open()
    turn = client.begin(session)
    client.take_until(lambda message: message.get("method") == "session/update")
    with pytest.raises(AnswerError):  # the next request is answered, and the agent was not merely slow
        client.request("no/such", {})
    assert not [message for message in client.messages if message.get("id") == turn]


def test_calls_may_overlap_and_have_any_id(start):
    client = start("""
        STRING_IDS = True

        def turn(agent, prompt):
            calls = [agent.call("a"), agent.call("b"), agent.call("c", {}, "same"), agent.call("d", {}, "same")]
            prompt.say(" ".join(call.result() for call in reversed(calls[:2])))
            prompt.say(" ".join(call.result() for call in calls[2:]))
    """)
    client.handlers = {name: lambda params, name=name: name for name in "abcd"}
    client.turn()
    assert client.text() == "b ac d"
    ids = [message["id"] for message in client.messages if message.get("method") in list("abcd")]
    assert ids == ["agent-1", "agent-2", "same", "same"]


def test_a_flood_is_whole_and_in_order(start):
    count = 20_000
    client = start(f"""
        def turn(agent, prompt):
            prompt.say_all(f"{{n}} " for n in range({count}))
    """)
    session = client.open()
    client.finish(client.begin(session), 60)
    assert client.text().split() == [str(n) for n in range(count)]
    assert len(client.script.sent("session/update")) == count
