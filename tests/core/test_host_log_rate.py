"""The log of a flood: some of it, and a number; what others say is not left out. A full file is begun anew."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from acp_nvim import host_log
from acp_nvim.host_log import LOGGED_AT_ONCE, LOGGED_KINDS, LOGGED_SECONDS, LogFile, LogRate


class Clock:
    """Time that passes when the test wants it."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(host_log, "time", clock)
    return clock


def record(message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("acp_nvim.x", logging.INFO, "f.py", 1, message, arguments, None)


def written(rate: LogRate, *records: logging.LogRecord) -> list[str]:
    return [one.getMessage() for one in records if rate.filter(one)]


def test_of_a_flood_some_is_written_and_later_how_many_were_left_out(clock: Clock) -> None:
    rate = LogRate()
    flood = [record("%s: 100%% of %s", "it", number) for number in range(10_000)]
    assert len(written(rate, *flood)) == LOGGED_AT_ONCE
    clock.now = LOGGED_SECONDS
    [words] = written(rate, record("%s: 100%% of %s", "it", "all"))
    assert words == f"it: 100% of all (and {10_000 - LOGGED_AT_ONCE:,} like it, which were left out before it)"
    assert written(rate, record("%s: 100%% of %s", "it", "x")) == ["it: 100% of x"]


def test_another_agent_and_another_kind_are_written(clock: Clock) -> None:
    rate = LogRate()
    written(rate, *[record("%s: odd", "it") for _ in range(10_000)])
    assert written(rate, record("%s: odd", "other"), record("%s: other", "it"), record("plain")) == [
        "other: odd",
        "it: other",
        "plain",
    ]


def test_the_kinds_that_are_remembered_are_bounded(clock: Clock) -> None:
    rate = LogRate()
    written(rate, *[record("%s: odd", f"agent {number}") for number in range(10 * LOGGED_KINDS)])
    assert len(rate._kinds) <= LOGGED_KINDS


def test_a_full_file_is_kept_beside_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_log, "LOG_BYTES", 10)
    path = tmp_path / "the.log"
    log = LogFile(str(path))
    for message in ("one", "two é", "three \ud800", "four"):
        log.handle(record(message))
    log.close()
    assert path.read_text(encoding="utf-8") == "four\n"
    assert path.with_name("the.log.1").read_text(encoding="utf-8") == "three \\ud800\n"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["the.log", "the.log.1"]
