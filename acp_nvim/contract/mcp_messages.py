"""Messages about what agents get of the editor, as in `messages.py`: MCP servers, problems after a turn."""

from __future__ import annotations

from typing import Literal

from acp_nvim.contract.editor import ToolAnswer
from acp_nvim.contract.message_base import Message, SessionMessage


class ToolAnswered(Message):
    """The answer to a tool call that takes longer than a moment."""

    call: int  #: its id
    answer: ToolAnswer


class ProjectServersAnswer(Message):
    """Whether to use the MCP servers of a file of the project; the answer to `project_servers`."""

    id: int  #: of the question
    answer: Literal["use", "never", "later"]  #: `never`: not this content; `later`: ask again in the next Neovim


class DropDecisions(SessionMessage):
    """Do not tell the agent what the user has decided about its changes so far."""


class SendProblems(SessionMessage):
    """Send the agent what the checks after its turn have found."""
