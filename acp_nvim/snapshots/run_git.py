"""Runs git on a shadow repository, isolated from the user's configuration and environment."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anyio

from acp_nvim.limits import GIT_ERROR_CHARS
from acp_nvim.process import git
from acp_nvim.process.git import Output
from acp_nvim.snapshots.snapshot import GitFailedError, SnapshotError

log = logging.getLogger(__name__)

GIT_NICENESS: Final = 10
"""Niceness of git: on a busy machine the host waits half as long for its turn, git takes 20 % longer."""

NO_SPACE = "no space is left where the snapshots are kept"

_FULL = (
    os.strerror(errno.ENOSPC),
    os.strerror(errno.EDQUOT),
    os.strerror(errno.EFBIG),
    "Out of diskspace",
    "unable to write",
    "write error",
)
"""Messages of git about a full disk; after a short write git does not give the reason."""

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
    """Return the stdout of `git <arguments>` with the git directory `directory`, and the work tree `cwd` if given.

    When `output` is full, git is stopped and the output so far returned. Raises `SnapshotError`. When this is
    cancelled, git is gone afterwards.
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


async def together(*acts: Callable[[], Awaitable[Any]]) -> list[Any]:
    """Run the functions concurrently and return their results. Raises the first exception, not a group."""
    found: dict[int, Any] = {}
    failed: list[Exception] = []

    async def call(number: int, act: Callable[[], Awaitable[Any]]) -> None:
        try:
            found[number] = await act()
        except Exception as error:
            failed.append(error)

    async with anyio.create_task_group() as group:
        for number, act in enumerate(acts):
            group.start_soon(call, number, act)
    if failed:
        raise failed[0]
    return [found[number] for number in range(len(acts))]


def _failure(arguments: Sequence[str], code: int, said: bytes) -> SnapshotError:
    words = said.decode("utf-8", "replace").strip()
    if any(sign in words for sign in _FULL) and not any(sign in words for sign in _NOT_ALLOWED):
        return SnapshotError(NO_SPACE)
    command = next((word for word in arguments if not word.startswith("-") and "=" not in word), "")
    if words:
        log.info("git %s failed with code %d: %s", command, code, words[:GIT_ERROR_CHARS])
    return GitFailedError(f"git {command} failed with code {code}; :AcpLog has its words", code, words)


def _environment(directory: Path, work_tree: str | None, extra: Mapping[str, str]) -> dict[str, str]:
    return git.environment(
        {
            "HOME": str(directory),  # for a git without GIT_CONFIG_GLOBAL: no configuration here
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
