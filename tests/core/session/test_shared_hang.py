"""A chat whose start waits for a process that hangs, which another chat has: it gives up, or ends the process."""

from __future__ import annotations

import os
import signal

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

HANGS = """
    def turn(agent, prompt):
        if prompt.text == "hang":
            prompt.say("working")
            return NO_ANSWER
        prompt.say(f"said {prompt.text}")
"""
TITLED = """
    def turn(agent, prompt):
        agent.update(prompt.session_id, {"sessionUpdate": "session_info_update", "title": "Build it"})
        prompt.say("working")
        return NO_ANSWER
"""


async def two_chats(host: Host, source: str = HANGS) -> int:
    """The process of chat 1 is stopped while it works; the start of chat 2 waits for it. Returns the pid."""
    host.script(source, is_process=True)
    host.open()
    host.prompt("hang")
    await host.until("work", lambda: host.text() == "working")
    peer = host.app.sessions[1].peer
    assert peer is not None
    assert peer.pid is not None
    os.kill(peer.pid, signal.SIGSTOP)
    host.open(2)
    host.prompt("second", key=2)
    await host.until_state("starting", 2)
    await host.nothing_comes_late()  # the start waits
    return peer.pid


async def test_a_forced_cancel_ends_the_process_and_names_the_chat(host: Host) -> None:
    await two_chats(host)
    host.cancel(2, force=True)
    await host.until_state("stopped", 2)
    assert (await host.editor.until_event(events.TurnEnd)).session == 1
    [error] = host.of(events.Error)
    assert error.text.startswith(
        "Agent 'it' was ended by :AcpCancel! in chat 2, whose start waited for the same process."
    )
    notices = host.notices(2)
    assert "Agent 'it' is ended: this start waited for its process, which chat 1 had." in notices
    assert host.of(events.Error, 2) == []
    assert await host.turn("again", key=2) == "end_turn"
    assert host.text(key=2) == "said again"
    assert await host.turn("once more") == "end_turn"


async def test_the_chat_is_named_by_its_title(host: Host) -> None:
    await two_chats(host, TITLED)
    host.cancel(2, force=True)
    await host.until("the notice", lambda: any("the chat 'Build it' had" in one for one in host.notices(2)))
    await host.until("the end", lambda: host.of(events.Error))


@pytest.mark.parametrize("way", ["stop", "cancel"])
async def test_the_second_chat_gives_up_and_the_first_one_stays(host: Host, way: str) -> None:
    pid = await two_chats(host)
    host.app.receive(way, {"session": 2})
    await host.until_state("stopped", 2)
    assert host.of(events.TurnEnd) == []
    assert host.status().state == "running"
    os.kill(pid, signal.SIGCONT)
    host.stop()
    await host.until("the end", lambda: host.of(events.TurnEnd))


async def test_a_start_that_waits_for_the_start_of_another_chat_ends_it(host: Host) -> None:
    host.script("def initialize(agent, request): return NO_ANSWER")
    host.open()
    host.prompt("first")
    await host.until_received("initialize")
    host.open(2)
    host.prompt("second", key=2)
    await host.until_state("starting", 2)
    await host.nothing_comes_late()  # it waits
    host.cancel(2, force=True)
    await host.until_state("stopped", 2)
    await host.until("the first to be told", lambda: host.of(events.Error))
    assert "was ended by :AcpCancel! in chat 2" in host.of(events.Error)[0].text
    assert any("which chat 1 had" in one for one in host.notices(2))


async def test_a_forced_cancel_of_a_start_of_its_own_ends_nothing_of_others(host: Host) -> None:
    host.script("def initialize(agent, request): return NO_ANSWER")
    host.open()
    host.prompt("go")
    await host.until_received("initialize")
    host.cancel(force=True)
    await host.until_state("stopped")
    assert host.notices() == ["Cancelled before it was sent."]
    assert host.of(events.Error) == []
