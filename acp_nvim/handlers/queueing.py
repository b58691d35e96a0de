"""Takes what the user makes of the prompts that wait: another order, other texts, one that goes out now."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from acp_nvim.handlers.method import Methods
from acp_nvim.queue_events import QueuedText
from acp_nvim.session.session import Session


class QueueSet(msgspec.Struct):
    """`queue_set`: what the user made of the prompts `known` to them; who is not in `prompts` is not to be sent."""

    session: int
    prompts: list[QueuedText]
    known: list[int] = []


class Steer(msgspec.Struct):
    """`steer`: send the prompt of that id in the queue now, into the turn that runs; else the first, or `newest`."""

    session: int
    id: int | None = None
    newest: bool = False


class Queueing:
    """The messages about the queues of `sessions`, by their keys."""

    def __init__(self, sessions: Mapping[int, Session]) -> None:
        self._sessions = sessions
        self.methods: Methods = {
            "queue_set": (QueueSet, self._set),
            "steer": (Steer, self._steer),
        }

    def _set(self, wanted: QueueSet) -> None:
        session = self._sessions[wanted.session]
        prompts = [one for one in wanted.prompts if one.text.strip()]
        for prompt in session.queue.set(prompts, wanted.known):
            session.tasks.spawn(prompt.read)
        if session.queue.next is not None and any(one.id is None for one in prompts):
            session.open()
        session.narrator.on_facts()

    def _steer(self, wanted: Steer) -> None:
        self._sessions[wanted.session].steering.steer(wanted.id, wanted.newest)
