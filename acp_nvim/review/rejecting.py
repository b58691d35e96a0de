"""Rejects hunks, files, or all that there is, so that one command brings each removed byte back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

import msgspec

from acp_nvim.limits.review import LEFT_FILES
from acp_nvim.review.change import KeptChange
from acp_nvim.review.entry import Entry
from acp_nvim.review.judging import Judging
from acp_nvim.review.keeping import rejection
from acp_nvim.review.workspace import Workspace
from acp_nvim.review.write_ahead import WriteAhead, check_retrievable
from acp_nvim.workspace.refusals import FileRefusedError


class Rejected(msgspec.Struct):
    """The files of which something was rejected, and those that were left as they are, with the reason in words.

    `undo_id` is the checkpoint that takes it back, "" when nothing was rejected.
    """

    files: list[str] = []
    left: list[tuple[str, str]] = []
    undo_id: str = ""

    @property
    def problem(self) -> str:
        """The reasons for the user; "" when there are none."""
        return "\n".join(_bounded([why for _, why in self.left]))


class Rejecting:
    """`tell` says something about the workspace at a directory in its chats."""

    def __init__(
        self,
        judging: Judging,
        workspace_of: Callable[[str], Workspace],
        tell: Callable[[str, str], None],
    ) -> None:
        self._judging = judging
        self._workspace_of = workspace_of
        self._tell = tell

    def __repr__(self) -> str:
        return f"<Rejecting {self._judging!r}>"

    async def reject(self, path: str | None, ids: Collection[int] | None, entries: Sequence[Entry]) -> Rejected:
        """These hunks of a file, or the whole file; without `path`, `entries`: as far as it can be undone."""
        ahead = WriteAhead("reject", self._workspace_of)
        await self._secure_all(ahead, entries)
        done = Rejected()
        for one in [entry.path for entry in entries] if path is None else [path]:
            try:
                await self._judging.reject(one, ids, ahead.secure)
                done.files.append(one)
            except FileRefusedError as error:
                done.left.append((one, str(error)))
        if done.files:
            done.undo_id = ahead.id(self._workspace_of(done.files[0]).root)
        self._say_what_is_in_memory(ahead)
        return done

    async def _secure_all(self, ahead: WriteAhead, entries: Sequence[Entry]) -> None:
        """At once for many files: each alone would cost a process. Who cannot be secured is refused later, alone."""
        if len(entries) < 2:
            return
        changes: list[KeptChange] = []
        for entry in entries:
            with suppress(FileRefusedError):
                found = rejection(entry, self._workspace_of(entry.path).scanner.contents)
                for change in found:
                    check_retrievable(change)
                changes += found
        with suppress(FileRefusedError):
            await ahead.secure(changes)

    def _say_what_is_in_memory(self, ahead: WriteAhead) -> None:
        paths = [one.path for one in ahead.changes if self._workspace_of(one.path).scanner.shadow.is_secret(one.path)]
        for root in dict.fromkeys(self._workspace_of(path).root for path in paths):
            names = _bounded([path for path in paths if self._workspace_of(path).root == root])
            self._tell(
                root,
                f"{', '.join(names)}: looks secret, so that what was rejected of it is not written to the disk. "
                ":AcpRestore undo brings it back only as long as this Neovim runs.",
            )


def _bounded(lines: Sequence[str]) -> list[str]:
    more = len(lines) - LEFT_FILES
    return list(lines) if more <= 0 else [*lines[:LEFT_FILES], f"... and {more} more"]
