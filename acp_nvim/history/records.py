"""The lines of transcripts and of the file of sent prompts: encoding, decoding, and masking of secrets."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import msgspec

from acp_nvim import decoders
from acp_nvim.contract.events import (
    Append,
    Event,
    Notice,
    OtherItem,
    Permission,
    PermissionDone,
    Plan,
    Replace,
    ToolCall,
)
from acp_nvim.contract.request_events import PermissionAuto
from acp_nvim.contract.review_events import Summary
from acp_nvim.history.files import TranscriptFile
from acp_nvim.limits import RECORD_BYTES
from acp_nvim.state.private_file import make_directory
from acp_nvim.traffic.masking import Masker, known_secrets, masked

WORKING: Final = frozenset({"pending", "in_progress"})
"""The statuses of tool calls whose output may grow."""


class Masking:
    """Masks secrets in lines; `env` is the environment configured for agents."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    @cached_property
    def masker(self) -> Masker:
        """Masks what the agents' environment and our own have as secrets, too."""
        return Masker(known_secrets(self._env, os.environ))

    def __call__(self, line: bytes, grows: bool) -> bytes:
        """Return a line of JSON without secrets; its texts may grow. Blocks: a long line takes milliseconds."""
        if grows:
            strings = partial(self.masker.text, grows=True)
            return _json(self.masker.value(json.loads(line), lambda _, text: strings(text)))
        if self.masker.clean(line):
            return line
        return _json(self.masker.value(json.loads(line)))

    def event(self, event: Event) -> KeptEvent:
        """Return a copy of a block's event without secrets. Blocks."""
        return decoders.convert({"event": self.masker.value(msgspec.to_builtins(event))}, _Line).event


FORMAT = 1
"""The `transcript` member of a header: the version of the format."""

KeptEvent = Append | Replace | ToolCall | Plan | Notice | Permission | PermissionDone | PermissionAuto | Summary
"""The events that transcripts contain."""


class Header(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The first line. `started` is in seconds since 1970; `supersedes` is an older transcript of the same session."""

    transcript: int
    agent: str
    cwd: str
    started: float
    version: str
    supersedes: str | None = None


class About(msgspec.Struct, tag_field="type", tag="session", omit_defaults=True, kw_only=True):
    """What is known of the session; the last such line counts."""

    session_id: str | None = None
    title: str | None = None


class LineHead(msgspec.Struct):
    """The members that identify the block of a line."""

    type: str
    block: int = 0


class _Line(msgspec.Struct):
    event: KeptEvent


def encode(value: Any, masked: Callable[[bytes, bool], bytes]) -> bytes:
    """Return the line for a header, an `About`, or an event; `masked` removes secrets from JSON, which may grow."""
    grows = isinstance(value, ToolCall) and value.call.status in WORKING
    line = masked(_json(_without_session(value)), grows)
    if len(line) > RECORD_BYTES and isinstance(value, ToolCall):
        words = OtherItem(f"{len(line) / 1e6:.1f} MB that were too much to keep")
        short = msgspec.structs.replace(value, call=msgspec.structs.replace(value.call, content=[words]))
        line = masked(_json(_without_session(short)), grows)
    return line + b"\n"


def decode(line: bytes) -> KeptEvent | About | None:
    """Return what a line contains; None if it is not valid, or of an unknown type."""
    try:
        fields = _plain(line)
        if fields.get("type") == "session":
            return decoders.convert(fields, About)
        return decoders.convert({"event": {**fields, "session": 0}}, _Line).event
    except (ValueError, RecursionError):
        return None


def decode_header(line: bytes) -> Header | None:
    """Return the first line; None if it is not valid, or has another format."""
    try:
        header = decoders.convert(_plain(line), Header)
    except (ValueError, RecursionError):
        return None
    return header if header.transcript == FORMAT else None


def line_head(line: bytes) -> LineHead | None:
    """Return the type and the block of a line; None if it is not valid."""
    try:
        return decoders.decode(line, LineHead)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return decoders.convert(_plain(line), LineHead)
    except (ValueError, RecursionError):
        return None


def _plain(line: bytes) -> dict[str, Any]:
    """Decode JSON; lone surrogates are escapes, which only `json` accepts."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def _without_session(value: Any) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(value)
    fields.pop("session", None)
    return fields


def _json(fields: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(fields)
    except UnicodeEncodeError:
        return json.dumps(fields, separators=(",", ":")).encode()


class Recalled(msgspec.Struct):
    """A conversation read from a transcript. It goes on in `file`; if that is None, in a new file with a copy."""

    blocks: list[list[KeptEvent]] = []
    about: About = msgspec.field(default_factory=About)
    file: TranscriptFile | None = None


_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
PROMPTS_BYTES: Final = 256 * 1024
"""Size at which a file of prompts is rotated: Lua reads two within 5 ms. Longer prompts are not stored."""


def remember(path: Path, text: str, time: int) -> None:
    """Append a prompt, with secrets masked, to the file `path`; a file that becomes too large is renamed to `path.1`.

    `time` is in seconds since 1970. It is one write, because several Neovims append. Blocks; raises `OSError`.
    """
    line = json.dumps({"time": time, "text": masked(text)}, ensure_ascii=False) + "\n"
    data = line.encode("utf-8", "surrogateescape")  # bytes that are no UTF-8 stay as they are
    if len(data) > PROMPTS_BYTES:
        return
    make_directory(path.parent)
    descriptor = os.open(path, _FLAGS, 0o600)
    try:
        os.fchmod(descriptor, 0o600)  # older versions have left files that others may read
        if os.write(descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if os.fstat(descriptor).st_size > PROMPTS_BYTES:
            _rotate(descriptor, path)
    finally:
        os.close(descriptor)


def _rotate(descriptor: int, path: Path) -> None:
    """Rename the file, unless another Neovim has just done so; processes that have it open append to it still."""
    with suppress(OSError):  # a file that grows on does no harm
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.path.samestat(path.stat(), os.fstat(descriptor)):
            path.rename(f"{path}.1")
