"""The process that is started for the first agent before the host is loaded: it is used, or else it ends."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.agents.first_agent import FirstAgent, start_first
from acp_nvim.process.child import ChildProcesses
from acp_nvim.process.guarding import guard_of_host
from tests.agents.in_process import look_at
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio


def messages(host: Host, **opened: Any) -> list[tuple[str, Any]]:
    """Return the first two messages from Lua."""
    hello = {"state_path": str(host.directory / "state"), "config": host.config}
    return [("hello", hello), ("open", {"session": 1, "agent": "it", "cwd": str(host.cwd), **opened})]


async def started(host: Host) -> FirstAgent:
    """The process, which the host knows of."""
    first = await start_first(messages(host), ChildProcesses(guard_of_host()))
    assert first is not None
    host.begin_again(first)
    host.hello()
    return first


async def test_the_session_uses_it(host: Host) -> None:
    script = host.script("")
    first = await started(host)
    assert await host.turn() == "end_turn"
    assert script.notes("started") == [first.child.pid]


@pytest.mark.parametrize("other", ["settings", "directory"])
async def test_a_session_that_wants_another_gets_another(host: Host, other: str) -> None:
    script = host.script("")
    first = await started(host)
    if other == "settings":
        host.config["agents"]["it"]["env"] = {"WHICH": "another"}
        host.hello()
        host.open()
    else:
        (host.directory / "other").mkdir()
        host.open(cwd=str(host.directory / "other"))
    await host.until_state("idle")
    [used] = [pid for pid in script.notes("started") if pid != first.child.pid]
    assert look_at(used) is not None
    await host.until("the end of the first", lambda: look_at(first.child.pid) is None)


async def test_the_latest_settings_count(host: Host) -> None:
    script = host.script("")
    hello, opened = messages(host)
    old = {**hello[1], "config": {"agents": {"it": {"command": ["false"]}}}}
    first = await start_first([("hello", old), hello, opened], ChildProcesses(guard_of_host()))
    assert first is not None
    host.begin_again(first)
    host.hello()
    host.open()
    await host.until_state("idle")
    assert script.notes("started") == [first.child.pid]


NO_HELLO: list[tuple[str, Any]] = [("open", {"session": 1, "cwd": "/"})]


async def test_nothing_is_started_for_messages_that_name_no_agent(host: Host) -> None:
    host.script("")
    hello, opened = messages(host)
    for early in (
        [],
        NO_HELLO,
        [hello],
        [hello, ("prompt", {"session": 1, "text": "hi"})],
        [("hello", []), opened],
        [("hello", {"config": []}), opened],
        [hello, ("open", None)],
        messages(host, cwd=str(host.directory / "nowhere")),
        messages(host, cwd=5),
        messages(host, agent="nobody"),
        messages(host, agent=["it"]),
        [("hello", {**hello[1], "config": {"agents": {"it": {"command": ["x\0y"]}}}}), opened],
        [("hello", {**hello[1], "config": {"agents": {"it": {"command": "text"}}}}), opened],
        [("hello", {**hello[1], "config": {"agents": {"it": {"command": ["x"], "prefix": ["ssh"]}}}}), opened],
    ):
        assert await start_first(early, ChildProcesses(guard_of_host())) is None, early
    assert await host.turn() == "end_turn"
