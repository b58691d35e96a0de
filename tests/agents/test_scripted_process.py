"""The scripted agent as a process: the wire, the traffic that it writes down, children, and its end."""

from __future__ import annotations

import os
import signal

import pytest

from tests.support.agent_scripts import agent_script, read_traffic
from tests.support.processes import look_at
from tests.support.raw_client import AnswerError, RawClient

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
