"""Streams that are made of what peers say, well and badly, for tests that try many."""

from __future__ import annotations

from hypothesis import strategies as st

IDS = [
    b"0",
    b"1",
    b"2",
    b"7",
    b"1.0",
    b"-0",
    b'"a"',
    b'"\\u00e9"',
    b"null",
    b"1e3",
    b"12345678901234567890",
    b"true",
    b"[]",
]
METHODS = [b"m", b"raise", b"refuse", b"fail", b"hang", b"later", b"odd", b"$/cancel_request", b"\\ud800", "é".encode()]
VALUES = [b"{}", b"[1,2.50]", b'"x"', b"null", b'{"requestId":7}', b'{"requestId":"a"}', rb'"\ud83d\ude00 \ud83d"']
NOISE = [b"", b"\r", b"npm warn", b"{", b"[", b"[]", b"[{", b"5", b"\xff", b"\xef\xbb\xbf", b"\x00", b'{"id":7}', b"{}"]
LONG = [b'"' + b"x" * size + b'"' for size in (430, 480, 505, 520, 5_000)]

values = st.sampled_from(VALUES + LONG[:1]) | st.sampled_from(VALUES) | st.sampled_from(LONG)
members = st.one_of(
    st.sampled_from(IDS).map(lambda value: b'"id":' + value),
    st.sampled_from(METHODS).map(lambda value: b'"method":"' + value + b'"'),
    values.map(lambda value: b'"params":' + value),
    values.map(lambda value: b'"result":' + value),
    values.map(lambda value: b'"error":' + value),
    st.sampled_from([b'"jsonrpc":"2.0"', b'"method":5', b'"error":{"code":3,"message":"no"}', b'"_x":[[]]']),
)
messages = st.lists(members, max_size=5).map(lambda some: b"{" + b",".join(some) + b"}")
entries = messages | st.sampled_from([b"5", b"null", b"[]"])
batches = st.lists(entries, max_size=4).map(lambda some: b"[" + b",".join(some) + b"]")
lines = st.one_of(messages, messages, messages, batches, st.sampled_from(NOISE), st.binary(max_size=8))
streams = st.lists(lines, max_size=10).map(lambda some: b"\n".join([*some, b""]))


def cut(stream: bytes, size: int) -> list[bytes]:
    """Pieces of that many bytes; 0: all at once."""
    return [stream[start : start + size] for start in range(0, len(stream), size)] if size else [stream]
