"""Makes the content blocks that an agent gets for the attachments of a prompt, by what it takes."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote_to_bytes, urlsplit

from msgspec import UNSET

from acp_nvim.acp.answers import Abilities
from acp_nvim.acp.remote_paths import PathMap
from acp_nvim.acp.schema_common import (
    ContentBlock,
    EmbeddedResource,
    EmbeddedResourceResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from acp_nvim.lazy import pattern
from acp_nvim.prompt.items import ContextItem, FileItem, ImageItem, LinkItem, TextItem
from acp_nvim.prompt.reading import Found

if TYPE_CHECKING:
    from mimetypes import MimeTypes

_SURROGATES = pattern("[\ud800-\udfff]")
_TEXTS = pattern(r"text/|application/(json|javascript|xml)\Z|.*\+(json|xml)\Z")


class Recipient(Protocol):
    """What decides how the agent that gets a prompt is told of what the prompt attaches."""

    @property
    def abilities(self) -> Abilities:
        """The kinds of content that the agent says it takes."""

    @property
    def quirks(self) -> frozenset[str]:
        """The names of the deviations of the agent, see `agents.definition.QUIRKS`."""

    @property
    def paths(self) -> PathMap:
        """The paths that the files of this machine have for the agent."""


def block(item: ContextItem, found: Found, agent: Recipient) -> tuple[ContentBlock | None, str | None]:
    """Return the block for an item, None if the agent takes none, and a remark for the user, if any."""
    match item:
        case TextItem() if _takes_texts(agent):
            return _resource(item, item.text), None
        case TextItem(on_disk=True):
            return _link(item, agent), None
        case TextItem():
            return _quoted(item.name, item.text), None
        case LinkItem():
            return _link(item, agent), None
        case FileItem():
            return _file_block(item, found, agent)
        case ImageItem():
            return _image_block(item, found, agent)


def readable(text: str) -> str:
    """Replace surrogates, by which Neovim passes bytes that are no text: they cannot be sent."""
    return _SURROGATES.sub("\ufffd", text)


def _takes_texts(agent: Recipient) -> bool:
    return agent.abilities.embedded_context and "hides_embedded_text" not in agent.quirks


def _file_block(item: FileItem, found: Found, agent: Recipient) -> tuple[ContentBlock, str | None]:
    is_whole = item.first is None
    if found.text is None:
        needed = agent.abilities.embedded_context or not is_whole or found.is_gone
        return _link(item, agent), f"{found.problem} The agent gets a link to it." if needed else None
    if _takes_texts(agent):
        return _resource(item, found.text), None
    if is_whole:
        return _link(item, agent), None
    return _quoted(item.name, found.text), None


def _image_block(item: ImageItem, found: Found, agent: Recipient) -> tuple[ContentBlock | None, str | None]:
    data = found.data
    if agent.abilities.image and data is not None:
        uri = readable(item.uri) if item.uri else UNSET
        return ImageContent(data=data, mime_type=item.mime_type, uri=uri), None
    why = found.problem if data is None else f"The agent takes no images: {item.name} was not sent."
    if item.uri is None:
        return None, why
    return _link(item, agent), f"{why} It gets a link."


def _resource(item: TextItem | FileItem, text: str) -> ContentBlock:
    kind = item.mime_type or media_type(item.uri)
    kind = kind if kind and _TEXTS.match(kind) else None
    contents = EmbeddedResourceResource(uri=readable(item.uri), text=readable(text), mime_type=kind or UNSET)
    return EmbeddedResource(resource=contents)


def _link(item: ContextItem, agent: Recipient) -> ContentBlock:
    """Return a link, in words for an agent whose model would not get it."""
    uri, quirks = item.uri or "", agent.quirks
    there = path_of(agent.paths.uri_there(uri))
    is_hidden = "hides_links" in quirks or ("hides_directories" in quirks and isinstance(item, LinkItem))
    if there is not None and (is_hidden or ("encoded_links" in quirks and "%" in uri)):
        return TextContent(text=readable(f"\nAttached: {item.name} (in {there})\n"))
    kind = item.mime_type
    if kind is None and not isinstance(item, LinkItem):  # that may be a directory
        kind = media_type(uri)
    if "fails_on_link_types" in quirks and not (kind or "").startswith("text/"):
        kind = None
    return ResourceLink(name=readable(item.name), uri=readable(uri), mime_type=kind or UNSET)


def path_of(uri: str) -> str | None:
    """Return the path of a URI of a file, None of another one."""
    try:
        parts = urlsplit(uri)
    except ValueError:  # an invalid host
        return None
    return os.fsdecode(unquote_to_bytes(parts.path)) if parts.scheme == "file" else None


def media_type(uri: str) -> str | None:
    """Return the type of a file by its name, as Python knows them on each machine; None if it is unknown."""
    path = path_of(uri)
    kind, encoding = _types().guess_type(os.path.basename(path)) if path else (None, None)
    return kind if encoding is None and kind != "application/octet-stream" else None  # that says nothing


@cache
def _types() -> MimeTypes:
    from mimetypes import MimeTypes  # imported here: it takes 6 ms

    return MimeTypes()


def _quoted(name: str, text: str) -> ContentBlock:
    """Return the text in a code fence, for agents without resources."""
    return TextContent(text=readable(f"{name}:\n{fenced(text)}"))


def fenced(text: str) -> str:
    """Return the text in a code fence of markdown, which it cannot end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
