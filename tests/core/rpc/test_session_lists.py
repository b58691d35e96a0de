"""One list of sessions: open ones, those that agents keep, conversations kept here; each stands there once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract.messages import OpenSession
from acp_nvim.contract.session_events import FoundSession, ListedSession
from acp_nvim.rpc.session_lists import merged


def found(number: str, session_id: str | None, updated: float = 1.0, **more: object) -> FoundSession:
    return FoundSession(
        id=number,
        agent="a",
        cwd="/",
        started=0.0,
        updated=updated,
        session_id=session_id,
        **more,  # type: ignore[arg-type]
    )


def test_what_is_open_kept_and_listed_is_one_entry() -> None:
    opened = [OpenSession(7, "a", "/", "s1", "open one")]
    kept = [found("t1", "s1", 5.0, session=7, title="kept one"), found("t2", "s2", 3.0, prompt="asked")]
    listed = {"a": [ListedSession("s1", "/", "listed one", 9.0), ListedSession("s2", "/", "listed two", 2.0)]}
    first, second = merged(opened, kept, listed, "")
    assert (first.session, first.title, first.updated, first.listed) == (7, "open one", 9.0, True)
    assert [one.id for one in first.kept] == ["t1"]
    assert (second.session, second.title, second.updated) == (None, "listed two", 3.0)


def test_open_ones_come_in_the_order_of_use_then_the_newest() -> None:
    opened = [OpenSession(2, "a", "/"), OpenSession(1, "a", "/", "s1")]
    listed = {"b": [ListedSession("x", "/", updated=1.0)], "a": [ListedSession("y", "/", updated=8.0)]}
    entries = merged(opened, [found("t", None, 4.0)], listed, "")
    assert [(one.session, one.updated) for one in entries] == [
        (2, 0.0),
        (1, 0.0),
        (None, 8.0),
        (None, 4.0),
        (None, 1.0),
    ]


def test_what_supersedes_a_transcript_has_it_with_it() -> None:
    [entry] = merged([], [found("new", "s1", 2.0, supersedes="old"), found("old", "s1", 1.0)], {}, "")
    assert [one.id for one in entry.kept] == ["new", "old"]


def test_only_what_has_the_text_is_listed() -> None:
    listed = {"a": [ListedSession("s1", "/", "About Ducks"), ListedSession("s2", "/", "else")]}
    entries = merged([OpenSession(1, "a", "/", title="no such word")], [found("t", "s3")], listed, "duck")
    assert [one.session_id for one in entries] == ["s3", "s1"]


def test_an_archived_session_is_told_apart_unless_it_is_open() -> None:
    listed = {"a": [ListedSession(one, "/", archived=True) for one in ("s1", "s2")]}
    first, second = merged([OpenSession(1, "a", "/", "s1")], [found("t", "s2")], listed, "")
    assert (first.archived, second.archived, len(second.kept)) == (False, True, 1)


IDS = st.sampled_from(["s1", "s2", "s3"])


@given(
    st.lists(st.tuples(st.integers(1, 3), IDS | st.none()), unique_by=lambda one: one[0]),
    st.lists(st.tuples(IDS | st.none(), st.integers(1, 3) | st.none()), max_size=5),
    st.dictionaries(st.sampled_from("ab"), st.lists(IDS, max_size=4)),
)
def test_nothing_is_left_out_and_nothing_stands_there_twice(
    opened: list[tuple[int, str | None]], kept: list[tuple[str | None, int | None]], listed: dict[str, list[str]]
) -> None:
    entries = merged(
        [OpenSession(key, "a", "/", session_id) for key, session_id in opened],
        [found(str(number), session_id, session=key) for number, (session_id, key) in enumerate(kept)],
        {agent: [ListedSession(one, "/") for one in ids] for agent, ids in listed.items()},
        "",
    )
    assert [one.session for one in entries if one.session is not None] == [key for key, _ in opened]
    assert sorted(one.id for entry in entries for one in entry.kept) == sorted(map(str, range(len(kept))))
    at_agents = [(one.agent, one.session_id) for one in entries if one.listed]
    assert sorted(set(at_agents)) == sorted(at_agents)  # type: ignore[type-var]
    assert set(at_agents) == {(agent, one) for agent, ids in listed.items() for one in ids}
