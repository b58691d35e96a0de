"""Scripted agents in the test: they say and hear what they would as processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract import events
from tests.agents.in_process import NEEDS_PROCESS, RUNNING, look_at
from tests.core.session.host import running_host
from tests.support.processes import open_files

pytestmark = pytest.mark.anyio

SCRIPTS = {
    "a turn": """
        def turn(agent, prompt):
            prompt.tool("t", "Look", status="in_progress")
            prompt.until_heard()
            prompt.say("hello")
            return "max_tokens"
    """,
    "answers of the client": """
        def turn(agent, prompt):
            calls = [agent.call("_one"), agent.call("_two")]
            for call in reversed(calls):
                try:
                    call.result()
                except Error as error:
                    agent.note(code=error.code)
    """,
    "an error": """
        def turn(agent, prompt):
            raise Error(-32603, "no", {"why": "because"})
    """,
    "one after the other": """
        def run(agent):
            session = agent.handshake()
            prompt = agent.expect("session/prompt")
            agent.note(session=session, text=prompt.text)
            prompt.reply({"stopReason": "end_turn"})
            agent.serve()
    """,
    "threads": """
        def start(agent):
            agent.note(begun=True)

        def opened(agent, session):
            agent.update(session, {"sessionUpdate": "session_info_update", "title": "One"})

        def turn(agent, prompt):
            assert not prompt.pause(0.001)
            prompt.say("two")
    """,
    "bytes": """
        def turn(agent, prompt):
            agent.raw(b"no JSON\\n")
            prompt.say("after")
    """,
}
MISTAKE = """
    def turn(agent, prompt):
        return 1 / 0
"""


async def traffic(directory: Path, source: str, is_process: bool) -> list[Any]:
    """What an agent has said, heard and noted in one turn and until its end, but for what is never the same."""
    async with running_host(directory) as host:
        script = host.script(source, is_process=is_process)
        host.open()
        host.prompt("hi")
        await host.until("the end of the turn", lambda: host.of(events.TurnEnd))
        await host.until_state("idle")
        host.stop()
        await host.until_state("stopped")
        [number] = script.notes("started")
        assert (number in RUNNING) is not is_process
        await host.until("its end", lambda: not look_at(number))
    assert open_files(directory) == []
    notes = [line.value for line in script.traffic() if line.kind == "note"][1:]  # the first tells where it runs
    return [script.sent(), [one.get("method") for one in script.received()], notes]


@pytest.mark.parametrize("name", SCRIPTS)
async def test_it_says_and_hears_the_same_as_a_process(name: str, tmp_path: Path) -> None:
    inside, outside = [
        await traffic(tmp_path / str(is_process), SCRIPTS[name], is_process) for is_process in (False, True)
    ]
    assert inside == outside


async def test_a_mistake_in_its_script_ends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running_host(tmp_path) as host:
        host.script(MISTAKE)
        host.open()
        host.prompt("hi")
        await host.until_state("failed")
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_what_a_script_does_beside_the_protocol_needs_a_process() -> None:
    beside = ("os.getcwd()", "time.sleep(1)", "open('f')", "import subprocess", "agent.exit()", "agent.stderr('no')")
    assert all(NEEDS_PROCESS.search(one) for one in beside)
    assert not any(NEEDS_PROCESS.search(source) for source in SCRIPTS.values())
