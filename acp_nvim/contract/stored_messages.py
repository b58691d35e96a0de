"""Messages about what is stored or exported, as in `messages.py`: conversations, sent prompts, the log."""

from __future__ import annotations

from acp_nvim.contract.message_base import Message, SessionMessage


class LogLine(Message):
    """Append a text of Lua to the log, without its secrets."""

    text: str


class RememberPrompt(Message):
    """Append a prompt, without its secrets, to the history of a project."""

    path: str  #: of the file with the project's prompts
    text: str
    time: int  #: seconds since 1970


class TranscriptOpen(SessionMessage):
    """Show a stored conversation under a key without session; the events end with `transcript_shown`."""

    id: str


class TranscriptCall(TranscriptOpen):
    """Request all stored details of a tool call; `call_details` answers."""

    block: int


class Export(SessionMessage):
    """Convert a session, or the stored `transcript` that it shows, to markdown; `exported` answers."""

    path: str | None = None  #: of the file; None: send it as text
    exact: bool = False  #: overwrite the file, and mask only what the user has entered to sign in
    transcript: str | None = None
