"""Calls of tools that the editor carries out: a few at a time, each with a limit."""

from __future__ import annotations

from typing import Any, Final

import anyio

from acp_nvim.contract.editor import Editor, ToolAnswer
from acp_nvim.mcp.tools.tool import ToolError

AT_ONCE: Final = 2
"""Calls that the editor has at once: the user's keys come between them."""
BEGIN_SECONDS: Final = 10.0
"""Time for the editor to begin a call: it takes no more than a frame unless it waits for the user."""
ANSWER_SECONDS: Final = 45.0
"""Time for the editor to answer; the limits of its language servers are shorter."""

BLOCKED: Final = (
    "Neovim cannot answer now: it waits for its user (a message or a prompt is on the screen), or carries out a macro. "
    "Nothing was done. Try again in a moment, or go on without it."
)
SILENT: Final = "Neovim has not answered in time. Try again, or go on without it."


class EditorCalls:
    """Lets the editor carry out tools; `answered` takes the answers that come later."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._few = anyio.Semaphore(AT_ONCE)
        self._waiting: dict[int, tuple[anyio.Event, list[ToolAnswer]]] = {}
        self._last_call = 0

    async def ask(self, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
        """Return the answer of the editor to a call. Raises `ToolError` for an error, and beyond the limits."""
        self._last_call += 1
        call, event, later = self._last_call, anyio.Event(), list[ToolAnswer]()
        self._waiting[call] = event, later
        try:
            answer = await self._begin(call, tool, arguments)
            if answer is None:
                with anyio.move_on_after(ANSWER_SECONDS):
                    await event.wait()
                if not later:
                    raise ToolError(SILENT)
                answer = later[0]
        finally:
            del self._waiting[call]
        if answer.error is not None:
            raise ToolError(answer.error)
        return answer

    async def until_ready(self) -> None:
        """Wait until the editor answers. Raises `ToolError` beyond the limit."""
        await self.ask("ready", {})

    async def _begin(self, call: int, tool: str, arguments: dict[str, Any]) -> ToolAnswer | None:
        with anyio.move_on_after(BEGIN_SECONDS):
            async with self._few:
                return await self._editor.call_tool(call, tool, arguments)
        raise ToolError(BLOCKED)

    def answered(self, call_id: int, answer: ToolAnswer) -> None:
        """Take an answer that came later; one that nobody waits for any more is ignored."""
        if call_id in self._waiting:
            event, later = self._waiting[call_id]
            later.append(answer)
            event.set()
