"""What a session says is kept while it goes on, through the whole core: found, shown again, exported, not disturbed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.events import CallDetailsListed
from acp_nvim.contract.session_events import Exported, PermissionKept, SessionsListed, TranscriptShown
from acp_nvim.history import recorder
from tests.core.session.host import Host, running_host

pytestmark = pytest.mark.anyio

TURN = """
    def turn(agent, prompt):
        prompt.think("hm")
        prompt.say("Hello\\n")
        prompt.tool("c", "Look", kind="read", status="in_progress")
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        agent.request("session/request_permission", {
            "sessionId": prompt.session_id, "toolCall": {"toolCallId": "c"}, "options": options})
        long = "line\\n" * 100_000
        prompt.tool_update("c", status="completed",
                           content=[{"type": "content", "content": {"type": "text", "text": long}}])
        prompt.say("Done: key is sk-abcdefghijklmnop")
"""


def transcripts(host: Host) -> list[Path]:
    return sorted(host.log_path.parent.with_name("state").glob("transcripts/*/*.jsonl"))


def on_disk(host: Host) -> bytes:
    """All that is written by now."""
    return b"".join(path.read_bytes() for path in transcripts(host))


def lines(host: Host) -> list[dict[str, Any]]:
    """What is written, but for a line that is being written."""
    whole = [path.read_bytes().rpartition(b"\n")[0] for path in transcripts(host)]
    return [json.loads(line) for data in whole for line in data.splitlines()]


async def whole_turn(host: Host, key: int = 1) -> None:
    host.script(TURN)
    host.open(key)
    host.prompt("do it", key)
    permission = await host.editor.until_event(events.Permission)
    host.answer(permission.request.id, "yes")
    await host.until("the end", lambda: host.of(events.TurnEnd, key))
    await host.until("the last words on disk", lambda: b"Done" in on_disk(host))


async def find(host: Host, query: str = "", number: int = 1) -> list[Any]:
    wanted = {"id": number, "cwd": str(host.cwd), "open": [], "query": query, "agents": []}
    host.app.receive("sessions_list", wanted)
    await host.until("the list", lambda: any(one.id == number for one in host.editor.all(SessionsListed)))
    [told] = [one for one in host.editor.all(SessionsListed) if one.id == number]
    return [one for entry in told.entries for one in entry.kept]


async def test_a_turn_is_written_block_by_block(host: Host) -> None:
    await whole_turn(host)
    header, *told = lines(host)
    assert (header["transcript"], header["agent"], header["cwd"]) == (1, "it", str(host.cwd))
    last = {one["block"]: one for one in told if "block" in one}
    texts = [one.get("text") for one in last.values() if one["type"] in ("replace", "append")]
    assert texts == ["do it", "hm", "Hello\n", "Done: key is [masked]"]
    [call] = [one["call"] for one in last.values() if one["type"] == "tool_call"]
    assert (call["status"], len(call["content"][0]["text"])) == ("completed", 500_000)
    assert [one["type"] for one in told if one.get("block") == 5] == ["permission", "permission_done"]
    assert {"type": "session", "session_id": "session-1"} in told


async def test_what_goes_on_is_written_before_it_is_whole(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "LATE_SECONDS", 0.1)
    host.script("""
        def turn(agent, prompt):
            prompt.say("a line\\nhalf a li")
            prompt.wait_cancelled()
    """)
    host.open()
    host.prompt("do it")
    await host.until("its first line on disk", lambda: b"a line" in on_disk(host))
    assert b"half" not in on_disk(host)
    host.cancel()
    await host.until("all of it", lambda: b"half a li" in on_disk(host))
    texts = [one["text"] for one in lines(host) if one.get("kind") == "agent"]
    assert texts == ["a line\n", "half a li"]


async def test_many_blocks_that_end_at_once_are_all_written(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            for number in range(500):
                prompt.tool(f"c{number}", f"Call {number}", status="completed")
    """)
    await host.turn()
    await host.until("all on disk", lambda: len({one.get("block") for one in lines(host)}) >= 501)


