"""The scripted agent: everything that other tests rely on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_scripts import AgentScript, agent_script, read_traffic
from tests.support.processes import look_at
from tests.support.raw_client import AnswerError, RawClient


class Started(RawClient):
    """A client of a scripted agent."""

    def __init__(self, script: AgentScript, cwd: Path) -> None:
        super().__init__(script.argv, cwd)
        self.script = script

    def open(self) -> str:
        self.request("initialize", {"protocolVersion": 1})
        answer: str = self.request("session/new", {"cwd": "/", "mcpServers": []})["sessionId"]
        return answer

    def begin(self, session: str, text: str = "hi") -> int:
        return self.start("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})

    def turn(self, text: str = "hi") -> Any:
        """Open a session, and prompt: the whole result."""
        return self.finish(self.begin(self.open(), text))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Started]]:
    """Starts agents with a script; they, and what they spawned, are killed at the end."""
    started: list[Started] = []

    def begin(source: str) -> Started:
        started.append(Started(agent_script(tmp_path, source, f"agent{len(started)}"), tmp_path))
        return started[-1]

    yield begin
    for client in started:
        client.process.kill()
        for pid in client.script.notes("spawned"):
            if look_at(pid):
                os.kill(pid, signal.SIGKILL)
        with client:
            pass


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


@pytest.mark.parametrize("count", [20_000, 100_000])
def test_a_flood_is_whole_and_in_order(start, count):
    client = start(f"""
        def turn(agent, prompt):
            prompt.say_all(f"{{n}} " for n in range({count}))
    """)
    session = client.open()
    client.finish(client.begin(session), 60)
    assert client.text().split() == [str(n) for n in range(count)]
    assert len(client.script.sent("session/update")) == count


# The wire


def test_a_run_answers_everything_itself(start):
    client = start("""
        def run(agent):
            session = agent.handshake()
            prompt = agent.expect("session/prompt")
            agent.notify("odd/notification", [1])
            prompt.say("first")
            prompt.fail(401, "who are you?", None)
            agent.expect("session/prompt").reply({"stopReason": "end_turn"})
            agent.serve()
    """)
    session = client.open()
    with pytest.raises(AnswerError) as caught:
        client.finish(client.begin(session))
    assert caught.value.code == 401
    assert client.finish(client.begin(session)) == {"stopReason": "end_turn"}
    assert client.finish(client.begin(session, "again")) == {"stopReason": "end_turn"}
    assert client.text() == "firstYou said: again"


def test_expect_leaves_the_others_for_later(start):
    client = start("""
        def run(agent):
            agent.expect("second").reply(2)
            agent.expect("first").reply(1)
    """)
    first, second = client.start("first", {}), client.start("second", {})
    assert (client.finish(first), client.finish(second)) == (1, 2)
    answers = [message["result"] for message in client.messages]
    assert answers == [2, 1]


def test_noise_goes_out_as_it_is(start, tmp_path):
    client = start(r"""
        def start(agent):
            agent.raw(b"Welcome!\n\xff\x00\n")
            agent.raw(b'{"jsonrpc": "2.0", "method": "half')
            agent.raw(b' a line", "params": {}}\n')
            agent.stderr("noise\n")
            agent.exit(4)
    """)
    assert client.wait_exit() == 4
    assert client.stderr() == "noise\n"
    raw = [line.value for line in client.script.traffic() if line.kind == "sent_raw"]
    assert raw == ["Welcome!\n\\xff\x00\n", '{"jsonrpc": "2.0", "method": "half', ' a line", "params": {}}\n']


def test_the_traffic_has_both_directions_in_order(start):
    client = start("")
    client.turn()
    traffic = client.script.traffic()
    assert traffic[0].value["started"] == client.process.pid
    sequence = [(line.kind, line.method) for line in traffic[1:]]
    assert sequence == [
        ("received", "initialize"),
        ("sent", None),
        ("received", "session/new"),
        ("sent", None),
        ("received", "session/prompt"),
        ("sent", "session/update"),
        ("sent", None),
    ]
    assert client.script.received("session/prompt")[0]["params"]["prompt"] == [{"type": "text", "text": "hi"}]


def test_the_traffic_may_be_named_in_the_environment(tmp_path):
    script = agent_script(tmp_path, "")
    path = tmp_path / "elsewhere.jsonl"
    with RawClient(
        [*script.argv[:1], "-S", *script.argv[3:5]], tmp_path, {"ACP_NVIM_TEST_TRAFFIC": str(path)}
    ) as client:
        client.request("initialize", {"protocolVersion": 1})
    assert [line.method for line in read_traffic(path) if line.kind == "received"] == ["initialize"]
    assert script.traffic() == []


def test_reading_can_be_paused(start):
    client = start("""
        def run(agent):
            agent.expect("stop")
            agent.pause_reading()
            agent.notify("stopped")
            time.sleep(0.3)
            agent.note(seen_while_paused=len(agent._inbox))
            agent.resume_reading()
            agent.serve()
    """)
    client.notify("stop", {})
    client.take_until(lambda message: message.get("method") == "stopped")
    for _ in range(3):
        client.notify("more", {})
    with pytest.raises(AnswerError):
        client.request("no/such", {})
    assert client.script.notes("seen_while_paused")[0] <= 1


# The process


def test_it_can_outlive_the_end_of_stdin_and_sigterm(start):
    client = start("""
        IGNORE_EOF = IGNORE_SIGTERM = True

        def turn(agent, prompt):
            prompt.say("x")
            agent.note(turn="over")
    """)
    session = client.open()
    client.begin(session)
    client.close_stdin()
    client.process.terminate()
    client.take_until(lambda message: "result" in message and "stopReason" in message["result"])
    assert client.process.poll() is None


def test_it_can_take_its_time_at_the_end_of_stdin(start):
    client = start("""
        def at_eof(agent):
            agent.note(eof=True)
            agent.exit(5)
    """)
    client.close_stdin()
    assert client.wait_exit() == 5
    assert client.script.notes("eof") == [True]


@pytest.mark.parametrize("setsid", [False, True])
def test_it_spawns_children_that_stay(start, setsid):
    client = start(f"""
        def start(agent):
            agent.spawn(STUBBORN, setsid={setsid})
    """)
    client.open()
    child = look_at(client.script.notes("spawned")[0])
    assert child is not None
    assert (child.group == child.pid) == setsid
    client.close_stdin()
    client.wait_exit()
    os.kill(child.pid, signal.SIGTERM)
    assert look_at(child.pid) is not None


def test_a_child_may_hold_the_pipes_open(start):
    client = start("""
        def start(agent):
            agent.spawn(["sleep", "60"], share_pipes=True)
    """)
    client.open()
    client.close_stdin()
    client.wait_exit()
    with pytest.raises(AssertionError, match="silent"):
        client.take_until(lambda message: False, 0.2)


def test_it_can_die_and_close_its_stdout(start):
    client = start("""
        def turn(agent, prompt):
            agent.close_stdout()
            agent.note(closed=True)
            return NO_ANSWER

        def please_die(agent, request):
            agent.die(signal.SIGSEGV)
    """)
    client.begin(client.open())
    with pytest.raises(AssertionError, match="closed its stdout"):
        client.take_until(lambda message: False, 5)
    client.notify("please/die", {})
    assert client.wait_exit() == -signal.SIGSEGV


def test_a_mistake_in_a_script_is_loud(start):
    client = start("def turn(agent, prompt): prompt.sya('x')")
    session = client.open()
    client.begin(session)
    assert client.wait_exit() == 70
    assert "AttributeError" in client.stderr()


def test_the_test_may_wait_for_what_the_agent_got(start):
    client = start("")
    session = client.open()
    client.notify("session/cancel", {"sessionId": session})
    assert client.script.wait_received("session/cancel")[0]["params"] == {"sessionId": session}
    with pytest.raises(AssertionError, match="never at the agent"):
        client.script.wait_received("never", limit=0.05)


def test_an_answer_may_be_slow(start):
    client = start("""
        def initialize(agent, request):
            time.sleep(0.3)
            agent.note(slept=True)
            return agent.initialize_result()
    """)
    client.request("initialize", {"protocolVersion": 1})
    assert client.script.notes("slept") == [True]
