"""What is done by one task for many calls is done again after that task has failed before it began."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import anyio
import pytest

from acp_nvim.acp.diff import FileChange
from acp_nvim.contract import events
from acp_nvim.contract.messages import Resume
from acp_nvim.contract.settings import HistorySettings
from acp_nvim.evidence.git_contents import GitContents
from acp_nvim.history import recorder
from acp_nvim.history.store import TranscriptStore
from acp_nvim.review import named_files
from acp_nvim.review.named_files import WAITING, NamedFiles
from acp_nvim.review.reviews import Reviews
from acp_nvim.review.turn import turn_changes
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.rpc.resume import ResumeHandlers
from acp_nvim.session.auth.sign_ins import SignIns
from acp_nvim.transcript.location_tracker import LocationTracker
from acp_nvim.transcript.shown_terminals import ShownTerminals
from acp_nvim.workspace.roots import Roots, WatchedRoots
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio


class Failing:
    """Tasks of which each is over at once; `started` are their names."""

    def __init__(self) -> None:
        self.started: list[str] = []

    def spawn(self, act: Callable[..., Awaitable[Any]], *_args: Any) -> anyio.Event:
        """Note the name of the task, but do not run it."""
        self.started.append(act.__name__)
        ended = anyio.Event()
        ended.set()
        return ended


@pytest.fixture
def tasks() -> Any:
    return Failing()


async def test_places_are_told_again(tasks: Any, tmp_path: Path) -> None:
    where = LocationTracker(Mock(cwd=str(tmp_path)), Mock(), Roots([str(tmp_path)]), tasks)
    for _ in range(2):
        where.at("/f")
    assert tasks.started == ["_rest", "_rest"]
    for _ in range(2):
        where.changes(FileChange(path="/f", pieces=(Mock(old_text="a", new_text="b", line=None),)))
    assert tasks.started[2:] == ["_look", "_look"]


async def test_terminals_are_shown_again(tasks: Any) -> None:
    shown = ShownTerminals(Mock(), tasks)
    for _ in range(2):
        shown.printed("t", b"x")
    assert tasks.started == ["_look_again", "_look_again"]


async def test_conversations_are_written_again(tasks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder.Recorder, "is_due", True)
    transcripts = TranscriptStore(tasks, tmp_path, Mock())
    transcripts.configure(HistorySettings(transcripts=True), {})
    hear = transcripts.begin(1, "demo", str(tmp_path), Mock())
    assert tasks.started == ["_run"]
    hear(events.Notice(session=1, block=1, level="info", text="words"))
    assert tasks.started == ["_run", "_run"]


async def test_named_files_and_ends_of_turns_are_waited_for_no_longer(
    tasks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named_files, "KNOWN_WAIT_SECONDS", 2 * LIMIT)
    monkeypatch.setattr(turn_changes, "SETTLED_WAIT_SECONDS", 2 * LIMIT)
    shared = ("ledger", "tracker", "workspaces", "outside", "journal", "evidence")
    reviews = Mock(spec=Reviews, on_trouble=[], **{name: Mock() for name in shared})
    reviews.workspaces.at.return_value.git.note = GitContents.note
    changes = TurnChanges(1, "demo", WatchedRoots([str(tmp_path)]), reviews, Mock(), tasks)
    for _ in range(2):
        changes.named.add([(str(tmp_path / "f"), None)])
        changes.end(goes_on=False)
    with anyio.fail_after(LIMIT):
        await changes.named.known()
        await changes.settled()
    assert tasks.started == ["_read_all", "note", "_close"] * 2


async def test_a_session_that_could_not_be_made_defers_nothing(tasks: Any, tmp_path: Path) -> None:
    resume = ResumeHandlers(Mock(), {}, Mock(), Mock(), Mock(), tasks, Mock())
    resume._resume(Resume(session=1, cwd=str(tmp_path), how="go_on"))
    assert not resume.defers("prompt", {"session": 1})


async def test_who_could_not_sign_in_may_try_again(tasks: Any, tmp_path: Path) -> None:
    sign_ins = SignIns(Mock(), Mock(), Mock(), tasks.spawn)
    for _ in range(2):
        sign_ins.begin("demo", str(tmp_path), "browser", {}, None)
    assert tasks.started == ["_run", "_run"]


async def test_files_that_are_named_are_looked_at_by_one_task_and_do_not_pile_up(tmp_path: Path) -> None:
    tasks: Any = Mock()
    tasks.spawn.return_value = anyio.Event()  # it runs
    reviews = Mock(spec=Reviews, tracker=Mock(), workspaces=Mock(), outside=Mock())
    named = NamedFiles(reviews, WatchedRoots([str(tmp_path)]), Mock(), tasks)
    for _ in range(20):
        named.add([(str(tmp_path / f"f{number}"), None) for number in range(500)])
    assert tasks.spawn.call_count == 1
    assert len(named) == WAITING
