"""Messages about MCP servers, the editor's own and those of projects, as in `rpc/messages.py`."""

from __future__ import annotations

from typing import Literal

from acp_nvim.rpc.message_base import Message
from acp_nvim.ui.editor import ToolAnswer


class ToolAnswered(Message):
    """The answer to a tool call that takes longer than a moment."""

    call: int  #: its id
    answer: ToolAnswer


class ProjectServersAnswer(Message):
    """Whether to use the MCP servers of a file of the project; the answer to `project_servers`."""

    id: int  #: of the question
    answer: Literal["use", "never", "later"]  #: `never`: not this content; `later`: ask again in the next Neovim
