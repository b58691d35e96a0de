"""An editor without a screen: keeps the events, holds buffers in memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from acp_nvim import events as happenings
from acp_nvim.editor import BufferText, BufferWrite

T = TypeVar("T", bound=happenings.Event)

LIMIT_SECONDS = 20.0


@dataclass
class FakeBuffer:
    """A loaded buffer; `type` is what a user does to it."""

    text: str
    tick: int = 1
    modified: bool = False
    error: str | None = None
    """Why it takes no writes, if it takes none."""
    unsavable: str | None = None
    """Why what is written into it cannot be saved, if it cannot."""

    def type(self, text: str) -> None:
        """The user makes it this."""
        self.text, self.tick, self.modified = text, self.tick + 1, True


@dataclass
class FakeEditor:
    """Implements `acp_nvim.editor.Editor`."""

    events: list[happenings.Event] = field(default_factory=list)
    buffers: dict[str, FakeBuffer] = field(default_factory=dict)
    on_write: Callable[[FakeBuffer], None] | None = None
    """Called before each write looks at the buffer: the user may type just then."""

    def publish(self, event: happenings.Event) -> None:
        self.events.append(event)

    async def read_buffer(self, path: str) -> BufferText | None:
        buffer = self.buffers.get(path)
        return None if buffer is None else BufferText(buffer.text, buffer.tick, buffer.modified)

    async def write_buffer(self, path: str, text: str, tick: int, save: bool) -> BufferWrite | None:
        buffer = self.buffers.get(path)
        if buffer is None:
            return None
        if self.on_write is not None:
            self.on_write(buffer)
        if buffer.error is not None:
            return BufferWrite(error=buffer.error)
        if buffer.tick != tick:
            return BufferWrite(error="the buffer has changed", changed=True)
        saved = save and buffer.unsavable is None
        buffer.text, buffer.tick, buffer.modified = text, tick + 1, not saved
        if saved:
            await anyio.Path(path).write_text(text, encoding="utf-8", newline="")
        return BufferWrite(tick=buffer.tick, saved=saved, error=buffer.unsavable if save else None)

    def open(self, path: str | os.PathLike[str], text: str | None = None) -> FakeBuffer:
        """Load the file into a buffer; with `text` the user has already made it that."""
        real = os.path.realpath(path)
        on_disk = ""
        if os.path.exists(real):
            with open(real, encoding="utf-8", newline="") as file:
                on_disk = file.read()
        buffer = self.buffers[real] = FakeBuffer(on_disk)
        if text is not None:
            buffer.type(text)
        return buffer

    def all(self, kind: type[T]) -> list[T]:
        """The events of that type, oldest first."""
        return [event for event in self.events if isinstance(event, kind)]

    def text(self, kind: str) -> str:
        """All text of that kind of message."""
        return "".join(event.text for event in self.all(happenings.Append) if event.kind == kind)

    def status(self) -> happenings.StatusView:
        """The last status."""
        return self.all(happenings.Status)[-1].status

    async def until(self, what: str, condition: Callable[[], object]) -> None:
        """Wait until the condition holds; fails with the events so far when it does not within the limit."""
        with anyio.move_on_after(LIMIT_SECONDS):
            while not condition():  # noqa: ASYNC110  # a condition is anything, and sets no event
                await anyio.sleep(0.005)
            return
        shown = "\n".join(map(repr, self.events[-15:]))
        raise AssertionError(f"waited {LIMIT_SECONDS:g} s for: {what}\nthe last events:\n{shown}")

    async def until_event(self, kind: type[T], count: int = 1) -> T:
        """Wait for the `count`-th event of that type."""
        await self.until(f"{count} {kind.__name__}", lambda: len(self.all(kind)) >= count)
        return self.all(kind)[count - 1]
