"""A request from which a bound has cut something is refused: nothing is done, whatever is left of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acp_nvim.jsonrpc import bounded_line, framing
from acp_nvim.jsonrpc.bounded_line import BoundedLine
from tests.core.jsonrpc.peer import connected
from tests.support.examples import examples

ENTRIES, CHARS, VALUES, DEPTH, BYTES = 4, 12, 30, 6, 400
WRITE = "fs/write_text_file"

words = st.text(alphabet='a,"\\[]{}:é\n', max_size=2 * CHARS)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | words,
    lambda inner: st.lists(inner, max_size=2 * ENTRIES) | st.dictionaries(words, inner, max_size=2 * ENTRIES),
    max_leaves=40,
)


@pytest.fixture(scope="module", autouse=True)
def small_bounds() -> Iterator[None]:
    """Every bound of a line is near what is sent here, and every line is long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded_line, "LIST_ENTRIES", ENTRIES)
        patch.setattr(bounded_line, "STRING_BYTES", CHARS)
        patch.setattr(bounded_line, "VALUES", VALUES)
        patch.setattr(bounded_line, "NESTED", DEPTH)
        patch.setattr(framing, "SCANNED_BYTES", 1)
        patch.setattr(framing, "MESSAGE_BYTES", BYTES)
        yield


async def exchange(line: bytes, cuts: list[int]) -> tuple[list[Any], list[dict[str, Any]], list[str]]:
    """Say a line in pieces: the parameters of the requests that are served, the answers, and what the user is told."""
    served: list[Any] = []

    async def serve(_method: str, params: Any) -> None:
        served.append(params)

    edges = [0, *sorted({cut % len(line) for cut in cuts}), len(line)]
    async with connected() as peer:
        peer.handler.answer = serve
        await peer.say(*(line[first:last] for first, last in pairwise(edges)))
        return served, peer.heard, peer.handler.losses


def request(params: Any, method: str, id_first: bool, plain: bool = True) -> bytes:
    start, end = ({"id": 7}, {}) if id_first else ({}, {"id": 7})
    message = {**start, "method": method, "params": params, **end}
    return json.dumps(message, ensure_ascii=plain).encode() + b"\n"


@given(
    params=st.dictionaries(words, values, max_size=2 * ENTRIES),
    method=st.sampled_from(["m", WRITE]),
    id_first=st.booleans(),
    plain=st.booleans(),
    cuts=st.lists(st.integers(0, 400), max_size=6),
)
@example(params={"content": "a" * 1000}, method=WRITE, id_first=True, plain=True, cuts=[])
@example(params={"content": "a" * (CHARS + 1)}, method="m", id_first=True, plain=True, cuts=[])
@example(params={"a": [["b", [0] * (ENTRIES + 1)]]}, method=WRITE, id_first=False, plain=True, cuts=[40, 50])
@settings(max_examples=examples(80))
def test_a_request_is_served_as_it_was_sent_or_refused(
    params: dict[str, Any], method: str, id_first: bool, plain: bool, cuts: list[int]
) -> None:
    line = request(params, method, id_first, plain)
    served, heard, losses = anyio.run(exchange, line, cuts)
    if served:
        assert served == [params]
        assert heard == [{"jsonrpc": "2.0", "id": 7, "result": None}]
        assert losses == []
    else:
        assert [(one["id"], "error" in one) for one in heard] == [(7, True)]
        assert len(losses) == 1


@pytest.mark.parametrize("batch", [False, True])
def test_it_is_refused_also_if_the_line_does_not_tell_that_it_was_cut(
    monkeypatch: pytest.MonkeyPatch, batch: bool
) -> None:
    monkeypatch.setattr(bounded_line, "LEFT_OUT", "other")
    line = request({"content": [0] * (ENTRIES + 1)}, "m", id_first=True)
    served, heard, losses = anyio.run(exchange, b"[%b]\n" % line.strip() if batch else line, [])
    answers = heard[0] if batch else heard
    assert (served, [one["id"] for one in answers], len(losses)) == ([], [7], 1)
    assert f"more than {10_000:,} entries" in answers[0]["error"]["message"]


def test_the_other_messages_of_its_batch_are_taken() -> None:
    cut, whole = ({"id": number, "method": "m", "params": [0] * count} for number, count in ((7, ENTRIES + 1), (8, 1)))
    served, [answers], _ = anyio.run(exchange, json.dumps([cut, whole]).encode() + b"\n", [])
    assert served == [[0]]
    assert [(one["id"], "error" in one) for one in answers] == [(7, True), (8, False)]


def test_it_is_refused_also_if_bytes_in_it_are_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_line, "LEFT_OUT", "other")
    line = request({"content": [0] * (ENTRIES + 1), "more": "?"}, "m", id_first=True).replace(b"?", b"\xff")
    served, heard, _ = anyio.run(exchange, line, [])
    assert (served, [one["id"] for one in heard]) == ([], [7])


def test_it_is_answered_also_if_what_is_left_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: BoundedLine) -> bytearray:
        return self.kept.replace(b"]", b"")

    monkeypatch.setattr(BoundedLine, "end", broken)
    line = request({"content": [0] * (ENTRIES + 1)}, "m", id_first=True)
    served, heard, losses = anyio.run(exchange, line, [])
    assert (served, [one["id"] for one in heard], len(losses)) == ([], [7], 1)


def test_a_notification_is_cut_and_handled() -> None:
    async def say() -> list[tuple[str, Any]]:
        async with connected() as peer:
            await peer.say(msgspec.json.encode({"method": "m", "params": [0] * (ENTRIES + 1)}) + b"\n")
            return peer.handler.log

    assert anyio.run(say) == [("notification", "m")]
