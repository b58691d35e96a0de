"""What a connection must do with a stream of bytes, told a second time: slowly, plainly, and with Python's own JSON."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from acp_nvim.jsonrpc.dispatcher import MAX_COMPLAINTS
from acp_nvim.jsonrpc.messages import INVALID_REQUEST, PARSE_ERROR

LINE_LIMIT = 512
"""Bytes of a line; small, so that no line can be nested too deeply for one of the two."""

MISSING = object()


class Number(NamedTuple):
    """A number exactly as it is written."""

    text: str


def plain_json(text: str) -> Any:
    """The value, or ValueError; half characters are replaced, numbers stay as written."""
    value = json.loads(
        text, parse_int=Number, parse_float=Number, parse_constant=_no_constant, object_pairs_hook=_object
    )
    return _whole(value) if r"\u" in text else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of equal names the last counts, but a method that is no text stays wrong."""
    found = dict(pairs)
    wrong = [value for name, value in pairs if name == "method" and not isinstance(value, str)]
    return {**found, "method": wrong[0]} if wrong else found


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, Number):
        return value
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in value.items()}
    return value


def key(value: Any) -> str:
    """Return a text that is equal for equal values."""
    return repr(value)


@dataclass
class Expected:
    """Calls of the handler in order; how often each id must be answered, and with which code if there is only one."""

    calls: list[tuple[str, str, str]] = field(default_factory=list)
    served: Counter[str] = field(default_factory=Counter)
    errors: Counter[tuple[str, int]] = field(default_factory=Counter)
    losses: list[Any] = field(default_factory=list)
    settled: dict[int, str] = field(default_factory=dict)
    uncertain: bool = False
    complaints: int = 0


def expect(stream: bytes, our_calls: int) -> Expected:
    """What must come of it when we have made that many calls."""
    expected = Expected()
    for line in stream.split(b"\n")[:-1]:
        if len(line) > LINE_LIMIT:
            _lose(expected, line)
        elif line.strip():
            _take_line(expected, line.decode("utf-8", "replace"), our_calls)
    return expected


def _lose(expected: Expected, line: bytes) -> None:
    try:
        message = plain_json(line.decode("utf-8", "replace"))
    except ValueError:
        message = None
    if line.count(b'"id"') > 1:  # which of them its ends show is no matter
        message = None
    expected.losses.append(message)
    # its ends may or may not show which call it answers, if it is an answer
    expected.uncertain |= not isinstance(message, dict) or bool({"result", "error"} & message.keys())


def _take_line(expected: Expected, text: str, our_calls: int) -> None:
    text = text.removeprefix(codecs.BOM_UTF8.decode())
    try:
        message = plain_json(text)
    except ValueError:
        if re.match(r"\s*(\{|\[\s*\{)", text, re.ASCII):
            expected.uncertain |= '"result"' in text or '"error"' in text
            _complain(expected, PARSE_ERROR)
        return
    if isinstance(message, list):
        if not message:
            _complain(expected, INVALID_REQUEST)
        for entry in message:
            _take(expected, entry, our_calls, in_batch=True)
    else:
        _take(expected, message, our_calls, in_batch=False)


def _take(expected: Expected, message: Any, our_calls: int, in_batch: bool) -> None:
    if not isinstance(message, dict):
        message = {}
    request_id, method = message.get("id", MISSING), message.get("method", MISSING)
    if isinstance(method, str):
        _take_request(expected, method, message, request_id)
    elif method is MISSING and _is_answer(message, request_id, our_calls):
        _settle(expected, request_id, message, our_calls)
    elif request_id is not MISSING:
        expected.errors[key(request_id), INVALID_REQUEST] += 1
    elif in_batch:
        _complain(expected, INVALID_REQUEST)


def _is_answer(message: dict[str, Any], answer_id: Any, our_calls: int) -> bool:
    """One with neither result nor error is one, too, if it can be ours."""
    if {"result", "error"} & message.keys():
        return True
    return "params" not in message and _own_id(answer_id, our_calls) is not None


def _take_request(expected: Expected, method: str, message: dict[str, Any], request_id: Any) -> None:
    if method == "$/cancel_request":
        if request_id is not MISSING:
            expected.served[key(request_id)] += 1
        return
    if isinstance(request_id, bool | list | dict):
        expected.errors[key(request_id), INVALID_REQUEST] += 1
        return
    kind = "notification" if request_id is MISSING else "request"
    params = key(message["params"]) if "params" in message else ""
    expected.calls.append((kind, method, params))
    if request_id is not MISSING:
        expected.served[key(request_id)] += 1


def _settle(expected: Expected, answer_id: Any, message: dict[str, Any], our_calls: int) -> None:
    call_id = _own_id(answer_id, our_calls)
    if call_id is None or call_id in expected.settled:
        return
    error = message.get("error", MISSING)
    if error is not MISSING and (error is not None or "result" not in message):
        expected.settled[call_id] = "error"
    else:
        expected.settled[call_id] = key(message["result"]) if "result" in message else "error"


def _own_id(value: Any, our_calls: int) -> int | None:
    try:
        number = float(value.text) if isinstance(value, Number) else -1.0
    except ValueError:
        return None
    return int(number) if number in range(our_calls) else None


def _complain(expected: Expected, code: int) -> None:
    if expected.complaints < MAX_COMPLAINTS:
        expected.complaints += 1
        expected.errors[key(None), code] += 1
