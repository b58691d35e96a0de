"""What is asked about changes right after a turn waits until they are known, and the user is told that it does."""

from __future__ import annotations

import anyio
import pytest

from acp_nvim.contract import events
from acp_nvim.contract.review_events import CheckpointsListed, Judged, ReviewCollecting, ReviewLoaded
from acp_nvim.review import reviews
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

WRITES = """
    def turn(agent, prompt):
        for number in range(3):
            open(os.path.join(os.getcwd(), f"f{number}"), "w").write("text\\n")
        if prompt.text == "second":
            open(os.path.join(os.getcwd(), "g"), "w").write("text\\n")
"""


def hold(host: Host, monkeypatch: pytest.MonkeyPatch) -> anyio.Event:
    """Begin a session whose look at what a turn has changed goes on when the event is set."""
    host.script(WRITES)
    host.open()
    changes, released = host.app.sessions[1].changes, anyio.Event()
    look = changes.look

    async def held() -> None:
        await released.wait()
        await look()

    monkeypatch.setattr(changes, "look", held)
    return released


async def test_answers_wait_for_the_changes_of_a_turn_that_is_over(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    released, cwd = hold(host, monkeypatch), str(host.cwd)
    await host.turn()
    asked = {
        "checkpoints": {"cwd": cwd},
        "review_load": {"cwd": cwd},
        "review": {"action": "reject", "session": 1, "force": True},
    }
    for count, (method, params) in enumerate(asked.items(), 1):
        host.app.receive(method, params)
        await host.until("the words", lambda count=count: len(host.editor.all(ReviewCollecting)) == count)
    answers = (CheckpointsListed, ReviewLoaded, Judged)
    assert [host.editor.all(one) for one in answers] == [[], [], []]
    released.set()
    for one in answers:
        await host.until(one.__name__, lambda one=one: host.editor.all(one))
    [listed] = host.editor.all(CheckpointsListed)
    assert [one.files for one in listed.checkpoints if one.kind == "turn"] == [3]
    [judged] = host.editor.all(Judged)
    assert len(judged.files) == 3
    host.app.receive("checkpoints", {"cwd": cwd})
    await host.until("the second list", lambda: len(host.editor.all(CheckpointsListed)) == 2)
    assert len(host.editor.all(ReviewCollecting)) == 3, "nothing is being collected any more"


async def test_earlier_turns_are_listed_without_one_that_takes_long(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "COLLECTING_SECONDS", 0.0)
    released, cwd = hold(host, monkeypatch), str(host.cwd)
    await host.turn()
    host.app.receive("checkpoints", {"cwd": cwd})
    await host.until("the words", lambda: host.editor.all(ReviewCollecting))
    released.set()
    await host.until("the list, which is not empty", lambda: host.editor.all(CheckpointsListed))
    assert len(host.editor.all(CheckpointsListed)[0].checkpoints) == 1
    changes, held = host.app.sessions[1].changes, anyio.Event()
    monkeypatch.setattr(changes, "look", held.wait)
    host.prompt("second")
    await host.until("the second end", lambda: len(host.of(events.TurnEnd)) == 2)
    host.app.receive("checkpoints", {"cwd": cwd})
    await host.until("the second list", lambda: len(host.editor.all(CheckpointsListed)) == 2)
    assert len(host.editor.all(CheckpointsListed)[1].checkpoints) == 1
    held.set()
