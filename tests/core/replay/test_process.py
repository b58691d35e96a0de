"""The replay as a process on stdio: what it reads, writes and says, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.replay.recording import read_recording
from acp_nvim.traffic.log import TrafficLog
from tests.core.replay.messages import answer, call, note

STEPS = [
    ("sent", call(0, "a", text="ü")),
    ("received", answer(0, "done")),
    ("received", note("b", text="ü\u2028")),
]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Return the path of a recording that acp_nvim made."""
    log = TrafficLog.open(tmp_path / "traffic", "it", ["it"], "/", {})
    for direction, message in STEPS:
        line = json.dumps(message, ensure_ascii=False).encode()
        (log.sent if direction == "sent" else log.received)(line)
    path = log.path
    log.close()
    assert path is not None
    return path


def replay(path: Path, lines: list[Any], *options: str) -> subprocess.CompletedProcess[str]:
    """The whole run, of a client that says these lines and leaves."""
    text = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines)
    command = [sys.executable, "-P", "-m", "acp_nvim.replay", *options, str(path)]
    return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", timeout=30, check=False)


def messages(done: subprocess.CompletedProcess[str]) -> list[Any]:
    """Return the messages that the replay wrote."""
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


@pytest.mark.parametrize("options", [[], ["--strict"], ["--pace"]])
def test_a_client_that_does_as_recorded_hears_it_all(recording: Path, options: list[str]) -> None:
    done = replay(recording, [call(5, "a")], *options)
    assert messages(done) == [answer(5, "done"), note("b", text="ü\u2028")]
    assert done.stderr == "replay: waiting for a, as recorded\n"
    assert done.returncode == 0


def test_a_client_that_leaves_early_is_told_of_to_the_person(recording: Path) -> None:
    for options, code in (([], 0), (["--strict"], 1)):
        done = replay(recording, [], *options)
        assert "the client left at line 2 of the recording, before its end" in done.stderr
        assert done.returncode == code


def test_a_client_that_does_anything_else_makes_no_difference(recording: Path) -> None:
    odd = ["", "noise", "[" * 100_000, "1", [call(1, "x"), 3], answer(9), note("c"), {"id": 1}]
    done = replay(recording, [*odd, call(5, "a"), call(6, "a")])
    ids = [one.get("id") for one in messages(done)]
    assert ids == [1, 5, None, 6]
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_what_is_no_record_is_said_and_passed_over(recording: Path) -> None:
    with recording.open("a") as file:
        file.write(
            'nonsense\n[]\n{"time":1,"direction":"up","message":1}\n{"time":1,"direction":"received","omitted":5}\n'
        )
        file.write('{"time":1,"direction":"received","line":"noise"}\n{"time":1,"direction":"rec')
    assert len(read_recording(recording).problems) == 5
    done = replay(recording, [call(5, "a")])
    assert done.stdout.endswith("\nnoise\n")
    assert done.stderr.count("is not a record") == 5
    assert "a message of 5 bytes was left out" in done.stderr


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = replay(tmp_path / "none.jsonl", [])
    assert done.returncode == 2
    assert "none.jsonl cannot be read" in done.stderr


def test_another_format_is_said(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    path.write_text('{"traffic":2}\n')
    assert "the format 2 is another than 1" in replay(path, []).stderr


def test_a_client_that_listens_no_more_ends_it_quietly(recording: Path) -> None:
    command = [sys.executable, "-P", "-m", "acp_nvim.replay", "--strict", str(recording)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(call(5, "a")).encode() + b"\n")
        process.stdin.close()
        words = process.stderr.read().decode()
        assert process.wait(30) == 1
    assert "the client does not listen any more" in words
    assert "Traceback" not in words


def test_the_parts_of_an_array_that_was_sent_are_waited_for_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "array.jsonl"
    sent = {"time": 0, "direction": "sent", "message": [call(1, "a"), call(2, "b")]}
    received = {"time": 0, "direction": "received", "message": answer(2)}
    path.write_text("".join(json.dumps(one) + "\n" for one in ({"traffic": 1}, sent, received)))
    assert messages(replay(path, [call(8, "b"), call(9, "a")], "--strict")) == [answer(8)]
