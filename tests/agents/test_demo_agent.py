"""The demo agent as a process: sessions, the tour, and its commands."""

from __future__ import annotations

import base64
import json
import subprocess
import sys

import pytest

import acp_nvim
from acp_nvim.demo_agent import commands, texts
from tests.agents.demo_client import refuse
from tests.support.raw_client import AnswerError

# Sessions and errors


def test_it_says_what_it_is(connect):
    client = connect()
    assert client.initialized["protocolVersion"] == 1
    info = {"name": "acp_nvim-demo", "title": "Demo agent", "version": acp_nvim.__version__}
    assert client.initialized["agentInfo"] == info


def test_a_session_advertises_the_commands(connect):
    client = connect()
    client.take_until(lambda message: message.get("method") == "session/update")
    names = [command["name"] for command in client.updates("available_commands_update")[0]["availableCommands"]]
    assert names == ["edits", "form", "image", "terminal", "slow", "markdown", "fail", "crash"]


def test_sessions_are_separate(connect):
    client = connect()
    first, client.session = client.session, client.new_session()
    assert client.session != first
    slow = client.start("session/prompt", {"sessionId": first, "prompt": [{"type": "text", "text": "/slow"}]})
    assert client.prompt("/markdown") == "end_turn"
    client.notify("session/cancel", {"sessionId": first})
    assert client.finish(slow)["stopReason"] in ("cancelled", "end_turn")


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("session/load", {"sessionId": "x"}, -32601),
        ("no/such", None, -32601),
        ("initialize", {}, -32602),
        ("initialize", {"protocolVersion": True}, -32602),
        ("session/new", {"mcpServers": []}, -32602),
        ("session/new", {"cwd": "relative", "mcpServers": []}, -32602),
        ("session/new", {"cwd": "/"}, -32602),
        ("session/new", [], -32602),
        ("session/prompt", {"sessionId": "demo-1"}, -32602),
        ("session/prompt", {"sessionId": "demo-1", "prompt": ["text"]}, -32602),
        ("session/prompt", {"sessionId": "demo-9", "prompt": []}, -32002),
        ("session/fork", {"sessionId": "demo-9", "cwd": "/", "mcpServers": []}, -32002),
        ("session/set_mode", {"sessionId": "demo-1", "modeId": "none"}, -32602),
    ],
)
def test_wrong_requests_get_the_right_code(connect, method, params, code):
    client = connect()
    with pytest.raises(AnswerError) as caught:
        client.request(method, params)
    assert caught.value.code == code
    assert client.prompt("/markdown") == "end_turn"


@pytest.mark.parametrize(("line", "code"), [(b"{not json\n", -32700), (b"[1]\n", -32600), (b"\xff\n", -32700)])
def test_a_bad_line_is_answered_without_an_id(connect, line, code):
    client = connect()
    client.send_raw(b"\n" + line)
    answer = client.take_until(lambda message: "error" in message)
    assert (answer["id"], answer["error"]["code"]) == (None, code)


def test_stray_messages_do_no_harm(connect):
    client = connect()
    client.notify("no/such/notification", {})
    client.notify("session/cancel", None)
    client.notify("session/cancel", {"sessionId": "none"})
    client.send({"id": 77, "result": {}})
    client.send({"id": [], "result": {}})
    assert client.prompt("/markdown") == "end_turn"


def test_a_second_prompt_in_a_busy_session_is_refused(connect):
    client = connect(env={"ACP_NVIM_DEMO_SPEED": "1"})
    first = client.begin("/slow")
    client.take_until(lambda message: "agent_message_chunk" in json.dumps(message))
    with pytest.raises(AnswerError) as caught:
        client.prompt("/markdown")
    assert caught.value.code == -32600
    client.cancel()
    assert client.finish(first)["stopReason"] == "cancelled"
    assert client.finish(client.begin("/fail"))["stopReason"] == "end_turn"


# The tour


def test_the_tour_shows_everything_once_in_order(connect):
    client = connect()
    assert client.prompt("What is wrong with this?") == "end_turn"
    kinds = [update["sessionUpdate"] for update in client.updates()]
    order = list(dict.fromkeys(kinds))
    assert order == [
        "available_commands_update",
        "agent_thought_chunk",
        "plan",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
    ]
    assert client.statuses() == {"read": "completed", "edit": "completed", "execute": "completed"}


