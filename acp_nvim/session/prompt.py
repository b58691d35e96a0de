"""What the user says: a text, and what comes along with it."""

from __future__ import annotations

import anyio
import msgspec

from acp_nvim.protocol.answers import Abilities
from acp_nvim.session import mentioned
from acp_nvim.session.context import ContextItem, FileItem, Found, ImageItem, block, readable
from acp_nvim.wire.content import ContentBlock, TextContent


class Prompt(msgspec.Struct):
    """One message of the user; `shown`: it already stands in the transcript.

    Files that come along are read once, by `read`, when the user sends it; whoever passes it on waits for `ready`.
    """

    text: str
    context: list[ContextItem] = []
    shown: bool = False
    reading: anyio.Event | None = None
    found: list[Found] = []

    def transcript_text(self) -> str:
        """What the transcript shows of it: the text, and what comes along but is not named in it."""
        plain = self.text.replace('"', "").replace("\\", "")  # as names with blanks are written
        unnamed = (item.name for item in self.context if f"@{item.name}" not in plain)
        return self.text + "".join(f"\n@{name}" for name in unnamed)

    def needs_reading(self) -> bool:
        """Whether `read` has anything to do; then it must be called, and `ready` waits for it."""
        if any(isinstance(item, FileItem | ImageItem) for item in self.context):
            self.reading = anyio.Event()
        return self.reading is not None

    async def read(self) -> None:
        """Read what comes along, as it is now."""
        assert self.reading is not None
        try:
            self.found = [await mentioned.read(item) for item in self.context]
        finally:
            self.reading.set()

    async def ready(self) -> None:
        """Until all that comes along is read."""
        if self.reading is not None:
            await self.reading.wait()

    def blocks(self, takes: Abilities) -> tuple[list[ContentBlock], list[str]]:
        """The content blocks for `session/prompt`, by what the agent takes; and what the user should know of them."""
        blocks: list[ContentBlock] = [TextContent(text=readable(self.text))]
        remarks = []
        for index, item in enumerate(self.context):
            found = self.found[index] if index < len(self.found) else Found(problem=f"{item.name} could not be read.")
            one, remark = block(item, found, takes)
            blocks.extend([] if one is None else [one])
            remarks.extend([] if remark is None else [remark])
        return blocks, remarks
