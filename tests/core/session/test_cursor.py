"""The methods of the Cursor CLI beside the protocol: questions, plans to approve, to-do lists; only for that agent."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.agents.catalogue import builtin_agent
from acp_nvim.contract import events
from acp_nvim.contract.request_events import Elicitation, ElicitationDone
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

BEGIN = """
    QUESTIONS = [
        {"id": "db", "prompt": "Which database?", "options": [
            {"id": "pg", "label": "PostgreSQL"}, {"id": "lite", "label": "SQLite"}]},
        {"id": "also", "prompt": "What else?\\nAny number.", "allowMultiple": True, "options": [
            {"id": "a", "label": "A cache"}, {"id": "b", "label": "A queue"}, {"id": "c", "label": "A proxy"}]},
    ]

    def call(agent, method, **params):
        try:
            return agent.request(method, params)
        except Error as error:
            return error.code

"""


def script(host: Host, turn: str, quirk: bool = True) -> None:
    host.script(BEGIN + turn)
    if quirk:
        host.config["agents"]["it"]["quirks"] = ["cursor_methods"]
        host.hello()


ASKS = """
    def turn(agent, prompt):
        prompt.tool("q", "Ask", kind="other")
        agent.note(answer=call(agent, "cursor/ask_question", toolCallId="q", title="Storage", questions=QUESTIONS))
"""

PLANS = """
    def turn(agent, prompt):
        agent.note(answer=call(agent, "cursor/create_plan", toolCallId="p", name="the move", overview="In two steps.",
            plan="# Plan\\nFirst this.", todos=[{"id": "1", "content": "This", "status": "in_progress"},
                                               {"id": "2", "content": "That", "status": "pending"}]))