def test_the_plan_goes_on_step_by_step(connect):
    client = connect()
    client.prompt("Go")
    plans = [[entry["status"] for entry in plan["entries"]] for plan in client.updates("plan")]
    assert plans[0] == ["in_progress", "pending", "pending", "pending"]
    assert [plan.count("completed") for plan in plans] == [0, 1, 2, 3, 4]


def test_the_bug_of_the_sample_is_fixed(connect, project):
    before = (project / "greeting.py").read_text()
    client = connect()
    client.prompt("What is wrong with this?")
    run = subprocess.run([sys.executable, "greeting.py"], cwd=project, capture_output=True, text=True, check=True)
    assert run.stdout == (project / "expected.txt").read_text()
    after = (project / "greeting.py").read_text()
    diff = {"type": "diff", "path": str(project / "greeting.py"), "oldText": before, "newText": after}
    assert client.tool_calls()["edit"]["content"] == [diff]


def test_the_permission_carries_what_it_is_about(connect, project):
    client = connect()
    client.prompt("Go")
    edit, execute = client.requests("session/request_permission")
    assert [option["kind"] for option in edit["options"]] == ["allow_once", "allow_always", "reject_once"]
    assert edit["toolCall"]["kind"] == "edit"
    assert edit["toolCall"]["locations"] == [{"path": str(project / "greeting.py"), "line": 6}]
    assert execute["toolCall"]["title"] == "`wc -l greeting.py`"


def test_the_command_shows_its_output(connect):
    client = connect()
    client.prompt("Go")
    assert client.tool_calls()["execute"]["content"][0]["content"]["text"].split() == ["12", "greeting.py"]


def test_the_text_tells_of_the_file_and_that_there_is_no_model(connect):
    client = connect()
    client.prompt("Go")
    assert "## What is in `greeting.py`" in client.text()
    assert "```python\n" in client.text()
    assert "no model" in client.text()
    assert "no model" in client.text("agent_thought_chunk")
    assert len(client.updates("agent_message_chunk")) > 50


def test_a_rejected_edit_changes_nothing_and_the_turn_goes_on(connect, project):
    before = (project / "greeting.py").read_text()
    client = connect()
    client.choose("reject")
    assert client.prompt("Go") == "end_turn"
    assert client.statuses() == {"read": "completed", "edit": "failed", "execute": "failed"}
    assert "left `greeting.py` alone" in client.text()
    assert client.requests("fs/write_text_file") == []
    assert (project / "greeting.py").read_text() == before


def test_always_holds_for_the_session_and_for_one_kind(connect):
    client = connect()
    client.choose("allow-always")
    for _ in range(3):
        client.prompt("Go")
    assert len(client.requests("session/request_permission")) == 2
    client.session = client.new_session()
    client.prompt("Go")
    assert len(client.requests("session/request_permission")) == 4


def test_a_client_that_cannot_ask_has_not_allowed_it(connect):
    client = connect()
    client.handlers["session/request_permission"] = refuse(-32601, "no such method")
    assert client.prompt("Go") == "end_turn"
    assert client.statuses()["edit"] == "failed"


@pytest.mark.parametrize("answer", [None, {}, {"outcome": {}}, {"outcome": {"outcome": "selected", "optionId": "odd"}}])
def test_an_odd_answer_allows_nothing(connect, answer):
    client = connect()
    client.handlers["session/request_permission"] = lambda params: answer
    assert client.prompt("Go") == "end_turn"
    assert client.statuses()["edit"] == "failed"


# Commands


def test_slow_takes_about_ten_seconds():
    seconds = len(texts.SLOW.split()) * commands.SLOW_CHUNK_DELAY
    assert 8 < seconds < 14


def test_markdown_touches_nothing(connect):
    client = connect()
    for command in ("/markdown", "/table"):
        assert client.prompt(command) == "end_turn"
    assert "| `/slow`" in client.text()
    assert client.tool_calls() == {}


