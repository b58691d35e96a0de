"""Texts arrive whole, wherever agents cut them: also between the halves of a character."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from unittest.mock import Mock

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.acp import updates
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.text_halves import joined
from acp_nvim.acp.updates import MessageChunk, ToolCallChanged
from acp_nvim.acp.v2 import DialectV2
from acp_nvim.connection.peer_session import PeerSession
from acp_nvim.connection.router import MessageRouter
from acp_nvim.contract import events
from acp_nvim.jsonrpc.connection import Connection
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.transcript.session_messages import SessionMessages
from tests.core.session.host import Host
from tests.core.session.test_text_chunks import Told
from tests.support.examples import examples
from tests.support.fake_editor import FakeEditor

KINDS = {"agent": "agent_message_chunk", "thought": "agent_thought_chunk", "user": "user_message_chunk"}

texts = st.text(st.sampled_from('a\\"\né☃😀👩🏽\U0010fffd\ufffd\ufdd0\U0010f83d'), max_size=12) | st.text(max_size=12)


@st.composite
def pieces(draw: st.DrawFn, whole: st.SearchStrategy[str] = texts) -> list[str]:
    """A text, cut at any of its UTF-16 units."""
    units = draw(whole).encode("utf-16-le")
    cuts = draw(st.lists(st.integers(0, len(units) // 2), max_size=6))
    places = [0, *sorted(2 * cut for cut in cuts), len(units)]
    return [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(places)]


def encoded(update: dict[str, Any], in_bytes: bool) -> bytes:
    """The line for it; halves of characters are escapes, or (`in_bytes`) bytes as some encoders write them."""
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    return json.dumps(message, ensure_ascii=not in_bytes).encode("utf-8", "surrogatepass") + b"\n"


def heard(lines: list[bytes], one_by_one: bool = False, v2: bool = False) -> tuple[Presenter, FakeEditor]:
    """A session to which an agent has said that."""
    editor = FakeEditor()
    presenter = Presenter(1, "/", editor, lambda: None)
    messages = SessionMessages(presenter, lambda name: name)
    router = MessageRouter("it")
    if v2:
        router.dialect = DialectV2()

    def take(update: updates.Update) -> None:
        if isinstance(update, updates.SessionMessage | updates.SessionMessageChunk):
            messages.take(update)
        else:
            presenter.update(update)

    router.sessions["s"] = Mock(spec=PeerSession, on_update=take, on_caught_up=presenter.caught_up)
    told = Told(b"".join(lines))
    anyio.run(Connection(told, told, router, Mock() if one_by_one else None).run)
    assert router.odd_lines == []
    presenter.close_calls("unfinished")
    return presenter, editor


def shown(editor: FakeEditor) -> Iterator[tuple[str, str]]:
    """The kinds and texts of the messages that the editor has."""
    blocks: dict[int, tuple[str, str]] = {}
    for event in editor.all(events.Append):
        blocks[event.block] = (event.kind, blocks.get(event.block, ("", ""))[1] + event.text)
    return iter(blocks.values())


@given(pieces(), pieces(), st.randoms(use_true_random=False), st.booleans(), st.booleans())
@settings(max_examples=examples(200))
def test_text_and_thoughts_arrive_whole(
    said: list[str], thought: list[str], order: Any, in_bytes: bool, one_by_one: bool
) -> None:
    turns = ["agent"] * len(said) + ["thought"] * len(thought)
    order.shuffle(turns)
    rest = {"agent": iter(said), "thought": iter(thought)}
    lines = [
        encoded({"sessionUpdate": KINDS[role], "content": {"type": "text", "text": next(rest[role])}}, in_bytes)
        for role in turns
    ]
    _, editor = heard(lines, one_by_one)
    found = dict(shown(editor))
    for role, parts in (("agent", said), ("thought", thought)):
        assert found.get(role, "") == "".join(joined("".join(parts)))


@given(pieces(st.text("a😀", min_size=1)), st.booleans())
@settings(max_examples=examples(30))
def test_output_of_terminals_arrives_whole(output: list[str], in_bytes: bool) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "run", "_meta": {"terminal_info": {}}}
    lines = [encoded({**call, "content": [{"type": "terminal", "terminalId": "c"}]}, in_bytes)]
    for one in output:
        more = {"terminal_output": {"terminal_id": "c", "data": one}}
        lines.append(encoded({"sessionUpdate": "tool_call_update", "toolCallId": "c", "_meta": more}, in_bytes))
    presenter, _ = heard(lines)
    assert presenter.transcript.terminals.get("c").output.decode() == "".join(joined("".join(output)))


@given(pieces(st.text("a😀", min_size=1)))
@settings(max_examples=examples(30))
def test_messages_between_sessions_and_summaries_arrive_whole(said: list[str]) -> None:
    lines = []
    for one in said:
        content = {"type": "text", "text": one}
        lines.append(encoded({"sessionUpdate": "session_message_chunk", "messageId": "m", "content": content}, False))
        of = {"compactionId": "c", "content": content}
        lines.append(encoded({"sessionUpdate": "compaction_summary_chunk", **of}, False))
    presenter, editor = heard(lines, v2=True)
    whole = "".join(joined("".join(said)))
    notices = {event.block: event.text for event in editor.all(events.Notice)}
    assert list(notices.values())[-1] == f"Message between sessions: {whole}"
    assert ("thought", whole) in list(shown(editor))
    assert presenter.transcript.replay()


def test_a_half_without_the_other_is_replaced_when_its_message_is_over() -> None:
    half = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a\ud83d"}}
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "run"}
    low = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "\ude00b\ud83dc"}}
    _, editor = heard([encoded(one, False) for one in (half, call, low, half)])
    assert list(shown(editor)) == [("agent", "a\ufffd"), ("agent", "\ufffdb\ufffdca\ufffd")]
    kinds = [type(event) for event in editor.events if isinstance(event, events.Append | events.ToolCall)]
    assert kinds[:3] == [events.Append, events.Append, events.ToolCall]  # before what comes next


def test_halves_elsewhere_are_replaced() -> None:
    call = {
        "sessionUpdate": "tool_call",
        "toolCallId": "c\ud83d",
        "title": "run \ud83d",
        "rawInput": {"\ude00": "\ude00"},
    }
    output = {"terminal_output": {"data": "\ud83d"}}
    seen: list[Any] = []
    router = MessageRouter("it")
    router.sessions["s"] = Mock(spec=PeerSession, on_update=seen.append)
    lines = [encoded(call, False), encoded({**call, "_meta": output}, False)]
    told = Told(b"".join(lines))
    anyio.run(Connection(told, told, router).run)
    patches = [one.patch for one in seen if isinstance(one, ToolCallChanged)]
    assert [(one.tool_call_id, one.title, one.raw_input) for one in patches] == [
        ("c\ufffd", "run \ufffd", {"\ufffd": "\ufffd"})
    ] * len(patches)
    assert patches


@pytest.mark.anyio
async def test_the_user_sees_a_character_that_came_in_halves(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            for one in ("\\ud83d", "\\ude00!"):
                prompt.say(one)
                prompt.think("t")
            prompt.say("\\ud83d")
    """)
    await host.turn()
    assert (host.text(), host.text("thought")) == ("😀!\ufffd", "tt")


def test_our_own_prompts_stay_as_they_are() -> None:
    presenter = Presenter(1, "/", FakeEditor(), lambda: None)
    event = presenter.transcript.say(MessageChunk("user", TextContent(text="a\udcff")), ours=True)
    assert event is not None
    assert event.text == "a\udcff"
