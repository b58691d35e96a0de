"""Runs git on a shadow repository: nothing of the user's configuration or environment reaches it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from acp_nvim.limits import GIT_ERROR_CHARS, GIT_NICENESS
from acp_nvim.process import git
from acp_nvim.process.git import Output
from acp_nvim.snapshots.failures import GitFailedError, SnapshotError

NO_SPACE = "no space is left where the snapshots are kept"

_FULL = (
    os.strerror(errno.ENOSPC),
    os.strerror(errno.EDQUOT),
    os.strerror(errno.EFBIG),
    "Out of diskspace",
    "unable to write",
    "write error",
)
"""Words by which git says that the disk is full; after a short write it does not give the reason."""

_NOT_ALLOWED = (os.strerror(errno.EACCES), os.strerror(errno.EROFS))


async def run_git(
    directory: Path,
    arguments: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    output: Output | None = None,
) -> bytes:
    """The stdout of `git <arguments>` with `directory` as git directory; `cwd` is the work tree, if it needs one.

    When `output` is full, git is ended and that much is returned. Raises `SnapshotError`. When it is cancelled, the
    process is gone afterwards.
    """
    output = output or Output()
    place = cwd or str(directory)
    try:
        ended = await git.run(
            arguments,
            place,
            _environment(directory, cwd, env or {}),
            stdin=stdin,
            output=output,
            is_private=True,
            niceness=GIT_NICENESS,
        )
    except FileNotFoundError as error:
        if error.filename == place:
            raise SnapshotError(f"{place} is not there") from error
        raise SnapshotError("git is not installed or not in PATH") from error
    except OSError as error:
        raise SnapshotError(f"git cannot be started: {error.strerror}") from error
    if ended.code != 0 and not output.full:
        raise _failure(arguments, ended.code, ended.stderr)
    return ended.stdout


def _failure(arguments: Sequence[str], code: int, said: bytes) -> SnapshotError:
    words = said.decode("utf-8", "replace").strip()
    if any(sign in words for sign in _FULL) and not any(sign in words for sign in _NOT_ALLOWED):
        return SnapshotError(NO_SPACE)
    command = next((word for word in arguments if not word.startswith("-") and "=" not in word), "")
    return GitFailedError(f"git {command} failed with code {code}: {words[:GIT_ERROR_CHARS]}", code)


def _environment(directory: Path, work_tree: str | None, extra: Mapping[str, str]) -> dict[str, str]:
    return git.environment(
        {
            "HOME": str(directory),  # a git that does not know GIT_CONFIG_GLOBAL finds no configuration here
            "XDG_CONFIG_HOME": str(directory),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_DIR": str(directory),
            **({"GIT_WORK_TREE": work_tree} if work_tree else {}),
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            **extra,
        }
    )
