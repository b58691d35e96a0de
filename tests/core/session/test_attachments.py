"""What an agent gets of attachments: by its quirks, with which types, of which images; and that it gets something."""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim import limits
from acp_nvim.acp.answers import Abilities
from acp_nvim.acp.remote_paths import PathMap
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.contract import events
from acp_nvim.prompt.blocks import media_type
from acp_nvim.prompt.items import LinkItem
from acp_nvim.prompt.prompt import Prompt
from acp_nvim.prompt.reading import pixels, too_large
from tests.core.session.host import Host
from tests.core.session.inner_agent import inner_host
from tests.core.session.sender import EVERYTHING, Sender, file_item, link
from tests.support.examples import examples

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[1, 2])
def sender(host: Host, request: pytest.FixtureRequest) -> Sender:
    return Sender(host, request.param)


# --- agents that do not tell their models everything ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Copilot", "fast-agent-acp"])
async def test_an_agent_that_hides_texts_gets_them_in_words(sender: Sender, tmp_path: Path, name: str) -> None:
    path = tmp_path / "a b#.py"
    path.write_text("one\ntwo\nthree\n")
    sender.takes(name, **EVERYTHING)
    unsaved = {"uri": path.as_uri(), "name": path.name, "text": "unsaved\n"}
    blocks = await sender.send(unsaved, file_item(path, first=2, last=3) | {"name": "a b#.py:2-3"})
    assert blocks == [
        {"type": "text", "text": "a b#.py:\n```\nunsaved\n\n```"},
        {"type": "text", "text": "a b#.py:2-3:\n```\ntwo\nthree\n\n```"},
    ]


@pytest.mark.parametrize("name", ["Copilot", "fast-agent-acp"])
async def test_an_agent_that_drops_links_gets_them_in_words(sender: Sender, tmp_path: Path, name: str) -> None:
    folder, binary = tmp_path / "a b#", tmp_path / "c d%41.pdf"
    folder.mkdir()
    binary.write_bytes(b"a\0b")
    sender.takes(name, **EVERYTHING)
    elsewhere = {"type": "link", "uri": "https://example.org/a%20b", "name": "page"}
    link_item = {"type": "link", "uri": folder.as_uri(), "name": folder.name}
    blocks = await sender.send(link_item, file_item(binary), elsewhere)
    assert blocks == [
        {"type": "text", "text": f"\nAttached: a b# (in {folder})\n"},
        {"type": "text", "text": f"\nAttached: c d%41.pdf (in {binary})\n"},
        {"type": "resource_link", "uri": elsewhere["uri"], "name": "page"},
    ]


@pytest.mark.parametrize("name", ["qwen-code", "gemini-cli"])
async def test_an_agent_that_does_not_decode_links_gets_encoded_ones_in_words(
    sender: Sender, tmp_path: Path, name: str
) -> None:
    sender.takes(name, **EVERYTHING)
    plain, odd, folder = tmp_path / "a.pdf", tmp_path / "a b.pdf", tmp_path / "folder"
    plain.write_bytes(b"a\0b")
    odd.write_bytes(b"a\0b")
    blocks = await sender.send(
        file_item(plain), file_item(odd), {"type": "link", "uri": folder.as_uri(), "name": "folder"}
    )
    assert blocks[:2] == [
        link(plain, mimeType="application/pdf"),
        {"type": "text", "text": f"\nAttached: a b.pdf (in {odd})\n"},
    ]
    assert blocks[2]["type"] == ("text" if name == "qwen-code" else "resource_link")


@pytest.mark.parametrize("name", ["OpenCode", "Kilo"])
async def test_an_agent_that_fails_on_types_of_links_gets_none_but_those_of_texts(
    sender: Sender, tmp_path: Path, name: str
) -> None:
    sender.takes(name, embeddedContext=True)
    pdf, text, shot = tmp_path / "a.pdf", tmp_path / "a.txt", tmp_path / "a.png"
    for path in (pdf, text):
        path.write_bytes(b"a\0b")
    image = {"type": "image", "uri": shot.as_uri(), "name": "a.png", "path": str(shot), "mime_type": "image/png"}
    blocks = await sender.send(file_item(pdf), file_item(text), image)
    assert blocks == [link(pdf), link(text, mimeType="text/plain"), link(shot)]


