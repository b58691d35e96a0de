"""Sessions share the batches: what waits for one does not delay the others, and costs nothing for each batch."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.contract.events import Event
from acp_nvim.contract.session_events import SessionDone
from acp_nvim.limits import BATCH_BYTES
from acp_nvim.neovim import batches as module
from acp_nvim.neovim.batches import EVENT_BYTES, Batches

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


def announced(parent: int, child: int, title: str = "it") -> Event:
    view = events.SubagentView(session=child, session_id=str(child), title=title, state="running")
    return events.Subagent(session=parent, block=0, subagent=view)


def test_a_child_session_waits_until_it_is_announced() -> None:
    waiting = flooded(1)
    waiting.add(announced(1, 11))
    waiting.add(end(11))
    waiting.add(end(2))
    taken: list[dict[str, Any]] = []
    while "subagent" not in [one["type"] for one in taken]:
        assert not reasons(taken, 11)
        taken += waiting.take()
    taken += waiting.take()
    assert [(one["type"], one["session"]) for one in taken if one["session"] != 2][FLOOD:] == [
        ("subagent", 1),
        ("turn_end", 11),
    ]


def test_a_child_session_that_had_to_wait_gets_no_more_than_its_share() -> None:
    waiting = flooded(1)
    waiting.add(announced(1, 11))
    for number in range(FLOOD):
        waiting.add(end(1, number))
        waiting.add(end(11, number))
    while "subagent" not in [one["type"] for one in waiting.take()]:
        pass
    counts = [len(reasons(batch, 1)) for batch in (waiting.take() for _ in range(10))]
    assert all(counts[1:])


PARENT = {2: 1, 3: 1, 4: 3, 5: 4}
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("announce"), st.sampled_from(list(PARENT))),
        st.tuples(st.just("tell"), st.sampled_from([1, *PARENT])),
        st.tuples(st.just("take"), st.sampled_from([1, 100, 3_000, BATCH_BYTES])),
    ),
    min_size=5,
)


@given(STEPS)
@example([("tell", 1), ("tell", 1), ("take", 1), ("announce", 2), ("tell", 2), ("take", 1)])
@example(
    [("announce", 3), ("take", 1), ("tell", 3), ("tell", 3), ("take", 1), ("announce", 4), ("tell", 4), ("take", 1)]
)
def test_no_child_session_overtakes_what_announces_it(steps: list[tuple[str, int]]) -> None:
    """Children of children, too; each event is sent once."""
    waiting, known, told, got = Batches(), {1}, 0, 0
    seen = {1}

    def look(batch: list[dict[str, Any]]) -> int:
        for one in batch:
            assert one["session"] in seen
            if one["type"] == "subagent":
                seen.add(one["subagent"]["session"])
        return sum(one["type"] == "turn_end" for one in batch)

    for step, number in steps:
        if step == "take":
            got += look(waiting.take(number))
        elif step == "announce" and PARENT[number] in known:
            waiting.add(announced(PARENT[number], number, title=str(told)))
            known.add(number)
        elif step == "tell" and number in known:
            waiting.add(end(number))
            told += 1
    while waiting:
        got += look(waiting.take())
    assert got == told
    assert seen == known
