"""Updates of a tool call that arrive together have the effect that each of them would have had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from acp_nvim.acp import diff
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.tool_call import Location, Shown, TerminalShown, ToolCallPatch
from acp_nvim.acp.updates import MessageChunk, ToolCallChanged, Update
from acp_nvim.connection.router import MessageRouter, PeerSession
from acp_nvim.contract import events
from acp_nvim.evidence.work import Work
from acp_nvim.review.ledger import TurnLog
from acp_nvim.review.turn.call_changes import note_call
from acp_nvim.session.background import _begins_turn
from acp_nvim.transcript.location_tracker import LocationTracker
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.roots import Roots
from tests.support.examples import examples
from tests.support.fake_editor import FakeEditor


def _maybe(values: Any) -> Any:
    return st.one_of(st.just(UNSET), values)


ITEMS = [
    Shown(TextContent(text="one")),
    Shown(TextContent(text="two")),
    diff.from_texts("/w/a", "old\n", "new\n"),
    TerminalShown("t"),
]
calls = st.builds(
    ToolCallPatch,
    tool_call_id=st.sampled_from(["a", "a", "a", "b"]),
    status=_maybe(st.sampled_from([None, "pending", "in_progress", "completed", "failed", "odd"])),
    content=_maybe(st.one_of(st.none(), st.lists(st.sampled_from([*ITEMS[:2], *ITEMS]), max_size=2))),
    raw_output=_maybe(st.sampled_from([1, 2])),
    meta=_maybe(st.sampled_from([{"parentToolCallId": "b"}, {"x": 1}, None])),
    size=st.integers(0, 9),
)
announcements = st.builds(
    lambda patch, more: msgspec.structs.replace(patch, **more),
    calls,
    st.fixed_dictionaries({
        "title": _maybe(st.sampled_from(["make", "ls"])),
        "kind": _maybe(st.sampled_from([None, "execute", "edit", "read", "other"])),
        "locations": _maybe(st.lists(st.sampled_from([Location("/w/b", 3), Location("/w/b")]), max_size=1)),
        "raw_input": _maybe(st.sampled_from([{"command": "make"}, {"path": "/w/c"}])),
    }),
)  # fmt: skip
said = st.one_of(
    st.builds(ToolCallChanged, calls),
    st.builds(ToolCallChanged, calls),
    st.builds(ToolCallChanged, announcements, st.booleans()),
    st.builds(MessageChunk, st.just("agent"), st.builds(TextContent, text=st.just("x"))),
)


@dataclass
class Seen:
    """What a session makes of the updates."""

    now: float = 0.0
    begun: set[float] = field(default_factory=set)
    places: list[tuple[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        roots = Roots(["/w"])
        self.work, self.log = Work(1, "it", roots, lambda _mark: None), TurnLog(1, "it", roots)
        self.log.active = True
        self.editor = FakeEditor()
        self.presenter = Presenter(1, "/w", self.editor, lambda: None)
        self.presenter.metadata.activity.begin()
        self.presenter.transcript.clock = lambda: self.now
        self.presenter.on_call.append(lambda call, patch: note_call(self.log, self.work, call, patch))
        tracker = LocationTracker(self.presenter, Mock(), roots, Mock())
        tracker.at = lambda path, line=None: self.places.append((path, line))  # type: ignore[method-assign]
        tracker.changes = lambda change: self.places.append((change.path, change))  # type: ignore[method-assign]

    def on_update(self, update: Update) -> None:
        if isinstance(update, ToolCallChanged):
            call = self.presenter.transcript.call(update.patch.tool_call_id)
            self.begun |= {self.now} if _begins_turn(update, call, (), cancelled=False) else set()
        self.presenter.update(update)

    def state(self) -> dict[str, Any]:
        """All of it that lasts, without the times of real clocks and the memory that calls are thought to take."""
        transcript, activity = self.presenter.transcript, self.presenter.metadata.activity
        blocks = [transcript.call_block(number) for number in range(1, len(transcript) + 1)]
        done = self.work._activities.values()
        return {
            "shown": [msgspec.to_builtins(one) for one in transcript.replay() if not isinstance(one, events.Reset)],
            "calls": [(one.call, one.past_diffs, one.parent, one.times()) for one in blocks if one],
            "activity": (activity.words, activity.voice),
            "work": sorted((one.kind, one.words, one.time.ended is None, sorted(one.paths)) for one in done),
            "place": self.places[-1:],
            "begun": self.begun,
        }


def routed(batches: list[list[ToolCallChanged | MessageChunk]], joined: bool) -> dict[str, Any]:
    """What remains of batches of updates, one second after the other."""
    router, seen = MessageRouter("it"), Seen()
    router.sessions["s"] = Mock(spec=PeerSession, on_update=seen.on_update)
    for batch in batches:
        for one in batch:
            fresh = one
            if isinstance(one, ToolCallChanged):
                fresh = ToolCallChanged(msgspec.structs.replace(one.patch), one.announced)
            router.dialect = Mock(update=lambda _params, fresh=fresh: ("s", fresh))
            router.notification("session/update", msgspec.Raw(b"{}"))
            if not joined:
                router.flush()
        router.flush()
        seen.presenter.caught_up()
        seen.now += 1
    return seen.state()


def _patch(**more: Any) -> ToolCallChanged:
    return ToolCallChanged(ToolCallPatch(tool_call_id="a", **more))


PLACE = Location("/w/b", 3)
WORD = MessageChunk("agent", TextContent(text="x"))
ANNOUNCED = _patch(kind="execute", title="make", status="pending")
RUNS, DONE = _patch(status="in_progress"), _patch(status="completed")


@settings(max_examples=examples(200))
@example([[WORD], [ANNOUNCED, DONE]])
@example([[ANNOUNCED, DONE], [RUNS, DONE]])
@example([[ANNOUNCED], [DONE], [RUNS, DONE]])
@example([[ANNOUNCED], [RUNS, DONE]])
@example([[_patch(kind="edit", content=[ITEMS[2]])], [_patch(status="pending", locations=[PLACE]), DONE]])
@example([[_patch(content=[ITEMS[2]]), _patch(content=[ITEMS[0]])]])
@given(st.lists(st.lists(said, max_size=6), max_size=4))
def test_joined_updates_leave_what_single_ones_leave(batches: list[list[ToolCallChanged | MessageChunk]]) -> None:
    """With an example for each rule."""
    assert routed(batches, joined=True) == routed(batches, joined=False)


def test_a_call_told_at_once_is_one_update() -> None:
    delivered: list[Update] = []
    router = MessageRouter("it")
    router.sessions["s"] = Mock(spec=PeerSession, on_update=delivered.append)
    announced = ToolCallPatch(tool_call_id="a", title="Look", kind="read", status="pending")
    output = {"content": [ITEMS[0]], "content_left": 0, "lacks_content": False}
    for one in (
        ToolCallChanged(announced, announced=True),
        _patch(status="in_progress"),
        _patch(**output),
        _patch(status="completed"),
    ):
        router.dialect = Mock(update=lambda _params, one=one: ("s", one))
        router.notification("session/update", msgspec.Raw(b"{}"))
    router.flush()
    [only] = delivered
    assert isinstance(only, ToolCallChanged)
    assert (only.announced, only.patch.title, only.patch.content) == (True, "Look", [ITEMS[0]])
    assert (only.patch.passed, only.patch.status) == (("pending", "in_progress"), "completed")


@pytest.mark.parametrize(
    "later",
    [
        {"title": "rm"},
        {"kind": "execute"},
        {"locations": []},
        {"raw_input": {}},
        {"content": [ITEMS[2]]},
        {"content": [ITEMS[3]]},
        {"content": None},
    ],
)
def test_what_may_be_evidence_is_an_update_of_its_own(later: dict[str, Any]) -> None:
    assert not _patch(status="pending").absorb(_patch(**later))
    assert not _patch(status="completed").absorb(_patch(status="failed"))


def test_the_latest_word_on_cancelling_counts() -> None:
    first = _patch(status="pending", cancellable=True)
    assert first.absorb(_patch(status="in_progress"))
    assert first.patch.cancellable is True
    assert first.absorb(_patch(status="completed", cancellable=False))
    assert first.patch.cancellable is False
