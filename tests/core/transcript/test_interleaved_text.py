"""Text and thoughts that alternate make one message each, and nothing of them is lost or changes its place."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.tool_call import ToolCallPatch
from acp_nvim.acp.updates import MessageChunk, PlanEntry, PlanReplaced, Role, ToolCallChanged
from acp_nvim.contract import events
from acp_nvim.transcript.transcript import Transcript

Said = tuple[Role, str, str | None]

chunks = st.tuples(
    st.sampled_from(["agent", "thought", "agent", "thought", "user"]),
    st.text(min_size=1, max_size=4),
    st.sampled_from([None, None, None, "m", "n"]),
)
others = st.sampled_from(["call", "plan", "notice"])


def play(steps: list[Said | str]) -> tuple[Transcript, list[int]]:
    """A transcript in which all of that has arrived, and the blocks of what was said."""
    transcript, blocks = Transcript(1), []
    for place, step in enumerate(steps):
        match step:
            case "call":
                transcript.tool_call(ToolCallChanged(ToolCallPatch(tool_call_id=str(place)), announced=True))
            case "plan":
                transcript.begin_turn(prompted=False)
                transcript.plan(PlanReplaced([PlanEntry("a")]))
            case "notice":
                transcript.notice("info", "n")
            case (role, text, message_id):
                event = transcript.say(MessageChunk(role, TextContent(text=text), message_id))
                assert event is not None
                blocks.append(event.block)
    return transcript, blocks


def texts(transcript: Transcript) -> dict[int, tuple[str, str]]:
    """The messages as they are shown again."""
    return {one.block: (one.kind, one.text) for one in transcript.replay() if isinstance(one, events.Append)}


@given(st.lists(chunks | others, max_size=30))
def test_each_message_has_its_pieces_in_order(steps: list[Said | str]) -> None:
    transcript, blocks = play(steps)
    said: dict[int, str] = {}
    roles: dict[int, str] = {}
    for block, (role, text, _) in zip(blocks, [one for one in steps if not isinstance(one, str)], strict=True):
        said[block] = said.get(block, "") + text
        assert roles.setdefault(block, role) == role
    assert texts(transcript) == {block: (roles[block], said[block]) for block in said}


@given(
    st.lists(st.tuples(st.sampled_from(["agent", "thought"]), st.text(min_size=1, max_size=4)) | others, max_size=40)
)
def test_between_two_other_things_there_is_one_message_of_each_kind(steps: list[tuple[Role, str] | str]) -> None:
    transcript, _ = play([one if isinstance(one, str) else (*one, None) for one in steps])
    expected: list[dict[str, str]] = []
    for is_other, run in groupby(steps, lambda one: isinstance(one, str)):
        if not is_other:
            expected.append({})
            for role, text in run:  # in the order in which the kinds came
                expected[-1][role] = expected[-1].get(role, "") + text
    assert list(texts(transcript).values()) == [pair for run in expected for pair in run.items()]


@given(st.lists(st.tuples(st.sampled_from(["agent", "thought"]), st.text("ab😀", min_size=1)), max_size=20))
def test_what_is_published_is_what_is_kept(steps: list[tuple[Role, str]]) -> None:
    transcript = Transcript(1)
    shown: dict[int, str] = {}
    for role, text in steps:
        event = transcript.say(MessageChunk(role, TextContent(text=text)))
        assert event is not None
        shown[event.block] = shown.get(event.block, "") + event.text
    assert {block: text for block, (_, text) in texts(transcript).items()} == shown
