"""What comes along with a prompt, by what the agent takes, in both versions."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_nvim import limits
from acp_nvim.contract import events
from acp_nvim.prompt import prompt as prompts
from acp_nvim.review.turn.turn_changes import TurnChanges
from tests.core.session.host import Host
from tests.core.session.sender import EVERYTHING, Sender, file_item, link

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


@pytest.fixture(params=[1, 2])
def sender(host: Host, request: pytest.FixtureRequest) -> Sender:
    return Sender(host, request.param)


async def test_unsaved_text_is_embedded_where_it_is_taken(sender: Sender) -> None:
    item = {"uri": "file:///p/a.py#L1-2", "name": "a.py:1-2", "text": "ü\n\udcff\n", "mime_type": "text/x-python"}
    sender.takes(embeddedContext=True)
    resource = {"uri": item["uri"], "text": "ü\n\ufffd\n", "mimeType": "text/x-python"}
    assert await sender.send(item, {**item, "type": "text"}) == [{"type": "resource", "resource": resource}] * 2


async def test_unsaved_text_is_quoted_where_it_is_not(sender: Sender) -> None:
    item = {"uri": "file:///p/a.py", "name": "a.py", "text": "```\n"}
    sender.takes()
    (block,) = await sender.send(item)
    assert block == {"type": "text", "text": "a.py:\n````\n```\n\n````"}


async def test_a_whole_file_as_it_is_on_disk_is_a_link_where_texts_are_not_taken(
    sender: Sender, tmp_path: Path
) -> None:
    path = tmp_path / "a b.py"
    path.write_text("x")
    buffer = {"uri": path.as_uri(), "name": path.name, "text": "x", "mime_type": "text/x-python", "on_disk": True}
    sender.takes(image=True)
    links = await sender.send(buffer, file_item(path, mime_type="text/x-python"))
    assert links == [link(path, mimeType="text/x-python")] * 2
    assert sender.host.notices() == []


async def test_a_file_is_read_when_it_is_sent(sender: Sender, tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("zwölf\r\n".encode("latin-1"))
    sender.takes(embeddedContext=True)
    (block,) = await sender.send(file_item(path))
    assert block == {
        "type": "resource",
        "resource": {"uri": path.as_uri(), "text": "zwölf\r\n", "mimeType": "text/plain"},
    }


@pytest.mark.parametrize("embedded", [True, False])
async def test_lines_of_a_file(sender: Sender, tmp_path: Path, embedded: bool) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\ufeffone\ntwo\nthree\nfour")
    sender.takes(embeddedContext=embedded)
    item = file_item(path, first=2, last=3) | {"name": "a.txt:2-3", "uri": f"{path.as_uri()}#L2-3"}
    (block,) = await sender.send(item)
    if embedded:
        assert block["resource"] == {
            "uri": f"{path.as_uri()}#L2-3",
            "text": "two\nthree\n",
            "mimeType": "text/plain",
        }
    else:
        assert block == {"type": "text", "text": "a.txt:2-3:\n```\ntwo\nthree\n\n```"}


async def test_a_directory_is_a_link(sender: Sender, tmp_path: Path) -> None:
    sender.takes(**EVERYTHING)
    assert await sender.send({"type": "link", "uri": tmp_path.as_uri(), "name": "d/"}) == [
        {"type": "resource_link", "uri": tmp_path.as_uri(), "name": "d/"}
    ]


async def test_an_image_from_a_file_or_as_it_is(sender: Sender, tmp_path: Path) -> None:
    path = tmp_path / "shot.png"
    path.write_bytes(PNG)
    data = base64.b64encode(PNG).decode()
    sender.takes(**EVERYTHING)
    of_file = {"type": "image", "uri": path.as_uri(), "name": "shot.png", "path": str(path), "mime_type": "image/png"}
    given = {"type": "image", "name": "it", "data": data, "mime_type": "image/png"}
    blocks = await sender.send(of_file, given)
    assert blocks == [
        {"type": "image", "data": data, "mimeType": "image/png", "uri": path.as_uri()},
        {"type": "image", "data": data, "mimeType": "image/png"},
    ]


async def test_an_agent_that_takes_no_images_gets_a_link_and_the_user_hears_of_it(
    sender: Sender, tmp_path: Path
) -> None:
    path = tmp_path / "shot.png"
    path.write_bytes(PNG)
    sender.takes(embeddedContext=True)
    of_file = {"type": "image", "uri": path.as_uri(), "name": "shot.png", "path": str(path), "mime_type": "image/png"}
    given = {"type": "image", "name": "it", "data": "AAAA", "mime_type": "image/png"}
    assert await sender.send(of_file, given) == [link(path, mimeType="image/png")]
    assert sender.host.notices() == [
        "The agent takes no images: shot.png was not sent. It gets a link.",
        "The agent takes no images: it was not sent.",
    ]


def a_binary(path: Path) -> str:
    path.write_bytes(b"a\0b")
    return f"{path} is a binary file."


def too_large(path: Path) -> str:
    path.write_bytes(b"x" * (limits.MENTION_BYTES + 1))
    return f"{path} has 1.0 MB, which is too much for a prompt."


@pytest.mark.parametrize("make", [a_binary, too_large])
async def test_what_cannot_be_read_is_a_link_with_words(sender: Sender, tmp_path: Path, make: Any) -> None:
    path = tmp_path / "file"
    words = make(path)
    sender.takes(**EVERYTHING)
    assert await sender.send(file_item(path)) == [link(path)]
    assert sender.host.notices() == [f"{words} The agent gets a link to it."]


async def test_a_file_that_is_gone_or_no_file_does_not_hold_up_the_prompt(sender: Sender, tmp_path: Path) -> None:
    gone = tmp_path / "gone.py"
    sender.takes(**EVERYTHING)
    image = {"type": "image", "uri": gone.as_uri(), "name": "gone.png", "path": str(gone), "mime_type": "image/png"}
    blocks = await sender.send(file_item(gone), file_item(tmp_path), image)
    assert [block["type"] for block in blocks] == ["resource_link"] * 3
    assert len(sender.host.notices()) == 3


async def test_lines_that_are_not_there(sender: Sender, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n")
    sender.takes(**EVERYTHING)
    assert await sender.send(file_item(path, first=9, last=9)) == [link(path, mimeType="text/plain")]
    assert sender.host.notices() == [f"{path} has no line 9. The agent gets a link to it."]


async def test_lines_of_a_large_file_are_read(sender: Sender, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("0123456789\n" * (limits.MENTION_BYTES // 10))
    sender.takes(**EVERYTHING)
    (block,) = await sender.send(file_item(path, first=90_000, last=90_000))
    assert block["resource"]["text"] == "0123456789\n"
    assert await sender.send(file_item(path, first=1, last=10**9)) == [link(path, mimeType="text/plain")]


@pytest.mark.parametrize("data", ["no base64!", "A" * (limits.IMAGE_BYTES * 4 // 3 + 8)])
async def test_images_that_cannot_be_sent(sender: Sender, tmp_path: Path, data: str) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"no picture")
    sender.takes(**EVERYTHING)
    named = {"type": "image", "uri": path.as_uri(), "name": "a.png", "path": str(path), "mime_type": "image/png"}
    given = {"type": "image", "name": "it", "data": data, "mime_type": "image/png"}
    assert await sender.send(given, named) == [link(path, mimeType="image/png")]
    assert len(sender.host.notices()) == 2


async def test_a_fifo_is_not_waited_for(sender: Sender, tmp_path: Path) -> None:
    path = tmp_path / "pipe.png"
    os.mkfifo(path)
    sender.takes(**EVERYTHING)
    named = {"type": "image", "uri": path.as_uri(), "name": "p", "path": str(path), "mime_type": "image/png"}
    blocks = await sender.send(file_item(path), named)
    assert [block["type"] for block in blocks] == ["resource_link"] * 2


async def test_a_queued_prompt_keeps_what_was_true_when_it_was_sent(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("then")
    host.script("""
        INITIALIZE = {"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": {"embeddedContext": True}}}
        def turn(agent, prompt):
            while prompt.text == "first" and not os.path.exists("go on"):
                time.sleep(0.01)
    """)
    host.open()
    host.prompt("first")
    await host.until_received("session/prompt")
    host.prompt("second", context=[file_item(path)])
    waiting = host.app.sessions[1].queue.next
    assert waiting is not None
    await waiting.ready()
    path.write_text("now")
    (host.cwd / "go on").write_text("")
    sent = (await host.until_received("session/prompt", 2))[1]["params"]["prompt"]
    assert sent[1]["resource"]["text"] == "then"


@pytest.mark.parametrize(("where", "what"), [(prompts, "read_item"), (prompts.Prompt, "read")], ids=["one", "all"])
async def test_a_prompt_goes_out_although_reading_failed(
    sender: Sender, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Any, what: str
) -> None:
    async def broken(_: Any) -> Any:
        raise RuntimeError("a bug")

    path = tmp_path / "a.txt"
    path.write_text("x")
    monkeypatch.setattr(where, what, broken)
    sender.takes(**EVERYTHING)
    assert await sender.send(file_item(path)) == [link(path, mimeType="text/plain")]
    bug, remark = sender.host.notices()
    assert "RuntimeError('a bug')" in bug
    assert remark == "a.txt could not be read. The agent gets a link to it."


class ReaderWriterLock:
    """Holds up what reads the files of prompts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = anyio.Event()
        self._read = prompts.read_item
        monkeypatch.setattr(prompts, "read_item", self._wait)

    async def _wait(self, item: Any) -> Any:
        await self.open.wait()
        return await self._read(item)


