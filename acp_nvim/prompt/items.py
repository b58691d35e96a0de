"""The attachments of a prompt, as the editor gives them."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from acp_nvim import decoders


class TextItem(msgspec.Struct, tag_field="type", tag="text"):
    """A piece of a file: `name` for the user, `uri` for the agent, `text` from the buffer.

    `on_disk`: the text equals the whole file at `uri`.
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
    """A link to something that the agent can read itself, such as a directory."""

    uri: str
    name: str
    mime_type: str | None = None


class ImageItem(msgspec.Struct, tag_field="type", tag="image"):
    """An image: a file at `path` (absolute), or `data` in base64."""

    name: str
    mime_type: str
    uri: str | None = None
    path: str | None = None
    data: str | None = None

    def __post_init__(self) -> None:
        if self.path is None and self.data is None:
            raise ValueError(f"the image {self.name} has neither `path` nor `data`")


ContextItem: TypeAlias = TextItem | FileItem | LinkItem | ImageItem


def context_items(given: list[dict[str, Any]]) -> list[ContextItem]:
    """Decode items from Lua; without `type` they are texts. Raises `msgspec.ValidationError`."""
    return [decoders.convert({"type": "text", **one}, ContextItem) for one in given]
