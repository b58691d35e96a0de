"""How the review's files in the state directory are written: versioned JSON in which every file name survives."""

from __future__ import annotations

import json
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

VERSION: Final = 1
"""Of the format. A reader leaves alone what another version has written."""


def encode(value: msgspec.Struct) -> bytes:
    """One line of ASCII without its end.

    A byte of a file name that is not UTF-8 is a lone surrogate in Python (PEP 383), which `msgspec.json` refuses. JSON
    can have it as an escape: b"\\xe9" is written as `\\udce9`, so that `os.fsencode` gives the same bytes again.
    """
    fields = {"version": VERSION, **msgspec.to_builtins(value)}
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def decode(data: bytes, kind: type[T]) -> T:
    """What `encode` has written. Raises `ValueError` for what is incomplete, damaged or of another version."""
    try:
        fields = json.loads(data)
        version = fields.pop("version", None) if isinstance(fields, dict) else None
        if version != VERSION:
            raise ValueError(f"it has version {version}, not {VERSION}")
        return msgspec.convert(fields, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from error
