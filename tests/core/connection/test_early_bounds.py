"""What an agent says under ids that nobody knows yet is kept within bounds, in number and in size."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.updates import MessageChunk, Update
from acp_nvim.connection import router
from acp_nvim.connection.router import MessageRouter


class Hears:
    """A session that keeps what it is told."""

    def __init__(self) -> None:
        self.text = ""

    def on_update(self, update: Update) -> None:
        assert isinstance(update, MessageChunk)
        assert isinstance(update.content, TextContent)
        self.text += update.content.text


def say(box: MessageRouter, session_id: str, text: str) -> None:
    content = {"type": "text", "text": text}
    params = {"sessionId": session_id, "update": {"sessionUpdate": "agent_message_chunk", "content": content}}
    box.notification("session/update", msgspec.Raw(msgspec.json.encode(params)))
    box.flush()


def adopted(box: MessageRouter, session_id: str) -> str:
    session: Any = Hears()
    box.adopt(session_id, session)
    return str(session.text)


def test_large_updates_are_dropped_beyond_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(router, "EARLY_BYTES", 10_000)
    box = MessageRouter("it")
    for number in range(100):
        say(box, f"s{number % 3}", f"{number:<1000}")
    texts = [adopted(box, f"s{number}") for number in range(3)]
    assert 7_000 <= sum(map(len, texts)) <= 10_000
    assert texts[0].split() == ["0", "3", "6"]


def test_many_updates_are_dropped_beyond_their_number_and_there_is_room_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(router, "EARLY_UPDATES", 10)
    box = MessageRouter("it")
    for number in range(100):
        say(box, f"s{number % 2}", f"{number} ")
    assert [adopted(box, f"s{number}").split() for number in range(2)] == [list("02468"), list("13579")]
    for number in range(100):
        say(box, "later", f"{number} ")
    assert adopted(box, "later").split() == [str(number) for number in range(10)]