def test_a_link_in_words_has_the_path_on_the_agents_machine(tmp_path: Path) -> None:
    item = LinkItem(uri=(tmp_path / "a b").as_uri(), name="a b")
    agent = SimpleNamespace(
        abilities=Abilities(), quirks=frozenset({"hides_links"}), paths=PathMap("it", [(str(tmp_path), "/there")])
    )
    blocks, _ = Prompt("look", [item]).blocks(agent)
    assert blocks[1] == TextContent(text="\nAttached: a b (in /there/a b)\n")


# --- types ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.pdf", "application/pdf"),
        ("a.bmp", "image/bmp"),
        ("a b#.txt", "text/plain"),
        ("a.tar.gz", None),
        ("a.bin", None),
        ("a.lua", None),
        ("Makefile", None),
    ],
)
async def test_a_link_has_the_registered_type_of_its_name(
    sender: Sender, tmp_path: Path, name: str, kind: str | None
) -> None:
    path = tmp_path / name
    path.write_bytes(b"a\0b")
    sender.takes(**EVERYTHING)
    assert await sender.send(file_item(path)) == [link(path, **({"mimeType": kind} if kind else {}))]


@pytest.mark.parametrize(("name", "kind"), [("a.json", "application/json"), ("a.pdf", None), ("a.bmp", None)])
async def test_an_embedded_text_has_the_type_of_a_text_or_none(
    sender: Sender, tmp_path: Path, name: str, kind: str | None
) -> None:
    item = {"uri": (tmp_path / name).as_uri(), "name": name, "text": "x"}
    sender.takes(**EVERYTHING)
    [block] = await sender.send(item)
    assert block["resource"].get("mimeType") == kind


@pytest.mark.parametrize(
    "uri", ["nvim://a.py", "https://example.org/a.py", "untitled:3.py", "file://[/a.py", "file:", ""]
)
def test_what_is_no_file_has_no_type_of_a_file(uri: str) -> None:
    assert media_type(uri) is None


# --- images -----------------------------------------------------------------------------------------------------------


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little")


def jpeg(width: int, height: int) -> bytes:
    exif = b"\xff\xe1\x00\x10" + b"\xff\xc0" * 7
    frame = b"\xff\xff\xc2\x00\x11\x08" + height.to_bytes(2) + width.to_bytes(2)
    return b"\xff\xd8" + exif + b"\xff\xc4\x00\x03x" + frame


def webp(width: int, height: int) -> bytes:
    return b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + b"".join(
        one.to_bytes(2, "little") for one in (width, height)
    )


def webp_lossless(width: int, height: int) -> bytes:
    bits = (width - 1) | (height - 1) << 14
    return b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + bits.to_bytes(4, "little")


def webp_extended(width: int, height: int) -> bytes:
    return b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0" + b"".join(
        (one - 1).to_bytes(3, "little") for one in (width, height)
    )


KINDS = {
    "image/png": [png],
    "image/gif": [gif],
    "image/jpeg": [jpeg],
    "image/webp": [webp, webp_lossless, webp_extended],
}
MADE = [made for kind in KINDS.values() for made in kind]


@settings(max_examples=examples(50))
@given(st.sampled_from(MADE), st.integers(1, 16383), st.integers(1, 16383), st.integers(0, 60))
def test_the_size_of_an_image_is_read_or_not_known(made: Any, width: int, height: int, cut: int) -> None:
    whole = made(width, height)
    assert pixels(whole) == (width, height)
    assert (too_large(whole) is not None) == (max(width, height) > limits.IMAGE_PIXELS)
    assert pixels(whole[:cut]) in (None, (width, height))


@settings(max_examples=examples(50))
@given(st.sampled_from(MADE), st.binary(max_size=100))
def test_no_bytes_make_the_reader_fail(made: Any, rest: bytes) -> None:
    for data in (made(5, 5)[:12] + rest, b"\xff\xd8\xff" + rest):
        found = pixels(data)
        assert found is None or min(found) >= 0