async def test_a_prompt_waits_for_what_it_mentions(
    sender: Sender, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_snapshot(changes: TurnChanges, text: str) -> None:
        """Take no snapshot, so that only the files are waited for."""

    gate = ReaderWriterLock(monkeypatch)
    monkeypatch.setattr(TurnChanges, "begin", no_snapshot)
    path = tmp_path / "a.txt"
    path.write_text("x")
    sender.takes(**EVERYTHING)
    sender.host.open()
    sender.host.prompt("look", context=[file_item(path)])
    await sender.host.until("the turn", lambda: sender.host.of(events.TurnStart))
    await anyio.wait_all_tasks_blocked()
    gate.open.set()
    (prompt,) = await sender.host.until_received("session/prompt")
    assert prompt["params"]["prompt"][1]["resource"]["text"] == "x"


async def test_a_turn_that_waits_for_files_can_be_cancelled(
    sender: Sender, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = ReaderWriterLock(monkeypatch)
    path = tmp_path / "a.txt"
    path.write_text("x")
    sender.takes(**EVERYTHING)
    sender.host.open()
    sender.host.prompt("look", context=[file_item(path)])
    await sender.host.until("the turn", lambda: sender.host.of(events.TurnStart))
    sender.host.cancel()
    await sender.host.until("its end", lambda: sender.host.of(events.TurnEnd))
    assert sender.host.of(events.TurnEnd)[0].stop_reason == "cancelled"
    gate.open.set()
    assert await sender.send() == []
    assert len(sender.host.scripts["it"].received("session/prompt")) == 1


async def test_a_prompt_into_a_running_turn_waits_for_what_it_mentions(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = ReaderWriterLock(monkeypatch)
    path = tmp_path / "a.txt"
    path.write_text("x")
    host.script("""
        INITIALIZE = {
            "protocolVersion": 1,
            "_meta": {"steering": {"supported": True}},
            "agentCapabilities": {"promptCapabilities": {"embeddedContext": True}},
        }
        def session_steering(agent, request):
            return {"outcome": "injected"}
        def turn(agent, prompt):
            while not os.path.exists("go on"):
                time.sleep(0.01)
    """)
    host.open()
    host.prompt("first")
    await host.until_received("session/prompt")
    host.prompt("look", context=[file_item(path)])
    host.app.receive("steer", {"session": 1})
    await anyio.wait_all_tasks_blocked()
    gate.open.set()
    (steered,) = await host.until_received("_session/steering")
    assert steered["params"]["prompt"][1]["resource"]["text"] == "x"
    (host.cwd / "go on").write_text("")
    await host.until_state("idle")


async def test_the_transcript_names_what_comes_along(sender: Sender, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    sender.takes(**EVERYTHING)
    await sender.send(file_item(path), {"type": "link", "uri": tmp_path.as_uri(), "name": "d/"})
    assert sender.host.text("user") == "look\n@a.txt\n@d/"


async def test_the_status_says_what_the_agent_takes(sender: Sender) -> None:
    sender.takes(image=True)
    sender.host.open()
    status = await sender.host.until_state("idle")
    assert status.takes is not None
    assert (status.takes.image, status.takes.audio, status.takes.embedded_context) == (True, False, False)
    sender.host.stop()
    assert (await sender.host.until_state("stopped")).takes is None


@pytest.mark.parametrize(
    "item",
    [
        {"type": "smell", "uri": "x", "name": "x"},
        {"type": "image", "name": "x", "mime_type": "image/png"},
        {"uri": "x", "name": "x"},
    ],
)
async def test_what_is_no_item_is_told_as_a_bug(host: Host, item: dict[str, Any]) -> None:
    host.script("")
    host.open()
    host.prompt("x", context=[item])
    error = await host.editor.until_event(events.Error)
    assert error.code == "host_bug"
