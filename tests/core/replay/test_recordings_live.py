"""The real core talks with recordings of real agents, each a real process, and makes of them what it did before."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from acp_nvim.acp.v1 import DialectV1
from acp_nvim.contract import events
from acp_nvim.replay.recording import read_recording
from acp_nvim.review.turn import turn_changes
from acp_nvim.review.turn.looks import Looks
from acp_nvim.session import connecting
from tests.core.replay.golden import compare, snapshot
from tests.core.replay.live_client import LiveClient, demo_project
from tests.core.replay.messages import Heard
from tests.core.replay.test_recordings import RECORDINGS
from tests.core.session.host import Host
from tests.support.processes import look_at

pytestmark = pytest.mark.anyio

TERMINALS = {name for name in DialectV1.requests if name.startswith("terminal/")}


async def no_scan(looks: Looks) -> None:
    """Takes no snapshot of the directories of a session."""


async def play(path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> str:
    """The core does what the client of the recording did, until the agent has ended: what it shows then."""
    recording = read_recording(path)
    demo_project(host.cwd)
    monkeypatch.setattr(DialectV1, "requests", DialectV1.requests - TERMINALS)  # no command is run again
    # What comes whenever it is ready has no place in a golden file: summaries, words about what is slow.
    monkeypatch.setattr(turn_changes.TurnChanges, "end", lambda changes, goes_on: None)
    monkeypatch.setattr(Looks, "_scan", no_scan)  # no golden file has them
    monkeypatch.setattr(connecting, "SLOW_SECONDS", float("inf"))
    command = [sys.executable, "-P", "-m", "acp_nvim.replay", "--strict", str(path)]
    host.hello(agents={"it": {"command": command}})
    async with anyio.create_task_group() as tasks:
        client = LiveClient(host, recording, tasks)
        client.connect(monkeypatch)
        await client.run()
        shown = snapshot(host, client.sessions, recording.header["cwd"])
        client.peer._stop()
        await client.peer.gone.wait()
        tasks.cancel_scope.cancel()
    child = client.peer._transport
    assert child is not None
    assert (child.returncode, look_at(child.pid)) == (0, None), child.stderr.lines()
    assert [one for one in host.editor.all(events.Error) if one.code == "host_bug"] == []
    assert "Traceback" not in host.log_path.read_text()
    return shown


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
async def test_the_core_makes_of_a_recording_what_it_did_before(
    path: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare(path, await play(path, host, monkeypatch))


async def test_what_is_recorded_of_a_replay_can_be_replayed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.hello(log={"traffic": True})
    path = RECORDINGS[0]
    await play(path, host, monkeypatch)
    [recorded] = host.log_path.parent.rglob("*.jsonl")
    ours, theirs = read_recording(recorded), read_recording(path)
    assert ours.problems == []
    received = [sum(one.direction == "received" for one in recording.records) for recording in (ours, theirs)]
    assert received[0] == received[1]
    heard = Heard(ours.records)
    heard.say(*(one.message for one in ours.records if one.direction == "sent"))
    assert (heard.deviations, heard.player.left) == ([], [])
