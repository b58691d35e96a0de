"""Messages about what an agent keeps or is configured with, as in `messages.py`; `session_done` answers most."""

from __future__ import annotations

from typing import Any

from acp_nvim.contract.message_base import Message


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


class ProvidersList(Message):
    """Request the providers of models that an agent can be configured with; `providers_listed` answers."""

    id: int  #: of the request
    agent: str
    cwd: str


class ProviderSet(ProvidersList, kw_only=True):
    """Replace the whole configuration of a provider; `session_done` answers."""

    provider: str  #: its id
    api_type: str
    base_url: str
    headers: Any = None  #: by name; they are never logged

    def __repr__(self) -> str:
        return f"<ProviderSet {self.provider} of {self.agent}>"


class ProviderDisable(ProvidersList, kw_only=True):
    """Disable a provider that is not required; `session_done` answers."""

    provider: str  #: its id
