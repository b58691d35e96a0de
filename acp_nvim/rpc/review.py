"""Handles messages about files under review, and about checkpoints."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from acp_nvim.contract import messages
from acp_nvim.contract.messages import Handlers
from acp_nvim.review.reviews import Reviews
from acp_nvim.session.conversation import Conversation
from acp_nvim.tasks import Tasks


def review_handlers(reviews: Reviews, sessions: Callable[[], Iterable[Conversation]], tasks: Tasks) -> Handlers:
    """Return the handlers of messages for `reviews`, and for the previews of `sessions`."""
    real = os.path.realpath

    def saved(message: messages.Saved) -> None:
        work = reviews.tracker.saved(message.path)  # reads the saved state now
        tasks.spawn(lambda: work)
        reviews.keep_soon()

    def preview_open(message: messages.PreviewOpen) -> None:
        for session in sessions():
            with session.tasks.contained("showing a preview"):
                session.requests.previews.look_again(message.path)

    return {
        messages.Saved: saved,
        messages.Edited: reviews.tracker.edited,
        messages.ReviewOpen: lambda message: reviews.tracker.show(message.path),
        messages.ReviewLoad: lambda message: reviews.load(real(message.cwd), message.cwd),
        messages.PreviewOpen: preview_open,
        messages.ReviewDecide: lambda message: reviews.judge(
            message.action, message.path, message.hunks, message.session, message.force
        ),
        messages.Checkpoints: lambda message: reviews.list(real(message.cwd), message.cwd),
        messages.RestorePlan: lambda message: reviews.plan(real(message.cwd), message.id, message.force),
        messages.Restore: lambda message: reviews.restore(real(message.cwd), message.id, message.force),
    }
