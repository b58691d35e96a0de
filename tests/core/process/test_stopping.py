"""The stop ladder: end of stdin, SIGTERM, SIGKILL; in the end nothing is left of whatever was started."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from acp_nvim.process import stopping
from acp_nvim.process.child import Child
from tests.core.process import escaping
from tests.core.process.conftest import Spawn
from tests.support.processes import look_at, marked
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

NOBODY_HEEDS = 0.05
"""A grace for processes that are known not to heed: no need to wait the whole time for them."""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ladder gives little time on its first step; who heeds SIGTERM has as much as a busy machine takes."""
    monkeypatch.setattr(stopping, "EOF_GRACE_SECONDS", NOBODY_HEEDS)
    monkeypatch.setattr(stopping, "TERM_GRACE_SECONDS", LIMIT)
    monkeypatch.setattr(stopping, "KILL_SECONDS", LIMIT)


@pytest.fixture
def merciless(monkeypatch: pytest.MonkeyPatch, impatient: None) -> None:
    """The ladder gives little time on any step before the last."""
    monkeypatch.setattr(stopping, "TERM_GRACE_SECONDS", NOBODY_HEEDS)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every step so much time that a slow machine changes nothing."""
    monkeypatch.setattr(stopping, "EOF_GRACE_SECONDS", LIMIT)
    monkeypatch.setattr(stopping, "TERM_GRACE_SECONDS", LIMIT)


async def stop(child: Child) -> list[stopping.Rung]:
    """Stop it within a limit: what was done."""
    rungs: list[stopping.Rung] = []
    with anyio.fail_after(60):
        await child.stop(rungs.append)
    return rungs


@pytest.mark.usefixtures("patient")
async def test_who_leaves_at_the_end_of_stdin_gets_no_signal(spawn: Spawn, mark: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = await spawn(f'trap "echo signalled >> {log}" TERM; echo ready; cat; echo left >> {log}; exit 5')
    assert await stop(child) == ["end of input"]
    assert child.returncode == 5
    assert log.read_text() == "left\n"
    assert marked(mark) == []


@pytest.mark.usefixtures("impatient")
async def test_who_ignores_the_end_of_stdin_gets_sigterm(spawn: Spawn, mark: str) -> None:
    child = await spawn("echo ready; exec sleep 1000")
    assert await stop(child) == ["end of input", "SIGTERM"]
    assert child.returncode == -15
    assert marked(mark) == []


async def test_who_cleans_up_on_sigterm_has_the_time_for_it(
    spawn: Spawn, mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "EOF_GRACE_SECONDS", NOBODY_HEEDS)
    monkeypatch.setattr(stopping, "TERM_GRACE_SECONDS", LIMIT)
    log = tmp_path / "log"
    child = await spawn(f'trap "sleep 0.2; echo clean > {log}; exit 7" TERM; echo ready; while :; do sleep 0.1; done')
    rungs = await stop(child)
    assert (child.returncode, rungs) == (7, ["end of input", "SIGTERM"])
    assert log.read_text() == "clean\n"
    assert marked(mark) == []


@pytest.mark.usefixtures("merciless")
async def test_who_ignores_that_too_is_killed(spawn: Spawn, mark: str) -> None:
    child = await spawn('trap "" TERM; echo ready; while :; do sleep 1000; done')
    assert await stop(child) == ["end of input", "SIGTERM", "SIGKILL"]
    assert child.returncode == -9
    assert marked(mark) == []


@pytest.mark.usefixtures("merciless")
async def test_who_ignores_it_is_killed_however_long_it_takes_to_find_them(
    spawn: Spawn, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "KILL_SECONDS", 0)  # no second search is in time
    child = await spawn('trap "" TERM; echo ready; while :; do sleep 1000; done')
    await stop(child)
    monkeypatch.undo()
    with anyio.fail_after(LIMIT):
        await child.wait()
    assert child.returncode == -9


GRANDCHILDREN = {
    "in its group": "sleep 1000 &",
    "in a session of its own": "setsid sleep 1000 &",
    "with a parent that is gone": "(sleep 1000 & exit) &",
    "in a session of its own and with a parent that is gone": "setsid sh -c 'sleep 1000 & exit' &",
    "three generations": "sh -c 'setsid sh -c \"sleep 1000; :\"; :' &",
    "deaf": "sh -c 'trap \"\" TERM; sleep 1000; :' &",
}


@pytest.mark.usefixtures("merciless")
@pytest.mark.parametrize("script", GRANDCHILDREN.values(), ids=GRANDCHILDREN)
async def test_what_it_started_goes_with_it(spawn: Spawn, mark: str, script: str) -> None:
    child = await spawn(f"{script} echo ready; exec sleep 1000")
    await stop(child)
    assert marked(mark) == []


@pytest.mark.usefixtures("merciless")
@pytest.mark.parametrize("script", GRANDCHILDREN.values(), ids=GRANDCHILDREN)
async def test_what_it_left_behind_is_ended_although_it_is_gone_itself(spawn: Spawn, mark: str, script: str) -> None:
    child = await spawn(f"{script} echo ready")
    await child.wait()
    await stop(child)
    assert (child.returncode, marked(mark)) == (0, [])


@pytest.mark.usefixtures("merciless")
async def test_a_grandchild_without_our_environment_is_found_by_its_parents(spawn: Spawn, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    nested = f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 1000"
    child = await spawn(
        f"env -i PATH=$PATH setsid sh -c '{nested}' & while [ ! -e {pid} ]; do sleep 0.01; done; echo ready; wait"
    )
    await stop(child)
    assert look_at(int(pid.read_text())) is None


@pytest.mark.usefixtures("merciless")
async def test_stopping_cannot_be_cancelled_halfway(spawn: Spawn, mark: str) -> None:
    child = await spawn('trap "" TERM; echo ready; while :; do sleep 1000; done')
    with anyio.CancelScope() as scope:
        scope.cancel()
        await child.stop()
    assert marked(mark) == []


@pytest.mark.usefixtures("impatient")
async def test_stopping_twice_and_at_once_is_harmless(spawn: Spawn, mark: str) -> None:
    child = await spawn("echo ready; exec sleep 1000")
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child.stop)
            tasks.start_soon(child.stop)
    await stop(child)
    assert marked(mark) == []


@pytest.mark.usefixtures("impatient")
async def test_another_child_is_left_alone(spawn: Spawn, mark: str) -> None:
    other = await spawn("echo ready; exec sleep 1000")
    child = await spawn("echo ready; exec sleep 1000")
    await stop(child)
    assert [process.pid for process in marked(mark)] == [other.pid]


@pytest.mark.usefixtures("merciless")
async def test_what_has_escaped_from_it_goes_with_it_and_what_has_escaped_from_another_child_does_not(
    spawn: Spawn, tmp_path: Path
) -> None:
    files = [tmp_path / "its", tmp_path / "another's"]
    command = f"{sys.executable} -I -S {escaping.__file__}"
    child, other = [
        await spawn(f'{command} "{file}"; while [ ! -e "{file}" ]; do sleep 0.01; done; echo ready; cat')
        for file in files
    ]
    its, anothers = [int(file.read_text(encoding="ascii")) for file in files]
    await stop(child)
    assert look_at(its) is None
    assert look_at(anothers)
    await stop(other)
    assert look_at(anothers) is None