def test_edits_change_a_file_in_two_places(connect, project):
    before = (project / "greeting.py").read_text()
    client = connect()
    assert client.prompt("/edits") == "end_turn"
    after = (project / "greeting.py").read_text()
    assert after.startswith("# The demo agent")
    assert after.endswith("# And this one.\n")
    assert before in after
    client.choose("reject")
    client.prompt("/edits README.md")
    assert "left `README.md` alone" in client.text()


def test_a_form_is_asked_and_its_answer_used(connect):
    client = connect()
    answers = [{"action": "accept", "content": {"name": "Ada", "language": "fr", "loud": True}}, {"action": "decline"}]
    client.handlers["elicitation/create"] = lambda params: answers.pop(0)
    client.prompt("/form")
    assert "BONJOUR, ADA!" in client.text()
    client.prompt("/form")
    assert "greet nobody" in client.text()
    client.handlers["elicitation/create"] = refuse(-32601, "no forms here")
    client.prompt("/form")
    assert "no forms here" in client.text()


def test_an_image_is_a_picture(connect):
    client = connect()
    client.prompt("/image")
    chunks = [update["content"] for update in client.updates("agent_message_chunk")]
    (sent,) = [content for content in chunks if content["type"] == "image"]
    assert base64.b64decode(sent["data"]).startswith(b"\x89PNG")


def test_a_terminal_is_the_clients(connect):
    client = connect()
    client.handlers["terminal/create"] = lambda params: {"terminalId": "t1"}
    for name in ("wait_for_exit", "release"):
        client.handlers[f"terminal/{name}"] = lambda params: {}
    client.prompt("/terminal")
    assert client.statuses() == {"execute": "completed"}
    assert client.tool_calls()["execute"]["content"] == [{"type": "terminal", "terminalId": "t1"}]
    client.handlers["terminal/create"] = refuse(-32601, "no terminals here")
    client.prompt("/terminal")
    assert client.statuses() == {"execute": "failed"}


def test_modes_say_what_is_asked(connect, project):
    client = connect()
    before = (project / "greeting.py").read_text()
    client.request("session/set_mode", {"sessionId": client.session, "modeId": "plan"})
    client.prompt("Go")
    assert client.requests("session/request_permission") == []
    assert (project / "greeting.py").read_text() == before
    client.request("session/set_mode", {"sessionId": client.session, "modeId": "auto"})
    client.prompt("/edits")
    assert client.requests("session/request_permission") == []
    assert (project / "greeting.py").read_text() != before


def test_a_fork_keeps_the_mode(connect, project):
    client = connect()
    client.request("session/set_mode", {"sessionId": client.session, "modeId": "plan"})
    answer = client.request("session/fork", {"sessionId": client.session, "cwd": str(project), "mcpServers": []})
    assert answer["sessionId"] != client.session
    assert answer["modes"]["currentModeId"] == "plan"


def test_the_tour_ends_with_what_to_try(connect):
    client = connect()
    client.prompt("Go")
    for words in (":AcpReview", "/edits", "/form", "/image", ":AcpFork", ":AcpTutor"):
        assert words in client.text()


def test_fail_fails_a_tool_call(connect):
    client = connect()
    assert client.prompt("/fail") == "end_turn"
    assert client.statuses() == {"read": "failed"}


def test_crash_leaves_with_words_and_a_code(connect):
    client = connect()
    client.begin("/crash now")
    assert client.wait_exit() == 3
    assert "/crash asked for it" in client.stderr()


def test_an_unknown_command_gets_the_list(connect):
    client = connect()
    assert client.prompt("/what") == "end_turn"
    assert "`/slow`" in client.text()


def test_a_path_is_not_a_command(connect, project):
    client = connect()
    client.prompt(f"{project}/README.md explain")
    assert client.requests("fs/read_text_file")[0]["path"] == str(project / "README.md")


@pytest.mark.parametrize("speed", ["", "nonsense", "-3", "nan", "-inf"])
def test_an_odd_speed_is_no_trouble(connect, speed):
    client = connect(env={"ACP_NVIM_DEMO_SPEED": speed})
    assert client.prompt("/fail") == "end_turn"
