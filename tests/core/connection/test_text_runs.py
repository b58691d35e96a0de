"""Text that arrives at once becomes one piece, and nothing changes its place."""

from __future__ import annotations

from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.schema_common import ImageContent, TextContent
from acp_nvim.acp.updates import MessageChunk, ModeChanged, Update
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.connection.router import MessageRouter, PeerSession
from acp_nvim.jsonrpc.messages import RpcError

Said = tuple[str, Update]

texts = st.builds(
    MessageChunk,
    st.sampled_from(["user", "agent", "thought"]),
    st.builds(TextContent, text=st.sampled_from(["a", "b", ""])),
    st.sampled_from([None, "m1", "m2"]),
)
others = st.sampled_from([ModeChanged("x"), MessageChunk("agent", ImageContent(data="", mime_type="image/png"))])


def flat(said: list[Said]) -> list[object]:
    """One entry for each character, so that joined texts are equal to single ones."""
    entries: list[object] = []
    for session_id, update in said:
        if isinstance(update, MessageChunk) and isinstance(update.content, TextContent):
            entries.extend((session_id, update.role, update.message_id, one) for one in update.content.text)
        else:
            entries.append((session_id, update))
    return entries


class Listener(Mock):
    """A session that writes down what is delivered to it."""

    def __init__(self, name: str, delivered: list[Said]) -> None:
        super().__init__(spec=PeerSession, on_update=lambda update: delivered.append((name, update)))


def routed(said: list[Said | None]) -> list[Said]:
    """What sessions get of updates that a dialect has read; None: nothing more has arrived by then."""
    delivered: list[Said] = []
    router = MessageRouter("it")
    for name in ("s", "t"):
        router.sessions[name] = Listener(name, delivered)
    for one in said:
        if one is None:
            router.flush()
        else:
            router.dialect = Mock(update=lambda _params, one=one: one)
            router.notification("session/update", msgspec.Raw(b"{}"))
    router.flush()
    return delivered


@given(st.lists(st.one_of(st.tuples(st.sampled_from(["s", "t"]), texts | others), st.just(None)), max_size=30))
def test_all_of_it_is_delivered_in_order(said: list[Said | None]) -> None:
    assert flat(routed(said)) == flat([one for one in said if one is not None])


def test_a_flood_of_one_message_is_one_piece() -> None:
    chunk = ("s", MessageChunk("agent", TextContent(text="ab"), "m"))
    other = ("s", MessageChunk("agent", TextContent(text="cd"), "n"))
    assert routed([chunk] * 1000 + [other] * 2) == [
        ("s", MessageChunk("agent", TextContent(text="ab" * 1000), "m")),
        ("s", MessageChunk("agent", TextContent(text="cdcd"), "n")),
    ]


@pytest.mark.anyio
async def test_only_a_stream_of_text_is_heard_a_frame_later() -> None:
    chunk = ("s", MessageChunk("agent", TextContent(text="ab"), "m"))
    router = MessageRouter("it")
    router.sessions["s"] = Mock(spec=PeerSession)
    router.next_batch = lambda: 7.0

    def read(*said: Said) -> float:
        for one in said:
            router.dialect = Mock(update=lambda _params, one=one: one)
            router.notification("session/update", msgspec.Raw(b"{}"))
        return router.caught_up()

    assert read(chunk) == 0.0  # a request may follow it, as after the first words of a turn
    assert read(chunk, chunk) == 7.0
    assert read(chunk) == 7.0
    assert read(chunk, ("s", ModeChanged("x"))) == 0.0
    assert read(chunk) == 0.0
    assert read(chunk) == 7.0
    router.notification("other/news", msgspec.Raw(b"{}"))
    assert read() == 0.0
    assert [read(chunk), read(chunk)] == [0.0, 7.0]
    router.dialect = DialectV1()
    with pytest.raises(RpcError):
        router.serve("fs/unknown", msgspec.Raw(b"{}"))
    assert read() == 0.0
