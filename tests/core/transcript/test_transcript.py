"""The transcript: numbered blocks in the order of their first event, and a replay that shows the same."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.diff import from_texts
from acp_nvim.acp.schema_common import ImageContent, TextContent
from acp_nvim.acp.tool_call import Shown, ToolCallPatch
from acp_nvim.acp.updates import MessageChunk, PlanEntry, PlanRemoved, PlanReplaced, Role, ToolCallChanged
from acp_nvim.contract import events
from acp_nvim.transcript.transcript import Transcript


@pytest.fixture
def transcript() -> Transcript:
    """An empty one, of session 7."""
    return Transcript(7)


def say(transcript: Transcript, text: str, role: Role = "agent", message_id: str | None = None) -> int:
    """A chunk; the number of its block."""
    event = transcript.say(MessageChunk(role, TextContent(text=text), message_id))
    assert event is not None
    assert (event.session, event.kind, event.text) == (7, role, text)
    return event.block


def call(transcript: Transcript, call_id: str, announced: bool = True, **fields: Any) -> events.ToolCall | None:
    """News of a tool call; its event."""
    transcript.tool_call(ToolCallChanged(ToolCallPatch(tool_call_id=call_id, **fields), announced))
    return next(iter(transcript.take_stale()), None)


def test_chunks_go_on_until_something_else_comes(transcript: Transcript) -> None:
    assert say(transcript, "a") == say(transcript, "b") == 1
    call(transcript, "c")
    assert say(transcript, "c") == 3


def test_text_and_thoughts_that_alternate_are_two_messages(transcript: Transcript) -> None:
    assert [say(transcript, "a"), say(transcript, "b", "thought"), say(transcript, "c")] == [1, 2, 1]
    assert say(transcript, "d", "thought") == 2
    call(transcript, "c")
    assert [say(transcript, "e", "thought"), say(transcript, "f")] == [4, 5]
    assert say(transcript, "g", "user") == 6
    assert [say(transcript, "h"), say(transcript, "i", "thought"), say(transcript, "j")] == [7, 8, 7]


def test_a_message_with_another_id_ends_thoughts_without_one(transcript: Transcript) -> None:
    assert [say(transcript, "a", message_id="1"), say(transcript, "b", "thought")] == [1, 2]
    assert [say(transcript, "c", message_id="1"), say(transcript, "d", "thought")] == [1, 2]
    assert [say(transcript, "e", message_id="2"), say(transcript, "f", "thought")] == [3, 4]


def test_a_notice_ends_a_message_too(transcript: Transcript) -> None:
    say(transcript, "a")
    assert transcript.notice("info", "n").block == 2
    assert say(transcript, "b") == 3


def test_chunks_with_ids_go_to_their_message_whatever_came_between(transcript: Transcript) -> None:
    assert say(transcript, "a", message_id="1") == 1
    assert say(transcript, "b", message_id="2") == 2
    call(transcript, "c")
    assert say(transcript, "a", message_id="1") == 1


def test_the_same_id_in_another_role_is_another_message(transcript: Transcript) -> None:
    assert say(transcript, "a", "thought", "1") != say(transcript, "b", "agent", "1")


def test_chunks_with_and_without_ids_do_not_mix(transcript: Transcript) -> None:
    assert say(transcript, "a", message_id="1") == 1
    assert say(transcript, "b") == 2
    assert say(transcript, "c", message_id="3") == 3
    assert say(transcript, "d") == 4


def test_an_empty_chunk_is_nothing(transcript: Transcript) -> None:
    assert transcript.say(MessageChunk("agent", TextContent(text=""), "1")) is None
    assert say(transcript, "a") == 1


def test_what_is_not_text_is_described(transcript: Transcript) -> None:
    event = transcript.say(MessageChunk("agent", ImageContent(data="AAAA", mime_type="image/png")))
    assert event is not None
    assert event.text == "image (image/png, 3 B)"


def test_a_plan_stays_where_it_is_until_the_next_turn(transcript: Transcript) -> None:
    assert transcript.plan(PlanReplaced([PlanEntry("a")])).block == 1
    say(transcript, "x")
    replaced = transcript.plan(PlanReplaced([PlanEntry("b", "completed", "high")]))
    assert (replaced.block, replaced.entries) == (1, [events.PlanStep("b", "completed", "high")])
    transcript.begin_turn()
    assert transcript.plan(PlanReplaced([])).block == 3


def test_told_again_a_plan_of_an_earlier_turn_is_over(transcript: Transcript) -> None:
    transcript.plan(PlanReplaced([PlanEntry("a")]))
    transcript.begin_turn()
    transcript.plan(PlanReplaced([PlanEntry("b")]))
    plans = [event for event in transcript.replay() if isinstance(event, events.Plan)]
    assert [plan.over for plan in plans] == [True, False]


def test_a_plan_that_is_taken_back_stays_as_it_was_and_a_new_one_is_another(transcript: Transcript) -> None:
    assert transcript.plan(PlanReplaced([PlanEntry("a")], "p")).block == 1
    removed = transcript.remove_plan(PlanRemoved("p"))
    assert removed == events.Plan(
        session=7, block=1, entries=[events.PlanStep("a", "pending", "medium")], title="p", removed=True
    )
    assert removed is not None
    assert list(transcript.replay())[1] == msgspec.structs.replace(removed, over=True)
    assert transcript.remove_plan(PlanRemoved("p")) is None
    assert transcript.plan(PlanReplaced([], "p", None, "file:///p.md")).block == 2


def test_an_event_shows_the_call_as_it_was_then(transcript: Transcript) -> None:
    first = call(transcript, "c", title="one")
    call(transcript, "c", title="two")
    assert first is not None
    assert first.call.title == "one"


def test_a_call_without_a_title_shows_its_id(transcript: Transcript) -> None:
    event = call(transcript, "c")
    assert event is not None
    assert (event.call.title, event.call.kind, event.call.status) == ("c", "other", "pending")


def test_a_diff_stays_in_sight_when_a_word_of_success_replaces_it(transcript: Transcript) -> None:
    word, diff = Shown(TextContent(text="done")), from_texts("/f", "a", "b")
    call(transcript, "c", content=[diff])
    event = call(transcript, "c", content=[word])
    assert event is not None
    assert event.call.content == [events.DiffItem("/f", "b", "a"), events.TextItem("done")]
    event = call(transcript, "c", content=[from_texts("/f", "a", "c")])
    assert event is not None
    assert event.call.content == [events.DiffItem("/f", "c", "a")]


@pytest.mark.parametrize("cleared", [[], None])
def test_an_agent_may_take_its_diff_back(transcript: Transcript, cleared: list[Any] | None) -> None:
    call(transcript, "c", content=[from_texts("/f", "a", "b")])
    event = call(transcript, "c", content=cleared)
    assert event is not None
    assert event.call.content == []


def test_an_announcement_after_a_mention_in_the_same_turn_is_the_same_call(transcript: Transcript) -> None:
    mentioned = call(transcript, "c", announced=False, title="asked for")
    announced = call(transcript, "c", title="announced")
    assert mentioned is not None
    assert announced is not None
    assert mentioned.block == announced.block


def test_unfinished_are_those_of_the_running_turn_in_their_order(transcript: Transcript) -> None:
    call(transcript, "old", status="in_progress")
    transcript.begin_turn()
    for name, status in (("z", "pending"), ("b", "completed"), ("a", "in_progress"), ("k", "failed")):
        call(transcript, name, status=status)
    assert [one.tool_call_id for one in transcript.unfinished()] == ["z", "a"]


def test_a_new_agent_shares_no_ids_with_the_last(transcript: Transcript) -> None:
    say(transcript, "a", message_id="1")
    call(transcript, "c", title="old")
    transcript.begin_agent()
    assert say(transcript, "b", message_id="1") == 3
    mentioned = call(transcript, "c", announced=False)
    assert mentioned is not None
    assert (mentioned.block, mentioned.call.title) == (4, "c")


steps = st.one_of(
    st.tuples(
        st.just("say"),
        st.sampled_from(["user", "agent", "thought"]),
        st.sampled_from(["", "a", "é☃\n", "\ud83d"]),
        st.sampled_from([None, None, "1", "2"]),
    ),
    st.tuples(st.just("call"), st.sampled_from("cd"), st.booleans(), st.sampled_from(["pending", "completed", None])),
    st.tuples(st.just("plan"), st.lists(st.sampled_from("xy"), max_size=2)),
    st.tuples(st.just("notice"), st.sampled_from(["info", "warn"])),
    st.tuples(st.just("ask"), st.booleans()),
    st.tuples(st.just("turn")),
    st.tuples(st.just("end")),
)


class Show:
    """Does a step, and keeps the events of it."""

    def __init__(self) -> None:
        self.transcript = Transcript(7)
        self.events: list[Any] = []
        self._requests = 0

    def do(self, step: tuple[Any, ...]) -> None:
        """Carry out one step."""
        transcript = self.transcript
        place = len(self.events)
        match step:
            case ("say", role, text, message_id):
                self.events.append(transcript.say(MessageChunk(role, TextContent(text=text), message_id)))
            case ("call", call_id, announced, status):
                patch = ToolCallPatch(tool_call_id=call_id, **({"status": status} if status else {}))
                transcript.tool_call(ToolCallChanged(patch, announced))
            case ("plan", entries):
                self.events.append(transcript.plan(PlanReplaced([PlanEntry(entry) for entry in entries])))
            case ("notice", level):
                self.events.append(transcript.notice(level, "words"))
            case ("ask", answered):
                self._ask(answered)
            case ("turn",):
                transcript.begin_turn()
            case ("end",):
                transcript.end_message()
        self.events[place:place] = transcript.take_stale()

    def _ask(self, answered: bool) -> None:
        self._requests += 1
        view = events.RequestView(self._requests, "c", "T", "edit", [], [], [])
        self.events.append(asked := self.transcript.request(view))
        if answered:
            done = events.PermissionDone(session=7, block=asked.block, id=view.id, outcome="cancelled")
            self.transcript.question_news(done)
            self.events.append(done)


def fold(shown: list[Any]) -> dict[int, Any]:
    """What each block shows after these events, blocks in the order of their first."""
    blocks: dict[int, Any] = {}
    for event in shown:
        match event:
            case events.Append():
                kind, text = blocks.get(event.block, (event.kind, ""))
                assert kind == event.kind
                blocks[event.block] = (kind, text + event.text)
            case events.Permission():
                blocks[event.block] = (event.request, None)
            case events.PermissionDone():
                blocks[event.block] = (blocks[event.block][0], event)
            case events.Plan():
                blocks[event.block] = msgspec.structs.replace(event, over=False)  # only told again it may be
            case events.ToolCall() | events.Notice():
                blocks[event.block] = event
    return blocks


@given(st.lists(steps, max_size=25))
def test_blocks_count_from_one_in_the_order_of_their_first_event(script: list[tuple[Any, ...]]) -> None:
    show = Show()
    for step in script:
        show.do(step)
    blocks = list(fold(show.events))
    assert blocks == list(range(1, len(blocks) + 1))


@given(st.lists(steps, max_size=25))
def test_a_replay_shows_what_the_events_showed(script: list[tuple[Any, ...]]) -> None:
    show = Show()
    for step in script:
        show.do(step)
    reset, *again = show.transcript.replay()
    assert reset == events.Reset(session=7)
    assert fold(again) == fold(show.events)
    assert list(show.transcript.replay()) == [reset, *again]


def test_repr_counts_blocks(transcript: Transcript) -> None:
    say(transcript, "a")
    assert repr(transcript) == "<Transcript of 7: 1 blocks>"


def test_it_is_forgotten_in_the_middle_of_a_turn(transcript: Transcript) -> None:
    call(transcript, "c", title="Run", status="in_progress")
    transcript.forget()
    assert transcript.is_empty
