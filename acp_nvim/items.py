"""What tool calls show, item by item, and a tool call as a whole: in an editor's words, without its events."""

from __future__ import annotations

from typing import Literal

import msgspec


class Place(msgspec.Struct, omit_defaults=True):
    """A file, and the line in it (1-based) when one is meant."""

    path: str
    line: int | None = None


class TextItem(msgspec.Struct, tag_field="type", tag="text", omit_defaults=True):
    """Text that a tool call shows, or its beginning: then so many `lines` and `chars` of it are not here."""

    text: str
    lines: int = 0
    chars: int = 0


class DiffItem(msgspec.Struct, tag_field="type", tag="diff", omit_defaults=True):
    """A change of a file that a tool call shows, or one hunk of it.

    Without `old_text` the file is new, or there is no text to show: then `note` says why. `line` is where the old text
    begins, 1-based, when it is known. `operation` is `add`, `delete`, `modify`, `move`, `copy`, or an unknown word.
    The change goes on for so many `lines` after this hunk.
    """

    path: str
    new_text: str
    old_text: str | None = None
    operation: str = "modify"
    old_path: str | None = None
    line: int | None = None
    note: str | None = None
    lines: int = 0


class TerminalItem(msgspec.Struct, tag_field="type", tag="terminal", omit_defaults=True):
    """A terminal that a tool call shows; `output` is the end of what it printed, without escape codes.

    By its `number` in the session all of it can be opened; 0: there is none.
    """

    terminal_id: str
    command: str | None = None
    cwd: str | None = None
    output: str = ""
    exit_code: int | None = None
    signal: str | None = None
    number: int = 0


class MediaItem(msgspec.Struct, tag_field="type", tag="media", omit_defaults=True):
    """A picture or a sound of so many bytes: by its `place` among the call's items the editor can ask for it."""

    kind: Literal["image", "audio"]
    mime_type: str
    size: int
    place: int
    uri: str | None = None


class ResourceItem(msgspec.Struct, tag_field="type", tag="resource", omit_defaults=True):
    """Something with a URI: a link, or with its `text`, cut like that of a `TextItem`. `size` in bytes."""

    uri: str
    name: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    text: str | None = None
    lines: int = 0
    chars: int = 0


class OtherItem(msgspec.Struct, tag_field="type", tag="other"):
    """Anything else that a tool call shows, in words."""

    label: str


Item = TextItem | DiffItem | TerminalItem | MediaItem | ResourceItem | OtherItem


class CallView(msgspec.Struct, omit_defaults=True):
    """A tool call as it is to be shown.

    `parent` is the call that it belongs to, `depth` how many there are above it, `under` the parent's title where
    something else stands between them. `started` and `ended` (seconds since 1970, by our clock) say how long it took;
    one that was done at once has neither. The agent has named `locations_left` places more.
    """

    id: str
    title: str
    kind: str
    status: str
    content: list[Item]
    locations: list[Place]
    parent: str | None = None
    depth: int = 0
    under: str | None = None
    started: float | None = None
    ended: float | None = None
    locations_left: int = 0
