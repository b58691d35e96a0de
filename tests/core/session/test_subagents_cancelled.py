"""A cancel reaches child sessions at any depth, in a turn and between turns; a block is cancelled only if it works."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.session_events import SessionDone
from acp_nvim.session.block_cancelling import WHOLE_TURN
from tests.core.session.host import Host
from tests.core.session.test_subagents import CHILDREN, key_of, shown, views
from tests.support.processes import running

pytestmark = pytest.mark.anyio

COMMANDS = (
    CHILDREN
    + """
    def command(agent, name):
        made = agent.request("terminal/create", {"sessionId": name, "command": "sleep", "args": ["1000"]})
        return made["terminalId"]

    def try_to_run(agent, name):
        try:
            command(agent, name)
        except Error as error:
            agent.note(refused=error.message)
        else:
            agent.note(refused=None)
"""
)


def cancelled(host: Host) -> list[str]:
    """The ids of the sessions that the agent was asked to cancel."""
    return [one["params"]["sessionId"] for one in host.scripts["it"].received("session/cancel")]


@pytest.mark.parametrize("kind", ["new", "idle before", "below a new one"])
async def test_no_child_gets_anything_while_its_parent_is_cancelled(free_host: Host, kind: str) -> None:
    host = free_host
    host.script(
        COMMANDS
        + f"""
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={{"state": "running"}})
        agent.note(ready=True)
        prompt.wait_cancelled()
        name = "one" if {kind == "idle before"} else "new"
        child(agent, prompt, name, title="A child", state={{"state": "idle"}})
        child(agent, prompt, name, state={{"state": "running"}})
        if {kind == "below a new one"}:
            agent.update("new", {{"sessionUpdate": "subagent_update", "sessionId": "below", "title": "Below",
                                  "state": {{"state": "running"}}}})
            name = "below"
        try_to_run(agent, name)
        agent.note(asked=ask(agent, name).result()["outcome"]["outcome"])
        return "cancelled"
"""
    )
    host.open()
    host.prompt("go")
    await host.until_note("ready")
    host.cancel()
    await host.until("the end", lambda: host.of(events.TurnEnd))
    script = host.scripts["it"]
    assert script.notes("refused") == ["The user has cancelled this: nothing is run for it any more"]
    assert script.notes("asked") == ["cancelled"], "nobody has to answer"


@pytest.mark.parametrize("kind", ["no state", "running twice"])
async def test_a_cancel_of_the_turn_ends_all_commands_of_its_children(free_host: Host, mark: str, kind: str) -> None:
    host = free_host
    host.script(
        COMMANDS
        + f"""
    def turn(agent, prompt):
        state = {{}} if {kind == "no state"} else {{"state": {{"state": "running"}}}}
        child(agent, prompt, "one", title="One", **state)
        command(agent, "one")
        if {kind == "no state"}:
            say(agent, "one", "a word")
        else:
            child(agent, prompt, "one", state={{"state": "idle"}})
            child(agent, prompt, "one", state={{"state": "running"}})
        command(agent, "one")
        agent.note(ready=True)
        prompt.wait_cancelled()
        return "cancelled"
"""
    )
    host.open()
    host.prompt("go")
    await host.until_note("ready")
    await host.until("both commands", lambda: len(running("sleep 1000", mark)) == 2)
    host.cancel()
    await host.until("the end of both", lambda: running("sleep 1000", mark) == [])
    await host.until("the end", lambda: host.of(events.TurnEnd))


async def test_a_command_of_an_earlier_turn_goes_on(free_host: Host, mark: str) -> None:
    host = free_host
    host.script(
        COMMANDS
        + """
    def turn(agent, prompt):
        if prompt.text == "first":
            child(agent, prompt, "one", title="One", state={"state": "running"})
            command(agent, "one")
            child(agent, prompt, "one", state={"state": "idle"})
            return
        child(agent, prompt, "one", state={"state": "running"})
        say(agent, "one", "again")
        agent.note(ready=True)
        prompt.wait_cancelled()
        return "cancelled"
"""
    )
    await host.turn("first")
    host.prompt("second")
    await host.until_note("ready")
    host.cancel()
    await host.until("the end", lambda: len(host.of(events.TurnEnd)) == 2)
    assert len(running("sleep 1000", mark)) == 1


@pytest.mark.parametrize("depth", [1, 2])
async def test_between_turns_a_cancel_ends_what_children_do_at_any_depth(
    free_host: Host, mark: str, depth: int
) -> None:
    host = free_host
    host.script(
        COMMANDS
        + f"""
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={{"state": "running"}})
        name = "one"
        if {depth == 2}:
            name = "below"
            agent.update("one", {{"sessionUpdate": "subagent_update", "sessionId": "below", "title": "Below",
                                  "state": {{"state": "running"}}, "capabilities": {{"cancel": {{}}}}}})
            child(agent, prompt, "one", state={{"state": "idle"}})
        command(agent, name)
        ask(agent, name)
