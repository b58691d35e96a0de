"""Questions of agents to the user: shown, answered once, in any order, and closed with whoever asked."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.request_events import Elicitation, ElicitationChecked, ElicitationComplete, ElicitationDone
from acp_nvim.traffic.masking import LEARNED
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

V1 = ""
V2 = """
    INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}
"""
NAME = '{"name": {"type": "string", "title": "Your name", "minLength": 2}}'


async def ask(host: Host, turn: str, dialect: str = V1) -> Elicitation:
    """Run a turn until it asks."""
    host.hello(protocol={"v2": dialect == V2})
    host.script(dialect + turn)
    host.open()
    host.prompt("go")
    return await host.editor.until_event(Elicitation)


def answer(host: Host, asked: Elicitation, action: str = "accept", **values: Any) -> None:
    message = {"id": asked.request.id, "action": action, "values": values, "version": 1}
    host.app.receive("elicitation_answer", message)


async def done(host: Host, count: int = 1) -> list[ElicitationDone]:
    await host.until("answers", lambda: len(host.of(ElicitationDone)) >= count)
    return host.of(ElicitationDone)


async def answers(host: Host, count: int = 1) -> list[Any]:
    """What the agent's requests were answered with."""
    await host.until("answers at the agent", lambda: len(host.sent_answers()) >= count)
    return [one.get("result", one.get("error")) for one in host.sent_answers()]


def form(properties: str, **more: Any) -> str:
    given = "".join(f", {name}={value!r}" for name, value in more.items())
    return f"""
    def turn(agent, prompt):
        prompt.elicit({properties}{given})
    """


@pytest.mark.parametrize("dialect", [V1, V2])
async def test_what_the_user_fills_in_goes_back_and_is_told(host: Host, dialect: str) -> None:
    asked = await ask(host, form(NAME, message="Who are you?", required=["name"]), dialect)
    assert (asked.request.agent, asked.request.message) == ("it", "Who are you?")
    assert asked.request.fields is not None
    [field] = asked.request.fields
    assert (field.name, field.kind, field.title, field.required) == ("name", "text", "Your name", True)
    assert field.hint == "text, at least 2 characters"
    status = await host.until_state("waiting")
    assert status.pending_elicitations == 1
    answer(host, asked, name="Ada")
    assert await answers(host) == [{"action": "accept", "content": {"name": "Ada"}}]
    [told] = await done(host)
    assert (told.block, told.action, told.why) == (asked.block, "accept", None)
    assert [(one.title, one.text) for one in told.answers] == [("Your name", "Ada")]
    await host.until("nothing waits", lambda: (shown := host.status()) and shown.pending_elicitations == 0)


async def test_only_what_both_sides_offer_is_served(host: Host) -> None:
    await ask(host, form(NAME))
    [greeting] = host.scripts["it"].received("initialize")
    assert greeting["params"]["clientCapabilities"]["elicitation"] == {"form": {}, "url": {}}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_declining_and_cancelling_are_two_answers(host: Host, action: str) -> None:
    asked = await ask(host, form(NAME))
    answer(host, asked, action, name="Ada")
    assert await answers(host) == [{"action": action}]
    [told] = await done(host)
    assert (told.action, told.answers, told.why) == (action, [], None)


async def test_bad_values_are_told_in_words_and_nothing_is_sent(host: Host) -> None:
    asked = await ask(host, form(NAME))
    host.app.receive("elicitation_check", {"id": asked.request.id, "version": 7, "values": {"name": "A"}})
    checked = await host.editor.until_event(ElicitationChecked)
    assert (checked.id, checked.version) == (asked.request.id, 7)
    assert [(one.field, one.text) for one in checked.problems] == [("name", "is too short: 1 of at least 2 characters")]
    answer(host, asked, name="A")
    await host.until("it is told again", lambda: len(host.editor.all(ElicitationChecked)) == 2)
    assert host.sent_answers() == []
    answer(host, asked)  # nothing is filled in, and nothing has to be
    assert await answers(host) == [{"action": "accept", "content": {}}]


