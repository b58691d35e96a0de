"""Cancelling one tool call or command, while the turn goes on."""

from __future__ import annotations

import json

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.session_events import SessionDone
from tests.core.session.host import Host
from tests.core.session.test_terminals import WAIT

pytestmark = pytest.mark.anyio

AGENT = """
    INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}
    CANCEL = {"cancel": {}}
    running = {}

    def turn(agent, prompt):
        prompt.update("state_update", state="running")
        running["prompt"] = prompt
        work(prompt)
        prompt.update("state_update", state="idle", stopReason="end_turn")
        return {"messageId": "m"}

    def call(prompt, id="c", status="in_progress", **fields):
        prompt.update("tool_call_update", toolCallId=id, title="Watch\\nit", kind="execute", status=status, **fields)

    def tool_call_cancel(agent, request):
        agent.note(cancelled=request.params)
        call(running["prompt"], request.params["toolCallId"], "cancelled", capabilities=None)
        running["prompt"].cancel()
        return {}

    def terminal_cancel(agent, request):
        agent.note(ended=request.params)
        running["prompt"].update("terminal_update", terminalId="t", exitStatus={"signal": "SIGTERM"})
        running["prompt"].cancel()
        return {}
"""
IN_A_TERMINAL = """
    def work(prompt):
        prompt.update("terminal_update", terminalId="t", command="make all", capabilities=CANCEL)
        call(prompt, content=[{"type": "terminal", "terminalId": "t"}], capabilities=OF_CALL)
        prompt.wait_cancelled()
        prompt.say("and on", messageId="m2")
"""
ALONE = """
    def work(prompt):
        call(prompt, capabilities=CANCEL)
        prompt.wait_cancelled()
        prompt.say("and on", messageId="m2")
"""
WHOLE_TURN = ":AcpCancel stops the whole turn."


async def running(host: Host, source: str) -> int:
    """A turn of that agent, once its tool call is shown: the call's block."""
    host.hello(protocol={"v2": True})
    host.script(AGENT + source)
    host.open()
    host.prompt("go")
    await host.until("a tool call", lambda: any(one.status == "in_progress" for one in host.calls().values()))
    return next(iter(host.calls()))


def cancel(host: Host, block: int, question: int = 1, **more: object) -> None:
    """The user cancels what is there."""
    host.app.receive("cancel_block", {"session": 1, "id": question, "block": block, **more})


async def answer(host: Host, question: int = 1) -> SessionDone:
    """What the host says to that."""
    await host.until("an answer", lambda: any(one.id == question for one in host.editor.all(SessionDone)))
    return next(one for one in host.editor.all(SessionDone) if one.id == question)


@pytest.mark.parametrize("or_turn", [False, True])
async def test_a_tool_call_is_cancelled_and_the_turn_goes_on(host: Host, or_turn: bool) -> None:
    block = await running(host, ALONE)
    cancel(host, block, or_turn=or_turn)
    assert (await answer(host)).words == "Cancelling only 'Watch it'."
    assert (await host.editor.until_event(events.TurnEnd)).stop_reason == "end_turn"
    assert host.calls()[block].status == "cancelled"
    assert host.text() == "and on"
    [params] = host.scripts["it"].notes("cancelled")
    assert params["toolCallId"] == "c"
    assert host.scripts["it"].received("session/cancel") == []
    cancel(host, block, 2)
    assert (await answer(host, 2)).problem == "This has ended already."


@pytest.mark.parametrize(
    ("of_call", "under_cursor", "note"),
    [("CANCEL", 1, "ended"), ("CANCEL", 0, "cancelled"), ("None", 0, "ended"), ("{}", 0, "ended")],
    ids=["the terminal under the cursor", "its call", "only the terminal can be", "an empty object"],
)
async def test_a_terminal_is_cancelled(host: Host, of_call: str, under_cursor: int, note: str) -> None:
    block = await running(host, IN_A_TERMINAL.replace("OF_CALL", of_call))
    cancel(host, block, terminal=under_cursor)
    words = "make all" if note == "ended" else "Watch it"
    assert (await answer(host)).words == f"Cancelling only {words!r}."
    await host.until_note(note)
    await host.editor.until_event(events.TurnEnd)
    assert host.scripts["it"].received("session/cancel") == []
    assert host.notices() == []


@pytest.mark.parametrize("capabilities", ["{}", "None", '{"cancel": None}', '{"cancel": 7}', '"all"', "[]"])
async def test_what_cannot_be_cancelled_alone_is_said_or_the_turn_is_cancelled(host: Host, capabilities: str) -> None:
    block = await running(host, ALONE.replace("CANCEL", capabilities))
    cancel(host, block)
    assert (await answer(host)).problem == f"Agent 'it' cannot cancel only this. {WHOLE_TURN}"
    cancel(host, block, 2, or_turn=True)
    await host.until_received("session/cancel")
    done = await answer(host, 2)
    assert (done.words, done.problem) == ("", None)
    assert host.scripts["it"].received("tool_call/cancel") == []


