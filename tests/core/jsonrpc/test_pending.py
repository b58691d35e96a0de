"""Calls that wait for an answer: each is settled exactly once."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.jsonrpc.messages import PeerGoneError
from acp_nvim.jsonrpc.requests import Answer, PendingCalls

RESULT = msgspec.Raw(b"1")


def test_ids_count_up_from_zero_and_are_never_used_again() -> None:
    calls = PendingCalls()
    assert calls.add(lambda _: None) == 0
    calls.settle(0, RESULT)
    assert calls.add(lambda _: None) == 1


def test_an_answer_for_nobody_is_refused() -> None:
    calls = PendingCalls()
    assert not calls.settle(None, RESULT)
    assert not calls.settle(0, RESULT)


def test_who_no_longer_waits_gets_nothing() -> None:
    calls, got = PendingCalls(), []
    call_id = calls.add(got.append)
    calls.forget(call_id)
    calls.forget(call_id)
    assert not calls.settle(call_id, RESULT)
    assert got == []


def test_a_call_made_while_all_fail_keeps_waiting() -> None:
    calls = PendingCalls()
    calls.add(lambda _: calls.add(lambda _: None) and None)
    calls.fail_all(PeerGoneError())
    assert len(calls) == 1


@given(st.lists(st.tuples(st.sampled_from(["add", "settle", "forget", "fail"]), st.integers(0, 5))))
def test_whatever_happens_each_call_is_settled_at_most_once_and_in_the_end_exactly_once(
    steps: list[tuple[str, int]],
) -> None:
    calls = PendingCalls()
    got: dict[int, list[Answer]] = {}
    forgotten: set[int] = set()
    for step, number in steps:
        if step == "add":
            answers: list[Answer] = []
            got[calls.add(answers.append)] = answers
        elif step == "settle":
            waiting = number in got and not got[number] and number not in forgotten
            assert calls.settle(number, RESULT) is waiting
        elif step == "forget":
            calls.forget(number)
            forgotten |= {number} & {call_id for call_id, answers in got.items() if not answers}
        else:
            calls.fail_all(PeerGoneError())
    calls.fail_all(PeerGoneError())
    assert len(calls) == 0
    assert {call_id: len(answers) for call_id, answers in got.items()} == {
        call_id: int(call_id not in forgotten) for call_id in got
    }


def test_repr_counts() -> None:
    calls = PendingCalls()
    calls.add(lambda _: None)
    calls.add(lambda _: None)
    calls.settle(0, RESULT)
    assert repr(calls) == "<PendingCalls waiting=1 made=2>"
