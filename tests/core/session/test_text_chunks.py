"""Lines that are decoded at once say the same as lines that are decoded one by one."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.text_chunks import text_chunks
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.acp.v2 import DialectV2
from acp_nvim.connection.peer_session import PeerSession
from acp_nvim.connection.router import MessageRouter
from acp_nvim.jsonrpc.connection import Connection
from tests.core.connection.test_text_runs import Said, flat

PLAIN = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}


def line(update: Any, **more: Any) -> bytes:
    """A `session/update`, with other members of the message in `more`."""
    params = {"sessionId": more.pop("session", "s"), "update": update, **more.pop("params", {})}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params, **more}).encode()


contents = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["text"] * 8 + ["image"]),
        "text": st.sampled_from(["a", "b", "", "é", "\n", '"', "\ud800"]),
    },
    optional={"annotations": st.none(), "_meta": st.sampled_from([{}, {"a": 1}]), "data": st.just("")},
)
pieces = st.fixed_dictionaries(
    {
        "sessionUpdate": st.sampled_from(["agent_message_chunk"] * 6 + ["agent_thought_chunk", "user_message_chunk"]),
        "content": contents,
    },
    optional={"messageId": st.sampled_from(["m1", "m2", None, 3]), "_meta": st.just({"n": 10**30})},
)
plain = st.fixed_dictionaries(
    {"sessionUpdate": st.just("agent_message_chunk"), "content": st.just({"type": "text", "text": "a"})},
    optional={"messageId": st.sampled_from(["m1", "m2"])},
)
lines = st.one_of(
    st.builds(line, plain),
    st.builds(line, plain | pieces, session=st.sampled_from(["s", "t", "unknown"])),
    st.builds(line, plain, id=st.sampled_from([1, None, "x"])),
    st.builds(line, plain, params=st.just({"_meta": {"a": 1}})),
    st.builds(line, plain, jsonrpc=st.sampled_from(["1.0", 2])),
    st.sampled_from([line(PLAIN) + line(PLAIN), line(PLAIN) + b"," + line(PLAIN), line(PLAIN)[:9], line(PLAIN)[9:]]),
    st.sampled_from([b"", b"  ", b"words", b"[]", b"\xff", b'{"method":"other"}', line(PLAIN).replace(b"a", b"\xff")]),
)


class Told:
    """An agent that says this, at once; a tap that hears it."""

    def __init__(self, data: bytes) -> None:
        self._data = [data]

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        """All of it, and then the end."""
        await anyio.lowlevel.checkpoint()
        if not self._data:
            raise anyio.EndOfStream
        return self._data.pop()

    async def send(self, item: bytes) -> None:
        """Drop the answers."""


def delivered(data: bytes, v2: bool, one_by_one: bool) -> list[Any]:
    """What two sessions get of it, and the complaints about it. Lines are recorded one by one."""
    said: list[Said] = []
    troubles: list[str] = []
    router = MessageRouter("it")
    router.dialect = DialectV2() if v2 else DialectV1()
    for name in ("s", "t"):
        router.sessions[name] = Mock(
            spec=PeerSession,
            on_update=lambda update, name=name: said.append((name, update)),
            on_trouble=lambda failure: troubles.append(repr(failure)),
        )
    told = Told(data)
    anyio.run(Connection(told, told, router, Mock() if one_by_one else None).run)
    return [flat(said), troubles, router.odd_lines, router._early_count]


@given(st.lists(lines, max_size=12), st.booleans())
def test_what_is_decoded_at_once_is_what_is_decoded_one_by_one(said: list[bytes], v2: bool) -> None:
    data = b"".join(one + b"\n" for one in said)
    assert delivered(data, v2, one_by_one=False) == delivered(data, v2, one_by_one=True)


@pytest.mark.parametrize("v2", [False, True])
def test_a_flood_of_text_is_decoded_at_once(v2: bool) -> None:
    said = [line({**PLAIN, "messageId": name}) for name in ("m1", "m1", "m2")]
    runs = text_chunks(said, needs_id=v2)
    assert runs is not None
    assert [(session, chunk.role, chunk.message_id, chunk.content.text) for session, chunk in runs] == [  # type: ignore[union-attr]
        ("s", "agent", "m1", "aa"),
        ("s", "agent", "m2", "a"),
    ]
    assert (text_chunks([line(PLAIN)], needs_id=v2) is None) is v2
