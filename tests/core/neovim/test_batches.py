"""Batches: fewer events, the same picture; nothing that says how things stand overtakes the text before it."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.contract.events import Event
from acp_nvim.limits import BATCH_BYTES
from acp_nvim.neovim.batches import Batches

Payload = dict[str, Any]


def append(text: str, block: int = 1, session: int = 1) -> Event:
    return events.Append(session=session, block=block, kind="agent", text=text)


def replace(text: str, block: int = 1, session: int = 1) -> Event:
    return events.Replace(session=session, block=block, kind="agent", text=text)


def tool_call(status: str, block: int = 2, session: int = 1, title: str = "T") -> Event:
    return events.ToolCall(session=session, block=block, call=events.CallView("c", title, "edit", status, [], []))


def status(number: int, session: int = 1) -> Event:
    view = events.StatusView("a", "A", "idle", "/", pending_permissions=0, queue=number)
    return events.Status(session=session, status=view)


def batch(*waiting: Event, limit: int = 10_000) -> list[Payload]:
    """The first batch of these events."""
    batches = Batches()
    for event in waiting:
        batches.add(event)
    return batches.take(limit)


def types(payloads: list[Payload]) -> list[str]:
    return [payload["type"] for payload in payloads]


def test_pieces_of_a_message_are_one_append() -> None:
    assert batch(append("a"), append("b"), append("c")) == [
        {"type": "append", "session": 1, "block": 1, "kind": "agent", "text": "abc"}
    ]


def test_a_replaced_text_takes_the_place_of_the_pieces_before_it() -> None:
    [payload] = batch(append("a"), replace("b"), append("c"))
    assert payload == {"type": "replace", "session": 1, "block": 1, "kind": "agent", "text": "bc"}


def test_the_rest_of_a_long_replaced_text_is_appended() -> None:
    batches = Batches()
    batches.add(replace("x" * 150))
    taken = [batches.take(100) for _ in range(2)]
    assert [types(one) for one in taken] == [["replace"], ["append"]]
    assert "".join(one[0]["text"] for one in taken) == "x" * 150


def test_an_emptied_text_is_told() -> None:
    assert [one["text"] for one in batch(append("a"), replace(""))] == [""]


def test_pieces_of_other_blocks_and_sessions_stay_apart() -> None:
    payloads = batch(append("a"), append("x", block=3), append("y", session=2), append("b"))
    assert [(one["session"], one["block"], one["text"]) for one in payloads] == [(1, 1, "ab"), (1, 3, "x"), (2, 1, "y")]


def test_many_states_of_a_call_are_its_last_at_the_place_of_the_first() -> None:
    payloads = batch(tool_call("pending"), append("a", block=3), tool_call("in_progress"), tool_call("completed"))
    assert types(payloads) == ["tool_call", "append"]
    assert payloads[0]["call"]["status"] == "completed"


def test_a_status_takes_the_place_of_its_predecessor_and_goes_to_the_end() -> None:
    payloads = batch(status(1), append("a"), status(2), append("b", block=2), status(3))
    assert types(payloads) == ["append", "append", "status"]
    assert payloads[-1]["status"]["queue"] == 3


def test_a_reset_is_not_crossed() -> None:
    reset = events.Reset(session=1)
    payloads = batch(append("old"), tool_call("pending"), reset, append("new"), tool_call("completed"))
    assert types(payloads) == ["append", "tool_call", "reset", "append", "tool_call"]
    assert [payloads[0]["text"], payloads[3]["text"]] == ["old", "new"]


def test_members_that_are_none_are_left_out() -> None:
    [payload] = batch(events.Location(session=1, path="/f"))
    assert payload == {"type": "location", "session": 1, "path": "/f"}


def test_a_long_text_is_cut_and_none_of_it_lost() -> None:
    batches = Batches()
    batches.add(append("x" * 250))
    batches.add(status(1))
    taken = [batches.take(100) for _ in range(3)]
    assert [[len(one.get("text", "")) for one in payloads] for payloads in taken][:2] == [[100], [100]]
    assert taken[2][0]["text"] == "x" * 50
    assert types(taken[2]) == ["append", "status"]
    assert not batches


def test_a_batch_of_text_that_is_not_ascii_has_fewer_characters() -> None:
    batches = Batches()
    batches.add(append("世" * 1000))
    sent = [str(batches.take(300)[0]["text"]) for _ in range(3)]
    assert all(len(text.encode()) <= 300 for text in sent)


def test_a_huge_text_is_cut_once_and_none_of_it_lost() -> None:
    text = "".join(f"{number}, " for number in range(200_000))
    batches = Batches()
    batches.add(append(text))
    sent = []
    while batches:
        sent += [str(payload["text"]) for payload in batches.take()]
    assert "".join(sent) == text
    assert len(sent) == -(-len(text) // BATCH_BYTES)


def test_text_that_comes_while_a_long_one_is_sent_joins_what_is_left() -> None:
    batches = Batches()
    batches.add(append("x" * 150))
    batches.take(100)
    batches.add(append("y"))
    assert [one["text"] for one in batches.take(100)] == ["x" * 50 + "y"]


def test_a_large_event_goes_out_alone_but_goes_out() -> None:
    batches = Batches()
    batches.add(tool_call("pending", title="x" * 1000))
    batches.add(append("a"))
    assert types(batches.take(100)) == ["tool_call"]
    assert types(batches.take(100)) == ["append"]


def test_many_small_blocks_are_bounded_too() -> None:
    batches = Batches()
    for block in range(1000):
        batches.add(append("x", block=block))
    assert len(batches.take(100)) <= 20


def test_what_was_sent_is_not_joined() -> None:
    batches = Batches()
    batches.add(tool_call("pending"))
    batches.take()
    batches.add(tool_call("completed"))
    assert [one["call"]["status"] for one in batches.take()] == ["completed"]


def test_nothing_waiting_is_false_and_repr_counts() -> None:
    batches = Batches()
    assert not batches
    assert batches.take() == []
    batches.add(append("a"))
    assert batches
    assert repr(batches) == "<Batches 1 waiting>"


blocks = st.integers(1, 3)
sessions = st.integers(1, 2)
published = st.lists(
    st.one_of(
        st.builds(append, st.text(alphabet="abé\n", min_size=1, max_size=30), blocks, sessions),
        st.builds(replace, st.text(alphabet="abé\n", max_size=30), blocks, sessions),
        st.builds(tool_call, st.sampled_from(["pending", "completed", "failed"]), st.integers(4, 5), sessions),
        st.builds(lambda session: events.TurnEnd(session=session, stop_reason="x"), sessions),
        st.just("status"),
        st.just("take"),
    ),
    max_size=40,
)


def run(script: list[Any], limit: int) -> tuple[list[Any], list[list[Payload]]]:
    """Publish, and take a batch wherever the script says; in the end take everything."""
    batches, sent, taken = Batches(), [], []
    for number, step in enumerate(script):
        if step == "take":
            taken.append(batches.take(limit))
            continue
        event = status(number) if step == "status" else step
        sent.append(event)
        batches.add(event)
    while batches:
        taken.append(batches.take(limit))
    return sent, taken


def picture(payloads: list[Payload]) -> dict[Any, Any]:
    """What is shown after these payloads: text of messages, state of calls, by session and block."""
    shown: dict[Any, Any] = {}
    for payload in payloads:
        place = (payload["session"], payload.get("block"))
        if payload["type"] == "append":
            shown[place] = shown.get(place, "") + payload["text"]
        elif payload["type"] == "replace":
            shown[place] = payload["text"]
        elif payload["type"] == "tool_call":
            shown[place] = payload["call"]["status"]
        elif payload["type"] == "status":
            shown["status"] = payload["status"]["queue"]
    return shown


def plain(sent: list[Any]) -> list[Payload]:
    """The events, one by one, as payloads."""
    return [payload for event in sent for payload in batch(event)]


@given(published, st.integers(1, 50))
@example([append("aaa"), "take", append("bbb"), "status", append("c")], 2)
def test_after_all_batches_the_picture_is_that_of_the_events(script: list[Any], limit: int) -> None:
    sent, taken = run(script, limit)
    payloads = [payload for one in taken for payload in one]
    assert picture(payloads) == picture(plain(sent))
    ends = [payload for payload in payloads if payload["type"] == "turn_end"]
    assert len(ends) == sum(isinstance(event, events.TurnEnd) for event in sent)


@given(published, st.integers(1, 50))
def test_no_status_and_no_end_of_a_turn_comes_before_the_text_that_was_published_before_it(
    script: list[Any], limit: int
) -> None:
    all_sent, taken = run(script, limit)
    for session in (1, 2):
        payloads = [payload for one in taken for payload in one if payload["session"] == session]
        check_order([event for event in all_sent if event.session == session], payloads)


def check_order(sent: list[Any], payloads: list[Payload]) -> None:
    """Check the order of one session's events."""
    ends = iter([place for place, event in enumerate(sent) if isinstance(event, events.TurnEnd)])
    places = {event.status.queue: place for place, event in enumerate(sent) if isinstance(event, events.Status)}
    for position, payload in enumerate(payloads):
        if payload["type"] == "status":
            before = places[payload["status"]["queue"]]
        elif payload["type"] == "turn_end":
            before = next(ends)
        else:
            continue
        shown, due = picture(payloads[:position]), picture(plain(sent[:before]))
        rewritten = {(event.session, event.block) for event in sent[before:] if isinstance(event, events.Replace)}
        for place, value in due.items():
            if (
                place not in rewritten
                and place != "status"
                and isinstance(value, str)
                and place[1] is not None
                and place[1] <= 3
            ):
                assert shown.get(place, "").startswith(value)


@given(published, st.integers(1, 50))
def test_blocks_appear_in_the_order_of_their_first_event(script: list[Any], limit: int) -> None:
    sent, taken = run(script, limit)

    def first_seen(payloads: list[Payload], session: int) -> list[int]:
        return list(dict.fromkeys(one["block"] for one in payloads if "block" in one and one["session"] == session))

    for session in (1, 2):
        assert first_seen([payload for one in taken for payload in one], session) == first_seen(plain(sent), session)


@given(published)
def test_when_all_fits_into_one_batch_it_is_in_the_order_in_which_it_was_published(script: list[Any]) -> None:
    batches = Batches()
    sent = [status(number) if step == "status" else step for number, step in enumerate(script) if step != "take"]
    for event in sent:
        batches.add(event)
    ends = [payload["session"] for payload in batches.take(10**9) if payload["type"] == "turn_end"]
    assert ends == [event.session for event in sent if isinstance(event, events.TurnEnd)]
    assert not batches


@given(published, st.integers(1, 50))
def test_a_batch_has_no_more_text_than_its_limit(script: list[Any], limit: int) -> None:
    _, taken = run(script, limit)
    assert all(sum(len(one.get("text", "")) for one in payloads) <= limit for payloads in taken)
