"""What an editor is told of tool calls when it asks."""

from __future__ import annotations

from acp_nvim.events import SessionEvent
from acp_nvim.items import CallView


class CallDetails(SessionEvent, tag="call_details"):
    """All that there is of a tool call; what is raw is JSON, to be read."""

    block: int
    call: CallView
    name: str | None = None
    raw_input: str | None = None
    raw_output: str | None = None


class CallMedia(SessionEvent, tag="call_media"):
    """A picture or a sound of a tool call is in the file `path` now; else there is a `problem`."""

    path: str | None = None
    problem: str | None = None
