"""A recording holds every line in order, without secrets, in files of bounded size; nothing that fails is felt."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim import __version__
from acp_nvim.traffic import log as traffic_log
from acp_nvim.traffic.log import TRAFFIC_MESSAGE_BYTES, TRAFFIC_STRINGS, TrafficLog

Open = Callable[..., TrafficLog]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Begins recordings in `tmp_path / "traffic"`."""
    begun: list[TrafficLog] = []

    def begin(agent: str = "it", command: list[str] | None = None, env: dict[str, str] | None = None) -> TrafficLog:
        begun.append(TrafficLog.open(tmp_path / "traffic", agent, command or ["it"], "/project", env or {}))
        return begun[-1]

    yield begin
    for log in begun:
        log.close()


def records(log: TrafficLog) -> list[dict[str, Any]]:
    """All that stands in the file, the header first."""
    assert log.path is not None
    return [json.loads(line) for line in log.path.read_bytes().split(b"\n")[:-1]]


def test_the_header_says_what_was_recorded_without_its_secrets(opened: Open) -> None:
    log = opened("it", ["it", "--token", "abc", "very-secret"], {"MODE": "very-secret"})
    header = records(log)[0]
    assert isinstance(header.pop("started"), str)
    command = ["it", "--token", "[masked]", "[masked]"]
    assert header == {"traffic": 1, "agent": "it", "command": command, "cwd": "/project", "version": __version__}


def test_each_line_is_in_the_file_at_once_in_order(opened: Open) -> None:
    log = opened()
    log.sent(b'{"id":1,"method":"initialize"}')
    log.received(b'{"id":1,"result":{}}\r\n')
    log.received(b"no JSON: token=abcdefgh1")
    log.received(b"\xff{")
    found = records(log)[1:]
    times = [one.pop("time") for one in found]
    assert times == sorted(times)
    assert all(0 <= seconds < 100 for seconds in times)
    assert found == [
        {"direction": "sent", "message": {"id": 1, "method": "initialize"}},
        {"direction": "received", "message": {"id": 1, "result": {}}},
        {"direction": "received", "line": "no JSON: token=[masked]"},
        {"direction": "received", "line": "\ufffd{"},
    ]


def test_a_message_without_secrets_keeps_its_very_bytes(opened: Open) -> None:
    log = opened()
    line = b'{"b": 1.50, "a": 123456789012345678901234567890, "a": [ ] }'
    log.received(line)
    assert log.path is not None
    assert line in log.path.read_bytes()


def test_secrets_do_not_reach_the_disk(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "of the environment")
    log = opened(env={"ANY": "of the configuration"})
    log.sent(b'{"a":"x of the environment","b":["of the configuration"],"password":"pass","c":"sk-abcdefgh1234"}')
    log.sent(rb'{"a":"of the\u0020environment","p\u0061ssword":"pass","c":"http:\/\/me:pass@host"}')
    assert log.path is not None
    text = log.path.read_text()
    assert [word for word in ("of the env", "of the con", 'pass"', ":pass@", "sk-abc") if word in text] == []
    assert text.count("[masked]") == 7


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b"[" * 500 + b'"\\u0041"' + b"]" * 500,
        b'{"a":"\\ud800"}',
        b'{"a":1e999}',
        b"1" * 5000,
        b"\xef\xbb\xbf{}",
        b"1\x00",
        b'{"a":"\x00"}',
        b'{"a":\r1}',
        b"",
        b"null",
    ],
)
def test_odd_lines_make_one_readable_record_each(opened: Open, line: bytes) -> None:
    log = opened()
    log.received(line)
    log.received(b"{}")
    assert len(records(log)) == 3
    assert records(log)[2]["message"] == {}


def test_half_characters_and_line_ends_inside_a_message_make_no_other_line_of_it(opened: Open) -> None:
    log = opened()
    log.received(b'{"a":"\\ud800"}')
    log.received(b'{"a":\r1}')
    assert [one["message"] for one in records(log)[1:]] == [{"a": "\ud800"}, {"a": 1}]
    assert log.path is not None
    assert b"\r" not in log.path.read_bytes()


def test_a_write_that_takes_only_a_part_is_completed(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    log = opened()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, data: write(file, bytes(data)[:3]))
        log.received(b'{"a":1}')
    assert records(log)[1]["message"] == {"a": 1}


