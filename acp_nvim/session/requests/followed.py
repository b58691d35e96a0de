"""Handles changes on disk to the files of a session: what its agent has seen of them, and notices for the user."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from acp_nvim.acp.tool_call import CHANGES_WHAT_IT_NAMES, ToolCall, ToolCallPatch
from acp_nvim.errors import Severity
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.disk import stamp_of
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.merge import merge
from acp_nvim.workspace.open_files import Followed
from acp_nvim.workspace.refusals import NotAllowedError
from acp_nvim.workspace.roots import WatchedRoots

OWN_PATHS: Final = 200
"""Files that are remembered as changed by tool calls: more than one call edits."""


class FollowedFiles:
    """The files that `roots` watch for one session; `seen` is what the agent has seen of them."""

    def __init__(self, presenter: Presenter, roots: WatchedRoots, seen: LastSeen) -> None:
        self.seen = seen
        self.is_quiet = False
        """Whether another conversation shows the notices."""
        self._presenter = presenter
        self._roots = roots
        self._own: dict[str, str] = {}  # the stamps of the files after the agent's changes
        presenter.on_call.append(self._call_changed)

    def begin(self, fresh: bool) -> None:
        """Begin with another agent process; in a `fresh` session it has seen nothing."""
        self._own.clear()
        if fresh:
            self.seen.clear()

    def _call_changed(self, call: ToolCall, _patch: ToolCallPatch) -> None:
        """Remember the current stamps of the files that the agent has changed itself."""
        if not call.finished or call.kind not in CHANGES_WHAT_IT_NAMES:
            return
        paths = (os.path.join(self._presenter.cwd, path) for path, _ in call.files())
        for path in list(dict.fromkeys(paths))[:OWN_PATHS]:
            with suppress(NotAllowedError, OSError):
                real = self._roots.resolve(path)
                self._own[real] = stamp_of(os.stat(real))
        for old in list(self._own)[:-OWN_PATHS]:
            del self._own[old]

    async def take(self, what: Followed) -> None:
        """Handle a change on disk of a file of the session."""
        if what.kind == "moved":
            self.seen.moved(what.path, what.detail)
        if what.kind in ("read", "merged") and self._own.get(what.path) == what.stamp:
            await self._see_own(what)
        if what.kind != "read" and not self.is_quiet:
            level: Severity = "info" if what.kind in ("merged", "moved") else "warn"
            self._presenter.notice(level, what_followed(what, self._roots.name))

    async def _see_own(self, what: Followed) -> None:
        """Merge the agent's own change into what it has seen of the file."""
        seen = await self.seen.text(what.path)
        if seen is not None and what.before is not None and what.after is not None:
            view = await merge(what.before, seen, what.after)
            if view.text is not None:
                await self.seen.remember(what.path, view.text)


def what_followed(what: Followed, name_of: Callable[[str], str] = str) -> str:
    """Return the notice for a file that was changed on disk while a buffer has it."""
    name = name_of(what.path)
    match what.kind:
        case "read":
            return f"{name} was changed on disk, and read again."
        case "merged":
            return f"{name} was changed on disk. That was merged with your unsaved edits: the buffer has both."
        case "conflict":
            return (
                f"Your edits were kept: {name} was changed on disk, and the two cannot be merged: {what.why}. "
                f"To :write the buffer makes your text the file's.{kept_in('The version on disk', what.detail)}"
            )
        case "deleted":
            return f"{name} was deleted. Its buffer keeps the text; to :write it brings the file back."
        case "moved":
            return f"{name} is now {name_of(what.detail)}, and so is its buffer."
        case "unreadable":
            return f"A buffer cannot follow its file: {what.detail}"


def kept_in(what: str, file: str) -> str:
    """Return a sentence that names the `file` where a version is kept; "" if it is not kept."""
    return f" {what} is kept in {file}: compare with :diffsplit." if file else ""
