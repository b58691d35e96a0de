"""What comes along with a prompt: texts, files, links and images, and the content blocks that they become."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from acp_nvim.protocol.answers import Abilities
from acp_nvim.wire.content import (
    ContentBlock,
    EmbeddedResource,
    EmbeddedResourceResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

_SURROGATES = re.compile("[\ud800-\udfff]")


class TextItem(msgspec.Struct, tag_field="type", tag="text"):
    """A piece of a file: `name` for people, `uri` for the agent, `text` as it stands in the buffer.

    `on_disk`: it is the whole of the file that `uri` names, and the file has this very text.
    """

    uri: str
    name: str
    text: str
    mime_type: str | None = None
    on_disk: bool = False


class FileItem(msgspec.Struct, tag_field="type", tag="file"):
    """A file without a buffer, or the lines `first` to `last` (1-based) of it; `path` is absolute."""

    uri: str
    name: str
    path: str
    first: int | None = None
    last: int | None = None
    mime_type: str | None = None


class LinkItem(msgspec.Struct, tag_field="type", tag="link"):
    """Something that the agent can look at itself, such as a directory."""

    uri: str
    name: str


class ImageItem(msgspec.Struct, tag_field="type", tag="image"):
    """A picture: a file at `path` (absolute), or `data` in base64."""

    name: str
    mime_type: str
    uri: str | None = None
    path: str | None = None
    data: str | None = None

    def __post_init__(self) -> None:
        if self.path is None and self.data is None:
            raise ValueError(f"the image {self.name} has neither `path` nor `data`")


ContextItem: TypeAlias = TextItem | FileItem | LinkItem | ImageItem


class Found(msgspec.Struct, frozen=True):
    """What was read for an item: a file's `text`, or an image's `data` (base64); else `problem` says why not."""

    text: str | None = None
    data: str | None = None
    problem: str | None = None


def context_items(given: list[dict[str, Any]]) -> list[ContextItem]:
    """The items that Lua names; without `type` they are texts. Raises `msgspec.ValidationError`."""
    return [msgspec.convert({"type": "text", **one}, ContextItem) for one in given]


def block(item: ContextItem, found: Found, takes: Abilities) -> tuple[ContentBlock | None, str | None]:
    """The block for an item, by what the agent takes, None if there is none; and what the user should know of it."""
    match item:
        case TextItem():
            return _text_block(item, takes), None
        case LinkItem():
            return _link(item.uri, item.name), None
        case FileItem():
            return _file_block(item, found, takes)
        case ImageItem():
            return _image_block(item, found, takes)


def readable(text: str) -> str:
    """Bytes that are no text, which Neovim gives us as surrogates, cannot be sent."""
    return _SURROGATES.sub("\ufffd", text)


def _text_block(item: TextItem, takes: Abilities) -> ContentBlock:
    if takes.embedded_context:
        return _resource(item.uri, item.text, item.mime_type)
    if item.on_disk:
        return _link(item.uri, item.name, item.mime_type)
    return _quoted(item.name, item.text)


def _file_block(item: FileItem, found: Found, takes: Abilities) -> tuple[ContentBlock, str | None]:
    is_whole = item.first is None
    if found.text is None:
        link = _link(item.uri, item.name, item.mime_type)
        needed = takes.embedded_context or not is_whole
        return link, f"{found.problem} The agent gets a link to it." if needed else None
    if takes.embedded_context:
        return _resource(item.uri, found.text, item.mime_type), None
    if is_whole:
        return _link(item.uri, item.name, item.mime_type), None
    return _quoted(item.name, found.text), None


def _image_block(item: ImageItem, found: Found, takes: Abilities) -> tuple[ContentBlock | None, str | None]:
    data = found.data
    if takes.image and data is not None:
        uri = readable(item.uri) if item.uri else UNSET
        return ImageContent(data=data, mime_type=item.mime_type, uri=uri), None
    why = found.problem if data is None else f"The agent takes no images: {item.name} was not sent."
    if item.uri is None:
        return None, why
    return _link(item.uri, item.name, item.mime_type), f"{why} It gets a link."


def _resource(uri: str, text: str, mime_type: str | None) -> ContentBlock:
    contents = EmbeddedResourceResource(uri=readable(uri), text=readable(text), mime_type=mime_type or UNSET)
    return EmbeddedResource(resource=contents)


def _link(uri: str, name: str, mime_type: str | None = None) -> ContentBlock:
    return ResourceLink(name=readable(name), uri=readable(uri), mime_type=mime_type or UNSET)


def _quoted(name: str, text: str) -> ContentBlock:
    """For agents without resources: the text, marked off."""
    fence = "```"
    while fence in text:
        fence += "`"
    return TextContent(text=readable(f"{name}:\n{fence}\n{text}\n{fence}"))
