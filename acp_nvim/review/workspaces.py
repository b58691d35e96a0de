"""The workspaces of a host: which one a file is in, and what it has of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from acp_nvim.limits import MEGABYTES
from acp_nvim.review.change import Entry
from acp_nvim.review.contents import Contents
from acp_nvim.review.evidence import Seen
from acp_nvim.review.kept_ledger import OpenTurn
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.snapshot import Blob


class Workspaces:
    """All workspaces by their directories, real paths; `make` makes one. Together they may have `max_bytes`."""

    def __init__(self, make: Callable[[str], Workspace]) -> None:
        self.max_bytes = int(MEGABYTES * 1e6)
        self._make = make
        self.all: dict[str, Workspace] = {}

    def __repr__(self) -> str:
        return f"<Workspaces {list(self.all)}>"

    def at(self, directory: str) -> Workspace:
        """Return the workspace at a directory, a real path; it is made if there is none."""
        if directory not in self.all:
            self.all[directory] = self._make(directory)
        return self.all[directory]

    def of(self, path: str) -> Workspace:
        """The innermost one that the file is in; outside of all of them, any."""
        inside = [root for root in self.all if path.startswith(root.rstrip(os.sep) + os.sep)]
        return self.all[max(inside, key=len) if inside else next(iter(self.all))]

    def contents(self, path: str) -> Contents:
        """Those of the workspace that the file is in; outside of all of them, of any."""
        return self.of(path).scanner.contents

    async def known(self, path: str) -> Blob | None:
        """What the last snapshot has of a file. Raises `SnapshotError` when it has nothing of it."""
        return await self.of(path).scanner.known(path)

    def since(self, path: str) -> int:
        """The time of the last look at the directory that the file is in (nanoseconds since 1970)."""
        return self.of(path).scanner.since

    async def made_by_git(self, seen: Seen, is_first: bool) -> str | None:
        """As `GitContents.made`, of the workspace that the file is in."""
        return await self.of(seen.path).git.made(seen, is_first)

    async def keep(self, ledger: Ledger, evidence: str) -> None:
        """Write down what is left to review, each in its place; `evidence` is the name of this host's journal."""
        for workspace in list(self.all.values()):
            entries = partial(self._entries, ledger, workspace)
            await workspace.keep(entries, partial(_turns, ledger, workspace.root, evidence))

    def _entries(self, ledger: Ledger, workspace: Workspace) -> Sequence[Entry]:
        return [one for one in ledger.open() if self.of(one.path) is workspace]

    def close(self) -> None:
        """The process ends: others may have what it held."""
        for workspace in self.all.values():
            workspace.close()


def _turns(ledger: Ledger, root: str, evidence: str) -> Sequence[OpenTurn]:
    running = [turn for turn in ledger.logs if turn.active and root in turn.began]
    return [OpenTurn(one.agent, one.prompt, one.began[root], one.session, evidence) for one in running]
