"""An editor without a screen: keeps the events, holds buffers in memory."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio

from acp_nvim.contract import events as contract_events
from acp_nvim.contract.editor import (
    BufferText,
    BufferWrite,
    FoundOnDisk,
    TextChange,
    ToolAnswer,
    UnopenedFile,
    WholeText,
)
from acp_nvim.session.services import FIRST_CHILD_KEY
from acp_nvim.workspace.disk import stamp_of
from tests.support import contract
from tests.support.waiting import LIMIT

T = TypeVar("T", bound=contract_events.Event)


def stamp(path: str) -> str | None:
    """Return the stamp of the file as it is now."""
    return stamp_of(os.stat(path)) if os.path.exists(path) else None


def fixed(text: str) -> str:
    """The text with the end of its last line, as 'fixendofline' brings it to the file."""
    return text + "\n" if text and not text.endswith("\n") else text


def applied(text: str, change: TextChange) -> str:
    """Return the text after the change."""
    if isinstance(change, WholeText):
        return change.text
    end = "\n" if text.endswith("\n") else ""
    lines = text.removesuffix("\n").split("\n")
    lines[change.first : change.first + change.count] = change.lines
    return "\n".join(lines) + end


@dataclass
class FakeBuffer:
    """A loaded buffer; `type` is what a user does to it."""

    text: str
    saved: str
    stamp: str | None
    tick: int = 1
    modified: bool = False
    encoding: str = "utf-8"
    error: str | None = None
    """Why it takes no writes, if it takes none."""
    formatter: Callable[[str], str] = str
    """What an autocommand makes of it when it is saved."""

    @property
    def state(self) -> str:
        """The state of the buffer, as `BufferText` names it."""
        return f"state {self.tick}"

    def type(self, text: str) -> None:
        """Change the text, like a user who types."""
        self.text, self.tick, self.modified = text, self.tick + 1, True

    def is_at(self, stamp: str | None, text: str) -> None:
        """The file is like that now, and the buffer knows it."""
        self.stamp, self.saved, self.modified = stamp, text, self.text != text


QUESTION_SECONDS = 0.005
"""Seconds of the loop's clock from one question to the next, when no event comes."""
OWN_QUESTIONS = 400
"""Such questions after which a condition counts as one about something outside the loop."""


