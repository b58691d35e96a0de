"""Content blocks, which are the same in both versions (ACP "Content")."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET

from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire, require


class Annotations(Wire):
    """Whom the content is for, and how important it is: `priority` from 0 to 1."""

    audience: Maybe[list[str]] = UNSET
    last_modified: Maybe[str] = UNSET
    priority: Maybe[float] = UNSET


class TextContent(Wire, tag_field="type", tag="text"):
    """Plain text or Markdown."""

    text: str
    annotations: Maybe[Annotations] = UNSET


class ImageContent(Wire, tag_field="type", tag="image"):
    """A picture; `data` is base64."""

    data: str
    mime_type: str
    uri: Maybe[str] = UNSET
    annotations: Maybe[Annotations] = UNSET


class AudioContent(Wire, tag_field="type", tag="audio"):
    """Sound; `data` is base64."""

    data: str
    mime_type: str
    annotations: Maybe[Annotations] = UNSET


class Icon(Wire):
    """A picture for a resource; only version 2 has them."""

    src: str
    mime_type: Maybe[str] = UNSET
    sizes: Maybe[list[str]] = UNSET
    theme: Maybe[str] = UNSET


class ResourceLink(Wire, tag_field="type", tag="resource_link"):
    """Something that the reader can fetch itself; `size` in bytes."""

    name: str
    uri: str
    title: Maybe[str] = UNSET
    description: Maybe[str] = UNSET
    icons: Maybe[list[Icon]] = UNSET
    mime_type: Maybe[str] = UNSET
    size: Maybe[int] = UNSET
    annotations: Maybe[Annotations] = UNSET


class EmbeddedResourceResource(Wire):
    """`TextResourceContents` when it has `text`, else `BlobResourceContents`: base64 in `blob`."""

    uri: str
    text: Omittable[str] = UNSET
    blob: Omittable[str] = UNSET
    mime_type: Maybe[str] = UNSET

    def __post_init__(self) -> None:
        if self.blob is UNSET:
            require(self.text, "text", "blob")


class EmbeddedResource(Wire, tag_field="type", tag="resource"):
    """A resource with its contents."""

    resource: EmbeddedResourceResource
    annotations: Maybe[Annotations] = UNSET


class UnknownContentBlock(Unknown):
    """A content block of a kind that we do not know."""


ContentBlock: TypeAlias = (
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownContentBlock
)
