"""Everything that real agents said in the recordings is decoded, and all that they may say of it is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.acp import decoding, schema_common, schema_v1
from tests.core.acp.schema.encoding import encode
from tests.support.schemas import load

RECORDINGS = sorted((Path(__file__).parents[3] / "recordings").glob("*/*.jsonl"))
UNSTABLE = {"session/fork": schema_v1.ForkSessionResponse}

NOT_STABLE = {"initialize answer.agentCapabilities.mcpCapabilities.acp"}
"""Members that only the unstable schema has: nobody reads them here."""


def said(path: Path) -> Iterator[tuple[str, Any]]:
    """What the agent wrote: the method, and the params or the result."""
    calls: dict[Any, str] = {}
    for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        message = record.get("message")
        if not isinstance(message, dict):
            continue
        if record["direction"] == "sent":
            calls[message.get("id")] = message.get("method", "")
        elif "method" in message:
            yield message["method"], message.get("params")
        elif "result" in message and message["id"] in calls:
            yield f"{calls[message['id']]} answer", message["result"]


def kind(method: str) -> Any:
    """Our type for the params of a method, or for its answer; None for a method that is not the protocol's."""
    name, answer, _ = method.partition(" answer")
    if answer and name in UNSTABLE:
        return UNSTABLE[name]
    for definition, schema in load("v1")["$defs"].items():
        if schema.get("x-method") == name and definition.endswith("Response") == bool(answer):
            return getattr(schema_v1, definition, None) or getattr(schema_common, definition, None)
    return None


def lost(given: Any, kept: Any, where: str = "") -> Iterator[str]:
    """The members that are not kept, by name; anything else that differs is named too."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for name in given.keys() | kept.keys():
            if name not in kept:
                yield f"{where}.{name}"
            else:
                yield from lost(given.get(name), kept[name], f"{where}.{name}")
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for one, other in zip(given, kept, strict=True):
            yield from lost(one, other, where)
    elif given != kept:
        yield f"{where}: {given!r} became {kept!r}"


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_real_agents_say_is_kept(path: Path) -> None:
    count = 0
    for method, value in said(path):
        known = kind(method)
        if known is None:
            continue
        count += 1
        raw = json.dumps(value).encode()
        kept = json.loads(encode(decoding.decode(raw, known)))
        assert set(lost(value, kept, method)) <= NOT_STABLE
    assert count > 5
