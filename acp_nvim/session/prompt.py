"""What the user says: text, and places in files that come along."""

from __future__ import annotations

import re

import msgspec
from msgspec import UNSET

from acp_nvim.wire.content import ContentBlock, EmbeddedResource, EmbeddedResourceResource, TextContent

_SURROGATES = re.compile("[\ud800-\udfff]")


class ContextItem(msgspec.Struct):
    """A piece of a file: `name` for people, `uri` for the agent, `text` as it stands in the buffer."""

    uri: str
    name: str
    text: str
    mime_type: str | None = None


class Prompt(msgspec.Struct):
    """One message of the user; `shown`: it already stands in the transcript."""

    text: str
    context: list[ContextItem] = []
    shown: bool = False

    def transcript_text(self) -> str:
        """What the transcript shows of it."""
        names = "".join(f"\n@{item.name}" for item in self.context)
        return self.text + names

    def blocks(self, embedded_context: bool) -> list[ContentBlock]:
        """The content blocks for `session/prompt`: resources where the agent takes them, else text it can read."""
        blocks: list[ContentBlock] = [TextContent(text=_readable(self.text))]
        for item in self.context:
            if embedded_context:
                uri, text = _readable(item.uri), _readable(item.text)
                contents = EmbeddedResourceResource(uri=uri, text=text, mime_type=item.mime_type or UNSET)
                blocks.append(EmbeddedResource(resource=contents))
            else:
                blocks.append(TextContent(text=_readable(_quoted(item))))
        return blocks


def _readable(text: str) -> str:
    """Bytes that are no text, which Neovim gives us as surrogates, cannot be sent."""
    return _SURROGATES.sub("\ufffd", text)


def _quoted(item: ContextItem) -> str:
    fence = "```"
    while fence in item.text:
        fence += "`"
    return f"{item.name}:\n{fence}\n{item.text}\n{fence}"
