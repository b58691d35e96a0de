"""Output for open terminal buffers: bounded, in order, byte for byte, and never in the way of anything else."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.contract.events import TerminalOutput
from acp_nvim.limits import TERMINAL_BYTES
from acp_nvim.neovim.batches import Batches
from acp_nvim.neovim.terminal_streams import (
    TERMINAL_BATCH_BYTES,
    TERMINAL_BATCH_LINE,
    TERMINAL_SCROLLBACK,
    TerminalStreams,
)


def printed(data: bytes = b"", terminal: int = 1, session: int = 1, **more: Any) -> TerminalOutput:
    return TerminalOutput(session=session, terminal=terminal, data=data, **more)


def drained(streams: TerminalStreams, limit: int = TERMINAL_BATCH_BYTES) -> list[dict[str, Any]]:
    """All that goes out, batch after batch."""
    found = []
    while streams:
        found += streams.take(limit)
    return found


def cost(data: bytes) -> int:
    return len(data) + TERMINAL_BATCH_LINE * data.count(b"\n")


@given(st.lists(st.tuples(st.integers(1, 3), st.binary(max_size=300)), max_size=20), st.integers(1, 500))
def test_each_terminal_gets_its_bytes_in_order(pieces: list[tuple[int, bytes]], limit: int) -> None:
    streams = TerminalStreams()
    for terminal, data in pieces:
        streams.add(printed(data, terminal))
    sent: dict[int, bytes] = {}
    while streams:
        batch = streams.take(limit)
        assert sum(cost(one.get("data", b"")) for one in batch) <= limit + TERMINAL_BATCH_LINE
        assert len({one["terminal"] for one in batch}) == len(batch)
        for one in batch:
            assert (one["type"], one["session"]) == ("terminal_output", 1)
            sent[one["terminal"]] = sent.get(one["terminal"], b"") + one.get("data", b"")
    assert sent == {
        wanted: b"".join(data for terminal, data in pieces if terminal == wanted) for wanted, _ in pieces
    }  # fmt: skip


def test_who_prints_much_keeps_nobody_else_waiting() -> None:
    streams = TerminalStreams()
    for terminal in (1, 2, 3):
        streams.add(printed(b"x" * 100_000, terminal))
    streams.add(printed(b"y", 4))
    order = [one["terminal"] for _ in range(8) for one in streams.take()]
    assert order[:4] == [1, 2, 3, 4]
    assert sorted(order[4:7]) == [1, 2, 3]


def test_whatever_comes_no_more_than_a_bounded_end_of_it_waits_and_what_is_dropped_is_counted() -> None:
    streams, total = TerminalStreams(), 0
    for number in range(60):
        data = b"%07d " % number * 12_500
        total += len(data)
        streams.add(printed(data))
        assert sum(len(one._data) for one in streams._waiting.values()) <= 2 * TERMINAL_BYTES
    found = drained(streams)
    rest = b"".join(one["data"] for one in found)
    assert found[0]["dropped"] == total - len(rest)
    assert rest.endswith(b"0000059 " * 12_500)
    assert all("dropped" not in one for one in found[1:])


def test_of_very_many_lines_the_last_wait_and_begin_with_a_whole_one() -> None:
    streams = TerminalStreams()
    lines = [b"%d\n" % number for number in range(3 * TERMINAL_SCROLLBACK)]
    for at in range(0, len(lines), 1000):
        streams.add(printed(b"".join(lines[at : at + 1000])))
    found = drained(streams)
    rest = b"".join(one["data"] for one in found).splitlines(keepends=True)
    assert TERMINAL_SCROLLBACK <= len(rest) <= 2 * TERMINAL_SCROLLBACK
    assert rest == lines[-len(rest) :]
    assert found[0]["dropped"] == len(b"".join(lines[: -len(rest)]))


def test_what_was_lost_before_it_came_takes_what_waits_with_it() -> None:
    streams = TerminalStreams()
    streams.add(printed(b"abc"))
    streams.add(printed(b"new", dropped=10))
    assert drained(streams) == [
        {"type": "terminal_output", "session": 1, "terminal": 1, "data": b"new", "dropped": 13}
    ]  # fmt: skip


def test_a_snapshot_takes_the_place_of_what_waits() -> None:
    streams = TerminalStreams()
    streams.add(printed(b"abc", exit_code=1))
    streams.add(printed(b"new", whole=True, dropped=7))
    streams.add(printed(b"er"))
    assert drained(streams) == [
        {"type": "terminal_output", "session": 1, "terminal": 1, "data": b"newer", "whole": True, "dropped": 7}
    ]  # fmt: skip


def test_how_it_ended_comes_with_the_last_piece_only() -> None:
    streams = TerminalStreams()
    streams.add(printed(b"x" * 40_000, whole=True, exit_code=0))
    found = drained(streams)
    assert [one.get("exit_code") for one in found] == [None, None, 0]
    assert [one.get("whole") for one in found] == [True, None, None]


def test_the_end_alone_goes_out_too() -> None:
    streams = TerminalStreams()
    streams.add(printed(signal="SIGKILL"))
    assert drained(streams)[0]["signal"] == "SIGKILL"
    assert not streams


def test_other_events_do_not_wait_for_it() -> None:
    batches = Batches()
    batches.add(printed(b"line\n" * 50_000))
    batches.add(events.Notice(session=1, block=1, level="info", text="here"))
    batch = batches.take()
    assert [one["type"] for one in batch] == ["notice", "terminal_output"]
    assert batches
    while batches:
        assert sum(cost(one["data"]) for one in batches.take()) <= TERMINAL_BATCH_BYTES  # type: ignore[arg-type]
