"""Sessions share the batches: what waits for one does not delay the others, and costs nothing for each batch."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.limits import BATCH_BYTES
from acp_nvim.ui import batches as module
from acp_nvim.ui import events
from acp_nvim.ui.batches import EVENT_BYTES, Batches
from acp_nvim.ui.events import Event
from acp_nvim.ui.session_events import SessionDone

FLOOD = 10_000


def end(session: int, number: int = 0) -> Event:
    return events.TurnEnd(session=session, stop_reason=str(number))


def append(session: int, text: str, block: int = 1) -> Event:
    return events.Append(session=session, block=block, kind="agent", text=text)


def flooded(session: int = 1, count: int = FLOOD) -> Batches:
    waiting = Batches()
    for number in range(count):
        waiting.add(end(session, number))
    return waiting


def reasons(batch: list[dict[str, Any]], session: int | None) -> list[str]:
    return [one["stop_reason"] for one in batch if one.get("session") == session]


def test_the_next_batch_has_the_events_of_another_session() -> None:
    waiting = flooded()
    waiting.take()
    for number in range(5):
        waiting.add(end(2, number))
    batch = waiting.take()
    assert reasons(batch, 2) == ["0", "1", "2", "3", "4"]
    assert reasons(batch, 1)  # which has its share all the same


def test_an_event_of_no_session_does_not_wait_for_a_flood_either() -> None:
    waiting = flooded()
    waiting.add(SessionDone(id=7))
    assert "session_done" in [one["type"] for one in waiting.take()]


def test_sessions_that_all_flood_have_equal_shares_in_bytes() -> None:
    waiting = flooded(1)
    for number in range(FLOOD):
        waiting.add(end(2, number))
        waiting.add(append(3, "x" * 5_000, block=number + 1))
    taken: dict[Any, int] = {1: 0, 2: 0, 3: 0}
    for _ in range(50):
        for one in waiting.take():
            text = one.get("text")
            taken[one["session"]] += len(text) + 16 if isinstance(text, str) else EVENT_BYTES
    assert max(taken.values()) <= 1.1 * min(taken.values())


def test_who_was_silent_has_saved_nothing_up() -> None:
    waiting = Batches()
    for number in range(FLOOD):
        waiting.add(end(1, number))
    for _ in range(100):
        waiting.take()
    for number in range(FLOOD):
        waiting.add(end(2, number))
    counts = [len(reasons(batch, 1)) for batch in (waiting.take() for _ in range(10))]
    assert all(counts[1:])  # the first may be the other's alone


def test_the_events_of_each_session_keep_their_order() -> None:
    waiting = flooded(1, 500)
    for number in range(500):
        waiting.add(end(2, number))
    seen: dict[int, list[str]] = {1: [], 2: []}
    while waiting:
        batch = waiting.take()
        for session, found in seen.items():
            found += reasons(batch, session)
    assert seen == {1: list(map(str, range(500))), 2: list(map(str, range(500)))}


def test_a_batch_looks_at_no_more_events_than_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = flooded()
    looked: list[str] = []
    take = module._Entry.take

    def counted(entry: Any, room: int) -> Any:
        looked.append(entry.event.stop_reason)
        return take(entry, room)

    monkeypatch.setattr(module._Entry, "take", counted)
    batch = waiting.take(BATCH_BYTES)
    assert len(looked) == len(batch) <= BATCH_BYTES // EVENT_BYTES + 1


def test_states_that_were_overtaken_do_not_wait() -> None:
    waiting = Batches()
    for number in range(FLOOD):
        waiting.add(events.Location(session=1, path=f"/{number}"))
        waiting.add(events.Notice(session=1, block=1, level="warn", text=f"{number} more"))
    assert repr(waiting) == "<Batches 2 waiting>"
    told = {one["type"]: one for one in waiting.take()}
    assert told["location"]["path"] == f"/{FLOOD - 1}"
    assert told["notice"]["text"] == f"{FLOOD - 1} more"
