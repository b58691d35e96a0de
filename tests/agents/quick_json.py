"""JSON without the module `json`, whose regular expressions take a third of the start of an agent."""

from __future__ import annotations

from _json import encode_basestring_ascii, make_encoder, make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Decoding:
    """What `make_scanner` asks for: the settings of `json.loads`."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None  # the last one: since Python 3.15
    parse_float, parse_int, parse_constant = float, int, float


def _refuse(value: object) -> None:
    raise TypeError(f"{value!r} is no JSON")


_scan = make_scanner(_Decoding)
_encode = make_encoder(None, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, True)


def loads(data: bytes) -> Any:
    """Like `json.loads`."""
    text = data.decode().strip(" \t\n\r")
    try:
        value, end = _scan(text, 0)
    except (StopIteration, SystemError, ValueError):  # there is something wrong, and the module has the words for it
        end = -1
    if end == len(text):
        return value
    import json

    return json.loads(data)


def dumps(value: Any) -> str:
    """Like `json.dumps`."""
    return "".join(_encode(value, 0))
