"""Notifications beside the protocol: only those of an agent that its data file names are taken."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio


def named(name: str) -> str:
    return f"""
    INITIALIZE = {{"agentInfo": {{"name": "{name}", "version": "1"}}}}
"""


QWEN = """
    def suggest(agent, session_id, text):
        agent.notify("qwen/notify/session/prompt-suggestion", {
            "v": 1, "sessionId": session_id, "suggestion": text, "promptId": "p"})

    def turn(agent, prompt):
        prompt.say("done")
        if prompt.text == "bad":
            agent.notify("qwen/notify/session/prompt-suggestion", {"sessionId": prompt.session_id, "suggestion": 7})
            agent.notify("qwen/notify/session/prompt-suggestion", [])
            suggest(agent, "nobody", "x")
        prompt.reply({"stopReason": "end_turn"})
        suggest(agent, prompt.session_id, "Run\\nthe tests" if prompt.text != "bad" else "x" * 100_000)
        prompt.until_heard()
        agent.note(over=True)
        return NO_ANSWER
"""


async def test_a_suggestion_is_told_once_and_again_when_the_chat_is_drawn_anew(host: Host) -> None:
    host.script(named("qwen-code") + QWEN)
    await host.turn()
    told = await host.editor.until_event(events.PromptSuggestion)
    assert (told.session, told.text) == (1, "Run the tests")
    host.app.receive("redraw", {"session": 1})
    await host.editor.until_event(events.PromptSuggestion, 2)
    assert [event.text for event in host.of(events.PromptSuggestion)] == ["Run the tests"] * 2
    assert host.notices() == []


async def test_malformed_ones_do_no_harm_and_one_that_is_too_long_withdraws(host: Host) -> None:
    host.script(named("qwen-code") + QWEN)
    await host.turn("bad")
    await host.until_note("over")
    assert [event.text for event in host.of(events.PromptSuggestion)] == [""]
    assert host.notices() == []
    assert await host.turn("again") == "end_turn"


async def test_another_agent_has_no_such_notification(host: Host) -> None:
    host.script(named("other") + QWEN)
    await host.turn()
    await host.until_note("over")
    assert host.of(events.PromptSuggestion) == []
    assert host.notices() == []


async def test_suggestions_in_metadata_need_no_quirk(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.update("session_info_update", title="T", _meta={"promptSuggestions": [{"prompt": [
                {"type": "text", "text": "Commit it"}]}]})
    """)
    await host.turn()
    assert [event.text for event in host.of(events.PromptSuggestion)] == ["Commit it"]
    status = host.status()
    assert status is not None
    assert status.title == "T"


async def test_a_retry_is_in_the_status_until_the_agent_goes_on(host: Host) -> None:
    host.script(
        named("@mistralai/mistral-vibe")
        + """
    def turn(agent, prompt):
        prompt.say("one")
        prompt.until_heard()
        agent.notify("_session/retrying", {"sessionId": prompt.session_id, "category": "rate_limited", "detail": "429"})
        prompt.until_heard()
        prompt.say("two")
        prompt.until_heard()
    """
    )
    await host.turn()
    activities = [event.status.activity for event in host.of(events.Status)]
    shown = [now for before, now in zip([None, *activities], activities, strict=False) if now != before]
    assert shown == ["writing", "retrying (rate limited)", "writing", None]
    assert host.text() == "onetwo"
