"""Text that arrives at once becomes one piece, and nothing changes its place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.protocol.updates import MessageChunk, ModeChanged, Update
from acp_nvim.session.text_runs import TextRuns
from acp_nvim.wire.content import ImageContent, TextContent

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


@given(st.lists(st.one_of(st.tuples(st.sampled_from(["s", "t"]), texts | others), st.just(None)), max_size=30))
def test_all_of_it_is_delivered_in_order(said: list[Said | None]) -> None:
    delivered: list[Said] = []
    runs = TextRuns(lambda session_id, update: delivered.append((session_id, update)))
    for one in said:
        if one is None:
            runs.flush()
        else:
            runs.add(*one)
    runs.flush()
    assert flat(delivered) == flat([one for one in said if one is not None])


def test_a_flood_of_one_message_is_one_piece() -> None:
    delivered: list[Said] = []
    runs = TextRuns(lambda session_id, update: delivered.append((session_id, update)))
    for _ in range(1000):
        runs.add("s", MessageChunk("agent", TextContent(text="ab"), "m"))
    assert delivered == []
    runs.flush()
    assert delivered == [("s", MessageChunk("agent", TextContent(text="ab" * 1000), "m"))]
