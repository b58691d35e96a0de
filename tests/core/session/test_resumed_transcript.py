"""A kept conversation in a session that goes on with it: the same blocks, the same numbers, whatever is in the file."""

from __future__ import annotations

import anyio
import pytest

from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.updates import MessageChunk
from acp_nvim.connection import peers
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract import events
from acp_nvim.contract.session_events import PermissionKept, SessionsListed
from acp_nvim.contract.views import CallView, TextItem
from acp_nvim.history.records import KeptEvent
from acp_nvim.transcript.transcript import Transcript
from tests.core.session.host import Host, running_host

LONG = "line\n" * 1000


def said(block: int, text: str) -> list[KeptEvent]:
    return [events.Replace(session=0, block=block, kind="agent", text=text)]


def called(block: int) -> list[KeptEvent]:
    call = CallView(id="c", title="Look", kind="read", status="in_progress", content=[TextItem(LONG)], locations=[])
    return [events.ToolCall(session=0, block=block, call=call)]


def asked(block: int) -> list[KeptEvent]:
    request = events.RequestView(
        id=7, tool_call_id="", title="May I?", kind="other", options=[], content=[], locations=[]
    )
    return [events.Permission(session=0, block=block, request=request)]


def test_blocks_come_back_with_their_numbers() -> None:
    transcript = Transcript(5)
    transcript.recall(
        [
            said(1, "hello"),
            called(3),
            asked(4),
            [*said(6, "a"), events.Append(session=0, block=6, kind="agent", text="b")],
        ]
    )
    _, *shown = transcript.replay()
    assert [(type(one), one.session, one.block) for one in shown] == [
        (events.Append, 5, 1),
        (events.ToolCall, 5, 3),
        (PermissionKept, 5, 4),
        (events.Append, 5, 6),
    ]
    assert (shown[0].text, shown[3].text) == ("hello", "ab")
    assert shown[1].call.status == "unfinished"
    assert len(shown[1].call.content[0].text) < len(LONG)
    goes_on = transcript.say(MessageChunk("agent", TextContent(text="more")))
    assert goes_on is not None
    assert goes_on.block == 7
    details = transcript.call_details(3)
    assert details is not None
    assert details.call.content == [TextItem(LONG)]
    assert transcript.call_details(1) is None
    assert transcript.call_details(2) is None
    [whole] = transcript.shown(3)
    assert (whole.session, whole.call.content) == (5, [TextItem(LONG)])
    assert list(transcript.shown(2)) == []


def test_numbers_that_nobody_gave_do_not_fill_the_memory() -> None:
    transcript = Transcript(1)
    transcript.recall([said(1, "a"), said(10**9, "b"), said(1, "again"), [], said(2, "c")])
    assert [one.text for one in list(transcript.replay())[1:]] == ["a", "c"]


RESUMES = """
    INITIALIZE = {"agentCapabilities": {"sessionCapabilities": {"resume": {}, "list": {}}}}
    def turn(agent, prompt):
        prompt.say(f"said {prompt.text}")
    def session_resume(agent, request): return {}
    def session_list(agent, request): return {"sessions": []}
"""


@pytest.mark.anyio
async def test_two_neovims_that_go_on_with_one_conversation_keep_a_file_each(
    host: Host, tmp_path_factory: pytest.TempPathFactory
) -> None:
    host.script(RESUMES)
    await host.turn("hello")
    await host.app.transcripts.flush()
    [path] = host.log_path.parent.with_name("state").glob("transcripts/*/*.jsonl")
    before = path.read_bytes()
    async with running_host(tmp_path_factory.mktemp("second"), beside=host) as other:
        other.script(RESUMES)
        params = {"session": 1, "agent": "it", "cwd": str(host.cwd), "session_id": "session-1"}
        other.app.receive("resume", params)
        await other.turn("more")
        assert other.text() == "said more"
        await other.app.transcripts.flush()
        assert path.read_bytes() == before
        [copied] = [one for one in path.parent.iterdir() if one != path]
        assert copied.read_bytes().count(b"said hello") == 1
        assert b"said more" in copied.read_bytes()


@pytest.mark.anyio
async def test_an_agent_that_was_only_asked_is_let_go(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    listed, wait_gone = anyio.Event(), AgentPeer.wait_gone

    async def wait_after_list(peer: AgentPeer, seconds: float) -> None:
        await listed.wait()  # however long the answer takes
        await wait_gone(peer, seconds)

    monkeypatch.setattr(peers, "ASKED_SECONDS", 0.05)
    monkeypatch.setattr(AgentPeer, "wait_gone", wait_after_list)
    host.script(RESUMES)
    host.app.receive("sessions_list", {"id": 1, "cwd": str(host.cwd), "open": [], "agents": ["it"]})
    await host.until("the list", lambda: any(not one.waits for one in host.editor.all(SessionsListed)))
    assert host.editor.all(SessionsListed)[-1].problems == {}
    assert [one.alive for one in host.app.peers.known()] == [True]
    listed.set()
    await host.until("its process to end", lambda: not any(one.alive for one in host.app.peers.known()))
