"""What child sessions change is reviewed wherever they work; those that make room for others are forgotten in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.review_events import Summary
from tests.core.session.host import Host
from tests.core.session.test_subagents import CHILDREN, key_of, shown, views

pytestmark = pytest.mark.anyio

RUNS = (
    CHILDREN
    + """
    def runs(agent, name):
        tool(agent, name, "t", kind="execute", status="in_progress")
        until_heard(agent, name)
"""
)
LATER = (
    RUNS
    + """
    def later(agent, work):
        import threading
        def run():
            while not os.path.exists(path("go")):
                time.sleep(0.01)
            work()
            agent.note(over=True)
        threading.Thread(target=run).start()
"""
)


def reviewed(host: Host) -> set[str]:
    """The names of the files that are under review."""
    return {Path(one.path).name for one in host.app.reviews.ledger.entries.values()}


@pytest.mark.parametrize("change", ["overwritten", "deleted"])
async def test_a_change_below_the_directory_of_a_child_can_be_rejected(free_host: Host, change: str) -> None:
    host = free_host
    file = host.cwd / "sub" / "old.txt"
    file.parent.mkdir()
    file.write_text("what the user had\n")
    host.script(
        RUNS
        + f"""
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", cwd=path("sub"), state={{"state": "running"}})
        runs(agent, "one")
        if {change == "deleted"}:
            os.unlink(path("sub/old.txt"))
        else:
            open(path("sub/old.txt"), "w").write("new\\n")
        agent.update("one", {{"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}})
        child(agent, prompt, "one", state={{"state": "idle", "stopReason": "end_turn"}})
"""
    )
    await host.turn()
    one = await key_of(host, "one")
    await host.until("the summary of its work", lambda: host.of(Summary, one))
    await host.until("the change", lambda: reviewed(host) == {"old.txt"})
    host.app.receive("review", {"action": "reject"})
    await host.until("the old text", lambda: file.exists() and file.read_text() == "what the user had\n")
    assert host.editor.all(events.Error) == []


async def test_what_an_idle_child_asks_for_is_work(free_host: Host) -> None:
    host = free_host
    host.script(
        LATER
        + """
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={"state": "idle"})
        def work():
            made = agent.request("terminal/create", {
                "sessionId": "one", "command": "touch", "args": [path("made.txt")]})
            agent.request("terminal/wait_for_exit", {"sessionId": "one", "terminalId": made["terminalId"]})
        later(agent, work)
"""
    )
    await host.turn()
    one = await key_of(host, "one")
    (host.cwd / "go").touch()
    await host.until_note("over")
    await host.until("the summary of its work", lambda: host.of(Summary, one))
    assert "made.txt" in reviewed(host)
    states = [each.subagent.state for each in host.of(events.Subagent)]
    assert states[-1] == "idle"
    assert "running" in states


async def test_what_an_idle_child_does_ends_with_its_call_beside_a_command(free_host: Host) -> None:
    host = free_host
    host.script(
        LATER
        + """
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={"state": "running"})
        agent.request("terminal/create", {"sessionId": "one", "command": "sleep", "args": ["1000"]})
        child(agent, prompt, "one", state={"state": "idle"})
        def work():
            tool(agent, "one", "t", kind="read", status="in_progress")
            agent.note(begun=True)
            while not os.path.exists(path("on")):
                time.sleep(0.01)
            agent.update("one", {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"})
        later(agent, work)
"""
    )
    await host.turn()
    await key_of(host, "one")
    (host.cwd / "go").touch()
    await host.until("its work", lambda: views(host)["one"].state == "running")
    (host.cwd / "on").touch()
    await host.until("the end of its work", lambda: views(host)["one"].state == "idle")
    assert await host.turn("nothing more") == "end_turn"


@pytest.mark.parametrize("state", ["None", '{"state": "idle"}'])
async def test_a_command_that_was_allowed_is_not_asked_again(host: Host, state: str) -> None:
    host.script(
        CHILDREN
        + f"""
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={state})
        agent.request("session/request_permission", {{
            "sessionId": "one", "options": [{{"optionId": "y", "name": "Yes", "kind": "allow_once"}}],
            "toolCall": {{"toolCallId": "k", "title": "true", "kind": "execute", "status": "pending",
                          "rawInput": {{"command": "true"}}}}}})
        agent.request("terminal/create", {{"sessionId": "one", "command": "true"}})
        agent.note(ran=True)
"""
    )
    host.open()
    host.prompt("go")
    one = await key_of(host, "one")
    await host.until("the request", lambda: host.of(events.Permission, one))
    host.answer(host.of(events.Permission, one)[0].request.id, "y")
    await host.until_note("ran")
    assert len(host.of(events.Permission, one)) == 1


async def test_what_a_child_was_allowed_does_not_reach_the_next_prompt(host: Host) -> None:
    host.script(
        LATER
        + """
    def turn(agent, prompt):
        if prompt.text != "go":
            return
        child(agent, prompt, "one", title="One", state={"state": "running"})
        agent.request("session/request_permission", {
            "sessionId": "one", "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
            "toolCall": {"toolCallId": "k", "title": "true", "kind": "execute", "status": "pending",
                         "rawInput": {"command": "true"}}})
        later(agent, lambda: agent.request("terminal/create", {"sessionId": "one", "command": "true"}))
"""
    )
    host.open()
    host.prompt("go")
    one = await key_of(host, "one")
    await host.until("the request", lambda: host.of(events.Permission, one))
    host.answer(host.of(events.Permission, one)[0].request.id, "y")
    await host.editor.until_event(events.TurnEnd)
    await host.turn("more")
    assert views(host)["one"].state == "running"
    (host.cwd / "go").touch()
    await host.until("another request", lambda: len(host.of(events.Permission, one)) == 2)


@pytest.mark.parametrize("said", ['cwd="/a\\0b"', 'cwd="/tmp", additionalDirectories=["/x\\0y"]'])
async def test_a_directory_that_cannot_be_one_is_that_of_the_parent(host: Host, said: str) -> None:
    host.script(
        CHILDREN
        + f"""
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={{"state": "running"}}, {said})
        say(agent, "one", "hello")
"""
    )
    await host.turn()
    one = await key_of(host, "one")
    assert host.app.conversations[one].place.cwd == str(host.cwd)
    assert host.editor.all(events.Error) == []


CROWD = (
    LATER
    + """
    def turn(agent, prompt):
        for number in range(3):
            state = "idle" if number else "running"
            child(agent, prompt, f"c{number}", title=f"C{number}", state={"state": state})
        def work():
            runs(agent, "c0")
            open(path("made.txt"), "w").write("new\\n")
            time.sleep(0.05)
            tool(agent, "c0", "t", kind="execute", status="completed")
            child(agent, prompt, "c0", state={"state": "idle", "stopReason": "end_turn"})
            for number in range(3, 6):
                child(agent, prompt, f"c{number}", title=f"C{number}", state={"state": "idle"})
        later(agent, work)
"""
)


async def test_what_a_child_did_before_it_made_room_is_reviewed(free_host: Host, monkeypatch: Any) -> None:
    host = free_host
    monkeypatch.setattr("acp_nvim.session.subagents.SUBAGENTS", 3)
    (host.cwd / "made.txt").write_text("old\n")
    host.script(CROWD)
    await host.turn()
    log = host.app.sessions[1].changes.log
    await host.until("the last look of the turn, which could find it", lambda: not log.active)
    (host.cwd / "go").touch()
    await host.until_note("over")
    await host.until("the change", lambda: "made.txt" in reviewed(host))
    [found] = [one for one in host.app.reviews.ledger.entries.values() if one.path.endswith("made.txt")]
    assert (found.verdict.by, found.verdict.why) == ("agent", "by `Tool of c0`")
    await host.until("no record of it", lambda: len(host.app.reviews.ledger.logs) == 4)


async def test_that_one_has_made_room_is_told(host: Host, monkeypatch: Any) -> None:
    monkeypatch.setattr("acp_nvim.session.subagents.SUBAGENTS", 3)
    host.script(CROWD)
    await host.turn()
    keys = {name: one.session for name, one in views(host).items()}
    host.app.receive("redraw", {"session": keys["c1"]})  # the user looks at this one
    (host.cwd / "go").touch()
    await host.until_note("over")
    await host.until("the last child", lambda: "c5" in views(host))
    forgotten = [one.subagent for one in host.of(events.SubagentForgotten)]
    assert forgotten == [keys["c0"], keys["c2"], views(host)["c3"].session]
    for method in ("redraw", "cancel"):  # the editor did not know it yet
        host.app.receive(method, {"session": forgotten[0]})
    assert host.editor.all(events.Error) == []
    [told] = [one for one in host.notices() if "more than 3 subagents" in one]
    assert told.endswith("What they say or do from now on is not shown.")
    assert [one.subagent.title for one in shown(host)] == [f"C{number}" for number in range(6)], "their blocks stay"
