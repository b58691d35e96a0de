"""Who belongs to an agent, and who does not."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from acp_nvim.process import group
from acp_nvim.process.group import ProcessInfo
from tests.support.waiting import wait_until


def fields(entry: ProcessInfo | None) -> tuple[int, int, int, int]:
    assert entry is not None
    return entry.pid, entry.parent, entry.group, entry.session


def members_of(pid: int, table: list[ProcessInfo], monkeypatch: pytest.MonkeyPatch, marked: frozenset[int]) -> set[int]:
    monkeypatch.setattr(group, "process_table", lambda: table)
    monkeypatch.setattr(group, "has_mark", lambda pid, mark: pid in marked and mark == "m")
    return group.members(pid, "m")


TABLE = [
    ProcessInfo(pid=1, parent=0, group=1, session=1),
    ProcessInfo(pid=10, parent=1, group=10, session=10),  # the agent
    ProcessInfo(pid=11, parent=10, group=10, session=10),
    ProcessInfo(pid=12, parent=11, group=12, session=12),  # a session of its own, below
    ProcessInfo(pid=13, parent=1, group=10, session=10),  # its parent is gone
    ProcessInfo(pid=14, parent=1, group=14, session=14),  # marked only
    ProcessInfo(pid=15, parent=14, group=15, session=15),  # below a marked one
    ProcessInfo(pid=20, parent=1, group=20, session=20),
    ProcessInfo(pid=21, parent=20, group=20, session=20),
]


def test_descendants_the_group_and_the_marked_belong_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert members_of(10, TABLE, monkeypatch, frozenset({14})) == {10, 11, 12, 13, 14, 15}


def test_the_living_belong_to_it_when_it_is_gone_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    table = [entry for entry in TABLE if entry.pid not in (10, 11)]
    assert members_of(10, table, monkeypatch, frozenset({12, 14})) == {12, 13, 14, 15}


def test_nothing_belongs_to_one_that_is_gone_with_all_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    assert members_of(99, TABLE, monkeypatch, frozenset()) == set()


def test_one_that_was_started_during_the_look_by_one_that_ended_meanwhile_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = ProcessInfo(pid=13, parent=1, group=10, session=10)
    looks = iter([[], [child]])
    monkeypatch.setattr(group, "process_table", lambda: next(looks))
    assert group.members(10, "m") == {13}


def test_we_never_belong_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    us = ProcessInfo(pid=os.getpid(), parent=10, group=10, session=10)
    assert os.getpid() not in members_of(10, [*TABLE, us], monkeypatch, frozenset())


def test_parents_in_a_circle_end(monkeypatch: pytest.MonkeyPatch) -> None:
    table = [ProcessInfo(10, 11, 10, 10), ProcessInfo(11, 10, 11, 11)]
    assert members_of(10, table, monkeypatch, frozenset()) == {10, 11}


def test_one_that_is_just_starting_a_program_is_found(tmp_path: Path) -> None:
    """Linux shows no arguments and no environment then: about one look in fifty meets that moment."""
    script, starts = tmp_path / "again.sh", tmp_path / "starts"
    script.write_text('printf . >>"$1"; exec sh "$0" "$1"\n')
    environment = {**os.environ, "LONG": "x" * 50_000, group.MARK_VARIABLE: "m"}
    process = subprocess.Popen(["sh", script, starts], env=environment, start_new_session=True)
    try:
        wait_until(starts.exists, what="the first start")
        while starts.stat().st_size < 1000:
            assert group.has_mark(process.pid, "m")
            assert group.arguments(process.pid, 1000) == [b"sh", os.fsencode(script), os.fsencode(starts)]
    finally:
        process.kill()
        process.wait()


def test_one_without_an_environment_is_no_reason_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_pause(_seconds: float) -> None:
        pytest.fail("waits for an environment that never comes")

    process = subprocess.Popen(["cat"], env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    ended = subprocess.Popen(["true"], env={})
    try:
        process.stdin.write(b"started\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"started\n"
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        monkeypatch.setattr("acp_nvim.process.group.time.sleep", no_pause)
        kernel_thread = 2
        assert not any(group.has_mark(pid, "m") for pid in (process.pid, ended.pid, kernel_thread))
        assert all(group.arguments(pid, 1000) == [b""] for pid in (ended.pid, kernel_thread))
    finally:
        process.communicate()
        ended.wait()


def test_a_zombie_does_not_count() -> None:
    process = subprocess.Popen(["sh", "-c", "exit 0"], start_new_session=True)
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert group.members(process.pid, "no such mark") == set()
    finally:
        process.wait()


def test_a_program_name_with_spaces_and_brackets_is_read_right(tmp_path: Path) -> None:
    program = tmp_path / "a) R (b 1"
    program.symlink_to("/bin/sleep")
    process = subprocess.Popen([program, "1000"], start_new_session=True)
    try:
        entry = group.read_proc(process.pid)
        assert fields(entry) == (process.pid, os.getpid(), process.pid, process.pid)
    finally:
        process.kill()
        process.wait()


def test_the_table_of_ps_has_the_same_processes_as_proc() -> None:
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        shown = {entry.pid: entry for entry in group.ask_ps()}
        assert fields(shown[process.pid]) == fields(group.read_proc(process.pid))
    finally:
        process.kill()
        process.wait()


def test_signals_to_those_already_gone_are_passed_over() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    living = subprocess.Popen(["sleep", "1000"])
    group.send({process.pid, living.pid}, signal.SIGKILL)
    assert living.wait() == -9


def test_a_signal_does_not_reach_a_process_that_has_got_the_id_of_one_that_was_found() -> None:
    living = [subprocess.Popen(["sleep", "1000"]) for _ in range(2)]
    found, reused = (process.pid for process in living)
    looks = iter([{found, reused}, {found}])  # what has an id again meanwhile is no member
    try:
        group.send_found(lambda: next(looks), signal.SIGKILL)
        assert living[0].wait() == -9
        assert living[1].poll() is None
    finally:
        living[1].kill()
        living[1].wait()


def test_more_processes_than_files_may_be_open_are_all_signalled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "HELD", 2)
    living = [subprocess.Popen(["sleep", "1000"]) for _ in range(5)]
    group.send_found(lambda: {process.pid for process in living}, signal.SIGTERM)
    assert {process.wait() for process in living} == {-15}


def test_without_descriptors_of_processes_each_found_one_is_signalled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    looks = iter([{1, 2}])
    sent: list[set[int]] = []
    monkeypatch.setattr(group, "send", lambda pids, _number: sent.append(pids))
    group.send_found(lambda: next(looks), signal.SIGTERM)
    assert sent == [{1, 2}]