@pytest.mark.parametrize(("kind", "made"), [(kind, made) for kind, all_of in KINDS.items() for made in all_of])
async def test_an_image_with_too_many_pixels_is_a_link_with_words(
    sender: Sender, tmp_path: Path, kind: str, made: Any
) -> None:
    path = tmp_path / "shot"
    path.write_bytes(made(9000, 200))
    sender.takes(**EVERYTHING)
    named = {"type": "image", "uri": path.as_uri(), "name": "shot", "path": str(path), "mime_type": kind}
    given = {"type": "image", "name": "it", "data": base64.b64encode(made(1, 8001)).decode(), "mime_type": kind}
    assert await sender.send(named, given) == [link(path, mimeType=kind)]
    assert sender.host.notices() == [
        "shot has 9,000 x 200 pixels, and providers of models take 8,000 a side at most. It gets a link.",
        "it has 1 x 8,001 pixels, and providers of models take 8,000 a side at most.",
    ]


async def test_an_image_of_the_most_bytes_is_sent_and_one_more_is_a_link(sender: Sender, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    sender.takes(**EVERYTHING)
    named = {"type": "image", "uri": path.as_uri(), "name": "a.png", "path": str(path), "mime_type": "image/png"}
    path.write_bytes(png(9, 9).ljust(limits.IMAGE_BYTES))
    [block] = await sender.send(named)
    assert len(block["data"]) == 5 * 1024 * 1024
    path.write_bytes(png(9, 9).ljust(limits.IMAGE_BYTES + 1))
    assert await sender.send(named) == [link(path, mimeType="image/png")]
    assert "a.png is larger than 3.75 MB" in sender.host.notices()[-1]


# --- nothing to send --------------------------------------------------------------------------------------------------


def says_so(host: Host, before: int) -> bool:
    return any("was not sent" in one for one in host.notices()[before:])


BLANK = ["", " \n\t", "\u00a0\u3000", "\u200b\ufeff", "\x00"]


@pytest.mark.parametrize("text", BLANK)
async def test_a_prompt_with_nothing_in_it_is_never_sent(sender: Sender, tmp_path: Path, text: str) -> None:
    gone = tmp_path / "gone.py"
    sender.takes(embeddedContext=True)
    await sender.host.turn("hello")
    image = {"type": "image", "name": "it", "data": "AAAA", "mime_type": "image/png"}
    for number, context in enumerate([[], [file_item(gone)], [image]]):
        before = len(sender.host.notices())
        sender.host.prompt(text, context=context)
        await sender.host.until("words", partial(says_so, sender.host, before))
        await sender.host.until_state("idle")
        assert len(sender.host.scripts["it"].received("session/prompt")) == 1, number
    await sender.host.turn("again")
    assert len(sender.host.scripts["it"].received("session/prompt")) == 2


@pytest.mark.parametrize("text", BLANK)
async def test_a_prompt_of_attachments_alone_has_no_empty_text(sender: Sender, text: str) -> None:
    sender.takes(embeddedContext=True)
    [block] = await sender.send({"uri": "file:///p/a", "name": "a", "text": "x"}, text=text)
    assert block["type"] == "resource"


@pytest.mark.parametrize("v2", [True, False])
async def test_nothing_is_sent_into_a_running_turn_either(tmp_path: Path, v2: bool) -> None:
    async with inner_host(tmp_path, v2=v2) as host:
        host.say("prompt", text=" ", context=[file_item(tmp_path / "gone")])
        host.say("prompt", text="then")
        host.say("steer")
        if not v2:
            host.agent.end_turn("end_turn")
        await host.editor.until("words", lambda: any("was not sent" in one.text for one in host.of(events.Notice)))
        if v2:
            host.agent.end_turn("end_turn")
        await host.editor.until("the next", lambda: len(host.agent.heard_of("session/prompt")) == 2)
        assert host.agent.heard_of("session/prompt")[1]["params"]["prompt"] == [{"type": "text", "text": "then"}]
