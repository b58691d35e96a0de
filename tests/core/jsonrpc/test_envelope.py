"""The ends of a message tell whose it is, as far as they can be trusted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.jsonrpc.decoding import Envelope, envelope_of

HEAD, TAIL = 60, 40
BIG = '"big":"' + "x" * 200


def seen(line: str) -> tuple[str, str]:
    """Id and kind, as seen in the ends of a line."""
    found = envelope_of(line.encode()[:HEAD], line.encode()[-TAIL:])
    return bytes(found.id).decode(), "request" if found.is_request else "answer" if found.is_answer else ""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"jsonrpc":"2.0","id":5,"method":"m","params":{%s"}}', ("5", "request")),
        ('{"method":"m","params":{%s"},"id":5}', ("5", "request")),
        ('{"method":"m","params":{%s"},"id":5,"jsonrpc":"2.0"}', ("5", "request")),
        ('{"id":"a\\"b" , "params":{%s"} , "method" : "m" } ', ('"a\\"b"', "request")),
        ('{"id":null,"method":"m","params":[{%s"}]}', ("null", "request")),
        ('{"method":"m","params":{%s"}}', ("", "request")),
        ('{"id":5,"method":"m', ("5", "request")),
        ('{"jsonrpc":"2.0","id":7,"result":{%s"}}', ("7", "answer")),
        ('{"jsonrpc":"2.0","id":7,"error":{%s"}}', ("7", "answer")),
        ('{"result":{%s"},"id":7}', ("7", "answer")),
        ('{"id":7,"result":"%s"}', ("7", "answer")),
        ('{"params":{%s"},"id":7}', ("7", "")),
        ('{"result":{%s","id":8}}', ("", "answer")),
        ('{"result":{%s\\",\\"id\\":9}"}', ("", "answer")),
        ('{"result":"%s,"}', ("", "answer")),
        ('[{"id":1,"method":"m","params":{%s"}}]', ("", "")),
        ('\ufeff {"id":5,"method":"m","params":{%s"}}', ("5", "request")),
        ("%s", ("", "")),
        ("", ("", "")),
        ('{"id":1.2.3,"method":"m","params":{%s"}}', ("", "request")),
        ('{"id":"\\x","method":"m","params":{%s"}}', ("", "request")),
        ('{"id":"' + "y" * 100 + '","method":"m","params":{%s"}}', ("", "")),
    ],
)
def test_what_is_seen(line: str, expected: tuple[str, str]) -> None:
    assert seen(line.replace("%s", BIG)) == expected


def test_what_is_seen_can_be_sent_although_the_line_is_not_utf_8() -> None:
    assert bytes(envelope_of(b'{"id":"\xff","method":"m","params":{').id) == '"\ufffd"'.encode()


plain = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
names = st.sampled_from(["id", "method", "result", "error", "params", "jsonrpc", "_x"])


@given(st.lists(st.tuples(names, values), unique_by=lambda member: member[0]), st.integers(0, 80), st.integers(0, 40))
def test_whatever_is_seen_is_so(members: list[tuple[str, Any]], head: int, tail: int) -> None:
    line = json.dumps(dict(members)).encode()
    found = envelope_of(line[:head], line[-tail:] if tail else b"")
    message = dict(members)
    if bytes(found.id):
        assert json.loads(bytes(found.id)) == message["id"]
    assert not found.is_request or "method" in message
    assert not found.is_answer or {"result", "error"} & message.keys()


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_no_bytes_are_too_odd(head: bytes, tail: bytes) -> None:
    assert isinstance(envelope_of(b'{"' + head, tail + b"}"), Envelope)