async def test_the_first_answer_counts(host: Host) -> None:
    asked = await ask(host, form(NAME))
    answer(host, asked, "decline")
    answer(host, asked, "cancel")
    answer(host, asked, name="late")
    assert [one.action for one in await done(host)] == ["decline"]
    await host.editor.until_event(events.TurnEnd)
    assert len(host.of(ElicitationDone)) == 1


async def test_several_wait_at_once_and_are_answered_in_any_order(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
            common = {"sessionId": prompt.session_id, "mode": "form", "requestedSchema": schema}
            calls = [agent.call("elicitation/create", {**common, "message": str(n)}) for n in range(3)]
            agent.note(got=[call.result() for call in calls])
    """)
    host.open()
    host.prompt("go")
    await host.until("three questions", lambda: len(host.of(Elicitation)) == 3)
    first, second, third = host.of(Elicitation)
    assert (await host.until_state("waiting")).pending_elicitations == 3
    answer(host, third, n="3")
    answer(host, first, "decline")
    answer(host, second, n="2")
    [got] = await host.until_note("got")
    assert got == [
        {"action": "decline"},
        {"action": "accept", "content": {"n": 2}},
        {"action": "accept", "content": {"n": 3}},
    ]


async def test_what_looks_like_a_secret_is_said_nowhere(host: Host) -> None:
    asked = await ask(host, form('{"api_key": {"type": "string"}, "who": {"type": "string"}}'))
    assert asked.request.fields is not None
    assert [one.secret for one in asked.request.fields] == [True, False]
    answer(host, asked, api_key="xyzzy-1234", who="me")
    assert await answers(host) == [{"action": "accept", "content": {"api_key": "xyzzy-1234", "who": "me"}}]
    [told] = await done(host)
    assert [one.text for one in told.answers] == ["(not shown)", "me"]
    shown = list(host.app.sessions[1].presenter.transcript.shown(asked.block))
    assert "xyzzy" not in str(shown)
    assert "me" in str(shown)


@pytest.mark.parametrize("dialect", [V1, V2])
async def test_cancelling_the_turn_cancels_what_it_asks(host: Host, dialect: str) -> None:
    await ask(host, form(NAME), dialect)
    host.cancel()
    assert await answers(host) == [{"action": "cancel"}]
    [told] = await done(host)
    assert (told.action, told.why) == ("cancel", "cancelled")


async def test_a_question_after_the_cancel_is_answered_at_once(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.say("x")
            prompt.wait_cancelled()
            agent.note(got=prompt.elicit({}))
            return {"stopReason": "cancelled"}
    """)
    host.open()
    host.prompt("go")
    await host.until("words", lambda: host.text() == "x")
    host.cancel()
    assert await host.until_note("got") == [{"action": "cancel"}]


async def test_stopping_the_agent_closes_what_it_asks(host: Host) -> None:
    await ask(host, form(NAME))
    host.stop()
    [told] = await done(host)
    assert (told.action, told.why) == ("cancel", "cancelled")
    assert (await host.until_state("stopped")).pending_elicitations == 0


async def test_no_dialog_stays_of_an_agent_that_died(host: Host) -> None:
    await ask(
        host,
        """
    def turn(agent, prompt):
        agent.call("elicitation/create", {"sessionId": prompt.session_id, "mode": "form", "message": "m",
                                          "requestedSchema": {"type": "object", "properties": {}}})
        agent.expect("never") if prompt.text == "x" else agent.die()
    """,
    )
    [told] = await done(host)
    assert told.action == "cancel"
    assert (await host.until_state("failed")).pending_elicitations == 0


async def test_an_agent_that_takes_it_back_closes_it(host: Host) -> None:
    await ask(
        host,
        """
    def turn(agent, prompt):
        agent.call("elicitation/create", {"sessionId": prompt.session_id, "mode": "form", "message": "m",
                                          "requestedSchema": {"type": "object", "properties": {}}}, request_id="q")
        agent.notify("$/cancel_request", {"requestId": "q"})
        agent.expect("never")
    """,
    )
    [told] = await done(host)
    assert (told.action, told.why) == ("cancel", "withdrawn")


