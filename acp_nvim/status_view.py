"""What the status of a session is made of: what `require("acp_nvim").status()` returns."""

from __future__ import annotations

from typing import Any

import msgspec


class PlanStep(msgspec.Struct):
    """One entry of a plan."""

    content: str
    status: str
    priority: str


class ReviewCounts(msgspec.Struct):
    """What of a session is still to be reviewed."""

    files: int
    added: int
    removed: int


class Takes(msgspec.Struct):
    """What the agent takes in prompts beside texts and links."""

    image: bool
    audio: bool
    embedded_context: bool


class StatusView(msgspec.Struct, omit_defaults=True):
    """How a session stands.

    `mode` and `model` are ids, `mode_name` and `model_name` what the agent calls them, where that is something else;
    `mode_next` and `model_next` are the names of what it was asked for and has not answered yet.
    `usage` is `{used, size, cost?, currency?}`. `plan` has the entries of all plans of the turn. `activity` is
    "thinking", "writing", or the title of a tool call; it and `turn_started` (seconds since 1970) are there while a
    turn runs. `directories` (real paths) is where the agent works, while there is one or will be.
    `worktree` is the directory of the work tree that the session has for itself.
    `takes` is there as long as the agent is. `asleep`: its process was stopped because nothing happened.
    """

    agent: str
    agent_title: str
    state: str
    cwd: str
    pending_permissions: int
    queue: int
    pending_elicitations: int = 0
    session_id: str | None = None
    sign_in: str | None = None
    stop_reason: str | None = None
    title: str | None = None
    mode: str | None = None
    model: str | None = None
    mode_name: str | None = None
    model_name: str | None = None
    mode_next: str | None = None
    model_next: str | None = None
    usage: dict[str, Any] | None = None
    plan: list[PlanStep] | None = None
    activity: str | None = None
    turn_started: float | None = None
    review: ReviewCounts | None = None
    worktree: str | None = None
    directories: list[str] = []
    takes: Takes | None = None
    asleep: bool = False
