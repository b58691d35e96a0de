"""Directories besides the session's own: told to agents that can use them; files there are the session's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host
from tests.core.session.outside_agent import AGENT, place, step, work
from tests.core.session.test_review_kept import checkpoints, next_host, restore, undo

pytestmark = pytest.mark.anyio

ABLE = """
    INITIALIZE = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": {"additionalDirectories": {}}}}
"""
READS = """
    def turn(agent, prompt):
        try:
            agent.note(result=prompt.read(prompt.text))
        except Error as error:
            agent.note(error=[error.code, error.message])
"""


@pytest.fixture
def library(host: Host) -> Path:
    """A directory beside the session's, with a file."""
    library = host.directory / "library"
    library.mkdir()
    (library / "file").write_text("in the library")
    return library


def params(host: Host, method: str) -> list[dict[str, Any]]:
    """What the agent was asked with."""
    return [one["params"] for one in host.scripts["it"].received(method)]


async def test_an_agent_that_can_use_them_is_told_and_reads_there(host: Host, library: Path) -> None:
    host.hello(additional_directories=["../library"])
    host.script(ABLE + READS)
    await host.turn(str(library / "file"))
    assert [one["additionalDirectories"] for one in params(host, "session/new")] == [[str(library)]]
    assert host.scripts["it"].notes("result") == ["in the library"]
    assert host.notices() == []


async def test_an_agent_that_cannot_is_not_told_and_reads_there_too(host: Host, library: Path) -> None:
    host.hello(additional_directories=["../library"])
    host.script(READS)
    await host.turn(str(library / "file"))
    assert ["additionalDirectories" in one for one in params(host, "session/new")] == [False]
    assert host.scripts["it"].notes("result") == ["in the library"]


async def test_what_is_outside_of_all_is_outside(host: Host, library: Path) -> None:
    host.hello(additional_directories=["../library"], fs={"outside": "error"})
    host.script(READS)
    outside = host.directory / "library2"
    await host.turn(str(outside))
    words = f"{outside} is outside of the session's directories {host.cwd}, {library}"
    assert host.scripts["it"].notes("error") == [[-32602, words]]


async def test_a_session_that_is_taken_up_gets_them_too(host: Host, library: Path) -> None:
    host.hello(additional_directories=["../library"])
    host.script(ABLE)
    await host.turn()
    host.stop()
    await host.until_state("stopped")
    host.app.sessions[1].restore("kept")
    await host.until_received("session/load")
    assert [one["additionalDirectories"] for one in params(host, "session/load")] == [[str(library)]]


async def test_one_that_is_not_there_is_told_once_and_left_out(host: Host, library: Path) -> None:
    host.hello(additional_directories=["nowhere", "../library"])
    host.script(ABLE)
    await host.turn()
    await host.turn()
    assert [one["additionalDirectories"] for one in params(host, "session/new")] == [[str(library)]]
    [notice] = host.of(events.Notice)
    assert notice.level == "warn"
    assert "no directory" in notice.text
    assert "nowhere" in notice.text
    assert "(additional_directories)" in notice.text


async def test_they_count_for_new_sessions(host: Host, library: Path) -> None:
    host.script(ABLE)
    await host.turn()
    host.hello(additional_directories=["../library"])
    await host.turn(key=2)
    assert ["additionalDirectories" in one for one in params(host, "session/new")] == [False, True]


async def test_a_turn_that_changed_one_is_restored_by_the_next_host(host: Host, library: Path, tmp_path: Path) -> None:
    host.hello(additional_directories=["../library"])
    host.script(AGENT)
    await work(host, step(f"printf new > {library / 'file'}", place(library / "file"), ask=True))
    assert host.notices() == []
    async with next_host(host, tmp_path / "next") as other:
        turn = next(one for one in await checkpoints(other, host.cwd) if one.kind == "turn")
        assert (await restore(other, host.cwd, turn.id)).problem is None
        assert (library / "file").read_text() == "in the library"
        done = await undo(other, host.cwd)
        assert done is not None
        assert (done.problem, (library / "file").read_text()) == (None, "new")
