"""Many sessions at once, in one process and in several: nothing that one does or asks ever reaches another."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from tests.agents.in_process import look_at
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

CHUNKS = 150

BUSY = f"""
    def turn(agent, prompt):
        name = prompt.session_id
        for number in range({CHUNKS}):
            prompt.say(f"{{name}}:{{number}} ")
        chosen = prompt.ask("call", title=f"Ask of {{name}}")
        agent.request("fs/write_text_file", {{
            "sessionId": name, "path": os.path.join(os.getcwd(), f"{{name}}.txt"), "content": f"by {{name}}\\n"}})
        agent.note(read=agent.request("fs/read_text_file", {{
            "sessionId": name, "path": os.path.join(os.getcwd(), f"{{name}}.txt")}}))
        made = agent.request("terminal/create", {{"sessionId": name, "command": "echo", "args": [f"out of {{name}}"]}})
        terminal = {{"sessionId": name, "terminalId": made["terminalId"]}}
        prompt.tool("run", "Run", kind="execute", content=[{{"type": "terminal", "terminalId": made["terminalId"]}}])
        agent.request("terminal/wait_for_exit", terminal)
        agent.note(**{{name: agent.request("terminal/output", terminal)["output"]}})
        agent.note(chosen=[name, chosen])
        prompt.tool_update("run", status="completed")
        for number in range({CHUNKS}):
            prompt.say(f"{{name}}:{{number}} ")
"""


def said(name: str) -> str:
    """All that a session's agent says in one turn."""
    return "".join(f"{name}:{number} " for number in range(CHUNKS)) * 2


async def test_two_sessions_of_one_process_ask_write_and_run_at_the_same_time(free_host: Host) -> None:
    host = free_host
    script = host.script(BUSY)
    for key in (1, 2):
        host.open(key)
        await host.until_state("idle", key)
    for key in (1, 2):
        host.prompt("go", key)
    await host.editor.until_event(events.Permission, 2)
    for key, option in ((2, "reject"), (1, "allow")):
        [asked] = host.of(events.Permission, key)
        assert asked.request.title == f"Ask of session-{key}"
        host.answer(asked.request.id, option)
    await host.editor.until_event(events.TurnEnd, 2)
    for key in (1, 2):
        name = f"session-{key}"
        assert host.text(key=key) == said(name)
        assert (host.cwd / f"{name}.txt").read_text() == f"by {name}\n"
        assert script.notes(name) == [f"out of {name}\n"]
        assert "Run" in [call.title for call in host.calls(key).values()]
        [done] = host.of(events.PermissionDone, key)
        assert done.option_id == ("allow" if key == 1 else "reject")
    assert len(script.notes("started")) == 1


async def test_closing_one_does_not_disturb_the_other(free_host: Host) -> None:
    host = free_host
    script = host.script(BUSY)
    for key in (1, 2):
        host.open(key)
        await host.until_state("idle", key)
        host.prompt("go", key)
    await host.editor.until_event(events.Permission, 2)
    host.stop(1)
    await host.until_state("stopped", 1)
    [asked] = host.of(events.Permission, 2)
    assert host.of(events.PermissionDone, 2) == []
    host.answer(asked.request.id, "allow")
    await host.until("the end of the other's turn", lambda: host.of(events.TurnEnd, 2))
    assert host.text(key=2) == said("session-2")
    assert script.notes("session-2") == ["out of session-2\n"]
    assert host.notices(2) == []
    [pid] = script.notes("started")
    assert look_at(pid) is not None


SESSIONS, AGENTS = 20, 3

STREAMS = """
    def turn(agent, prompt):
        for number in range(400):
            prompt.say(f"{prompt.session_id} of {os.path.basename(SCRIPT)}: {number}\\n")
            if number % 100 == 50:
                prompt.tool(f"call {number}", f"{prompt.session_id}, {number}", status="completed")
"""


async def test_twenty_sessions_on_three_agents_each_have_their_own_transcript(host: Host) -> None:
    scripts = {name: host.script(STREAMS.replace("os.path.basename(SCRIPT)", repr(name)), name) for name in "abc"}
    names = {key: "abc"[key % AGENTS] for key in range(1, SESSIONS + 1)}
    for key, name in names.items():
        host.open(key, name)
        host.prompt("go", key)
    await host.editor.until_event(events.TurnEnd, SESSIONS)
    for key, name in names.items():
        status = host.status(key)
        assert status is not None
        lines = [f"{status.session_id} of {name}: {number}\n" for number in range(400)]
        assert host.text(key=key) == "".join(lines)
        shown = [call.title for call in host.calls(key).values()]
        assert shown == [f"{status.session_id}, {number}" for number in (50, 150, 250, 350)]
    assert [len(script.notes("started")) for script in scripts.values()] == [1, 1, 1]
