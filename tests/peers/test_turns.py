"""How turns with peers end: cancelled, failed, cut short; and what comes along with a prompt."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from tests.peers.peers import V1, V2, Peer
from tests.peers.talk import Talk

pytestmark = pytest.mark.anyio

FAILED = "Agent 'it' failed on this prompt: the provider is down. You can prompt again; :AcpLog shows what it said."


async def test_a_turn_is_cancelled_in_the_middle(talk: Talk) -> None:
    await talk.open()
    talk.host.prompt("slow")
    await talk.host.until("some words", lambda: talk.host.text().count("tick ") > 3)
    talk.host.cancel()
    assert (await talk.host.editor.until_event(events.TurnEnd)).stop_reason == "cancelled"
    said = talk.host.text()
    assert await talk.say("state") == "mode=ask model=small verbose=false"
    assert talk.host.text() == said + "mode=ask model=small verbose=false"
    assert len(await talk.until_sent("session/cancel")) == 1


async def test_a_turn_is_cancelled_while_the_agent_asks(talk: Talk) -> None:
    await talk.open()
    talk.host.prompt("ask")
    await talk.permission()
    talk.host.cancel()
    assert (await talk.host.editor.until_event(events.TurnEnd)).stop_reason == "cancelled"
    assert talk.host.text() == "You chose nothing. "
    assert ("permission", "cancelled") in talk.shown()


@pytest.mark.parametrize("peer", [V2], ids=lambda peer: peer.name)
async def test_a_command_and_then_its_tool_call_are_cancelled_alone(talk: Talk) -> None:
    await talk.open()
    talk.host.prompt("jobs")
    await talk.host.until("a tool call", lambda: talk.of("call"))
    [block] = talk.host.calls()
    for question, terminal in enumerate((1, 0)):
        talk.host.app.receive("cancel_block", {"session": 1, "id": question, "block": block, "terminal": terminal})
    assert (await talk.host.editor.until_event(events.TurnEnd)).stop_reason == "end_turn"
    [call] = talk.of("call")
    assert (call.status, call.content[0].signal) == ("cancelled", "SIGTERM")
    assert talk.host.text() == "Both are gone."
    assert len(await talk.until_sent("terminal/cancel")) == len(await talk.until_sent("tool_call/cancel")) == 1


async def test_prompts_wait_for_the_end_of_the_turn(talk: Talk) -> None:
    await talk.open()
    talk.host.prompt("slow")
    await talk.host.until("some words", lambda: "tick " in talk.host.text())
    talk.host.prompt("state")
    assert len(await talk.until_sent("session/prompt")) == 1
    talk.host.cancel()
    talk.host.prompt("state")  # what was queued is held until then
    await talk.host.editor.until_event(events.TurnEnd, 3)
    assert talk.host.text().endswith("tick " + 2 * "mode=ask model=small verbose=false")


async def test_an_error_answer_is_told_and_the_session_goes_on(talk: Talk) -> None:
    talk.refusals = [("session/prompt", -32603)]
    assert await talk.host.turn("fail") == "error"
    error = await talk.host.editor.until_event(events.Error)
    assert (error.code, error.text) == ("turn_failed", FAILED)
    assert await talk.say("state") == "mode=ask model=small verbose=false"


@pytest.mark.parametrize("peer", [V2], ids=lambda peer: peer.name)
async def test_an_error_at_the_end_of_the_turn_is_told(talk: Talk) -> None:
    assert await talk.host.turn("fail later") == "error"
    error = await talk.host.editor.until_event(events.Error)
    assert (error.code, error.text) == ("turn_failed", FAILED)
    assert await talk.say("state") == "mode=ask model=small verbose=false"


@pytest.mark.parametrize("peer", [V1, V2], ids=lambda peer: peer.name)
async def test_a_question_that_the_agent_withdraws_is_over(talk: Talk) -> None:
    talk.host.open()
    talk.host.prompt("withdraw")
    await talk.permission()
    assert (await talk.host.editor.until_event(events.TurnEnd)).stop_reason == "end_turn"
    assert talk.host.text() == "You chose nothing. "
    assert talk.of("permission") == ["cancelled"]


async def test_another_stop_reason_is_told(talk: Talk) -> None:
    assert await talk.host.turn("limit") == "max_tokens"
    assert talk.host.notices() == ["Stopped: the agent has used up the tokens of a turn"]


async def test_files_come_along_with_a_prompt(talk: Talk) -> None:
    await talk.open()
    item = {"uri": "file:///x.py", "name": "x.py", "text": "print('ü')\n", "mime_type": "text/x-python"}
    talk.host.prompt("state", context=[item, item])
    await talk.host.editor.until_event(events.TurnEnd)
    assert talk.host.text().startswith("You gave text, resource, resource. ")
    sent = (await talk.until_sent("session/prompt"))[0]["prompt"][1]["resource"]
    assert sent == {"uri": "file:///x.py", "mimeType": "text/x-python", "text": "print('ü')\n"}


async def test_the_user_s_words_are_shown_once(talk: Talk, peer: Peer) -> None:
    await talk.host.turn("state")
    await talk.host.turn("state")
    assert talk.of("user") == ["state", "state"]
