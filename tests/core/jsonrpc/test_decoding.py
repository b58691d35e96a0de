"""Lines become messages, however loosely they are written."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.jsonrpc import messages
from acp_nvim.jsonrpc.decoding import UNDECODABLE, decode_line, decode_plain, in_utf8, require_shallow
from acp_nvim.jsonrpc.messages import ABSENT, Incoming, Invalid, RpcError
from acp_nvim.limits import NESTED

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
    [b"hello", b"{", b"[{]", b"\xef\xbb{}", b"{}{}", b'{"method":"\x00"}', b'\x00{"method":"m"}', b'{"method":5', b""],
)
def test_what_is_not_json_raises(line: bytes) -> None:
    with pytest.raises(UNDECODABLE):
        decode_line(line)


@pytest.mark.parametrize("opening", [b"[", b'{"params":', b'{"method":"m","params":[', b'{"id":1,"result":['])
@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_what_is_nested_too_deeply_raises(opening: bytes, depth: int) -> None:
    closing = {b"[": b"]", b"{": b"}"}
    line = opening + b"[" * depth + b"]" * depth + b"".join(closing.get(bytes([c]), b"") for c in reversed(opening))
    with pytest.raises(RecursionError):
        decode_line(line)


@given(
    texts=st.lists(st.text(alphabet='[]{}"\\a,', max_size=20), max_size=8),
    extra=st.integers(-2, 2),
    kind=st.sampled_from([('{"%s":', "}"), ('["%s",', "]")]),
)
def test_brackets_in_texts_are_no_depth(texts: list[str], extra: int, kind: tuple[str, str]) -> None:
    name = json.dumps("".join(texts))[1:-1]
    depth = NESTED + extra
    line = (kind[0].replace("%s", name) * depth + json.dumps(texts) + kind[1] * depth).encode()
    assert json.loads(line)
    if depth + 1 > NESTED:
        with pytest.raises(RecursionError):
            require_shallow(line)
    else:
        require_shallow(line)


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


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"\xff", "\ufffd"),
        (b"a\xc3", "a\ufffd"),
        (b"\xed\xa0\x80", "\\ud800"),  # half a character, whose other half may come
        (b"\xed\xb0\x80\xff", "\\udc00\ufffd"),
        (b"\xed\xa0", "\ufffd" * 2),
        (b"\xc3\xa9", "\u00e9"),
        (b"\xe4\xb8\xad" * 100_000, "\u4e2d" * 100_000),
        (b"\xe4\xb8\xad" * 100_000 + b"\xe4\xb8", "\u4e2d" * 100_000 + "\ufffd"),
    ],
)
@pytest.mark.parametrize("others", [[], [b"plain"], [b"\xa9 the second half of a character"], [b"\xc3"]])
def test_bytes_that_are_not_utf_8_become_replacement_characters(written: bytes, read: str, others: list[bytes]) -> None:
    found = in_utf8([written, *others])
    assert found[0].decode() == read
    assert [line.decode() for line in found[1:]] == [line.decode("utf-8", "replace") for line in others]


def test_lines_in_utf_8_are_not_copied() -> None:
    line = "\u4e2d".encode() * 100_000
    assert in_utf8([line])[0] is line
    assert in_utf8([line, b"x"])[0] is line


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


@given(
    st.sampled_from(
        [b'{"method":"a"}', b'{"id":1,"result":"\xc3\xa9"}', b' {"id":1,"method":"b"}\r', b'{"error":{}, "x":[1]}']
    )
)
def test_the_fast_way_gives_the_same(line: bytes) -> None:
    fast, careful = decode_plain(line), decode(line)
    assert fast.method == careful.method
    for name in ("id", "params", "result", "error"):
        assert bytes(getattr(fast, name)) == bytes(getattr(careful, name))
