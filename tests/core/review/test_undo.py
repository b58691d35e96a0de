"""Undo and redo bring back what was accepted when the text was the same."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.hunks.reviewed_text import MAX_UNLOADED_STATES, ReviewedText, TextHistory, pairs_key

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\r\n", ""]), max_size=6).map("".join)
steps = st.lists(
    st.tuples(
        st.sampled_from(["agent", "user", "lines", "undo", "undo", "undo lines", "keep"]),
        texts,
        st.integers(0, 20),
        st.integers(0, 3),
    ),
    max_size=12,
)


def hunks(reviewed: ReviewedText) -> list[tuple[list[str], list[str]]]:
    """The old and the new lines of each."""
    return [(reviewed.old_lines(hunk), reviewed.new_lines(hunk)) for hunk in reviewed.hunks]


def go_back(reviewed: ReviewedText, text: str) -> None:
    """Replace all lines by those of another text, without an end of its own, and report it."""
    rows = text.removesuffix("\n").split("\n") if text else []
    reviewed.apply_user_lines(0, len(reviewed.current), rows)


@given(texts, texts, steps)
def test_what_was_accepted_then_is_accepted_again(base: str, current: str, given_steps) -> None:
    reviewed = ReviewedText(base, current, "unix")
    then: dict[str, tuple[str, list]] = {}
    for kind, text, place, size in given_steps:
        now = reviewed.current, (reviewed.base, hunks(reviewed))
        known = [old for old in then if old != now[0]]
        if kind == "agent":
            reviewed.apply_agent(text)
        elif kind == "keep":
            reviewed.keep([hunk.id for hunk in reviewed.hunks][:size])
            then.clear()
            continue
        elif kind.startswith("undo") and known:
            wanted = known[place % len(known)]
            if kind == "undo lines" and wanted.endswith("\n") and now[0].endswith("\n"):
                go_back(reviewed, wanted)
            else:
                reviewed.apply_user(wanted)
            assert reviewed.base == then[wanted][0]
            assert "\r" in reviewed.base + wanted or hunks(reviewed) == then[wanted][1]
        elif kind == "lines":
            reviewed.apply_user_lines(place, size, ["a", "b"][: place % 3])
        elif text not in then:
            reviewed.apply_user(text)
        if reviewed.current != now[0]:
            then[now[0]] = now[1]


def test_undo_of_what_the_agent_did_and_redo() -> None:
    reviewed = ReviewedText("a\nb\n", "a\nb\n")
    reviewed.apply_agent("a\nagent\n")
    hunk = reviewed.hunks[0].id
    reviewed.apply_user_lines(1, 1, ["b"])
    assert (list(reviewed.hunks), reviewed.base) == ([], "a\nb\n")
    reviewed.apply_user_lines(1, 1, ["agent"])
    assert (hunks(reviewed), reviewed.hunks[0].id) == ([(["b"], ["agent"])], hunk)


def test_typing_in_a_line_of_the_agents_and_undo() -> None:
    reviewed = ReviewedText("a\nb\nc\n", "a\nagent\nc\n")
    for line in ("agent!", "agent!!"):
        assert reviewed.apply_user_lines(1, 1, [line]) is (line == "agent!")
        assert reviewed.base == f"a\nb\n{line}\nc\n"
    assert reviewed.apply_user_lines(1, 1, ["agent"])
    assert (reviewed.base, hunks(reviewed)) == ("a\nb\nc\n", [(["b"], ["agent"])])


def test_undo_of_a_reject_brings_the_hunk_back() -> None:
    reviewed = ReviewedText("a\nb\nc\n", "a\nagent\nc\n")
    reviewed.apply_agent(reviewed.rejected(None))
    assert list(reviewed.hunks) == []
    assert reviewed.apply_user("a\nagent\nc\n")
    assert hunks(reviewed) == [(["b"], ["agent"])]


def test_undo_of_other_line_ends() -> None:
    reviewed = ReviewedText("a\r\nb\r\n", "a\r\nb\r\n")
    reviewed.apply_agent("a\r\nx\nb\r\n")
    reviewed.apply_agent("a\nx\nb\n")
    assert reviewed.apply_user("a\r\nb\r\n")
    assert (list(reviewed.hunks), reviewed.shape, reviewed.base) == ([], None, "a\r\nb\r\n")
    assert reviewed.apply_user("a\nx\nb\n")
    assert (hunks(reviewed), reviewed.shape) == ([([], ["x"])], "line ends: CRLF -> LF")


def test_undo_of_the_users_own_line_ends() -> None:
    reviewed = ReviewedText("a\nb\n", "a\nB\n")
    reviewed.apply_user("a\r\nB\r\n")
    assert reviewed.base == "a\r\nb\r\n"
    reviewed.apply_user("a\nB\n")
    assert reviewed.base == "a\nb\n"


def test_hunks_that_come_back_have_ids_of_their_own() -> None:
    reviewed = ReviewedText("1\n2\n", "same\n1\nsame\n2\n")
    ids = [hunk.id for hunk in reviewed.hunks]
    reviewed.apply_user_lines(0, 1, [])
    assert [hunk.id for hunk in reviewed.hunks] == ids[1:]
    reviewed.apply_user_lines(0, 0, ["same"])
    assert [hunk.id for hunk in reviewed.hunks] == ids


def test_a_hunk_that_comes_back_has_the_id_that_its_lines_have_now() -> None:
    reviewed = ReviewedText("1\n2\n3\n4\n", "3\n4\n")
    reviewed.apply_agent("agent\n4\n")
    reviewed.apply_user_lines(0, 0, ["3"])
    hunk = reviewed.hunks[0]
    assert hunks(reviewed) == [(["1", "2"], []), ([], ["agent"])]
    reviewed.apply_user_lines(1, 1, [])
    assert (hunks(reviewed), reviewed.hunks[0].id) == ([(["1", "2"], [])], hunk.id)


def test_another_text_with_the_same_key_is_another_text(monkeypatch) -> None:
    monkeypatch.setattr("acp_nvim.hunks.reviewed_text.pairs_key", lambda lines: 0)
    reviewed = ReviewedText("a\nb\n", "a\nagent\n")
    reviewed.apply_user_lines(0, 1, ["user"])
    reviewed.apply_user_lines(1, 1, ["other"])
    assert (reviewed.base, reviewed.current) == ("user\nb\nother\n", "user\nother\n")


def test_a_moment_that_comes_again_and_again_is_remembered(monkeypatch) -> None:
    monkeypatch.setattr("acp_nvim.hunks.reviewed_text.TextHistory", lambda: TextHistory(3))
    reviewed = ReviewedText("a\n", "agent\n")
    for line in ("x", "agent", "y", "z", "agent"):  # there are three moments after the second "agent"
        reviewed.apply_user_lines(0, 1, [line])
    assert reviewed.base == "a\n"


def test_what_was_kept_does_not_come_back() -> None:
    reviewed = ReviewedText("a\nb\n", "a\nb\n")
    reviewed.apply_agent("a\nb\nagent\n")
    reviewed.keep([hunk.id for hunk in reviewed.hunks])
    reviewed.apply_user("a\nb\n")
    assert (reviewed.base, list(reviewed.hunks)) == ("a\nb\n", [])
    reviewed.apply_user("a\nb\nagent\n")
    assert (reviewed.base, list(reviewed.hunks)) == ("a\nb\nagent\n", [])


@pytest.mark.parametrize(("count", "is_known"), [(1000, True), (50, True), (49, False), (0, False)])
def test_as_many_moments_as_the_bound_says_are_remembered(monkeypatch, count: int, is_known: bool) -> None:
    monkeypatch.setattr("acp_nvim.hunks.reviewed_text.TextHistory", lambda: TextHistory(count))
    assert remembers(50) is is_known


@pytest.mark.parametrize(("max_bytes", "is_known"), [(100_000, True), (10_000, False), (0, False)])
def test_as_many_bytes_as_the_bound_says_are_remembered(monkeypatch, max_bytes: int, is_known: bool) -> None:
    monkeypatch.setattr("acp_nvim.hunks.reviewed_text.TextHistory", lambda: TextHistory(max_bytes=max_bytes))
    assert remembers(50) is is_known


def remembers(steps: int) -> bool:
    """Whether undo comes back to the text of the agent after that many edits of its line."""
    reviewed = ReviewedText("a\n", "agent\n")
    for number in range(steps):
        reviewed.apply_user_lines(0, 1, [f"agent {number}"])
    reviewed.apply_user_lines(0, 1, ["agent"])
    return reviewed.base == "a\n"


def test_a_text_without_a_buffer_has_few_moments(monkeypatch) -> None:
    moments = TextHistory()
    monkeypatch.setattr("acp_nvim.hunks.reviewed_text.TextHistory", lambda: moments)
    log = ReviewedText("", "")
    for number in range(100):
        log.apply_agent(log.current + f"{number}\n")
    assert repr(moments).startswith(f"<TextHistory {MAX_UNLOADED_STATES}, ")
    log.note_buffer()
    for number in range(100):
        log.apply_agent(log.current + f"{number}\n")
    assert repr(moments).startswith(f"<TextHistory {MAX_UNLOADED_STATES + 100}, ")


def test_what_is_typed_in_a_long_hunk_takes_no_more_memory_than_elsewhere(monkeypatch) -> None:
    monkeypatch.setattr("acp_nvim.hunks.reviewed_text.TextHistory", lambda: TextHistory(max_bytes=100_000))
    lines = [f"{number}\n" for number in range(5000)]
    current = "".join(f"agent {line}" for line in lines)
    reviewed = ReviewedText("".join(lines), current)
    for number in range(50):
        reviewed.apply_user_lines(2500, 1, [f"user {number}"])
    reviewed.apply_user_lines(2500, 1, ["agent 2500"])
    assert reviewed.base == "".join(lines)


def test_moments_show_how_many_they_are(monkeypatch) -> None:
    moments = TextHistory()
    monkeypatch.setattr("acp_nvim.hunks.reviewed_text.TextHistory", lambda: moments)
    assert repr(moments) == "<TextHistory 0, 0 bytes>"
    reviewed = ReviewedText("a\n", "b\n")
    reviewed.apply_user_lines(0, 1, ["c"])
    assert repr(moments).startswith("<TextHistory 1, ")
    reviewed.keep(None)
    assert repr(moments) == "<TextHistory 0, 0 bytes>"


def test_lines_in_another_order_have_another_key() -> None:
    assert len({pairs_key([None, *lines, None]) for lines in permutations("abcdef")}) == 720