UNANSWERABLE = [
    ({"x": {"type": "object", "properties": {}}}, "unknown type"),
    ({"x": {"type": "_mine"}}, "unknown type"),
    ({"x": {"type": "string", "enum": []}}, "no values to choose from"),
    ({"y": {"type": "string"}}, "no property is called 'x'"),
    ({"x": {"type": "string", "minLength": "two"}}, "minLength"),
    ({"x": {"minLength": 2}}, "`type`"),
]


@pytest.mark.parametrize("dialect", [V1, V2])
async def test_a_form_that_nobody_can_answer_is_refused_in_words(host: Host, dialect: str) -> None:
    host.hello(protocol={"v2": dialect == V2})
    host.script(f"""{dialect}
    def turn(agent, prompt):
        for schema in {[schema for schema, _ in UNANSWERABLE]}:
            try:
                prompt.elicit(schema, required=["x"])
            except Error as error:
                agent.note(code=error.code, said=str(error))
    """)
    host.open()
    host.prompt("go")
    assert await host.until_note("code", len(UNANSWERABLE)) == [-32602] * len(UNANSWERABLE)
    said = host.scripts["it"].notes("said")
    assert [one for one, (_, words) in zip(said, UNANSWERABLE, strict=True) if words not in one] == []
    assert host.of(Elicitation) == []


async def test_an_optional_field_of_an_unknown_type_is_left_out(host: Host) -> None:
    asked = await ask(host, form('{"x": {"type": "object", "title": "Nested"}, "n": {"type": "integer"}}'))
    assert asked.request.fields is not None
    assert [(one.kind, one.title) for one in asked.request.fields] == [("unknown", "Nested"), ("integer", "n")]
    answer(host, asked, x="whatever", n="5")
    assert await answers(host) == [{"action": "accept", "content": {"n": 5}}]


async def test_a_mode_that_we_do_not_offer_is_refused(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            try:
                prompt.request("elicitation/create", mode="_voice", message="Speak")
            except Error as error:
                agent.note(code=error.code)
    """)
    await host.turn()
    assert host.scripts["it"].notes("code") == [-32602]


@pytest.mark.parametrize("dialect", [V1, V2])
async def test_a_url_is_accepted_first_and_done_later(host: Host, dialect: str) -> None:
    asked = await ask(
        host,
        """
    def turn(agent, prompt):
        agent.notify("elicitation/complete", {"elicitationId": "nobody's"})
        agent.note(got=prompt.elicit_url("https://example.org/sign?x=1", "e7"))
        agent.notify("elicitation/complete", {"elicitationId": "e7"})
        agent.notify("elicitation/complete", {"elicitationId": "e7"})
        agent.notify("elicitation/complete", {"elicitationId": 5})
        prompt.say("on", messageId="m")
        """,
        dialect,
    )
    assert asked.request.url is not None
    assert asked.request.url.url[asked.request.url.first : asked.request.url.last] == "example.org"
    answer(host, asked)
    assert await host.until_note("got") == [{"action": "accept"}]
    await host.until("words", lambda: host.text() == "on")
    assert [one.block for one in host.of(ElicitationComplete)] == [asked.block]
    host.app.receive("redraw", {"session": 1})
    await host.until("it is told again", lambda: len(host.of(ElicitationComplete)) == 2)
    assert [one.action for one in host.of(ElicitationDone)] == ["accept", "accept"]


async def test_a_url_that_is_no_web_page_is_never_accepted(host: Host) -> None:
    asked = await ask(
        host,
        """
    def turn(agent, prompt):
        prompt.elicit_url("file:///etc/passwd")
    """,
    )
    assert asked.request.url is not None
    assert asked.request.url.refused is not None
    answer(host, asked)
    answer(host, asked, "decline")
    assert await answers(host) == [{"action": "decline"}]


async def test_what_is_asked_while_the_session_opens_is_shown_in_its_chat(host: Host) -> None:
    host.script("""
        def session_new(agent, request):
            schema = {"type": "object", "properties": {"tenant": {"type": "string"}}}
            agent.note(got=agent.request("elicitation/create", {
                "requestId": request.id, "mode": "form", "message": "Which tenant?", "requestedSchema": schema}))
            return {"sessionId": "s"}
    """)
    host.open(1)
    asked = await host.editor.until_event(Elicitation)
    assert (await host.until_state("waiting")).pending_elicitations == 1
    answer(host, asked, tenant="blue")
    assert await host.until_note("got") == [{"action": "accept", "content": {"tenant": "blue"}}]
    await host.until_state("idle")


async def test_giving_up_the_start_cancels_what_is_asked_for_it(host: Host) -> None:
    host.script("""
        def session_new(agent, request):
            agent.note(got=agent.request("elicitation/create", {
                "requestId": request.id, "mode": "url", "message": "Sign in", "elicitationId": "e",
                "url": "https://example.org"}))
            return {"sessionId": "s"}
    """)
    host.open()
    host.prompt("go")
    await host.editor.until_event(Elicitation)
    host.cancel()
    [told] = await done(host)
    assert (told.action, told.why) == ("cancel", "cancelled")
    assert (await host.until_state("stopped")).pending_elicitations == 0


async def test_the_end_of_a_turn_leaves_what_is_asked_for_a_request(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            agent.call("elicitation/create", {
                "requestId": 7, "mode": "url", "message": "Sign in", "elicitationId": "e", "url": "https://example.org"})
            agent.call("elicitation/create", {
                "sessionId": prompt.session_id, "mode": "url", "message": "Look", "elicitationId": "f",
                "url": "https://example.org"})
    """)
    await host.turn()
    [told] = await done(host)
    assert told.id == host.of(Elicitation)[1].request.id
    assert (await host.until_state("waiting")).pending_elicitations == 1
    host.stop()
    await done(host, 2)


