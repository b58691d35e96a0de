"""Handles messages about files under review, and about turns to go back to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from acp_nvim.review.reviews import Reviews
from acp_nvim.rpc import review_messages
from acp_nvim.rpc.messages import Handlers
from acp_nvim.session.session import Session
from acp_nvim.tasks import Tasks


class ReviewHandlers:
    """Passes them to `reviews`; previews belong to `sessions`."""

    def __init__(self, reviews: Reviews, sessions: Callable[[], Iterable[Session]], tasks: Tasks) -> None:
        self._reviews = reviews
        self._sessions = sessions
        self._tasks = tasks
        self.handlers: Handlers = {
            review_messages.Saved: self._saved,
            review_messages.Edited: reviews.tracker.edited,
            review_messages.ReviewOpen: lambda message: reviews.tracker.wanted(message.path),
            review_messages.ReviewLoad: lambda message: reviews.load(_root(message.cwd), message.cwd),
            review_messages.PreviewOpen: self._preview_open,
            review_messages.Review: lambda message: reviews.judge(
                message.action, message.path, message.hunks, message.session, message.force
            ),
            review_messages.Checkpoints: lambda message: reviews.list(_root(message.cwd), message.cwd),
            review_messages.RestorePlan: lambda message: reviews.plan(_root(message.cwd), message.id, message.force),
            review_messages.Restore: lambda message: reviews.restore(_root(message.cwd), message.id, message.force),
        }

    def _saved(self, message: review_messages.Saved) -> None:
        saved = self._reviews.tracker.saved(message.path)  # what it saves is taken now
        self._tasks.spawn(lambda: saved)
        self._reviews.keep_soon()

    def _preview_open(self, message: review_messages.PreviewOpen) -> None:
        for session in self._sessions():
            with session.tasks.contained("showing a preview"):
                session.requests.previews.look_again(message.path)


def _root(cwd: str) -> str:
    return os.path.realpath(cwd)