async def test_it_is_shown_in_another_session_without_being_asked_anything(host: Host, tmp_path: Path) -> None:
    await whole_turn(host)
    async with _beside(host, tmp_path) as other:
        [one] = await find(other, "hello")
        assert (one.agent, one.prompt, one.session, one.snippet) == ("it", "do it", None, "Hello")
        other.app.receive("transcript_open", {"session": 7, "id": one.id})
        await other.editor.until_event(TranscriptShown)
        assert other.of(TranscriptShown, 7) == [TranscriptShown(session=7)]
        assert (other.text("user", 7), other.text("thought", 7)) == ("", "")
        shown = [event for event in other.editor.events if isinstance(event, events.Append | events.Replace)]
        assert [event.text for event in shown][:3] == ["do it", "hm", "Hello\n"]
        [asked] = other.of(PermissionKept, 7)
        assert (asked.outcome, asked.name) == ("selected", "Yes")
        assert other.of(events.Permission, 7) == []
        [call] = other.calls(7).values()
        assert len(call.content[0].text) < 10_000  # as the chat shows it
        assert call.content[0].lines > 99_000
        other.app.receive("transcript_call", {"session": 7, "id": one.id, "block": 4})
        details = await other.editor.until_event(CallDetailsListed)
        assert (details.session, details.block, len(details.call.content[0].text)) == (7, 4, 500_000)


def _beside(host: Host, tmp_path: Path) -> Any:
    (tmp_path / "second").mkdir()
    return running_host(tmp_path / "second", beside=host)


async def test_one_that_is_alive_says_so(host: Host) -> None:
    await whole_turn(host)
    [one] = await find(host, "HELLO")
    assert one.session == 1
    assert await find(host, "never said", number=2) == []


async def test_a_redraw_writes_nothing_again(host: Host) -> None:
    await whole_turn(host)
    before = lines(host)
    host.app.receive("redraw", {"session": 1})
    await host.app.transcripts.flush()
    assert lines(host) == before


@pytest.mark.parametrize("name", ["nothing/there.jsonl", "../secret.jsonl"])
async def test_what_is_not_there_is_told(host: Host, name: str) -> None:
    host.app.receive("transcript_open", {"session": 7, "id": name})
    shown = await host.editor.until_event(TranscriptShown)
    assert shown.problem is not None


async def test_a_session_is_exported_as_text_and_as_a_file(host: Host, tmp_path: Path) -> None:
    await whole_turn(host)
    host.app.receive("export", {"session": 1})
    await host.until("the text", lambda: any(one.done for one in host.editor.all(Exported)))
    text = "".join(one.text for one in host.editor.all(Exported))
    assert "\n## 1. You\n\ndo it\n" in text
    assert text.count("line\n") == 100_000
    path = tmp_path / "out.md"
    host.app.receive("export", {"session": 1, "path": str(path)})
    await host.until("the file", lambda: any(one.path for one in host.editor.all(Exported)))
    assert path.read_text() == text
    host.app.receive("export", {"session": 1, "path": str(path)})
    await host.until("the refusal", lambda: any(one.problem for one in host.editor.all(Exported)))
    host.app.receive("export", {"session": 1, "path": str(tmp_path / "no" / "such.md")})
    await host.until("the failure", lambda: sum(bool(one.problem) for one in host.editor.all(Exported)) == 2)


async def test_a_disk_that_takes_nothing_is_told_once_and_the_session_goes_on(host: Host) -> None:
    state = host.log_path.parent.with_name("state")
    state.mkdir(exist_ok=True)
    (state / "transcripts").write_text("in the way")
    host.script("def turn(agent, prompt): prompt.say('fine')")
    await host.turn()
    await host.turn()
    await host.app.transcripts.flush()
    told = [one for one in host.editor.all(events.Error) if one.code == "no_transcripts"]
    assert len(told) == 1
    assert host.text() == "finefine"


async def test_whoever_does_not_want_it_has_nothing_kept(host: Host) -> None:
    host.hello(history={"transcripts": False})
    host.script("")
    await host.turn()
    await host.app.transcripts.flush()
    assert transcripts(host) == []


async def test_prompts_that_cannot_be_written_are_told_once(host: Host, tmp_path: Path) -> None:
    (tmp_path / "prompts").write_text("in the way")
    for text in ("one", "two"):
        host.app.receive("remember_prompt", {"path": str(tmp_path / "prompts" / "it"), "text": text, "time": 1})
    host.app.receive("remember_prompt", {"path": str(tmp_path / "fine"), "text": "three", "time": 1})
    await host.until("the last one", (tmp_path / "fine").exists)
    [told] = [one for one in host.editor.all(events.Error) if one.code == "no_history"]
    assert told.text.startswith(f"prompts are not remembered: {tmp_path / 'prompts' / 'it'}: ")
