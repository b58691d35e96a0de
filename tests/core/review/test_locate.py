"""The diffs of tool calls, as agents send them, are found in the texts that they are about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.diff import FileChange, Piece, from_patch
from acp_nvim.hunks.locate import Located, locate, mapped

FILE = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"


def found(text: str, *pieces: tuple, operation: str = "modify") -> list[tuple] | None:
    """The first row, how many, the new lines, and whether they are there already, of all places."""
    change = FileChange(path="/file", operation=operation, pieces=tuple(Piece(*piece) for piece in pieces))
    places = locate(text, change)
    return None if places is None else [(one.first, one.count, [*one.new], one.already) for one in places]


def applied(text: str, places: list[Located]) -> list[str]:
    """The lines of `text` after that."""
    lines = text.splitlines()
    for one in reversed(places):
        if not one.already:
            assert tuple(lines[one.first : one.first + one.count]) == one.old
            lines[one.first : one.first + one.count] = one.new
    return lines


SUM = [(1, 0, ["    # sum"], False)]
IS_SUM = [(1, 1, ["    # sum"], True)]
WITH_SUM = FILE.replace("    return a + b", "    # sum\n    return a + b")


@pytest.mark.parametrize(
    "piece",
    [
        (FILE, WITH_SUM),  # the whole file
        (FILE.removesuffix("\n"), WITH_SUM.removesuffix("\n")),
        (FILE, WITH_SUM.removesuffix("\n")),
        (FILE.replace("\n", "\r\n"), WITH_SUM.replace("\n", "\r\n")),
        ("def add(a, b):\n    return a + b\n", "def add(a, b):\n    # sum\n    return a + b\n"),  # a hunk with context
        ("    return a + b", "    # sum\n    return a + b"),  # a snippet
        ("):\n    return a +", "):\n    # sum\n    return a +"),  # in the middle of lines
        ("):\r\n    return a +", "):\r\n    # sum\r\n    return a +"),
        ("def add(a, b):\n", "def add(a, b):\n    # sum\n", 1),
        ("def add(a, b):\n", "def add(a, b):\n    # sum\n", 4),  # a line number that is wrong
        ("", "    # sum\n", 2),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("head", ["", "\ufeff"])
def test_each_shape_of_a_diff_is_found_before_and_after(piece, end: str, head: str) -> None:
    assert found(head + FILE.replace("\n", end), piece) == SUM
    assert found(head + WITH_SUM.replace("\n", end), piece) == IS_SUM


def test_a_part_is_found_in_a_text_whose_last_line_has_no_end() -> None:
    assert found("1\n2\n3\n4\nb", ("b\n", "c\n")) == [(4, 1, ["c"], False)]
    assert found("a\nb", ("b\n", "c\n")) == [(1, 1, ["c"], False)]
    assert found("a\nb", ("a\nb\n", "a\n")) == [(1, 1, [], False)]
    assert found("a\nb", ("", "c\n", 3)) == [(2, 0, ["c"], False)]
    assert found("a\nb\n", ("", "c\n", 3)) == [(2, 0, ["c"], False)]


@pytest.mark.parametrize("old", [None, ""])
def test_a_new_file(old: str | None) -> None:
    assert found("", (old, "one\ntwo")) == [(0, 0, ["one", "two"], False)]
    assert found("one\ntwo\n", (old, "one\ntwo")) == [(0, 2, ["one", "two"], True)]
    assert found("other\n", (old, "one\ntwo\n")) == [(0, 1, ["one", "two"], False)]
    assert found("", (old, "")) == []


def test_what_has_no_text_to_look_for() -> None:
    assert found("a\nb\n", operation="delete") == [(0, 2, [], False)]
    assert found("a\nb\n", ("a\nb\n", ""), operation="delete") == [(0, 2, [], False)]
    assert found("", operation="delete") == []
    assert found("a\n", operation="move") == []
    assert found("a\n", (None, "@@ nobody can read it"), operation="patch") is None


@pytest.mark.parametrize(
    ("text", "pieces", "places"),
    [
        # a part that is there several times
        ("x\na\ny\na\n", [("a", "b")], None),
        ("x\na\ny\na\n", [("a", "b", 2)], [(1, 1, ["b"], False)]),
        ("x\na\ny\na\n", [("a", "b", 3)], [(1, 1, ["b"], False)]),
        ("x\na\ny\na\n", [("a", "b", 5)], [(3, 1, ["b"], False)]),
        ("x\na\ny\na\n", [("a", "b"), ("a", "b")], [(1, 1, ["b"], False), (3, 1, ["b"], False)]),
        ("x\na\ny\na\n", [("a", "b"), ("a", "c")], None),
        ("abc\na\nca\n", [("a", "left")], [(1, 1, ["left"], False)]),  # one place is a whole line
        ("abc\nca\n", [("a", "left")], None),
        ("x\nb\ny\nb\n", [("a", "b")], None),
        # several pieces, in any order, also in one line
        ("1\n2\n3\n", [("3", "three"), ("1", "one")], [(0, 1, ["one"], False), (2, 1, ["three"], False)]),
        ("one two\n", [("two", "2"), ("one", "1")], [(0, 1, ["1 2"], False)]),
        ("1\n2\n3\n", [("1", "one"), ("4", "four")], None),
        # some are there already
        ("one\n2\n3\n", [("1", "one"), ("3", "three")], [(0, 1, ["one"], True), (2, 1, ["three"], False)]),
        # the old text is a part of the new one, and the other way round
        ("a\nb\n", [("a", "a\nb")], [(1, 1, ["b"], True)]),
        ("a\nc\n", [("a", "a\nb")], [(1, 0, ["b"], False)]),
        ("a\nb\nc\n", [("a\nb\n", "a\n")], [(1, 1, [], False)]),
        ("a\nc\n", [("a\nb\n", "a\n")], [(1, 0, [], True)]),
        # lines are joined
        ("a\nb\nc\n", [("a\n", "a")], [(0, 2, ["ab"], False)]),
        ("a\nb\nc\n", [("b\n", "")], [(1, 1, [], False)]),
        ("a b\n", [(" b", "")], [(0, 1, ["a"], False)]),
        # not there at all
        ("a\n", [("b", "c")], None),
        ("", [("b", "c")], None),
        ("a\n", [("b", "")], None),
    ],
)
def test_which_place_is_meant(text: str, pieces: list[tuple], places: list[tuple] | None) -> None:
    assert found(text, *pieces) == places


def test_a_whole_file_that_the_user_has_changed_elsewhere() -> None:
    users = FILE.replace("    return a - b", "    # the user's\n    return a - b")
    assert found(users, (FILE, WITH_SUM)) == SUM
    users = WITH_SUM.replace("    return a - b", "    return b - a")
    assert found(users, (FILE, WITH_SUM)) == IS_SUM
    assert found(FILE.replace("a + b", "b + a"), (FILE, FILE.replace("a + b", "a + b + 0"))) is None
    assert found("something\nelse\n", (FILE, WITH_SUM)) is None


def test_the_hunks_of_a_patch() -> None:
    old = [f"{number}" for number in range(1, 31)]
    new = [*old[:4], "five", *old[5:19], "inserted", *old[19:28]]
    patch = (
        "--- a/file\n+++ b/file\n@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n"
        "@@ -19,0 +20 @@\n+inserted\n@@ -28,3 +29 @@\n 28\n-29\n-30\n"
    )
    (change,) = from_patch((), patch).changes
    text = "".join(line + "\n" for line in old)
    places = locate(text, change)
    assert places is not None
    assert applied(text, places) == new
    assert [(place.first, place.count) for place in places] == [(4, 1), (19, 0), (28, 2)]
    after = locate("".join(line + "\n" for line in new), change)
    assert after is not None
    assert [(place.first, place.count) for place in after] == [(4, 1), (19, 1), (29, 0)]
    assert all(place.already for place in after)


@st.composite
def edits(draw):
    """A text of different lines, and some of them changed; as pieces with more or less around them, and the result."""
    count = draw(st.integers(1, 20))
    old = [f"line {number} of many" for number in range(count)]
    pieces, new, at = [], [], 0
    while at < count:
        size = min(draw(st.integers(1, 4)), count - at)
        lines = old[at : at + size]
        other = draw(st.sampled_from([lines, lines, [f"new {at}"], [*lines, f"new {at}"], [f"new {at}", *lines]]))
        new += other
        if other != lines:
            end = draw(st.sampled_from(["", "\n"]))
            line = draw(st.sampled_from([None, at + 1, max(at - 2, 1)]))
            pieces.append(Piece("\n".join(lines) + end, "\n".join(other) + end, line))
        at += size
    return "".join(line + "\n" for line in old), draw(st.permutations(pieces)), new


@given(edits())
def test_edits_of_different_lines_are_always_found(given_edits) -> None:
    text, pieces, new = given_edits
    change = FileChange(path="/file", pieces=tuple(pieces))
    places = locate(text, change)
    assert places is not None
    assert not any(place.already for place in places)
    assert applied(text, places) == new
    after = locate("".join(line + "\n" for line in new), change)
    assert after is not None
    assert all(place.already for place in after)
    assert bool(after) == bool(places)


any_texts = st.text(alphabet="ab\n\r\ufeff", max_size=10)


@given(
    any_texts, st.lists(st.builds(Piece, st.none() | any_texts, any_texts, st.none() | st.integers(1, 9)), max_size=3)
)
def test_any_diff_goes(text: str, pieces: list[Piece]) -> None:
    places = locate(text, FileChange(path="/file", pieces=tuple(pieces)))
    rows = text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")
    for place in places or ():
        assert 0 <= place.first <= place.first + place.count <= len(rows)
        assert tuple(rows[place.first : place.first + place.count]) == (place.new if place.already else place.old)


lines = st.lists(st.sampled_from("abc"), max_size=6)


@given(lines, lines, lines)
def test_a_change_that_is_mapped_is_that_change(old: list[str], new: list[str], other: list[str]) -> None:
    assert mapped(old, new, old) == new
    made = mapped(old, old, other)
    assert made is None or made == other
    assert mapped(old, new, []) is None or not old


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        ("user 1 2 3 4", "user 1 two 3 4 five"),
        ("1 2 3 4 user", None),  # the place of 5 is unknown
        ("1 user 2 3 4", "1 user two 3 4 five"),
        ("1 3 4", None),
        ("2 3 4", "two 3 4 five"),
        ("1 2 a b c d e", None),
    ],
)
def test_a_change_in_another_version(lines: str, result: str | None) -> None:
    made = mapped(["1", "2", "3", "4"], ["1", "two", "3", "4", "five"], lines.split())
    assert made == (None if result is None else result.split())