"""


async def asked(host: Host) -> Elicitation:
    host.open()
    host.prompt("go")
    return await host.editor.until_event(Elicitation)


def send(host: Host, question: Elicitation, action: str, **values: Any) -> None:
    message = {"id": question.request.id, "action": action, "values": values, "version": 1}
    host.app.receive("elicitation_answer", message)


async def test_questions_are_a_form_and_its_answers_are_option_ids(host: Host) -> None:
    script(host, ASKS)
    question = await asked(host)
    assert question.request.message == "Storage"
    assert question.request.fields is not None
    shown = [(one.kind, one.title, one.description, one.required) for one in question.request.fields]
    assert shown == [("choice", "Which database?", None, True), ("choices", "What else?", "Any number.", True)]
    send(host, question, "accept", db="lite", also=["c", "a"])
    [answer] = await host.until_note("answer")
    chosen = [
        {"questionId": "db", "selectedOptionIds": ["lite"]},
        {"questionId": "also", "selectedOptionIds": ["c", "a"]},
    ]
    assert answer == {"outcome": {"outcome": "answered", "answers": chosen}}


@pytest.mark.parametrize(("action", "word"), [("decline", "skipped"), ("cancel", "cancelled")])
async def test_questions_can_be_skipped_and_cancelled(host: Host, action: str, word: str) -> None:
    script(host, ASKS)
    send(host, await asked(host), action)
    [answer] = await host.until_note("answer")
    assert answer["outcome"]["outcome"] == word


async def test_the_end_of_the_turn_cancels_them(host: Host) -> None:
    script(host, ASKS)
    await asked(host)
    host.cancel()
    assert await host.until_note("answer") == [{"outcome": {"outcome": "cancelled"}}]
    assert [one.action for one in host.of(ElicitationDone)] == ["cancel"]


@pytest.mark.parametrize(
    ("option", "word"), [("allow_once", "accepted"), ("reject_once", "rejected"), (None, "cancelled")]
)
async def test_a_plan_is_shown_and_waits_for_the_user(host: Host, option: str | None, word: str) -> None:
    script(host, PLANS)
    host.open()
    host.prompt("go")
    permission = await host.editor.until_event(events.Permission)
    assert permission.request.title == "Carry out the move?"
    assert permission.request.description == "In two steps."
    plans = {plan.block: plan for plan in host.of(events.Plan)}
    assert [plan.text for plan in plans.values() if plan.text] == ["# Plan\nFirst this."]
    steps = [(step.content, step.status) for plan in plans.values() for step in plan.entries]
    assert steps == [("This", "in_progress"), ("That", "pending")]
    if option is None:
        host.cancel()
    else:
        [chosen] = [one for one in permission.request.options if one.kind == option]
        host.answer(permission.request.id, chosen.option_id)
    assert await host.until_note("answer") == [{"outcome": {"outcome": word}}]


async def test_todos_replace_the_plan_or_are_merged_into_it(host: Host) -> None:
    script(
        host,
        """
    def turn(agent, prompt):
        agent.notify("cursor/update_todos", {"toolCallId": "t", "merge": False, "todos": [
            {"id": "1", "content": "One", "status": "pending"}, {"id": "2", "content": "Two", "status": "pending"}]})
        agent.note(answer=call(agent, "cursor/update_todos", toolCallId="t", merge=True, todos=[
            {"id": "1", "status": "completed"}, {"id": "3", "content": "Three", "status": "cancelled"}]))
        prompt.until_heard()
    """,
    )
    await host.turn()
    shown = [[(step.content, step.status) for step in plan.entries] for plan in host.of(events.Plan)]
    assert shown[0] == [("One", "pending"), ("Two", "pending")]
    assert shown[-1] == [("One", "completed"), ("Two", "pending"), ("Three", "cancelled")]
    assert len({plan.block for plan in host.of(events.Plan)}) == 1
    assert host.scripts["it"].notes("answer") == [{"outcome": {"outcome": "accepted"}}]


async def test_two_chats_get_what_their_tool_calls_belong_to(host: Host) -> None:
    script(
        host,
        """
    import threading
    BOTH = threading.Barrier(2)

    def turn(agent, prompt):
        name = prompt.session_id
        prompt.tool(f"q {name}", "Ask", kind="other")
        BOTH.wait(30)
        ask = "cursor/ask_question"
        agent.note(unclear=call(agent, ask, toolCallId="nobody", questions=QUESTIONS))
        agent.note(**{name: call(agent, ask, toolCallId=f"q {name}", title=name, questions=QUESTIONS)})
    """,
    )
    for key in (1, 2):
        host.open(key)
        await host.until_state("idle", key)
    for key in (1, 2):
        host.prompt("go", key)
    await host.editor.until_event(Elicitation, 2)
    for key in (1, 2):
        [question] = host.of(Elicitation, key)
        assert question.request.message == f"session-{key}"
        send(host, question, "accept", db="pg", also=["a"])
    for key in (1, 2):
        assert (await host.until_note(f"session-{key}"))[0]["outcome"]["outcome"] == "answered"
    assert host.scripts["it"].notes("unclear") == [-32602, -32602]


BAD = [
    "questions=7",
    "questions=[{'id': 'a', 'prompt': 'x', 'options': []}]",
    "questions=[{'id': 'a', 'prompt': 'x'}]",
    "questions=[QUESTIONS[0], QUESTIONS[0]]",
    "questions=[{'id': str(n), 'prompt': 'x', 'options': [{'id': 'o', 'label': 'o'}]} for n in range(300)]",
    "questions=[{'id': 'a', 'prompt': 'x', 'options': [{'id': str(n), 'label': 'o'} for n in range(3000)]}]",
]


@pytest.mark.parametrize("params", BAD)
async def test_questions_that_cannot_be_answered_are_refused(host: Host, params: str) -> None:
    script(
        host,
        f"""
    def turn(agent, prompt):
        agent.note(answer=call(agent, "cursor/ask_question", toolCallId="q", {params}))
        agent.notify("cursor/update_todos", {{"toolCallId": "t"}})
        agent.notify("cursor/update_todos", [])
        agent.note(plan=call(agent, "cursor/create_plan", toolCallId="p"))
    """,
    )
    assert await host.turn() == "end_turn"
    assert host.scripts["it"].notes("answer") == host.scripts["it"].notes("plan") == [-32602]
    assert host.of(Elicitation) == host.of(events.Permission) == []


async def test_a_flood_of_todos_is_bounded(host: Host) -> None:
    script(
        host,
        """
    def turn(agent, prompt):
        for number in range(30):
            agent.notify("cursor/update_todos", {"merge": True, "todos": [
                {"id": f"{number} {one}", "content": "x", "status": "pending"} for one in range(100)]})
        prompt.until_heard()
    """,
    )
    await host.turn()
    last = host.of(events.Plan)[-1]
    assert len(last.entries) == 500
    assert last.left > 0


async def test_an_agent_that_dies_while_it_asks_closes_the_form(host: Host) -> None:
    script(
        host,
        """
    def turn(agent, prompt):
        prompt.tool("q", "Ask", kind="other")
        agent.call("cursor/ask_question", {"toolCallId": "q", "questions": QUESTIONS})
        prompt.until_heard()
        agent.exit(4)
    """,
    )
    await asked(host)
    done = await host.editor.until_event(ElicitationDone)
    assert (done.action, done.why) == ("cancel", "agent_gone")


async def test_other_agents_have_no_such_methods(host: Host) -> None:
    script(host, ASKS, quirk=False)
    await host.turn()
    assert host.scripts["it"].notes("answer") == [-32601]


def test_the_data_file_of_cursor_has_the_quirk() -> None:
    agent = builtin_agent("cursor")
    assert agent is not None
    assert "cursor_methods" in agent.quirks
