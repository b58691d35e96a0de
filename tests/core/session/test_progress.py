"""While the changes of a turn are collected, or a decision about many files is carried out, that is told."""

from __future__ import annotations

import anyio
import pytest

from acp_nvim.contract import events
from acp_nvim.contract.review_events import CheckpointsListed, Judged, Restored, ReviewProgress, Summary
from acp_nvim.review import progress, tracker
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

COUNT = 60
LAST = f"f{COUNT - 1}"
CHANGES = """
    import subprocess

    def turn(agent, prompt):
        agent.note(began=prompt.text, files={name: open(name).read() for name in os.listdir(".")})
        if prompt.text != "change all":
            return
        command = "for f in f*; do echo theirs >> $f; done"
        call = {"toolCallId": "c", "kind": "execute", "title": command, "rawInput": {"command": command}}
        agent.update(prompt.session_id, {"sessionUpdate": "tool_call", "status": "in_progress", **call})
        subprocess.run(["sh", "-c", command], check=True)
        agent.update(prompt.session_id, {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"})
"""


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report progress several times for each file."""
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 0.001)


async def changed(host: Host) -> None:
    """A turn whose command has changed all files is over; nobody knows yet what it has changed."""
    for number in range(COUNT):
        (host.cwd / f"f{number}").write_text(f"{number}\nmiddle\nend\n")
    host.script(CHANGES)
    await host.turn("hi")
    await host.until("its changes", lambda: any(one.is_over for one in told(host, "collecting")))
    host.editor.events.clear()
    await host.turn("change all")


def told(host: Host, *what: str) -> list[ReviewProgress]:
    """Return the progress events of these kinds of work."""
    return [one for one in host.editor.all(ReviewProgress) if one.what in what]


async def rejecting(host: Host) -> None:
    """All is rejected, and some of it already is."""
    host.app.receive("review", {"action": "reject", "session": 1})
    await host.until("it to go on", lambda: any(one.done for one in told(host, "rejecting")))
    assert not host.editor.all(Judged)


async def rejected(host: Host, count: int = 1) -> list[str]:
    """The files of the rejection with that number."""
    await host.until("the answer", lambda: len(host.editor.all(Judged)) >= count)
    return [one.rpartition("/")[2] for one in host.editor.all(Judged)[count - 1].files]


def check_files(host: Host, **others: str) -> None:
    """All files are as they were, but for the others."""
    wanted = {f"f{number}": f"{number}\nmiddle\nend\n" for number in range(COUNT)} | others
    assert {name: (host.cwd / name).read_text() for name in wanted} == wanted


async def test_it_is_told_how_far_the_changes_of_a_turn_are_collected(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracker, "ENTERED_AT_ONCE", 20)
    await changed(host)
    await host.until("the end", lambda: any(one.is_over for one in told(host, "collecting")))
    seen = [one for one in host.editor.events if isinstance(one, (ReviewProgress, events.TurnEnd, Summary))]
    kinds = [type(one) for one in seen]
    before = seen[kinds.index(events.TurnEnd) - 1]
    assert isinstance(before, ReviewProgress)
    assert not before.is_over, "who hears of the end knows that more comes"
    assert kinds[-2:] == [Summary, ReviewProgress], "at its end all is known"
    steps = [(one.done, one.total) for one in told(host, "collecting")]
    assert steps[-1] == (COUNT, COUNT)
    assert {one.session for one in told(host, "collecting")} == {1}
    assert any(0 < done < total == COUNT for done, total in steps), steps
    first = next(i for i, one in enumerate(host.editor.events) if isinstance(one, events.FileChanged))
    later = [one for one in host.editor.events[first:] if isinstance(one, ReviewProgress) and one.done < one.total]
    assert later, "what is known is told before all is known"


async def test_all_that_a_turn_has_changed_is_rejected_as_soon_as_it_is_known(host: Host) -> None:
    await changed(host)
    await rejecting(host)
    assert len(await rejected(host)) == COUNT
    check_files(host)
    for what in ("checking", "rejecting"):
        steps = [one.done for one in told(host, what)]
        assert steps == sorted(steps)
        assert {one.total for one in told(host, what)} == {COUNT}
    [over] = [one for one in told(host, "rejecting") if one.is_over]
    assert (over.done, over.session) == (COUNT, None)
    assert host.editor.events.index(over) < host.editor.events.index(host.editor.all(Judged)[0])


async def test_nothing_is_rejected_twice_and_what_is_typed_meanwhile_stays(host: Host) -> None:
    await changed(host)
    await rejecting(host)
    host.app.receive("review", {"action": "reject", "session": 1})
    host.cancel()
    path = host.cwd / LAST
    await anyio.run_process(["sed", "-i", "s/middle/mine/", str(path)])
    assert len(await rejected(host)) == COUNT
    assert await rejected(host, 2) == []
    check_files(host, **{LAST: f"{COUNT - 1}\nmine\nend\n"})
    host.app.receive("checkpoints", {"cwd": str(host.cwd)})
    await host.until("the list", lambda: host.editor.all(CheckpointsListed))
    [first] = [one for one in host.editor.all(CheckpointsListed)[0].checkpoints if one.kind == "reject"]
    host.app.receive("restore", {"cwd": str(host.cwd), "id": first.id})
    await host.until("the undoing", lambda: host.editor.all(Restored))
    assert told(host, "restoring")
    assert (host.cwd / "f0").read_text() == "0\nmiddle\nend\ntheirs\n"
    assert path.read_text() == f"{COUNT - 1}\nmine\nend\ntheirs\n"


async def test_the_next_prompt_waits_until_all_is_rejected(host: Host) -> None:
    await changed(host)
    await rejecting(host)
    await host.turn("and now")
    begun = dict(zip(host.scripts["it"].notes("began"), host.scripts["it"].notes("files"), strict=True))
    assert {name: text for name, text in begun["and now"].items() if "theirs" in text} == {}
    assert len(await rejected(host)) == COUNT


async def test_a_few_files_are_rejected_without_words(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    await changed(host)
    await host.app.sessions[1].changes.settled()
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 60.0)
    host.app.receive("review", {"action": "keep", "session": 1})
    await rejected(host)
    assert told(host, "keeping") == []
