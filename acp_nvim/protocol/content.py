"""Content blocks and the content of tool calls (ACP "Content", "Tool Calls"); kinds nobody knows yet are kept."""

from __future__ import annotations

from typing import Any

import msgspec


class Text(msgspec.Struct, tag="text", tag_field="type"):
    """Plain text or Markdown."""

    text: str


class Image(msgspec.Struct, tag="image", tag_field="type", rename="camel"):
    """A picture; `data` is base64."""

    data: str
    mime_type: str
    uri: str | None = None


class Audio(msgspec.Struct, tag="audio", tag_field="type", rename="camel"):
    """Sound; `data` is base64."""

    data: str
    mime_type: str


class ResourceLink(msgspec.Struct, tag="resource_link", tag_field="type", rename="camel", omit_defaults=True):
    """Something that the reader can fetch itself."""

    name: str
    uri: str
    mime_type: str | None = None
    size: int | None = None
    title: str | None = None


class ResourceContents(msgspec.Struct, rename="camel", omit_defaults=True):
    """What a resource holds: `text`, or base64 in `blob`."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


class Resource(msgspec.Struct, tag="resource", tag_field="type"):
    """A resource with its contents."""

    resource: ResourceContents


class UnknownBlock(msgspec.Struct, tag="acp_nvim/unknown", tag_field="type"):
    """A content block, or an item of a tool call's content, of a kind that we do not know."""

    original: Any


ContentBlock = Text | Image | Audio | ResourceLink | Resource | UnknownBlock


class ContentItem(msgspec.Struct, tag="content", tag_field="type"):
    """An item of a tool call's content: a content block."""

    content: ContentBlock


class DiffItem(msgspec.Struct, tag="diff", tag_field="type", rename="camel"):
    """An item of a tool call's content: a change of a file.

    `old_text` and `new_text` may be the whole file, a hunk, or only the words that change; without `old_text` the
    file is new.
    """

    path: str
    new_text: str
    old_text: str | None = None


class TerminalItem(msgspec.Struct, tag="terminal", tag_field="type", rename="camel"):
    """An item of a tool call's content: what a terminal shows."""

    terminal_id: str


ToolCallContent = ContentItem | DiffItem | TerminalItem | UnknownBlock

KNOWN_BLOCKS = frozenset({"text", "image", "audio", "resource_link", "resource"})
KNOWN_ITEMS = frozenset({"content", "diff", "terminal"})


def describe(block: ContentBlock) -> str:
    """A block that is not text, in a few words."""
    match block:
        case Text():
            return block.text
        case Image():
            return f"image ({block.mime_type}, {_size(len(block.data) * 3 // 4)})"
        case Audio():
            return f"audio ({block.mime_type}, {_size(len(block.data) * 3 // 4)})"
        case ResourceLink():
            size = "" if block.size is None else f" ({_size(block.size)})"
            return f"link {block.title or block.name} {block.uri}{size}"
        case Resource():
            text = block.resource.text
            return f"resource {block.resource.uri}" + (f"\n{text}" if text else "")
        case UnknownBlock():
            kind = block.original.get("type") if isinstance(block.original, dict) else None
            return f"content of an unknown kind ({kind!r})"


def _size(count: int) -> str:
    return f"{count} B" if count < 1000 else f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"
