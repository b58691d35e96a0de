"""What an editor is told of conversations that are kept."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.events import Event, RequestView, SessionEvent, Why


class FoundSession(msgspec.Struct, omit_defaults=True):
    """A conversation that is kept; times in seconds since 1970.

    `id` names it for `transcript_open`. `session` is the key of the one that it is the transcript of, when that is
    alive here. `snippet` is a text of it around what was looked for. `supersedes`: the one in which the same was kept
    before its agent told it anew.
    """

    id: str
    agent: str
    cwd: str
    started: float
    updated: float
    title: str | None = None
    prompt: str | None = None
    session_id: str | None = None
    snippet: str | None = None
    session: int | None = None
    supersedes: str | None = None


class SessionsFound(Event, tag="sessions_found", omit_defaults=False):
    """Some answers to the question `id`, the newest first; `done`: there are no more."""

    id: int
    found: list[FoundSession]
    done: bool = False


class PermissionKept(SessionEvent, tag="permission_kept"):
    """A permission request of a kept conversation, and what became of it; nobody answers it any more.

    `rule`: that answered it, in words.
    """

    block: int
    request: RequestView
    outcome: Literal["selected", "cancelled"] = "cancelled"
    option_id: str | None = None
    name: str | None = None
    why: Why | None = None
    rule: str | None = None


class TranscriptShown(SessionEvent, tag="transcript_shown"):
    """All of a kept conversation was told; `problem`: why it was not."""

    problem: str | None = None


class Exported(SessionEvent, tag="exported"):
    """A conversation as markdown: a piece of its `text`, the last one with `done`; or it is in the file `path` now.

    `problem`: why there is nothing.
    """

    text: str = ""
    done: bool = False
    path: str | None = None
    problem: str | None = None
