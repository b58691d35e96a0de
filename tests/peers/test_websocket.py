"""The official SDK's server behind a WebSocket: a whole turn, and an end in the middle of one."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host, running_host
from tests.peers.find_node import find_node
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

SERVER = Path(__file__).with_name("websocket.mjs")


@pytest.fixture
def server() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The server and its port."""
    with subprocess.Popen([find_node(), str(SERVER)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())
        process.kill()


@pytest.fixture
async def host(tmp_path: Path, server: tuple[subprocess.Popen[str], int]) -> AsyncIterator[Host]:
    """A host with the server's agent."""
    async with running_host(tmp_path) as host:
        host.hello(agents={"it": {"address": f"ws://127.0.0.1:{server[1]}/acp"}}, protocol={"draft_transports": True})
        yield host


async def test_a_whole_turn(host: Host) -> None:
    notes = host.cwd / "notes.txt"
    notes.write_text("on disk\n")
    host.editor.open(notes, "first\nsecond\nthird\n")
    host.open()
    host.prompt("hi")
    host.answer((await host.editor.until_event(events.Permission)).request.id, "always")
    assert (await host.editor.until_event(events.TurnEnd)).stop_reason == "end_turn"
    assert "You chose always. " in host.text()
    assert 'It says "first\\nsecond\\nthird\\n", line 2 "second\\n". Written.' in host.text()
    titles = [call.title for call in host.calls().values()]
    assert titles == ["Edited notes.txt", "Delete notes.txt"]


async def test_the_end_of_the_server_ends_the_turn(host: Host, server: tuple[subprocess.Popen[str], int]) -> None:
    host.open()
    host.prompt("hi")
    await host.editor.until_event(events.Permission)
    server[0].kill()
    server[0].wait(LIMIT)
    assert (await host.editor.until_event(events.TurnEnd)).stop_reason == "error"
    error = await host.editor.until_event(events.Error)
    assert f"The connection to agent 'it' at ws://127.0.0.1:{server[1]}/acp was " in error.text
