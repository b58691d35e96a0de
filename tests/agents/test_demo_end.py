"""How the demo agent stops: on a cancel, and at the end of its stdin."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.agents.demo_client import DemoClient
from tests.support.waiting import wait_until


def test_cancel_stops_the_text_at_once(connect):
    client = connect(env={"ACP_NVIM_DEMO_SPEED": "1"})
    turn = client.begin("/slow")
    client.take_until(lambda message: "Part" in json.dumps(message))
    client.cancel()
    assert client.finish(turn) == {"stopReason": "cancelled"}
    assert "Done." not in client.text()
    assert client.prompt("/fail") == "end_turn"


def test_cancel_while_the_user_is_asked_marks_nothing(connect):
    client = connect()
    del client.handlers["session/request_permission"]
    turn = client.begin("Go")
    asked = client.take_until(lambda message: message.get("method") == "session/request_permission")
    before = len(client.messages)
    client.cancel()
    assert client.finish(turn) == {"stopReason": "cancelled"}
    assert len(client.messages) == before + 1
    client.send({"id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}})
    assert client.prompt("/markdown") == "end_turn"


def test_the_outcome_cancelled_ends_the_turn_as_well(connect):
    client = connect()
    client.choose(None)
    assert client.prompt("Go") == "cancelled"
    assert client.statuses()["edit"] == "pending"


def test_cancel_while_a_file_is_read(connect):
    client = connect()
    del client.handlers["fs/read_text_file"]
    turn = client.begin("Go")
    client.take_until(lambda message: message.get("method") == "fs/read_text_file")
    client.cancel()
    assert client.finish(turn) == {"stopReason": "cancelled"}


@pytest.fixture
def sleepy_wc(tmp_path: Path) -> dict[str, str]:
    """An environment whose `wc` writes its pid to a file and then sleeps."""
    place = tmp_path / "bin"
    place.mkdir()
    script = place / "wc"
    script.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid.new\nmv {tmp_path}/pid.new {tmp_path}/pid\nexec sleep 60\n")
    script.chmod(0o755)
    return {"PATH": f"{place}:{os.environ['PATH']}"}


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


def _running_wc(client: DemoClient, tmp_path: Path) -> tuple[int, int]:
    turn = client.begin("Go")
    client.take_until(lambda message: message.get("params", {}).get("toolCall", {}).get("kind") == "execute")
    wait_until((tmp_path / "pid").exists, what="the command to start")
    return turn, int((tmp_path / "pid").read_text())


def test_cancel_kills_the_command(connect, sleepy_wc, tmp_path):
    client = connect(env=sleepy_wc)
    turn, pid = _running_wc(client, tmp_path)
    client.cancel()
    assert client.finish(turn) == {"stopReason": "cancelled"}
    wait_until(lambda: _is_gone(pid), what="the command to end")
    assert client.statuses()["execute"] == "in_progress"


def test_the_end_of_stdin_ends_the_command_too(connect, sleepy_wc, tmp_path):
    client = connect(env=sleepy_wc)
    _, pid = _running_wc(client, tmp_path)
    client.close_stdin()
    assert client.wait_exit() == 0
    wait_until(lambda: _is_gone(pid), what="the command to end")


@pytest.mark.parametrize("text", ["/slow", "Go"])
def test_the_end_of_stdin_ends_a_turn_in_silence(connect, text):
    client = connect(env={"ACP_NVIM_DEMO_SPEED": "1"})
    client.begin(text)
    client.take_until(lambda message: "chunk" in json.dumps(message))
    client.close_stdin()
    assert client.wait_exit(2) == 0
    assert client.stderr() == ""