@dataclass
class FakeEditor:
    """Implements `acp_nvim.contract.editor.Editor`."""

    events: list[contract_events.Event] = field(default_factory=list)
    buffers: dict[str, FakeBuffer] = field(default_factory=dict)
    on_write: Callable[[FakeBuffer], None] | None = None
    """Called before each write looks at the buffer: the user may type just then."""
    on_follow: Callable[[FakeBuffer], None] | None = None
    """Called before a buffer follows its file."""
    obstacles: dict[str, str] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    """The texts that had to be sent to the core."""
    changes: list[TextChange] = field(default_factory=list)
    """Those that the core has sent."""
    refuses_names: bool = False
    disk_is_full: bool = False
    """Whether the disk is full: files are half written then."""
    fault: Exception | None = None
    """What following the disk ends with, if it does not work."""
    tool_calls: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    on_tool: Callable[[str, dict[str, Any]], ToolAnswer | None] = lambda tool, arguments: ToolAnswer()
    """What it answers to the tool calls of agents; None: later."""
    busy: int = 0
    """How often the user is still in the middle of a command when a buffer is to be written."""

    children: set[int] = field(default_factory=set)
    """The child sessions that it was told of."""

    _news: anyio.Event | None = None
    """What the next event sets, if anybody waits for it."""

    async def told(self, session: int) -> None:
        """Return without waiting: all events are delivered."""

    def next_batch(self) -> float:
        """Return 0: there is nothing to wait for."""
        return 0.0

    def publish(self, event: contract_events.Event) -> None:
        if contract.is_checked:
            contract.check(event)
        self._check_announced(event)
        self.events.append(event)
        if self._news is not None:
            self._news.set()

    def _check_announced(self, event: contract_events.Event) -> None:
        """An editor has no place for an event of a child session that its parent has not announced."""
        if isinstance(event, contract_events.Subagent):
            self.children.add(event.subagent.session)
        session = getattr(event, "session", None)
        assert session is None or session <= FIRST_CHILD_KEY or session in self.children, event

    def before_batch(self, publish: Callable[[], None]) -> None:
        publish()

    async def read_buffer(self, path: str, known: str) -> BufferText | None:
        buffer = self.buffers.get(path)
        if buffer is None:
            return None
        now = stamp(path)
        text = None if buffer.state == known else buffer.text
        self.sent += [] if text is None else [text]
        return BufferText(
            state=buffer.state,
            encoding=buffer.encoding,
            modified=buffer.modified,
            on_disk=now is not None,
            text=text,
            stale=None if now == buffer.stamp else "changed",
            stamp=buffer.stamp,
            fixeol=True,
        )

    async def saved_text(self, path: str) -> str | None:
        return self.buffers[path].saved

    async def unopened(self, path: str) -> UnopenedFile:
        return UnopenedFile(self.obstacles.get(path))

    async def write_buffer(self, path: str, change: TextChange, state: str, save: bool) -> BufferWrite | None:
        buffer = self.buffers.get(path)
        if buffer is None:
            return None
        if self.on_write is not None:
            self.on_write(buffer)
        if self.busy:
            self.busy -= 1
            return BufferWrite(busy=True)
        if buffer.error is not None:
            return BufferWrite(error=buffer.error)
        if buffer.state != state or stamp(path) != buffer.stamp:
            return BufferWrite(changed=True)
        if self.disk_is_full:
            await anyio.Path(path).write_bytes(b"half of i")
            return BufferWrite(error="E514: Write error (file system full?)", torn=True)
        self.changes.append(change)
        buffer.type(applied(buffer.text, change))
        if not save:
            return BufferWrite(state=buffer.state)
        asked, buffer.text = buffer.text, fixed(buffer.formatter(buffer.text))
        await anyio.Path(path).write_bytes(buffer.text.encode(buffer.encoding))
        buffer.is_at(stamp(path), buffer.text)
        return BufferWrite(state=buffer.state, text=buffer.text if buffer.text != asked else None)

    async def follow_disk(self, path: str, state: str, found: FoundOnDisk) -> BufferWrite | None:
        buffer = self.buffers.get(path)
        if buffer is None:
            return None
        if self.fault is not None:
            raise self.fault
        if self.on_follow is not None:
            self.on_follow(buffer)
        if buffer.state != state or stamp(path) != found.stamp:
            return BufferWrite(changed=True)
        if found.change is not None:
            self.changes.append(found.change)
            buffer.type(applied(buffer.text, found.change))
        buffer.encoding = found.encoding
        buffer.is_at(found.stamp, buffer.text if found.text is None else found.text)
        return BufferWrite(state=buffer.state)

    async def file_gone(self, path: str) -> bool:
        self.buffers[path].stamp = None
        return True

    async def file_moved(self, path: str, new: str) -> bool:
        if path.endswith("/"):
            inside = [one for one in self.buffers if one.startswith(path) and stamp(one) is None]
            return any([await self.file_moved(one, new + one[len(path) :]) for one in inside])
        if self.refuses_names or path not in self.buffers or new in self.buffers or stamp(path) is not None:
            return False
        self.buffers[new] = self.buffers.pop(path)
        return True

    async def file_removed(self, path: str) -> None:
        self.buffers[path].is_at(None, self.buffers[path].text)

    async def call_tool(self, call_id: int, tool: str, arguments: dict[str, Any]) -> ToolAnswer | None:
        self.tool_calls.append((call_id, tool, arguments))
        return self.on_tool(tool, arguments)

    async def untracked_buffers(self) -> list[str]:
        return list(self.buffers)

    async def stale_buffers(self) -> list[str]:
        return [path for path, buffer in self.buffers.items() if stamp(path) != buffer.stamp]

    def open(self, path: str | os.PathLike[str], text: str | None = None) -> FakeBuffer:
        """Load the file into a buffer; with `text` the user has already made it that."""
        real = os.path.realpath(path)
        on_disk = ""
        if os.path.exists(real):
            with open(real, encoding="utf-8", newline="") as file:
                on_disk = file.read()
        buffer = self.buffers[real] = FakeBuffer(on_disk, on_disk, stamp(real))
        if text is not None:
            buffer.type(text)
        return buffer

    def all(self, kind: type[T]) -> list[T]:
        """The events of that type, oldest first."""
        return [event for event in self.events if isinstance(event, kind)]

    def text(self, kind: str) -> str:
        """All text of that kind of message."""
        return "".join(event.text for event in self.all(contract_events.Append) if event.kind == kind)

    def status(self) -> contract_events.StatusView:
        """The last status."""
        return self.all(contract_events.Status)[-1].status

    async def until(self, what: str, condition: Callable[[], object]) -> None:
        """Wait until the condition holds; fails with the events so far when it does not within the limit.

        It is asked after each event, before much else can happen, and again and again between two events. A condition
        that reads a file may ask before the file is there. The limit is one of real time: the clock of the loop does
        not wait for everything that a condition may be about, as for the end of a process.
        """
        end = time.monotonic() + LIMIT
        asked = 0
        while time.monotonic() < end:
            with contextlib.suppress(FileNotFoundError):
                if condition():
                    return
            if self._news is None or self._news.is_set():
                self._news = anyio.Event()
            news = self._news  # of all who wait
            with anyio.move_on_after(QUESTION_SECONDS):
                await news.wait()
            asked += not news.is_set()
            if asked > OWN_QUESTIONS:
                time.sleep(0.001)  # noqa: ASYNC251 - it is about another clock, or a process: these need the processor
        shown = "\n".join(map(repr, self.events[-15:]))
        raise AssertionError(f"waited {LIMIT:g} s for: {what}\nthe last events:\n{shown}")

    async def until_event(self, kind: type[T], count: int = 1) -> T:
        """Wait for the `count`-th event of that type."""
        await self.until(f"{count} {kind.__name__}", lambda: len(self.all(kind)) >= count)
        return self.all(kind)[count - 1]