async def test_a_second_request_cancels_the_turn(host: Host) -> None:
    deaf = "\n    def tool_call_cancel(agent, request):\n        return NO_ANSWER\n"
    block = await running(host, ALONE + deaf)
    cancel(host, block, or_turn=True)
    await host.until_received("tool_call/cancel")
    cancel(host, block, 2)
    assert (await answer(host, 2)).problem == f"'Watch it' is being cancelled already. {WHOLE_TURN}"
    cancel(host, block, 3, or_turn=True)
    await host.until_received("session/cancel")
    assert len(host.scripts["it"].received("tool_call/cancel")) == 1


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("not\nnow.", ": not\nnow"),
        ('Internal error: {"error": {"message": "no model"}}', ": no model"),
        ("code -32603", ""),
    ],
)
async def test_a_refusal_is_shown_and_can_be_tried_again(host: Host, message: str, shown: str) -> None:
    refusing = f"\n    def tool_call_cancel(agent, request):\n        raise Error(-32602, {message!r})\n"
    block = await running(host, ALONE + refusing)
    for count in (1, 2):
        cancel(host, block, count)
        await host.until("the reason", lambda count=count: len(host.notices()) == count)
    assert set(host.notices()) == {f"Agent 'it' did not cancel 'Watch it'{shown}. {WHOLE_TURN}"}


async def test_an_agent_that_dies_of_it_is_told_once(host: Host) -> None:
    dying = "\n    def tool_call_cancel(agent, request):\n        os._exit(3)\n"
    block = await running(host, ALONE + dying)
    cancel(host, block)
    await host.until_state("failed")
    assert host.calls()[block].status == "unfinished"
    assert [one.partition(".")[0] for one in host.notices()] == ["Agent 'it' ended with exit code 3"]
    cancel(host, block, 2)
    assert (await answer(host, 2)).problem == "This has ended already."


async def test_a_call_of_an_earlier_process_is_left_alone(host: Host) -> None:
    """The next process may use its ids for something else."""
    source = IN_A_TERMINAL.replace("OF_CALL", "CANCEL").replace("prompt.wait_cancelled()", "pass")
    source = source.replace("def work(prompt):", "def work(prompt):\n        agent_died(prompt)")
    dies = "\n    def agent_died(prompt):\n        if prompt.text == 'die':\n            os._exit(1)\n"
    host.hello(protocol={"v2": True})
    host.script(AGENT + source + dies)
    await host.turn()
    block = next(iter(host.calls()))
    host.prompt("die")
    await host.until_state("failed")
    cancel(host, block)
    assert (await answer(host)).problem == "This cannot be cancelled alone. :AcpCancel stops the whole turn."
    await host.turn("again")
    cancel(host, block, 2)
    assert (await answer(host, 2)).problem == f"Agent 'it' cannot cancel only this. {WHOLE_TURN}"


@pytest.mark.parametrize("block", [1, 0, -3, 10**9])
async def test_elsewhere_there_is_nothing_to_cancel(host: Host, block: int) -> None:
    await running(host, ALONE)
    cancel(host, block)
    problem = f"There is no tool call and no command here that could be cancelled. {WHOLE_TURN}"
    assert (await answer(host)).problem == problem
    cancel(host, block, 2, or_turn=True)
    await host.until_received("session/cancel")


async def test_a_command_that_we_run_is_ended(free_host: Host) -> None:
    turn = f"""
    def turn(agent, prompt):
        terminal = prompt.terminal("sh", "-c", {f"echo one; {WAIT}"!r})
        shown = [{{"type": "terminal", "terminalId": terminal}}]
        prompt.tool("c", "Run", kind="execute", status="in_progress", content=shown)
        agent.note(exit=prompt.ask_terminal("wait_for_exit", terminal))
        prompt.say("and on")
    """
    free_host.script(turn)
    free_host.open()
    free_host.prompt("go")
    await free_host.until("its output", lambda: any(one.content and one.content[0].output for one in calls(free_host)))
    block = next(iter(free_host.calls()))
    cancel(free_host, block)
    cancel(free_host, block, 2)
    assert "is being cancelled already" in str((await answer(free_host, 2)).problem)
    assert (await answer(free_host)).words.startswith("Cancelling only 'echo one; while [ ")
    assert (await free_host.editor.until_event(events.TurnEnd)).stop_reason == "end_turn"
    assert [one["signal"] for one in free_host.scripts["it"].notes("exit")] == ["SIGTERM"]
    assert free_host.text() == "and on"


async def test_acp_cancel_on_a_command_that_we_run_still_cancels_the_turn(free_host: Host) -> None:
    turn = f"""
    def turn(agent, prompt):
        terminal = prompt.terminal("sh", "-c", {WAIT!r})
        shown = [{{"type": "terminal", "terminalId": terminal}}]
        prompt.tool("c", "Run", kind="execute", status="in_progress", content=shown)
        prompt.wait_cancelled()
        return "cancelled"
    """
    free_host.script(turn)
    free_host.open()
    free_host.prompt("go")
    await free_host.until("the call", free_host.calls)
    cancel(free_host, next(iter(free_host.calls())), or_turn=True)
    assert (await free_host.editor.until_event(events.TurnEnd)).stop_reason == "cancelled"


def calls(host: Host) -> list[events.CallView]:
    """The tool calls of the session."""
    return list(host.calls().values())


async def test_a_long_title_is_cut_in_the_message(host: Host) -> None:
    block = await running(host, ALONE.replace("capabilities", f"name={json.dumps('x')}, capabilities"))
    host.app.sessions[1].presenter.transcript.call_block(block).call.title = "\U0001f40c" * 500  # type: ignore[union-attr]
    cancel(host, block)
    words = (await answer(host)).words
    assert len(words) < 100
    assert words.endswith("more characters'.")
