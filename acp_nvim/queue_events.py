"""What an editor is told of prompts that wait for their turn."""

from __future__ import annotations

from typing import Any

import msgspec

from acp_nvim.events import SessionEvent


class WaitingView(msgspec.Struct):
    """A prompt that waits; `context_names` are what comes along. Its `id` is the session's, and never used again."""

    id: int
    text: str
    context_names: list[str] = []


class Queue(SessionEvent, tag="queue", omit_defaults=False):
    """All prompts that wait and are not in the transcript yet, in their order; `held`: none goes out by itself."""

    held: bool
    prompts: list[WaitingView]


class QueuedText(msgspec.Struct, omit_defaults=True):
    """A prompt as the user wants it to wait; without an `id` it is a new one. `context` is what comes along, too."""

    text: str
    id: int | None = None
    context: list[dict[str, Any]] = []


class QueueLate(SessionEvent, tag="queue_late", omit_defaults=False):
    """What the user made of prompts that were not in the queue any more: it is not sent."""

    prompts: list[QueuedText]
