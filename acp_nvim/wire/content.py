"""Content blocks, which are the same in both versions (ACP "Content")."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire, require
from acp_nvim.wire.bounds import Data, Name, Text, Title, Uri, Word, Words, cut


class Annotations(Wire):
    """Whom the content is for, and how important it is: `priority` from 0 to 1."""

    audience: Maybe[Annotated[list[Word], cut(limits.ICONS)]] = UNSET
    last_modified: Maybe[Word] = UNSET
    priority: Maybe[float] = UNSET


class TextContent(Wire, tag_field="type", tag="text"):
    """Plain text or Markdown."""

    text: Text
    annotations: Maybe[Annotations] = UNSET


class ImageContent(Wire, tag_field="type", tag="image"):
    """A picture; `data` is base64."""

    data: Data
    mime_type: Word
    uri: Maybe[Uri] = UNSET
    annotations: Maybe[Annotations] = UNSET


class AudioContent(Wire, tag_field="type", tag="audio"):
    """Sound; `data` is base64."""

    data: Data
    mime_type: Word
    annotations: Maybe[Annotations] = UNSET


class Icon(Wire):
    """A picture for a resource; only version 2 has them."""

    src: Words
    mime_type: Maybe[Word] = UNSET
    sizes: Maybe[Annotated[list[Word], cut(limits.ICONS)]] = UNSET
    theme: Maybe[Word] = UNSET


class ResourceLink(Wire, tag_field="type", tag="resource_link"):
    """Something that the reader can fetch itself; `size` in bytes."""

    name: Name
    uri: Uri
    title: Maybe[Title] = UNSET
    description: Maybe[Words] = UNSET
    icons: Maybe[Annotated[list[Icon], cut(limits.ICONS)]] = UNSET
    mime_type: Maybe[Word] = UNSET
    size: Maybe[int] = UNSET
    annotations: Maybe[Annotations] = UNSET


class EmbeddedResourceResource(Wire):
    """`TextResourceContents` when it has `text`, else `BlobResourceContents`: base64 in `blob`."""

    uri: Uri
    text: Omittable[Text] = UNSET
    blob: Omittable[Data] = UNSET
    mime_type: Maybe[Word] = UNSET

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