async def test_a_question_about_a_tool_call_names_it(host: Host) -> None:
    asked = await ask(
        host,
        """
    def turn(agent, prompt):
        prompt.tool("c", "Book a flight")
        prompt.elicit({}, toolCallId="c")
    """,
    )
    assert asked.request.about == "Book a flight"


async def test_a_transcript_that_was_told_anew_has_the_question_again(host: Host) -> None:
    asked = await ask(host, form(NAME))
    presenter = host.app.sessions[1].presenter
    transcript = presenter.transcript
    presenter.forget()
    answer(host, asked, "decline")
    [told] = await done(host)
    assert transcript.asks(told.block, asked.request.id)
    assert [one.block for one in host.of(Elicitation)] == [asked.block, told.block]


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ('{str(n): {"type": "string"} for n in range(201)}', "201 fields are too many"),
        ('{"x": {"type": "string", "enum": [str(n) for n in range(2001)]}}', "more than 2000 values"),
        ('{"x": {"type": "string", "description": "d" * 2_000_000}}', "too large to be shown"),
    ],
)
async def test_a_form_that_nobody_would_fill_in_is_refused(host: Host, properties: str, words: str) -> None:
    host.script(f"""
    def turn(agent, prompt):
        try:
            prompt.elicit({properties})
        except Error as error:
            agent.note(code=error.code, said=str(error))
    """)
    await host.turn()
    assert host.scripts["it"].notes("code") == [-32602]
    assert words in host.scripts["it"].notes("said")[0]


async def test_the_question_and_its_answers_are_kept_with_the_conversation_but_for_secrets(host: Host) -> None:
    asked = await ask(host, form('{"who": {"type": "string", "title": "Who?"}, "password": {"type": "string"}}'))
    answer(host, asked, who="it is me", password="hunter2hunter2")
    await host.editor.until_event(events.TurnEnd)
    state = host.log_path.parent.with_name("state")

    def kept() -> str:
        return "".join(path.read_text() for path in state.glob("transcripts/*/*.jsonl"))

    await host.until("the answer on disk", lambda: "Who?: it is me" in kept())
    assert "The agent asked: Some questions" in kept()
    assert "hunter2" not in kept()
    assert "hunter2hunter2" in LEARNED.secrets  # whoever writes it down masks it
