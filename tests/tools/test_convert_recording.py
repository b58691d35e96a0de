"""Raw traffic becomes a recording that can be played, without what names a machine, secrets and bulk."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from acp_nvim.replay.recording import Record, read_recording
from tests.tools.convert_recording import LONGEST_TEXT, MOST_CHUNKS


def converted(directory: Path, raw: list[dict[str, Any]], *options: str) -> list[Record]:
    """Convert these lines and return the recording."""
    source, target = directory / "raw.jsonl", directory / "recording.jsonl"
    source.write_text("".join(json.dumps(one) + "\n" for one in raw), encoding="utf-8")
    command = [sys.executable, "-m", "tests.tools.convert_recording", str(source), str(target), "--agent", "it 1.0"]
    subprocess.run([*command, *options], cwd=Path(__file__).parents[2], check=True, timeout=60)
    recording = read_recording(target)
    assert recording.problems == []
    assert recording.header == {"traffic": 1, "agent": "it 1.0", "command": ["it 1.0"], "cwd": "/project"}
    return recording.records


def test_directions_times_and_messages_stay(tmp_path: Path) -> None:
    raw = [
        {"t": 0.12345, "dir": "c2a", "line": '{"id": 1, "method": "a"}'},
        {"t": 1, "dir": "a2c", "line": "noise"},
        {"t": 2, "dir": "note", "line": "the end"},
        {"traffic": 1},
        {"time": 3, "direction": "received", "message": {"id": 1, "result": None}},
        {"time": 4, "direction": "sent", "line": "noise"},
    ]
    assert converted(tmp_path, raw) == [
        Record(2, 0.123, "sent", {"id": 1, "method": "a"}),
        Record(3, 1.0, "received", line="noise"),
        Record(4, 3.0, "received", {"id": 1, "result": None}),
        Record(5, 4.0, "sent", line="noise"),
    ]


def test_names_of_the_machine_are_replaced_in_order_and_secrets_masked(tmp_path: Path) -> None:
    raw = [{"t": 0, "dir": "c2a", "line": '{"cwd": "/home/me/work/x", "home": "/home/me", "token": "abc"}'}]
    options = ["--replace", "/home/me/work=/project", "--replace", r"/home/\w+=/home/user"]
    [record] = converted(tmp_path, raw, *options)
    assert record.message == {"cwd": "/project/x", "home": "/home/user", "token": "[masked]"}


def test_bulk_is_cut_and_says_so(tmp_path: Path) -> None:
    message = {"text": "a" * LONGEST_TEXT + "b", "list": [{"description": "c" * 100, "name": "d"}]}
    [record] = converted(tmp_path, [{"t": 0, "dir": "a2c", "line": json.dumps(message)}])
    head, middle, tail = record.message["text"].split("\n")
    assert (set(head), middle, tail[-2:]) == ({"a"}, "[7001 characters cut from the recording]", "ab")
    assert record.message["list"] == [{"description": "c" * 79 + "…", "name": "d"}]


def test_of_a_text_that_comes_again_and_again_only_the_beginning_stays(tmp_path: Path) -> None:
    def chunk(number: int) -> dict[str, Any]:
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": str(number)}}
        message = {"method": "session/update", "params": {"sessionId": "s", "update": update}}
        return {"t": number, "dir": "a2c", "line": json.dumps(message)}

    answered = {"t": 900, "dir": "a2c", "line": '{"id":1,"result":{}}'}
    asked = {"t": 901, "dir": "c2a", "line": '{"id":2,"method":"a"}'}
    records = converted(tmp_path, [*map(chunk, range(MOST_CHUNKS + 50)), answered, asked, chunk(999)])
    times = [record.time for record in records]
    assert times == [*range(MOST_CHUNKS), 900, 901, 999]
