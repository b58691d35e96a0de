"""Messages about the tools of the MCP server that Neovim carries out, as in `rpc/messages.py`."""

from __future__ import annotations

from acp_nvim.rpc.message_base import Message
from acp_nvim.ui.editor import ToolAnswer


class ToolAnswered(Message):
    """The answer to a tool call that takes longer than a moment."""

    call: int  #: its id
    answer: ToolAnswer
