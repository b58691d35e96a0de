"""Tells the agent of a session, with the next prompt, what the user has kept, rejected and restored of its changes."""

from __future__ import annotations

import os
from itertools import islice
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.acp.schema_common import TextContent
from acp_nvim.contract.review_events import Decisions
from acp_nvim.prompt.blocks import Recipient, fenced, readable
from acp_nvim.review.records import Decided
from acp_nvim.snapshots.renames import Naming, is_directory
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.text_shape import lines_with_ends
from acp_nvim.workspace.unified_diff import unified_hunks

TOLD_FILES: Final = 50
"""Files that are named; of more only the number is told."""
DIFF_LINES: Final = 200
"""Lines of the diff of one file."""
DIFF_CHARS: Final = 20_000
"""Characters of all diffs together: some thousand tokens."""
DIFFED_CHARS: Final = 1_000_000
"""Characters of a text whose diff is told: that of a larger one takes too long."""

INTRODUCTION: Final = (
    "[From the editor, not typed by the user] The user has reviewed your changes since the last message. "
    "The files are as the user has decided; do not make a rejected change again unless you are asked to."
)


class DecidedFiles:
    """The decisions of the user that the agent of a session has not been told of; with `enabled`.

    What is undone is dropped: only the difference between what was there before the first decision and after the last
    one counts. `told` ends those of the last `blocks`; until then they stay.
    """

    def __init__(self, presenter: Presenter) -> None:
        self.enabled = True
        self._presenter = presenter
        self._files: dict[str, Decided] = {}
        self._sending: dict[str, Decided] = {}
        self._published = ""

    def __repr__(self) -> str:
        return f"<DecidedFiles of {self._presenter.transcript.session}: {self.words or 'nothing'}>"

    @property
    def words(self) -> str:
        """What waits to be told, for the user: "2 rejected, 1 kept"."""
        actions = [one.action for one in self._files.values()]
        return ", ".join(f"{actions.count(one)} {one}" for one in dict.fromkeys(sorted(actions, reverse=True)))

    def take(self, decided: Decided) -> None:
        """Add a decision of the user to those that the agent is to be told."""
        if not self.enabled:
            return
        path, known = decided.path, self._files.pop(decided.path, None)
        if known is not None and decided.action == "kept":
            decided = known if known.action != "kept" else decided
        elif known is not None and known.action != "kept":
            decided = msgspec.structs.replace(decided, was=known.was)
        if not decided.is_undone:
            self._files[path] = decided
        self._publish()

    def rename(self, renamed: Naming) -> None:
        """Give the files in directories that were renamed their present names; the directories are decided on anew."""
        self._files, self._sending = (_renamed(files, renamed) for files in (self._files, self._sending))

    def drop(self) -> None:
        """Forget all of it, because the user does not want it to be told."""
        self._files.clear()
        self._publish()

    async def blocks(self, agent: Recipient) -> list[TextContent]:
        """Return what the agent is to be told, and show the user that it is."""
        self._sending = dict(self._files)
        if not self._sending:
            return []
        cwd, paths = self._presenter.cwd, agent.paths
        named = {path: _name(path, cwd, paths.to_there(path) or path) for path in self._sending}
        text = await anyio.to_thread.run_sync(told, {named[path]: one for path, one in self._sending.items()})
        self._presenter.notice("info", f"The agent is told what you have decided: {self.words}.")
        return [TextContent(text=readable(f"\n\n{text}\n"))]

    def told(self) -> None:
        """Note that the prompt with the last `blocks` is sent."""
        self._files = {path: one for path, one in self._files.items() if self._sending.get(path) != one}
        self._sending = {}
        self._publish()

    def _publish(self) -> None:
        if self._published != self.words:
            self._published = self.words
            self._presenter.publish(Decisions(session=self._presenter.transcript.session, words=self.words))


def _renamed(files: dict[str, Decided], renamed: Naming) -> dict[str, Decided]:
    found = ((path if is_directory(path) else renamed(path), one) for path, one in files.items())
    return {path: msgspec.structs.replace(one, path=path) for path, one in found}


def _name(path: str, cwd: str, there: str) -> str:
    below = cwd.rstrip(os.sep) + os.sep
    return path.removeprefix(below) if path.startswith(below) else there


def told(decided: dict[str, Decided]) -> str:
    """Return what an agent is told of decisions by the names of the files. Blocks: it compares texts."""
    lines, room = [INTRODUCTION, ""], DIFF_CHARS
    for name, one in islice(decided.items(), TOLD_FILES):
        diff = _diff(one)
        is_shown = 0 < len(diff) <= room
        room -= len(diff) if is_shown else 0
        lines.append(f"- {name}: {one.action}{', which has changed it by:' if is_shown else _fate(one)}")
        lines += [fenced(diff)] if is_shown else []
    if len(decided) > TOLD_FILES:
        lines.append(f"- and {len(decided) - TOLD_FILES} more files")
    return "\n".join(lines)


def _fate(one: Decided) -> str:
    if one.action == "kept" or (one.was is None) == (one.now is None):
        return ""
    return "; it is gone" if one.now is None else "; it is there again"


def _diff(one: Decided) -> str:
    was, now = ("" if version is None else version.text for version in (one.was, one.now))
    if was is None or now is None or max(len(was), len(now)) > DIFFED_CHARS:
        return ""
    hunks = unified_hunks(lines_with_ends(was), lines_with_ends(now))
    lines = [line.rstrip("\r\n") for line in islice(hunks, DIFF_LINES + 1)]
    return "\n".join([*lines[:DIFF_LINES], "... and more"] if len(lines) > DIFF_LINES else lines)
