"""What else than the work tree's own `.gitignore` files says which files are ignored: one file of ours for git."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from acp_nvim.limits import EXCLUDES_BYTES
from acp_nvim.limits.git import GIT_LOOK_SECONDS
from acp_nvim.snapshots.failures import GitFailedError
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.workspace.regular_files import read_regular


async def users_excludes_file(directory: Path, configuration: str | None) -> str:
    """The file that the user's configuration names as `core.excludesFile`; git's default without one.

    `configuration` is the file of the repository; only named files are read, so that nothing is run.
    """
    home = await anyio.to_thread.run_sync(os.path.expanduser, "~")
    default = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    usual = [os.path.join(home, ".gitconfig"), os.path.join(default, "config"), "/etc/gitconfig"]
    with anyio.move_on_after(GIT_LOOK_SECONDS):  # one of the user's may include what waits when it is read
        for file in [*([configuration] if configuration else []), *usual]:
            # what the repository includes is not read: anybody may have made that
            includes = "--no-includes" if file == configuration else "--includes"
            words = ["config", "--file", file, includes, "--type=path", "--get", "core.excludesFile"]
            if not await anyio.to_thread.run_sync(os.path.isfile, file):
                continue
            try:
                found = await run_git(directory, words, env={"HOME": home})
            except GitFailedError:
                continue  # it has none, or git cannot read it
            return os.fsdecode(found.rstrip(b"\n"))
    return os.path.join(default, "ignore")


def exclude_text(sources: Sequence[str], top: str, private: Sequence[str]) -> bytes:
    """The rules in the files `sources`, the strongest last, and rules for the directories `private`. Blocks."""
    rules = [_read(source) + b"\n" for source in sources]
    for path in private:
        if path.startswith(os.path.join(top, "")):
            rules.append(b"/%s/\n" % _literal(os.fsencode(os.path.relpath(path, top))))
    return b"".join(rules)


def _read(path: str) -> bytes:
    try:
        return read_regular(path, EXCLUDES_BYTES)
    except OSError:
        return b""


def _literal(path: bytes) -> bytes:
    return re.sub(rb"([\\*?\[ #!])", rb"\\\1", path)
