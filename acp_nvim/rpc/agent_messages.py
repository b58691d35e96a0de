"""Messages about what an agent keeps or is configured with, as in `rpc/messages.py`; `session_done` answers most."""

from __future__ import annotations

from acp_nvim.rpc.message_base import Message


class SessionRename(Message):
    """Give a session that an agent stores another title; `session_done` answers."""

    id: int  #: of the request
    agent: str
    cwd: str
    session_id: str
    title: str
    session: int | None = None  #: its key if it is open


class SessionArchive(Message):
    """Archive a session at its agent, or undo that; `session_done` answers."""

    id: int  #: of the request
    agent: str
    cwd: str
    session_id: str
    archived: bool = True
    session: int | None = None  #: its key if it is open; it is closed first
