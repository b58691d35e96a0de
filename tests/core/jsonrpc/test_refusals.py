"""Requests of a method that never fails get a result in place of every error; all others get the error."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from acp_nvim.jsonrpc import framing
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from tests.core.jsonrpc.peer import Peer, connected

pytestmark = pytest.mark.anyio

NO = {"outcome": "no"}
REFUSALS = {"ask": NO}


async def refuse(method: str, params: Any) -> Any:
    raise RpcError(INVALID_PARAMS, "no such thing")


def refuse_at_once(method: str, params: Any) -> Any:
    raise RpcError(INVALID_PARAMS, "no such thing")


async def explode(method: str, params: Any) -> Any:
    raise ZeroDivisionError


async def wait(method: str, params: Any) -> Any:
    await anyio.sleep_forever()


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 0


def line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, **members}).encode() + b"\n"


CASES: dict[str, tuple[Callable[..., Any], list[bytes]]] = {
    "refused": (refuse, [line(method="ask")]),
    "refused at once": (refuse_at_once, [line(method="ask")]),
    "a bug": (explode, [line(method="ask")]),
    "withdrawn": (wait, [line(method="ask"), line(method="$/cancel_request", params={"requestId": 1})[:-1] + b"\n"]),
    "nested too deeply": (refuse, [line(method="ask", params=nested(400))]),
    "an integer of 70 bits": (refuse, [line(method="ask", params={"a": 2**70})]),
    "an id that is an object": (refuse, [json.dumps({"id": {"a": 1}, "method": "ask"}).encode() + b"\n"]),
    "too large": (refuse, [line(method="ask", params={"a": "x" * 3000})]),
    "in a batch": (refuse, [b"[" + line(method="ask")[:-1] + b"]\n"]),
}


def answers(peer: Peer) -> list[dict[str, Any]]:
    """Return the answers to the request, not to the withdrawal."""
    found = [one for said in peer.heard for one in (said if isinstance(said, list) else [said])]
    return [one for one in found if one.get("result", NO) is not None]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", ["ask", "other"])
async def test_every_error_becomes_that_result(name: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "MESSAGE_BYTES", 2000)
    answer, said = CASES[name]
    async with connected(refusals=REFUSALS) as peer:
        peer.handler.answer = answer
        await peer.say(*(one.replace(b'"ask"', json.dumps(method).encode()) for one in said))
        [heard] = answers(peer)
        assert ("error" in heard) == (method == "other"), heard
        assert heard.get("result") == (NO if method == "ask" else None)


async def test_what_is_served_when_the_connection_ends_is_answered_so_too() -> None:
    async with connected(refusals=REFUSALS) as peer:
        peer.handler.answer = wait
        await peer.say(line(method="ask"))
        await peer.leave()
        assert [one for one in peer.heard if "error" in one] == []
