"""Blocks that are not text, in a few words."""

from __future__ import annotations

import pytest

from acp_nvim.protocol.content import (
    Audio,
    ContentBlock,
    Image,
    Resource,
    ResourceContents,
    ResourceLink,
    Text,
    UnknownBlock,
    describe,
)


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (Text("as it is"), "as it is"),
        (Image("A" * 400, "image/png"), "image (image/png, 300 B)"),
        (Image("A" * 16_000, "image/png"), "image (image/png, 12 kB)"),
        (Image("A" * 3_200_000, "image/png"), "image (image/png, 2.4 MB)"),
        (Audio("A" * 400, "audio/wav"), "audio (audio/wav, 300 B)"),
        (ResourceLink("docs.md", "file:///docs.md"), "link docs.md file:///docs.md"),
        (ResourceLink("docs.md", "file:///d", size=1500, title="Docs"), "link Docs file:///d (2 kB)"),
        (Resource(ResourceContents("file:///a", text="line\n")), "resource file:///a\nline\n"),
        (Resource(ResourceContents("file:///a", blob="AAAA")), "resource file:///a"),
        (UnknownBlock({"type": "hologram"}), "content of an unknown kind ('hologram')"),
        (UnknownBlock("bare"), "content of an unknown kind (None)"),
    ],
)
def test_describe(block: ContentBlock, words: str) -> None:
    assert describe(block) == words
