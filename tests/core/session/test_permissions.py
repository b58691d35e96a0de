"""Permission requests: shown with all that is known of their tool call, answered once, in any order."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

ODD_OPTIONS = """[
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "also-always", "name": "Always here", "kind": "allow_always"},
    {"optionId": "cancel", "name": "Exit", "kind": "reject_once"},
]"""


async def ask(host: Host, script: str) -> events.Permission:
    """Run a turn of that script until it asks."""
    host.script(script)
    host.open()
    host.prompt("go")
    return await host.editor.until_event(events.Permission)


async def test_the_chosen_option_goes_back_and_is_told(host: Host) -> None:
    asked = await ask(host, 'def turn(agent, prompt): prompt.say(prompt.ask("c", title="Edit f"))')
    assert (await host.until_state("waiting")).pending_permissions == 1
    host.answer(asked.request.id, "always")
    await host.editor.until_event(events.TurnEnd)
    assert host.text() == "always"
    [done] = host.of(events.PermissionDone)
    assert (done.id, done.block, done.outcome) == (asked.request.id, asked.block, "selected")
    assert (done.option_id, done.name) == ("always", "Always allow")


async def test_a_question_between_turns_is_waited_for_as_well(host: Host) -> None:
    host.script("""
        def opened(agent, session_id):
            shown = {"toolCallId": "c", "title": "Edit f"}
            options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
            agent.request("session/request_permission", {
                "sessionId": session_id, "toolCall": shown, "options": options})
            agent.update(session_id, {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"})
    """)
    host.hello(timeouts={"background": 50})
    host.open()
    asked = await host.editor.until_event(events.Permission)
    assert (await host.until_state("waiting")).pending_permissions == 1
    host.answer(asked.request.id, "yes")
    await host.until_state("idle")


async def test_options_are_shown_in_the_order_and_words_of_the_agent(host: Host) -> None:
    asked = await ask(host, f'def turn(agent, prompt): prompt.ask("c", {ODD_OPTIONS})')
    assert [(one.option_id, one.kind) for one in asked.request.options] == [
        ("always", "allow_always"),
        ("also-always", "allow_always"),
        ("cancel", "reject_once"),
    ]


@pytest.mark.parametrize(("option", "status"), [("cancel", "rejected"), ("always", "unfinished")])
async def test_the_kind_of_the_option_decides_what_an_open_call_becomes_not_its_id(
    host: Host, option: str, status: str
) -> None:
    asked = await ask(host, f'def turn(agent, prompt): prompt.ask("c", {ODD_OPTIONS}, title="T", status="pending")')
    host.answer(asked.request.id, option)
    await host.editor.until_event(events.TurnEnd)
    assert [call.status for call in host.calls().values()] == [status]


async def test_a_request_for_an_unknown_call_creates_it_and_updates_follow(host: Host) -> None:
    asked = await ask(
        host,
        """
        def turn(agent, prompt):
            diff = {"type": "diff", "path": "/p/f", "oldText": None, "newText": "n"}
            prompt.ask("c", title="Write f", kind="edit", content=[diff], locations=[{"path": "/p/f"}])
            prompt.tool_update("c", status="completed")
        """,
    )
    request = asked.request
    assert (request.tool_call_id, request.title, request.kind) == ("c", "Write f", "edit")
    assert request.content == [events.DiffItem("/p/f", "n", None, "add")]
    assert request.locations == [events.FileLine("/p/f")]
    host.answer(request.id, "allow")
    await host.editor.until_event(events.TurnEnd)
    [(block, call)] = host.calls().items()
    assert (call.title, call.status) == ("Write f", "completed")
    assert block < asked.block


async def test_a_request_with_nothing_but_the_id_shows_what_is_known_of_the_call(host: Host) -> None:
    asked = await ask(
        host,
        """
        def turn(agent, prompt):
            content = [{"type": "content", "content": {"type": "text", "text": "rm -r x"}}]
            prompt.tool("c", "Run", kind="execute", content=content)
            prompt.ask("c")
        """,
    )
    assert (asked.request.title, asked.request.kind) == ("Run", "execute")
    assert asked.request.content == [events.TextItem("rm -r x")]
    assert len(host.of(events.ToolCall)) == 1


async def test_a_request_may_change_what_the_call_shows_and_erases_nothing(host: Host) -> None:
    asked = await ask(
        host,
        """
        def turn(agent, prompt):
            prompt.tool("c", "Edit", kind="edit", locations=[{"path": "/p/f"}])
            prompt.ask("c", title="Edit f?")
        """,
    )
    assert (asked.request.title, asked.request.kind) == ("Edit f?", "edit")
    assert asked.request.locations == [events.FileLine("/p/f")]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_parallel_requests_are_answered_in_any_order(host: Host, order: tuple[int, ...]) -> None:
    host.script("""
        def turn(agent, prompt):
            options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
            calls = [agent.call("session/request_permission", {
                "sessionId": prompt.session_id, "toolCall": {"toolCallId": f"c{number}"},
                "options": [{"optionId": f"yes-{number}", "name": "Yes", "kind": "allow_once"}],
            }) for number in range(3)]
            agent.note(chosen=[call.result()["outcome"]["optionId"] for call in calls])
    """)
    host.open()
    host.prompt("go")
    await host.editor.until_event(events.Permission, 3)
    asked = host.of(events.Permission)
    for count, number in enumerate(order, 1):
        assert not host.app.permissions.choose(asked[number].request.id, "never offered")
        host.answer(asked[number].request.id, f"yes-{number}")
        await host.editor.until_event(events.PermissionDone, count)
        status = host.status()
        assert status is not None
        assert status.pending_permissions == 3 - count
    assert await host.until_note("chosen") == [["yes-0", "yes-1", "yes-2"]]


async def test_an_answer_to_what_does_not_wait_does_no_harm(host: Host) -> None:
    asked = await ask(host, 'def turn(agent, prompt): prompt.say(prompt.ask("c"))')
    host.answer(99, "allow")
    host.answer(asked.request.id, "never offered")
    host.answer(asked.request.id, "reject")
    host.answer(asked.request.id, "allow")
    await host.editor.until_event(events.TurnEnd)
    host.answer(asked.request.id, "allow")
    assert (host.text(), len(host.of(events.PermissionDone))) == ("reject", 1)


@pytest.mark.parametrize("request_id", [77, "uuid-1"])
async def test_a_request_that_the_agent_withdraws_is_closed(host: Host, request_id: Any) -> None:
    await ask(
        host,
        f"""
        def turn(agent, prompt):
            shown = {{"sessionId": prompt.session_id, "toolCall": {{"toolCallId": "c"}}, "options": []}}
            call = agent.call("session/request_permission", shown, {request_id!r})
            agent.notify("$/cancel_request", {{"requestId": {request_id!r}}})
            agent.note(outcome=call.result()["outcome"])
        """,
    )
    await host.editor.until_event(events.TurnEnd)
    assert await host.until_note("outcome") == [{"outcome": "cancelled"}]
    assert [done.outcome for done in host.of(events.PermissionDone)] == ["cancelled"]
    assert (await host.until_state("idle")).pending_permissions == 0


async def test_a_request_is_closed_when_the_turn_ends_without_waiting_for_it(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            agent.call("session/request_permission", {
                "sessionId": prompt.session_id, "toolCall": {"toolCallId": "c"}, "options": []})
    """)
    await host.turn()
    await host.until("the request to be closed", lambda: host.of(events.PermissionDone))
    assert host.of(events.PermissionDone)[0].outcome == "cancelled"
    await host.until("the answer at the agent", lambda: answers_at_agent(host))
    assert [answer["result"] for answer in answers_at_agent(host)] == [{"outcome": {"outcome": "cancelled"}}]


def answers_at_agent(host: Host) -> list[Any]:
    """What the agent got for its requests."""
    script = host.scripts["it"]
    return [one for one in script.received() if "method" not in one and one.get("id") is not None]


async def test_a_malformed_request_is_cancelled_with_words_and_nothing_is_asked(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            asked = prompt.request("session/request_permission", toolCall={"title": "no id"}, options=[])
            agent.note(outcome=asked["outcome"])
    """)
    await host.turn()
    assert await host.until_note("outcome") == [{"outcome": "cancelled"}]
    assert any("sent something malformed" in text for text in host.notices())
    assert host.of(events.Permission) == []


async def test_ids_of_permissions_are_unique_over_all_sessions(host: Host) -> None:
    host.script('def turn(agent, prompt): prompt.ask("c")')
    for key in (1, 2):
        host.open(key)
        host.prompt("go", key)
    await host.editor.until_event(events.Permission, 2)
    assert len({event.request.id for event in host.editor.all(events.Permission)}) == 2
