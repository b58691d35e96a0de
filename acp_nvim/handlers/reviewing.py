"""Takes what the user does with files under review, and with turns to go back to."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from acp_nvim.handlers.method import Methods
from acp_nvim.messages import Checkpoint, Judge, SavedBuffer, Workspace
from acp_nvim.review.edit import Edit
from acp_nvim.review.reviews import Reviews
from acp_nvim.session.session import Session
from acp_nvim.tasks import Tasks


class Reviewing:
    """The messages about `reviews`; previews belong to `sessions`."""

    def __init__(self, reviews: Reviews, sessions: Callable[[], Iterable[Session]], tasks: Tasks) -> None:
        self._reviews = reviews
        self._sessions = sessions
        self._tasks = tasks
        self.methods: Methods = {
            "saved": (SavedBuffer, self._saved),
            "edited": (Edit, self._edited),
            "review_open": (SavedBuffer, self._open),
            "review_load": (Workspace, self._load),
            "preview_open": (SavedBuffer, self._preview_open),
            "review": (Judge, self._judge),
            "checkpoints": (Workspace, self._list),
            "restore_plan": (Checkpoint, self._plan),
            "restore": (Checkpoint, self._restore),
        }

    def _start(self, act: Callable[..., Awaitable[None]], *args: Any) -> None:
        self._tasks.spawn(act, *args)

    def _saved(self, news: SavedBuffer) -> None:
        saved = self._reviews.witness.saved(news.path)  # what it saves is taken now
        self._start(lambda: saved)
        self._reviews.keep_soon()

    def _edited(self, edit: Edit) -> None:
        self._start(self._reviews.witness.edited, edit)

    def _open(self, wanted: SavedBuffer) -> None:
        self._start(self._reviews.witness.wanted, wanted.path)

    def _load(self, wanted: Workspace) -> None:
        self._start(self._reviews.open, os.path.realpath(wanted.cwd))

    def _preview_open(self, wanted: SavedBuffer) -> None:
        for session in self._sessions():
            with session.tasks.contained("showing a preview"):
                session.requests.previews.look_again(wanted.path)

    def _judge(self, wanted: Judge) -> None:
        self._start(self._reviews.judge, wanted.action, wanted.path, wanted.hunks, wanted.session, wanted.force)

    def _list(self, wanted: Workspace) -> None:
        self._start(self._reviews.list, os.path.realpath(wanted.cwd), wanted.cwd)

    def _plan(self, wanted: Checkpoint) -> None:
        self._start(self._reviews.plan, os.path.realpath(wanted.cwd), wanted.id, wanted.force)

    def _restore(self, wanted: Checkpoint) -> None:
        self._start(self._reviews.restore, os.path.realpath(wanted.cwd), wanted.id, wanted.force)