@given(st.binary(max_size=60))
def test_any_line_makes_one_readable_record(tmp_path_factory: pytest.TempPathFactory, line: bytes) -> None:
    log = TrafficLog.open(tmp_path_factory.mktemp("any"), "it", [], "/", {})
    log.received(line.replace(b"\n", b" "))
    assert len(records(log)) == 2
    log.close()


def test_what_is_too_long_leaves_its_size(opened: Open) -> None:
    log = opened()
    log.received(b'"' + b"a" * TRAFFIC_MESSAGE_BYTES + b'"')
    assert records(log)[1]["omitted"] == TRAFFIC_MESSAGE_BYTES + 2


@pytest.mark.parametrize("escape", ["", "\\\\", '\\"'])
def test_what_has_too_many_texts_to_be_searched_leaves_its_size(opened: Open, escape: str) -> None:
    log = opened()
    many = b"[%b1]" % (b'{"a":"b%b"},' % escape.encode() * TRAFFIC_STRINGS)
    log.received(many)
    log.received(('["' + '\\"' * 3 * TRAFFIC_STRINGS + '"]').encode())
    assert records(log)[1]["omitted"] == len(many)
    assert "message" in records(log)[2]


def test_files_are_for_the_user_alone_and_named_after_agent_time_and_process(opened: Open) -> None:
    first, second = opened("../it now"), opened("../it now")
    assert first.path is not None
    assert second.path is not None
    assert stat.S_IMODE(first.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(first.path.parent.stat().st_mode) == 0o700
    assert first.path.parent == second.path.parent
    assert first.path.name.startswith("_it_now-2")
    assert first.path.name.endswith(f"Z-{os.getpid()}-1.jsonl")
    assert first.path != second.path


def test_a_full_file_makes_room_for_a_new_one_with_the_same_header(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traffic_log, "TRAFFIC_FILE_BYTES", 1000)
    log = opened()
    header = records(log)[0]
    for number in range(30):
        log.sent(b'{"id":%d}' % number)
    assert log.path is not None
    older = Path(f"{log.path}.1").read_bytes().split(b"\n")[:-1]
    assert json.loads(older[0]) == header == records(log)[0]
    numbers = [json.loads(line)["message"]["id"] for line in older[1:]] + [
        one["message"]["id"] for one in records(log)[1:]
    ]
    assert numbers == list(range(numbers[0], 30))
    assert all(path.stat().st_size <= 1000 for path in log.path.parent.iterdir())
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def old_files(directory: Path, count: int, size: int = 10) -> list[Path]:
    """Recordings of earlier days, newest first."""
    directory.mkdir()
    paths = [directory / f"it-{number}.jsonl{'.1' if number % 2 else ''}" for number in range(count)]
    for age, path in enumerate(paths):
        path.write_bytes(b"x" * size)
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return paths


def test_the_oldest_files_go_when_there_are_too_many(opened: Open, tmp_path: Path) -> None:
    old = old_files(tmp_path / "traffic", 25)
    (tmp_path / "traffic" / "mine.txt").write_text("not a recording")
    opened()
    assert [path.exists() for path in old] == [True] * 19 + [False] * 6
    assert (tmp_path / "traffic" / "mine.txt").exists()


def test_the_oldest_files_go_when_they_are_too_large(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traffic_log, "TRAFFIC_BYTES", 45)
    old = old_files(tmp_path / "traffic", 6)
    opened()
    assert [path.exists() for path in old] == [True] * 4 + [False] * 2


def test_a_directory_that_cannot_be_made_is_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    log = TrafficLog.open(tmp_path / "file" / "traffic", "it", ["it"], "/", {})
    log.received(b"{}")
    log.sent(b"{}")
    log.close()
    assert log.path is None
    assert [(one.name, one.levelno) for one in caplog.records] == [("acp_nvim.traffic.log", logging.WARNING)]


def test_a_full_disk_is_one_warning_and_the_end_of_the_recording(
    opened: Open, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = opened()
    path = log.path
    assert path is not None

    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        log.received(b"{}")
    log.received(b"{}")
    assert path.read_bytes().count(b"\n") == 1
    assert [one.levelno for one in caplog.records] == [logging.WARNING]
    assert str(path) in caplog.text


def test_a_recording_that_cannot_begin_holds_no_file_open(
    opened: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    before = len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        assert opened().path is None
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_closed_recording_takes_no_more(opened: Open) -> None:
    log = opened()
    path = log.path
    log.close()
    log.received(b"{}")
    log.close()
    assert path is not None
    assert path.read_bytes().count(b"\n") == 1
    assert log.path is None