"""
    )
    await host.turn()
    one = await key_of(host, "one")
    asks = one if depth == 1 else await key_of(host, "below", one)
    await host.until("its question", lambda: (now := host.status(asks)) is not None and now.pending_permissions == 1)
    host.cancel()
    await host.until("no question", lambda: (now := host.status(asks)) is not None and now.pending_permissions == 0)
    await host.until("the end of the command", lambda: running("sleep 1000", mark) == [])
    await host.until_received("session/cancel", depth)
    assert cancelled(host) == (["below", "session-1"] if depth == 2 else ["session-1"])
    assert "Stopped: 1 command that went on after the turn" in host.notices()


async def cancel_block(host: Host, block: int, number: int, or_turn: bool = True) -> SessionDone:
    """What the user is told after `:AcpCancel` with the cursor there; without `or_turn`: after `gc`."""
    host.app.receive("cancel_block", {"session": 1, "id": number, "block": block, "or_turn": or_turn})
    await host.until("what was done", lambda: any(one.id == number for one in host.editor.all(SessionDone)))
    [done] = [one for one in host.editor.all(SessionDone) if one.id == number]
    assert isinstance(done, SessionDone)
    return done


WAITS = (
    CHILDREN
    + """
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={"state": "running"}, capabilities={"cancel": {}})
        if prompt.text == "idle":
            child(agent, prompt, "one", state={"state": "idle", "stopReason": "end_turn"})
        elif prompt.text != "running":
            child(agent, prompt, "one", state={"state": "idle", "stopReason": "end_turn"})
            child(agent, prompt, "one", state={"state": prompt.text})
        agent.note(ready=True)
        prompt.wait_cancelled()
        return "cancelled"
"""
)


async def test_at_the_block_of_an_idle_child_the_turn_is_cancelled(host: Host) -> None:
    host.script(WAITS)
    host.open()
    host.prompt("idle")
    await host.until_note("ready")
    await host.until("its state", lambda: (one := views(host).get("one")) is not None and one.state == "idle")
    block = shown(host)[0].block
    told = await cancel_block(host, block, 1, or_turn=False)
    assert told.problem is not None
    assert told.problem.startswith("The subagent 'One' does not work at the moment.")
    assert WHOLE_TURN.removesuffix(".").split()[0] in told.problem
    assert (await cancel_block(host, block, 2)).problem is None
    await host.until("the end", lambda: host.of(events.TurnEnd))
    assert cancelled(host) == ["session-1"]


@pytest.mark.parametrize("state", ["running", "unknown"])
async def test_a_second_cancel_at_the_block_of_a_child_cancels_the_turn(host: Host, state: str) -> None:
    host.script(WAITS)
    host.open()
    host.prompt(state)
    await host.until_note("ready")
    await host.until("its state", lambda: (one := views(host).get("one")) is not None and one.state == state)
    block = shown(host)[0].block
    assert (await cancel_block(host, block, 1)).words == "Cancelling only 'One'."
    again = await cancel_block(host, block, 2, or_turn=False)
    assert again.problem is not None
    assert again.problem.startswith("The subagent 'One' is being cancelled already.")
    await cancel_block(host, block, 3)
    await host.until("the end", lambda: host.of(events.TurnEnd))
    assert cancelled(host) == ["one", "session-1"]


async def test_a_line_without_a_block_is_not_that_of_a_child_without_one(host: Host) -> None:
    host.script(
        """
    INITIALIZE = {"agentCapabilities": {"loadSession": True}}
"""
        + CHILDREN
        + """
    def session_load(agent, request):
        agent.update(request.params["sessionId"], {
            "sessionUpdate": "subagent_update", "sessionId": "one", "title": "One", "capabilities": {"cancel": {}},
            "state": {"state": "running"}})
        return {}

    def turn(agent, prompt):
        if prompt.text == "wait":
            prompt.wait_cancelled()
            return "cancelled"
"""
    )
    await host.turn("hello")
    host.stop()
    await host.until_state("stopped")
    host.prompt("wait")
    await host.until_received("session/prompt", 2)
    await key_of(host, "one")
    assert views(host)["one"].state == "running", "it was reported so while the conversation was replayed"
    await cancel_block(host, 0, 1)
    await host.until("the end", lambda: len(host.of(events.TurnEnd)) == 2)
    assert cancelled(host) == ["session-1"]
