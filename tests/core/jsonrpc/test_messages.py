"""JSON-RPC messages as they come, however loosely they are written, and as they go."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.jsonrpc import messages
from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, RpcError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("raw", "ours"),
    [(b"5", 5), (b"5.0", 5), (b'"5"', None), (b"null", None), (b"true", None), (b"1.5", None), (b"[]", None)],
)
def test_only_an_integer_can_be_an_id_of_ours(raw: bytes, ours: int | None) -> None:
    assert messages.decode_call_id(msgspec.Raw(raw)) == ours


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"code": -32603, "message": "Internal error"}, -32603, "Internal error"),
        ({"code": 400, "message": "HTTP"}, 400, "HTTP"),
        ({"code": -31002, "message": "vendor", "data": None}, -31002, "vendor"),
        ({"code": "E_BAD", "message": "text code"}, INTERNAL_ERROR, "text code"),
        ({"code": True, "message": "no number"}, INTERNAL_ERROR, "no number"),
        ({"message": "no code"}, INTERNAL_ERROR, "no code"),
        ({"code": 1}, 1, 'an error without words: {"code": 1}'),
        ({"code": 1, "message": ["x"]}, 1, 'an error without words: {"code": 1, "message": ["x"]}'),
        ("just words", INTERNAL_ERROR, 'an error without words: "just words"'),
        (None, INTERNAL_ERROR, "an error without words: null"),
        ([], INTERNAL_ERROR, "an error without words: []"),
    ],
)
def test_an_error_is_understood_however_it_is_written(error: Any, code: int, message: str) -> None:
    decoded = messages.decode_error(msgspec.Raw(json.dumps(error).encode()))
    assert (decoded.code, decoded.message) == (code, message)


@given(json_values)
def test_decoding_an_error_never_raises(error: Any) -> None:
    decoded = messages.decode_error(msgspec.Raw(msgspec.json.encode(error)))
    assert isinstance(decoded.describe(), str)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "failed"),
        ("because", "failed: because"),
        ({"details": "because"}, "failed: because"),
        ({"message": "because"}, "failed: because"),
        ({"details": "", "message": "because"}, "failed: because"),
        ({"details": {"deep": 1}}, "failed"),
        ({"details": {"deep": 1}, "reason": "because"}, "failed: because"),
        ({"exitCode": 1}, "failed"),
        (["because"], "failed"),
        ("ail", "failed"),
        ("", "failed"),
    ],
)
def test_describe_adds_the_reason_that_stands_in_data(data: Any, words: str) -> None:
    assert RpcError(1, "failed", data).describe() == words


@given(json_values)
def test_every_message_goes_out_as_one_line(params: Any) -> None:
    line = messages.encode_call(3, "m", params)
    assert b"\n" not in line
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 3, "method": "m", "params": params}


def test_a_notification_has_no_id() -> None:
    assert json.loads(messages.encode_notification("m", [1])) == {"jsonrpc": "2.0", "method": "m", "params": [1]}


@pytest.mark.parametrize(
    ("data", "body"),
    [(None, {"code": 1, "message": "no"}), ({"uri": "x"}, {"code": 1, "message": "no", "data": {"uri": "x"}})],
)
def test_an_error_answer_has_data_only_when_there_is_some(data: Any, body: dict[str, Any]) -> None:
    line = messages.encode_error(msgspec.Raw(b"9"), RpcError(1, "no", data))
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 9, "error": body}


def test_repr_of_an_error_shows_code_and_message() -> None:
    assert repr(RpcError(-32000, "sign in", {"a": 1})) == "RpcError(-32000, 'sign in')"
