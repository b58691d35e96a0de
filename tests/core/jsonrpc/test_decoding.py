"""Lines become messages, however loosely they are written: a block at once, or line by line."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.jsonrpc import messages
from acp_nvim.jsonrpc.decoding import UNDECODABLE, Message, decode_block, decode_line
from acp_nvim.jsonrpc.messages import ABSENT, Incoming, Invalid, RpcError

IDS = [b"0", b"7", b'"6fb7-uuid"', b'""', b"null", b"1.5", b"-1", b"12345678901234567890123", b'"\\u00e9"']


def decode(line: bytes) -> Incoming:
    """A line that is a plain message."""
    message = decode_line(line)
    assert isinstance(message, Incoming)
    return message


@pytest.mark.parametrize("request_id", IDS)
def test_an_id_of_any_type_is_echoed_byte_by_byte(request_id: bytes) -> None:
    incoming = decode(b'{"jsonrpc":"2.0","id":%s,"method":"m"}' % request_id)
    assert b'"id":%s,' % request_id in messages.encode_result(incoming.id, {})
    assert b'"id":%s,' % request_id in messages.encode_error(incoming.id, RpcError(-1, "no"))


def test_members_that_a_message_lacks_are_absent() -> None:
    incoming = decode(b"{}")
    assert incoming.method is msgspec.UNSET
    assert [incoming.id, incoming.params, incoming.result, incoming.error] == [ABSENT] * 4


def test_an_id_of_null_is_not_an_absent_id() -> None:
    incoming = decode(b'{"id":null,"error":{}}')
    assert bytes(incoming.id) == b"null"


def test_the_order_of_members_and_unknown_ones_do_not_matter() -> None:
    incoming = decode(b'{"result":{"a":1},"_x":2,"id":3,"jsonrpc":"2.0"}')
    assert (bytes(incoming.result), bytes(incoming.id)) == (b'{"a":1}', b"3")


def test_the_last_of_two_equal_members_counts() -> None:
    assert bytes(decode(b'{"id":1,"method":"m","id":2}').id) == b"2"


@pytest.mark.parametrize("line", [b'\xef\xbb\xbf{"method":"m"}', b'{"method":"m"}\r', b'\t {"method" : "m" } '])
def test_byte_order_marks_carriage_returns_and_blanks_do_not_matter(line: bytes) -> None:
    assert decode(line).method == "m"


def test_a_batch_is_several_messages() -> None:
    found = decode_line(b' [{"method":"a"}, 5, {"method":"b"},{"id":1,"method":2}]')
    assert [one.method for one in found if isinstance(one, Incoming)] == ["a", "b"]
    assert [bytes(one.id) for one in found if isinstance(one, Invalid)] == [b"", b"1"]


@pytest.mark.parametrize(
    "line",
    [b"hello", b"{", b"[{]", b"\xff{}", b"{}{}", b'{"method":"\x00"}', b'\x00{"method":"m"}', b'{"method":5', b""],
)
def test_what_is_not_json_raises(line: bytes) -> None:
    with pytest.raises(UNDECODABLE):
        decode_line(line)
    assert decode_block(line) is None


@pytest.mark.parametrize("opening", [b"[", b'{"params":', b'{"method":"m","params":[', b'{"id":1,"result":['])
@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_what_is_nested_too_deeply_raises(opening: bytes, depth: int) -> None:
    closing = {b"[": b"]", b"{": b"}"}
    line = opening + b"[" * depth + b"]" * depth + b"".join(closing.get(bytes([c]), b"") for c in reversed(opening))
    with pytest.raises(RecursionError):
        decode_line(line)
    assert decode_block(line) is None


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b'"text"', b""),
        (b"3", b""),
        (b"null", b""),
        (b'{"method":5}', b""),
        (b'{"id":7,"method":5}', b"7"),
        (b'{"method":null,"id":"x"}', b'"x"'),
        (b'{"method":[],"id":null}', b"null"),
    ],
)
def test_json_that_is_no_message_is_invalid_and_keeps_its_id(line: bytes, request_id: bytes) -> None:
    found = decode_line(line)
    assert isinstance(found, Invalid)
    assert bytes(found.id) == request_id
    assert decode_block(line) is None


@pytest.mark.parametrize(
    ("written", "read"),
    [(b"\xff", "\ufffd"), (b"a\xc3", "a\ufffd"), (b"\xed\xa0\x80", "\ufffd" * 3), ("\u00e9".encode(), "\u00e9")],
)
def test_bytes_that_are_not_utf_8_become_replacement_characters(written: bytes, read: str) -> None:
    incoming = decode(b'{"method":"m","params":"%s"}' % written)
    assert msgspec.json.decode(incoming.params) == read


def test_a_long_text_of_many_bytes_a_character_is_read_at_once() -> None:
    text = "\u4e2d" * 100_000
    [incoming] = decode_block(b'{"method":"m","params":"%s"}' % text.encode()) or []
    assert msgspec.json.decode(incoming.params) == text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb"\ud83d", "\ufffd"),
        (rb"\ude00 b", "\ufffd b"),
        (rb"\uD83Dx\uDE00", "\ufffdx\ufffd"),
        (rb"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (rb"\ud83d\ude00", "\U0001f600"),
        (rb"\\ud83d", r"\ud83d"),
        (rb"\\\ud83d", "\\\ufffd"),
        (rb"\u00e9\ud800\n\"", 'é\ufffd\n"'),
    ],
)
def test_half_a_character_becomes_a_replacement_character_and_the_message_is_read(written: bytes, read: str) -> None:
    incoming = decode(b'{"method":"m","params":"%s"}' % written)
    assert msgspec.json.decode(incoming.params) == read


@given(st.text())
def test_whole_characters_stay_as_they_are_however_they_are_escaped(text: str) -> None:
    incoming = decode(json.dumps({"method": "m", "params": text}).encode())
    assert msgspec.json.decode(incoming.params) == text


pieces = st.sampled_from(
    [
        b'{"method":"a"}',
        b'{"id":1,"method":"b","params":[1]}',
        b'{"id":0,"result":{}}',
        '{"method":"\u00e9"}'.encode(),
        rb'{"method":"m","params":"\ud800"}',
        b'[{"method":"a"}]',
        b'{"method":',
        b'"a"}',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"5",
        b'"',
        b"\xff",
        b"\r",
        b" ",
        b"\n",
        b"\n",
        b"\n",
    ]
)


def one_by_one(block: bytes) -> list[Message | list[Message] | str]:
    """Each line by itself."""
    found: list[Message | list[Message] | str] = []
    for line in block.split(b"\n"):
        try:
            found.append(decode_line(line))
        except UNDECODABLE:
            found.append("no JSON")
    return found


@given(st.lists(pieces).map(b"".join))
@example(b'{"method":"a"}{"method":\n"b"}')
@example(b'{"method":"a"}{"method":"b"}\n{"method":"c"')
@example(b'{"method":"a"\n}\n{"method":"b"}{"method":"c"}')
@example(b'{"method":"a"}\n{"method":"b"}')
def test_a_block_at_once_is_the_same_as_line_by_line(block: bytes) -> None:
    at_once = decode_block(block)
    assert at_once is None or repr_of(at_once) == repr_of(one_by_one(block))


def repr_of(found: list) -> list:
    """Comparable: `Raw` compares by identity."""
    return [msgspec.to_builtins(one, enc_hook=bytes) if isinstance(one, Incoming) else one for one in found]


@given(
    st.lists(
        st.sampled_from([b'{"method":"a"}', b'{"id":1,"result":"\xc3\xa9"}', b'{"id":1,"method":"b"}']), min_size=1
    )
)
def test_a_block_of_plain_messages_needs_no_care(lines: list[bytes]) -> None:
    assert len(decode_block(b"\n".join(lines)) or []) == len(lines)
