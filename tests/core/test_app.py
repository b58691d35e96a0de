"""What Lua says to the host: understood, or told as a fault of ours; never fatal."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from acp_nvim import __version__, pythons
from acp_nvim.contract import events
from tests.core.session.host import Host, running_host

pytestmark = pytest.mark.anyio


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    """The whole core, with a fake editor."""
    async with running_host(tmp_path) as host:
        yield host


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("dance", {}),
        ("open", None),
        ("open", {"session": "one", "cwd": "/"}),
        ("open", {"session": 1}),
        ("resume", {"session": 1}),
        ("prompt", {"session": 99, "text": "hi"}),
        ("prompt", {"session": 1, "text": 5}),
        ("cancel", {"session": 99}),
        ("stop", {"session": 99}),
        ("redraw", {"session": 99}),
        ("answer", {"id": 1}),
        ("hello", {"version": "0"}),
    ],
)
async def test_what_cannot_be_understood_is_told_as_our_bug(host: Host, method: str, params: Any) -> None:
    host.app.receive(method, params)
    [error] = host.editor.all(events.Error)
    assert (error.code, error.session) == ("host_bug", None)
    assert error.text.startswith(f"acp_nvim failed to take {method!r} of its Lua side.")


async def test_hello_is_answered_with_the_sessions_that_are_alive(host: Host) -> None:
    [ready] = host.editor.all(events.Ready)
    assert (ready.version, ready.sessions) == (__version__, [])
    host.script("")
    await host.turn(key=4)
    host.hello()
    assert host.editor.all(events.Ready)[-1].sessions == [events.SessionRef(4, "it", str(host.cwd))]


@pytest.mark.parametrize("empty", [{}, []])
async def test_a_configuration_without_agents_may_be_an_empty_list(host: Host, empty: Any) -> None:
    host.hello(agents=empty)
    assert host.editor.all(events.Error) == []
    host.app.receive("open", {"session": 1, "cwd": str(host.cwd)})
    assert (await host.until_state("idle")).agent == "demo"


async def test_without_a_configured_agent_the_demo_says_what_it_is(host: Host) -> None:
    host.app.receive("open", {"session": 1, "cwd": str(host.cwd)})
    assert "this is the bundled demo agent" in host.notices()[0]
    host.app.receive("open", {"session": 2, "agent": "demo", "cwd": str(host.cwd)})
    assert host.notices(2) == []


async def test_opening_a_session_again_is_no_second_session(host: Host) -> None:
    script = host.script("")
    host.open()
    await host.until_state("idle")
    host.open()
    await host.turn()
    assert len(script.received("session/new")) == 1


async def test_the_log_is_written_where_lua_wants_it_and_nowhere_else(
    host: Host, capfd: pytest.CaptureFixture[str]
) -> None:
    host.script('def turn(agent, prompt):\n    agent.stderr("a line of stderr\\n")\n    agent.raw(b"% noise\\n")')
    await host.turn()
    await host.until("the line in the log", lambda: "a line of stderr" in host.log_path.read_text())
    text = host.log_path.read_text()
    assert "it: not a JSON-RPC message" in text
    assert "% noise" in text
    assert capfd.readouterr() == ("", "")


async def test_what_is_wrong_with_python_is_logged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pythons, "shortcomings", lambda: ["This Python has a defect.", "It is new."])
    async with running_host(tmp_path) as host:
        host.hello()
        host.hello()
        logged = [line for line in host.log_path.read_text(encoding="utf-8").splitlines() if " WARNING " in line]
    assert [line.partition("acp_nvim.app: ")[2] for line in logged] == ["This Python has a defect.", "It is new."]


async def test_saying_hello_again_opens_no_second_log(host: Host) -> None:
    for _ in range(3):
        host.hello()
    assert len(logging.getLogger("acp_nvim").handlers) == 1


async def test_repr_shows_the_sessions(host: Host) -> None:
    host.script("")
    await host.turn()
    await host.until_state("idle")
    assert repr(host.app) == "<App [<Session 1 it idle queue=0>]>"


async def test_the_log_holds_no_secrets_of_any_agent(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            os.write(2, b"my key is " + os.environ["ONE_API_KEY"].encode() + b"\\n")
            agent.raw(b"not JSON: " + os.environ["ONE_API_KEY"].encode() + b"\\n")
            prompt.say("said")
    """)
    host.config["agents"]["it"]["env"] = {"ONE_API_KEY": "f1r5t-s3cr3t-of-one"}
    host.config["agents"]["other"] = {"command": ["x"], "env": {"ONE_API_KEY": "s3c0nd-s3cr3t-of-other"}}
    host.hello()
    await host.turn()
    logging.getLogger("acp_nvim").warning("and s3c0nd-s3cr3t-of-other")
    await host.until("the log", lambda: "not JSON" in host.log_path.read_text())
    written = host.log_path.read_text()
    assert "s3cr3t" not in written
    assert written.count("[masked]") >= 2
