"""A prompt of the user with its context items, and its content blocks for an agent.

Files and images are read off the event loop, when the user sends the prompt.
"""

from __future__ import annotations

import unicodedata
from typing import Any, Final, TypeAlias

import anyio
import msgspec

from acp_nvim.acp.schema_common import ContentBlock, TextContent
from acp_nvim.prompt.blocks import Recipient, block, readable
from acp_nvim.prompt.items import ContextItem, FileItem, ImageItem, context_items
from acp_nvim.prompt.reading import Found, read_item

COMMAND_CHARS: Final = 50
"""Characters of a slash command in a notice."""
Content: TypeAlias = list[ContentBlock]
"""What an agent gets of a prompt."""
NOTHING: Final = "Your prompt was not sent: it has no text, and nothing to attach."


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

    @property
    def command(self) -> str:
        """The slash command that the text begins with, "" if it is none."""
        first = self.text[:COMMAND_CHARS].split(maxsplit=1)[:1]
        return first[0] if first and self.text.startswith("/") else ""

    def needs_reading(self) -> bool:
        """Return whether there are files to read; then call `read` in a task, whose end is `reading`."""
        return any(isinstance(item, FileItem | ImageItem) for item in self.context)

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
        self.found = [await read_item(item) for item in self.context]

    async def ready(self) -> None:
        """Wait until all context items are read."""
        if self.reading is not None:
            await self.reading.wait()

    def blocks(self, agent: Recipient) -> tuple[Content, list[str]]:
        """Return the content blocks for an agent, none if they would tell it nothing, and remarks for the user."""
        says = says_something(self.text)
        blocks: Content = [TextContent(text=readable(self.text))] if says else []
        remarks = []
        for index, item in enumerate(self.context):
            found = self.found[index] if index < len(self.found) else Found(problem=f"{item.name} could not be read.")
            one, remark = block(item, found, agent)
            blocks.extend([] if one is None else [one])
            remarks.extend([] if remark is None else [remark])
            says = says or not (one is None or found.is_gone)
        return blocks if says else [], remarks


def says_something(text: str) -> bool:
    """Return whether a text has more than blanks, and characters that nobody sees."""
    return any(unicodedata.category(one)[0] not in "ZC" or unicodedata.category(one) in ("Cs", "Co") for one in text)
