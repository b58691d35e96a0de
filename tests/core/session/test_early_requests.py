"""Requests for a session before the answer that opens it: held for a moment, within bounds, and always answered."""

from __future__ import annotations

import anyio
import pytest

from acp_nvim.acp.answers import Asked, FileToRead
from acp_nvim.connection import early_requests
from acp_nvim.connection.early_requests import EarlyRequest
from acp_nvim.contract import events
from tests.core.session.host import Host
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

ASKS = """
    INITIALIZE = {"agentCapabilities": {"loadSession": True}}
    OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]

    def ask(agent, name, session="s", request_id=None):
        call = {"toolCallId": name, "title": name}
        params = {"sessionId": session, "options": OPTIONS, "toolCall": call}
        return agent.call("session/request_permission", params, request_id)

    def outcome(call):
        try:
            return call.result()["outcome"]
        except Error as error:
            return error.code

    def session_load(agent, request):
        call = ask(agent, "early", request.params["sessionId"])
        request.reply({})
        agent.note(outcome=outcome(call))
        return NO_ANSWER
"""

NOT_KNOWN = -32602
REFUSED = {"outcome": "cancelled"}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_requests, "EARLY_REQUEST_SECONDS", LIMIT)


async def test_an_agent_that_waits_for_it_before_it_answers_goes_on_after_a_moment(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_requests, "EARLY_REQUEST_SECONDS", 0.05)
    host.script(
        ASKS
        + """
    def session_new(agent, request):
        agent.note(outcome=outcome(ask(agent, "early")))
        return {"sessionId": "s"}
    """
    )
    host.open()
    await host.until_state("idle")
    assert host.scripts["it"].notes("outcome") == [REFUSED]
    assert host.of(events.Permission) == []


@pytest.mark.usefixtures("patient")
async def test_a_session_that_is_loaded_again_serves_it_when_it_is_open(host: Host) -> None:
    host.script(
        ASKS
        + """
    def turn(agent, prompt):
        if prompt.text == "die":
            agent.exit(3)
    """
    )
    await host.turn("hello")
    await host.turn("die")
    host.open()
    asked = await host.editor.until_event(events.Permission)
    assert host.of(events.SessionReady)[-1].session_id == "session-1"
    host.answer(asked.request.id, "yes")
    assert await host.until_note("outcome") == [{"outcome": "selected", "optionId": "yes"}]


@pytest.mark.usefixtures("patient")
async def test_it_is_refused_when_the_start_is_cancelled(host: Host) -> None:
    host.script(
        ASKS
        + """
    def session_new(agent, request):
        if "first" in globals():
            return {"sessionId": "other"}
        globals()["first"] = True
        call = ask(agent, "early")
        agent.note(asked=True)
        agent.note(outcome=outcome(call))
        return NO_ANSWER
    """
    )
    host.open()
    await host.until_note("asked")
    host.open(2)
    await host.until_state("idle", 2)
    host.cancel()
    assert await host.until_note("outcome") == [REFUSED]


@pytest.mark.usefixtures("patient")
async def test_it_can_be_withdrawn_while_it_waits_and_is_never_shown(host: Host) -> None:
    host.script(
        ASKS
        + """
    def session_new(agent, request):
        call = ask(agent, "early", request_id="withdrawn")
        agent.notify("$/cancel_request", {"requestId": "withdrawn"})
        agent.note(outcome=outcome(call))
        return {"sessionId": "s"}
    """
    )
    host.open()
    await host.until_state("idle")
    assert host.scripts["it"].notes("outcome") == [REFUSED]
    assert host.of(events.Permission) == []


@pytest.mark.usefixtures("patient")
async def test_more_than_the_limit_are_refused_at_once(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_requests, "EARLY_REQUESTS", 3)
    host.script(
        ASKS
        + """
    def session_new(agent, request):
        calls = [ask(agent, f"c{number}") for number in range(6)]
        late = [outcome(call) for call in calls[3:]]
        request.reply({"sessionId": "s"})
        agent.note(outcomes=[outcome(call) for call in calls[:3]] + late)
        return NO_ANSWER
    """
    )
    host.open()
    await host.editor.until_event(events.Permission, 3)
    for one in host.of(events.Permission):
        host.answer(one.request.id, "yes")
    [outcomes] = await host.until_note("outcomes")
    assert outcomes == 3 * [{"outcome": "selected", "optionId": "yes"}] + 3 * [REFUSED]


@pytest.mark.usefixtures("patient")
async def test_an_agent_that_dies_meanwhile_leaves_nothing(host: Host) -> None:
    host.script(
        ASKS
        + """
    def session_new(agent, request):
        ask(agent, "early")
        agent.update("s", {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "early"}})
        agent.exit(4)
    """
    )
    host.open()
    await host.until_state("failed")
    assert host.of(events.Permission) == []
    assert any("exit code 4" in text for text in host.notices())


async def test_without_an_opening_an_unknown_session_is_refused_at_once(host: Host) -> None:
    host.script(
        ASKS
        + """
    def turn(agent, prompt):
        agent.note(outcome=outcome(ask(agent, "c", "nobody")))
    """
    )
    await host.turn()
    assert host.scripts["it"].notes("outcome") == [REFUSED]


async def test_one_that_is_withdrawn_when_it_was_just_served_ends_its_work() -> None:
    ended = anyio.Event()

    class Serves:
        def on_bug(self, error: Exception) -> None:
            raise error

        async def on_request(self, method: str, asked: Asked) -> None:
            try:
                await anyio.sleep_forever()
            finally:
                ended.set()

    request = EarlyRequest("s", "fs/read_text_file", FileToRead(path="/f"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(request.answer)
        await anyio.wait_all_tasks_blocked()
        request.serve(Serves())
        tasks.cancel_scope.cancel()
    assert ended.is_set()


async def test_terminals_that_the_agent_knows_from_an_earlier_process_do_no_harm(host: Host) -> None:
    host.script("""
        INITIALIZE = {"agentCapabilities": {"sessionCapabilities": {"resume": {}}}}

        def session_resume(agent, request):
            return {}

        def turn(agent, prompt):
            if prompt.text == "die":
                agent.exit(3)
            for number in range(3):
                content = [{"type": "terminal", "terminalId": f"old{number}"}]
                prompt.tool(f"c{number}", "Run", kind="execute", content=content)
                meta = {"terminal_output": {"terminal_id": f"old{number}", "data": "late"}}
                prompt.tool_update(f"c{number}", _meta=meta)
            for what in ("output", "wait_for_exit", "kill", "release"):
                try:
                    prompt.ask_terminal(what, "old0")
                except Error as error:
                    agent.note(refused=error.code)
            prompt.tool_update("c0", status="completed", content=[{"type": "terminal", "terminalId": "older"}])
            prompt.say("goes on")
    """)
    await host.turn("hello")
    await host.turn("die")
    assert await host.turn("again") == "end_turn"
    assert host.scripts["it"].notes("refused")[-4:] == 4 * [NOT_KNOWN]
    assert host.text().endswith("goes on")
    assert len(host.calls()) == 6
    assert host.of(events.SessionReady)[-1].session_id == "session-1"
