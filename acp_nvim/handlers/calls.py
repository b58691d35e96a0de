"""Takes what the user wants to know of a tool call: all that there is of it, its pictures and sounds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import anyio.to_thread
import msgspec

from acp_nvim.call_events import CallMedia
from acp_nvim.editor import Editor
from acp_nvim.handlers.method import Methods
from acp_nvim.protocol.tool_call import Shown
from acp_nvim.session.media import UnusableError, write_media
from acp_nvim.session.session import Session
from acp_nvim.wire.content import AudioContent, ImageContent


class NamedCall(msgspec.Struct):
    """`call_details`: the tool call at that block."""

    session: int
    block: int


class NamedMedia(msgspec.Struct):
    """`call_media`: the item at that `place` of the tool call's is to be in a file of that directory."""

    session: int
    block: int
    place: int
    directory: str


class Calls:
    """The messages about tool calls."""

    def __init__(self, sessions: Mapping[int, Session], editor: Editor) -> None:
        self._sessions = sessions
        self._editor = editor
        self.methods: Methods = {
            "call_details": (NamedCall, self._details),
            "call_media": (NamedMedia, self._media),
        }

    def _details(self, wanted: NamedCall) -> None:
        details = self._sessions[wanted.session].narrator.transcript.call_details(wanted.block)
        if details is not None:
            self._editor.publish(details)

    def _media(self, wanted: NamedMedia) -> None:
        self._sessions[wanted.session].tasks.spawn(self._write, wanted)

    async def _write(self, wanted: NamedMedia) -> None:
        told = partial(CallMedia, session=wanted.session)
        call = self._sessions[wanted.session].narrator.transcript.call_block(wanted.block)
        shown = call.items() if call else []
        item = shown[wanted.place] if 0 <= wanted.place < len(shown) else None
        if not isinstance(item, Shown) or not isinstance(item.block, ImageContent | AudioContent):
            self._editor.publish(told(problem="the tool call has another content now"))
            return
        try:
            path = await anyio.to_thread.run_sync(write_media, item.block, Path(wanted.directory))
        except UnusableError as error:
            self._editor.publish(told(problem=str(error)))
        else:
            self._editor.publish(told(path=str(path)))
