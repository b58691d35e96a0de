"""A prompt of the user with its context items, and its content blocks for an agent.

Files and images are read off the event loop, when the user sends the prompt.
"""

from __future__ import annotations

import base64
import binascii
import os
import stat
from typing import Any, TypeAlias

import anyio
import anyio.to_thread
import msgspec
from msgspec import UNSET

from acp_nvim import decoders
from acp_nvim.acp.answers import Abilities
from acp_nvim.acp.schema_common import (
    ContentBlock,
    EmbeddedResource,
    EmbeddedResourceResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from acp_nvim.lazy import pattern
from acp_nvim.limits import IMAGE_BYTES, MAX_FILE_BYTES, MENTION_BYTES
from acp_nvim.workspace import disk
from acp_nvim.workspace.read_text_file import cut
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError
from acp_nvim.workspace.regular_files import READ_NOW

_SURROGATES = pattern("[\ud800-\udfff]")
_MAGIC = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


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


class Found(msgspec.Struct, frozen=True):
    """The content read for an item: a file's `text`, or an image's `data` (base64); or the `problem` with it."""

    text: str | None = None
    data: str | None = None
    problem: str | None = None


def context_items(given: list[dict[str, Any]]) -> list[ContextItem]:
    """Decode items from Lua; without `type` they are texts. Raises `msgspec.ValidationError`."""
    return [decoders.convert({"type": "text", **one}, ContextItem) for one in given]


class Prompt(msgspec.Struct):
    """One message of the user; `shown`: it is in the transcript.

    `id` comes from the editor and is unique in one Neovim; else the queue assigns one. `read` reads the files once,
    when the user sends the prompt; await `ready` before using it. `of_checks`: it tells what the checks have found
    after the last turn. `round_number` counts the prompts that the plugin has sent by itself since the last one of the
    user's, from 1.
    """

    text: str
    context: list[ContextItem] = []
    id: int | None = None
    shown: bool = False
    reading: anyio.Event | None = None
    found: list[Found] = []
    of_checks: bool = False
    round_number: int = 0

    def transcript_text(self) -> str:
        """Return the text for the transcript, with the items that the text does not mention."""
        plain = self.text.replace('"', "").replace("\\", "")  # as names with blanks are written
        unnamed = (item.name for item in self.context if f"@{item.name}" not in plain)
        return self.text + "".join(f"\n@{name}" for name in unnamed)

    def needs_reading(self) -> bool:
        """Return whether there are files to read; then call `read`, for which `ready` waits."""
        if any(isinstance(item, FileItem | ImageItem) for item in self.context):
            self.reading = anyio.Event()
        return self.reading is not None

    def changed(self, text: str, more: list[dict[str, Any]]) -> tuple[Prompt, bool]:
        """Return the prompt with another text and `more` items, and whether to call its `read`.

        Raises `msgspec.ValidationError`.
        """
        known = {one.name for one in self.context}
        items = [one for one in context_items(more) if one.name not in known]
        if not items:
            self.text = text
            return self, False
        prompt = Prompt(text, [*self.context, *items], self.id)
        return prompt, prompt.needs_reading()

    async def read(self) -> None:
        """Read the items, as they are now, into `found`."""
        assert self.reading is not None
        try:
            self.found = [await read_item(item) for item in self.context]
        finally:
            self.reading.set()

    async def ready(self) -> None:
        """Wait until all context items are read."""
        if self.reading is not None:
            await self.reading.wait()

    def blocks(self, takes: Abilities) -> tuple[list[ContentBlock], list[str]]:
        """Return the content blocks for an agent that `takes` these kinds, and remarks for the user."""
        blocks: list[ContentBlock] = [TextContent(text=readable(self.text))]
        remarks = []
        for index, item in enumerate(self.context):
            found = self.found[index] if index < len(self.found) else Found(problem=f"{item.name} could not be read.")
            one, remark = block(item, found, takes)
            blocks.extend([] if one is None else [one])
            remarks.extend([] if remark is None else [remark])
        return blocks, remarks


def block(item: ContextItem, found: Found, takes: Abilities) -> tuple[ContentBlock | None, str | None]:
    """Return the block for an item, None if the agent takes none, and a remark for the user, if any."""
    match item:
        case TextItem() if takes.embedded_context:
            return _resource(item.uri, item.text, item.mime_type), None
        case TextItem(on_disk=True):
            return _link(item.uri, item.name, item.mime_type), None
        case TextItem():
            return _quoted(item.name, item.text), None
        case LinkItem():
            return _link(item.uri, item.name), None
        case FileItem():
            return _file_block(item, found, takes)
        case ImageItem():
            return _image_block(item, found, takes)


def readable(text: str) -> str:
    """Replace surrogates, by which Neovim passes bytes that are no text: they cannot be sent."""
    return _SURROGATES.sub("\ufffd", text)


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
    """Return the text in a code fence, for agents without resources."""
    return TextContent(text=readable(f"{name}:\n{fenced(text)}"))


def fenced(text: str) -> str:
    """Return the text in a code fence of markdown, which it cannot end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


async def read_item(item: ContextItem) -> Found:
    """Read the content of an item; a problem is returned, not raised."""
    try:
        match item:
            case FileItem():
                return await _read_text(item)
            case ImageItem(path=None):
                return _check_data(item)
            case ImageItem():
                return await anyio.to_thread.run_sync(_read_image, item)
            case _:
                return Found()
    except (FileRefusedError, NoSuchFileError) as error:
        return Found(problem=f"{error}.")
    except OSError as error:
        return Found(problem=f"{item.name} cannot be read: {error.strerror}.")


async def _read_text(item: FileItem) -> Found:
    path = await anyio.to_thread.run_sync(_check, item.path, MENTION_BYTES if item.first is None else MAX_FILE_BYTES)
    text = (await disk.read(path)).text.removeprefix("\ufeff")
    if item.first is not None:
        text = await anyio.to_thread.run_sync(_lines, item, text)
    return Found(text=text)


def _lines(item: FileItem, text: str) -> str:
    first = item.first or 1
    part = cut(text, first, (item.last or first) - first + 1)
    if not part:
        raise FileRefusedError(f"{item.path} has no line {first}")
    if len(part) > MENTION_BYTES:
        raise FileRefusedError(f"{item.name} has {_megabytes(len(part))}, which is too much for a prompt")
    return part


def _check(path: str, most: int) -> str:
    """Return the real path of a file of at most that many bytes. Raises `FileRefusedError`, `OSError`."""
    real = os.path.realpath(path)
    size = os.stat(real).st_size
    if size > most:
        raise FileRefusedError(f"{path} has {_megabytes(size)}, which is too much for a prompt")
    return real


def _read_image(item: ImageItem) -> Found:
    assert item.path is not None
    real = os.path.realpath(item.path)
    descriptor = os.open(real, READ_NOW)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileRefusedError(f"{item.path} is no regular file")
        data = file.read(IMAGE_BYTES + 1)
    if len(data) > IMAGE_BYTES:
        raise FileRefusedError(f"{item.path} has more than {_megabytes(IMAGE_BYTES)}, which agents do not take")
    if not data.startswith(_MAGIC.get(item.mime_type, b"")):
        raise FileRefusedError(f"{item.path} is no image of the type {item.mime_type}")
    return Found(data=base64.b64encode(data).decode("ascii"))


def _check_data(item: ImageItem) -> Found:
    data = item.data or ""
    try:
        base64.b64decode(data, validate=True)
    except binascii.Error:
        return Found(problem=f"{item.name} is no base64.")
    if len(data) > IMAGE_BYTES * 4 // 3 + 4:
        return Found(problem=f"{item.name} has more than {_megabytes(IMAGE_BYTES)}, which agents do not take.")
    return Found(data=data)


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:.1f} MB"
