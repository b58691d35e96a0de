"""What is beyond the bounds of a message is dropped while it arrives, and counted; what is left is the same JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.jsonrpc import bounded_line, framing
from acp_nvim.jsonrpc.bounded_line import VALUES, BoundedLine, TooMuchError
from acp_nvim.jsonrpc.framing import LineFramer, SkippedLine
from acp_nvim.limits import LEFT_OUT, LIST_ENTRIES, NESTED, STRING_BYTES

ENTRIES = 3
names = st.text(alphabet='ab"\\,[]{}:é\n', max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | names,
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(names, inner, max_size=7),
    max_leaves=40,
)


def cut(value: Any) -> tuple[Any, bool]:
    """Cut lists and objects to `ENTRIES` entries, after decoding; also return whether anything was cut."""
    if isinstance(value, list):
        kept = [cut(one) for one in value[:ENTRIES]]
        return [one for one, _ in kept], len(value) > ENTRIES or any(missing for _, missing in kept)
    if not isinstance(value, dict):
        return value, False
    found: dict[str, Any] = {}
    left: dict[str, int] = {}
    for name, inner in list(value.items())[:ENTRIES]:
        found[name], missing = cut(inner)
        if missing:
            left[name] = max(len(inner) - ENTRIES, 0) if isinstance(inner, list) else 0
    if len(value) > ENTRIES:
        left[""] = left.get("", 0) + len(value) - ENTRIES
    return ({**found, LEFT_OUT: left} if left else found), bool(left)


@given(
    value=st.dictionaries(names, values, max_size=7),
    places=st.lists(st.integers(0, 400), max_size=8),
    compact=st.booleans(),
    plain=st.booleans(),
)
@example(value={"a": [[1, 2], "x,]", {"b": "\\"}, 4, 5]}, places=[3, 7, 11], compact=True, plain=True)
def test_what_is_left_of_lists_is_what_one_would_keep(
    value: dict[str, Any], places: list[int], compact: bool, plain: bool
) -> None:
    separators = (",", ":") if compact else (" , ", " :\t")
    text = json.dumps(value, separators=separators, ensure_ascii=plain).encode()
    edges = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded_line, "LIST_ENTRIES", ENTRIES)
        line = BoundedLine()
        for start, end in pairwise(edges):
            line.feed(text[start:end])
        kept = line.end()
    assert json.loads(kept) == cut(value)[0]


@given(text=st.text(alphabet='aé世👍"\\\n\x01', max_size=60), places=st.lists(st.integers(0, 400), max_size=20))
def test_of_a_long_string_the_beginning_is_left_and_the_rest_is_counted(text: str, places: list[int]) -> None:
    whole = json.dumps({"id": 1, "text": text, "z": [text]}).encode()
    edges = [0, *sorted({place % (len(whole) + 1) for place in places}), len(whole)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded_line, "STRING_BYTES", 20)
        line = BoundedLine()
        for start, end in pairwise(edges):
            line.feed(whole[start:end])
    kept = json.loads(line.end())
    assert kept["id"] == 1
    assert text.encode("utf-16", "surrogatepass").startswith(kept["text"].encode("utf-16", "surrogatepass"))
    units = len(kept["text"].encode("utf-16-le", "surrogatepass")) // 2
    missing = kept.get(LEFT_OUT, {})
    assert units + missing.get("text", 0) == len(text.encode("utf-16-le")) // 2
    assert (kept["z"] == [text]) is ("z" not in missing)


@given(st.binary(max_size=60) | st.text(alphabet='{}[],:"\\ua1', max_size=60).map(str.encode))
def test_what_is_no_json_does_no_harm(text: bytes) -> None:
    line = BoundedLine()
    try:
        line.feed(text)
    except TooMuchError:
        return
    assert bytes(line.end()) == text


def test_too_many_values_and_nesting_are_refused_in_words() -> None:
    with pytest.raises(TooMuchError, match="100,000 values"):
        BoundedLine().feed(b'{"a":[%b]}' % b",".join([b"[%b]" % b",".join([b"1"] * 9000)] * (VALUES // 9000 + 1)))
    with pytest.raises(TooMuchError, match="nested too deeply"):
        BoundedLine().feed(b"[" * (NESTED + 1))


def test_a_batch_of_too_many_messages_is_refused() -> None:
    line = BoundedLine()
    with pytest.raises(TooMuchError, match="a batch"):
        line.feed(b"[%b]" % b",".join([b"{}"] * (LIST_ENTRIES + 1)))


# --- lines -----------------------------------------------------------------------------------------------------------


def plan(count: int) -> Iterator[bytes]:
    """A line with a plan of so many steps, in the pieces of a pipe."""
    entry = b'{"content":"a step","priority":"low","status":"pending"}'
    yield b'{"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[' + entry
    for _ in range((count - 1) // 200):
        yield (b"," + entry) * 200
    yield (b"," + entry) * ((count - 1) % 200) + b']},"sessionId":"s"}}\n'


def test_a_list_of_any_length_takes_no_more_memory_than_a_long_one() -> None:
    framer = LineFramer()
    most = 0
    for piece in plan(50_000):
        found = framer.feed(piece)
        most = max(most, len(framer.rest()))
    [[line]] = found
    assert most <= len(line) < 60 * LIST_ENTRIES
    said = json.loads(line)["params"]
    assert said["sessionId"] == "s"
    assert len(said["update"]["entries"]) == LIST_ENTRIES
    assert said["update"][LEFT_OUT] == {"entries": 50_000 - LIST_ENTRIES}


def write(content: bytes) -> bytes:
    """A file to write, with that content."""
    return b'{"id":1,"method":"fs/write_text_file","params":{"path":"/f","content":"%b"}}\n' % content


@given(
    pieces=st.lists(st.sampled_from(["\\n", "\\\\", '\\"', "\\u00e9", "a", "é", "[{,"]), max_size=300),
    places=st.lists(st.integers(0, 1500), max_size=40),
)
def test_a_text_may_be_cut_in_any_escape(pieces: list[str], places: list[int]) -> None:
    line = b'{"method":"m","params":{"content":"%b","path":[1]}}' % "".join(pieces).encode()
    edges = [0, *sorted({place % (len(line) + 1) for place in places}), len(line)]
    bounded = BoundedLine(whole_strings=True)
    for start, end in pairwise(edges):
        bounded.feed(line[start:end])
    assert bytes(bounded.end()) == line


def test_nothing_is_left_out_of_a_file_to_write() -> None:
    line = write(b"x" * (STRING_BYTES + 1))
    [[whole]] = LineFramer().feed(line)
    assert whole == line[:-1]


def test_a_text_of_another_message_is_cut() -> None:
    [[line]] = LineFramer().feed(b'{"method":"m","params":{"text":"' + b"x" * 16_384 + b'"}}\n')
    assert LEFT_OUT not in line.decode()
    framer = LineFramer()
    framer.feed(b'{"method":"m","params":{"text":"')
    for _ in range(12_000_000 // 15_000):
        framer.feed(b"x" * 15_000)
    [[line]] = framer.feed(b'"}}\n')
    said = json.loads(line)["params"]
    assert len(line) < STRING_BYTES + 1000
    assert len(said["text"]) + said[LEFT_OUT]["text"] == 12_000_000


def test_a_message_of_many_texts_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "MESSAGE_BYTES", 100_000)
    framer = LineFramer()
    framer.feed(b'{"id":5,"method":"m","params":[')
    for _ in range(20):
        framer.feed(b'"%b",' % (b"x" * 10_000))
    [skipped] = framer.feed(b'""]}\n')
    assert isinstance(skipped, SkippedLine)
    assert skipped.head.startswith(b'{"id":5,"method":"m"')
    assert skipped.tail.endswith(b'""]}')
