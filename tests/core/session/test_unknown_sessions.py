"""What an agent wants or does in a session that nobody has announced is refused, or not shown, and the user is told."""

from __future__ import annotations

from functools import partial
from typing import Final

import pytest

from acp_nvim.connection import early_requests
from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

SCRIPT: Final = """
    OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    SCHEMA = {"type": "object", "properties": {}}
    REQUESTS = {
        "permission": ("session/request_permission", {"options": OPTIONS, "toolCall": {"toolCallId": "c"}}),
        "read": ("fs/read_text_file", {"path": os.path.abspath("f")}),
        "write": ("fs/write_text_file", {"path": os.path.abspath("f"), "content": "x"}),
        "command": ("terminal/create", {"command": "true"}),
        "question": ("elicitation/create", {"mode": "form", "message": "Quick!", "requestedSchema": SCHEMA}),
    }
    TEXT = {"type": "text", "text": "hello"}
    UPDATES = {
        "message": {"sessionUpdate": "agent_message_chunk", "content": TEXT},
        "call": {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run"},
        "title": {"sessionUpdate": "session_info_update", "title": "Another"},
    }

    def refused(agent, method, params, session):
        try:
            return agent.request(method, {"sessionId": session, **params})["outcome"] == {"outcome": "cancelled"}
        except Error as error:
            return error.code == -32602

    def turn(agent, prompt):
        what, *sessions = prompt.text.split()
        for session in sessions:
            if what in REQUESTS:
                agent.note(refused=refused(agent, *REQUESTS[what], session))
            elif what in UPDATES:
                agent.update(session, UPDATES[what])
            else:
                prompt.say(what)
        prompt.until_heard()
"""
ENDS_EMPTY: Final = "without saying or doing anything"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait long until a session is announced."""
    monkeypatch.setattr(early_requests, "ANNOUNCED_SECONDS", 0.01)


def has_more(host: Host, before: int) -> bool:
    """Whether there are more notices than before."""
    return len(host.notices()) > before


async def test_each_kind_is_told_once_for_each_session(host: Host) -> None:
    host.script(SCRIPT)
    told = {
        "permission": "asked for a permission in the session 'other', which is not open here: it was refused",
        "read": "wanted to read a file in the session 'other', which is not open here: it was refused",
        "write": "wanted to write a file in the session 'other', which is not open here: it was refused",
        "command": "wanted to run a command in the session 'other', which is not open here: it was refused",
        "question": "asked something in the session 'other', which is not open here: it was refused",
        "message": "works in the session 'other', which is not open here: what it says and does there is not shown",
    }
    for what, words in told.items():
        before = len(host.notices())
        await host.turn(f"{what} other other")
        await host.until(f"words about {what}", partial(has_more, host, before))
        [notice] = host.notices()[before:]
        assert notice.startswith(f"Agent 'it' {words}. That is a fault of the agent"), what
    await host.turn("call other other")
    await host.turn("write another")
    await host.turn("said in this one")
    assert host.notices()[len(told) :] == [
        f"Agent 'it' {told['write'].replace('other', 'another')}. That is a fault of the agent, "
        "which has to open a session first: look for a newer version. :AcpLog names it."
    ]
    assert all(host.scripts["it"].notes("refused"))
    assert not any(
        word in notice for notice in host.notices() for word in ("fs/", "session/", "sessionId", "terminal/")
    )
    assert not any(ENDS_EMPTY in notice for notice in host.notices())
    assert not (host.cwd / "f").exists()


async def test_a_long_or_strange_id_is_shown_as_such(host: Host) -> None:
    host.script(SCRIPT)
    await host.turn("write \u202eabc" + 200 * "d")
    await host.until("words", host.notices)
    [notice] = host.notices()
    assert "\u202e" not in notice
    assert "'\\u202eabcdd" in notice
    assert 61 * "d" not in notice


async def test_what_is_no_work_there_and_sessions_that_were_left_are_no_news(host: Host) -> None:
    host.script(SCRIPT)
    await host.turn("hello here", key=1)
    await host.turn("hello here", key=2)
    [first, second] = [host.of(events.SessionReady, key)[0].session_id for key in (1, 2)]
    assert first != second
    host.stop(1)
    await host.until_state("stopped", 1)
    for what in ("title unknown", f"message {first}", f"write {first}", f"permission {first}", f"call {first}"):
        await host.turn(what, key=2)
    await host.turn("message unknown", key=2)  # told later than all others would be
    await host.until("words", lambda: any("'unknown'" in notice for notice in host.notices(2)))
    told = [notice for notice in host.notices(2) if ENDS_EMPTY not in notice]
    assert len(told) == 1
    assert [notice for notice in host.notices(1) if "not open here" in notice] == []


async def test_only_the_chats_that_the_agent_works_for_are_told(host: Host) -> None:
    host.script(SCRIPT)
    for key in (1, 2):
        await host.turn("hello here", key=key)
    await host.turn("read other", key=2)
    await host.until("words", lambda: host.notices(2))
    assert host.notices(1) == []


LATE: Final = """
    def session_new(agent, request):
        text = {"type": "text", "text": "hello"}
        for session in ("s", "nobody"):
            agent.update(session, {"sessionUpdate": "agent_message_chunk", "content": text})
        call = agent.call("fs/read_text_file", {"sessionId": "nobody", "path": "/f"})
        agent.update("s", {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": " again"}})
        return {"sessionId": "s"}

    def turn(agent, prompt):
        prompt.say("done")
"""


async def test_before_the_answer_that_opens_a_session_nothing_is_told_that_becomes_known(host: Host) -> None:
    host.script(LATE)
    host.open()
    await host.until("words about both", lambda: len(host.notices()) == 2)
    assert host.text() == "hello again"
    assert all("'nobody'" in notice for notice in host.notices())
    await host.turn("on")
    assert len(host.notices()) == 2
