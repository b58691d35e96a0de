"""Blocks that are not text, in a few words."""

from __future__ import annotations

import pytest

from acp_nvim.acp.fields import Original
from acp_nvim.acp.schema_common import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    EmbeddedResourceResource,
    ImageContent,
    ResourceLink,
    TextContent,
    UnknownContentBlock,
)
from acp_nvim.transcript.views import describe


def image(size: int) -> ImageContent:
    """A picture of so many characters of base64."""
    return ImageContent(data="A" * size, mime_type="image/png")


def resource(**contents: str) -> EmbeddedResource:
    """Return a resource with these contents."""
    return EmbeddedResource(resource=EmbeddedResourceResource(uri="file:///a", **contents))


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (TextContent(text="as it is"), "as it is"),
        (image(400), "image (image/png, 300 B)"),
        (image(16_000), "image (image/png, 12 kB)"),
        (image(3_200_000), "image (image/png, 2.4 MB)"),
        (AudioContent(data="A" * 400, mime_type="audio/wav"), "audio (audio/wav, 300 B)"),
        (ResourceLink(name="docs.md", uri="file:///docs.md"), "link docs.md file:///docs.md"),
        (ResourceLink(name="docs.md", uri="file:///d", size=1500, title="Docs"), "link Docs file:///d (2 kB)"),
        (resource(text="line\n"), "resource file:///a\nline\n"),
        (resource(blob="AAAA"), "resource file:///a"),
        (UnknownContentBlock(original=Original(type="hologram")), "content of an unknown kind ('hologram')"),
    ],
)
def test_describe(block: ContentBlock, words: str) -> None:
    assert describe(block) == words
