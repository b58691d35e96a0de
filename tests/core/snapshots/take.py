"""Takes a snapshot in a process of its own: `take PLACE ROOT [as-nobody|forever]`; prints what is in it as JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import anyio

from acp_nvim.snapshots import work_tree
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.shadow import Shadow
from tests.core.snapshots.workspaces import write
from tests.core.workspace.as_nobody import NOBODY


async def main(place: str, root: str, how: str = "") -> None:
    """Once, as a user without rights when root starts it; or until it is killed."""
    if how == "as-nobody" and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    shadow = Shadow(Path(place), root)
    if how == "forever":
        work_tree.FOLD_FILES = 0
    while True:
        for number in range(50 if how == "forever" else 0):
            write(Path(root, f"of child {number}"), os.urandom(8).hex())
        snapshot = await shadow.take()
        rows = (await run_git(Path(place), ["ls-tree", "-r", "-z", snapshot.id])).split(b"\0")[:-1]
        names = [os.fsdecode(row.partition(b"\t")[2]) for row in rows]
        left_out = [name for name, row in zip(names, rows, strict=True) if row.startswith(b"160000 ")]
        print(json.dumps({"files": names, "left_out": left_out}), flush=True)
        if how != "forever":
            return


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
