"""Runs git in a repository of the user's, with their configuration; never asks anything."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

import anyio

from acp_nvim.limits import GIT_ERROR_CHARS


class WorktreeError(Exception):
    """Why it cannot be done, in words for the user."""


async def git(cwd: str, *arguments: str) -> str:
    """The stdout of `git <arguments>` there. Raises `WorktreeError`. When it is cancelled, git is gone afterwards."""
    try:
        done = await anyio.run_process(
            ["git", *arguments], cwd=cwd, stdin=subprocess.DEVNULL, check=False, env=_environment()
        )
    except FileNotFoundError as error:
        missing = f"there is no directory {cwd}" if error.filename == cwd else "git is not installed, or not in PATH"
        raise WorktreeError(missing) from error
    except OSError as error:
        raise WorktreeError(f"git cannot be started: {error.strerror}") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise WorktreeError(f"git {_name(arguments)} failed: {said[:GIT_ERROR_CHARS] or done.returncode}")
    return done.stdout.decode("utf-8", "surrogateescape")


async def asks(cwd: str, *arguments: str) -> str | None:
    """What git says there, without the newline at its end; None when it says no."""
    try:
        return (await git(cwd, *arguments)).removesuffix("\n")
    except WorktreeError:
        return None


def _name(arguments: Sequence[str]) -> str:
    words = [word for word in arguments if not word.startswith("-")]
    return " ".join(words[:2] if words[:1] == ["worktree"] else words[:1])


def _environment() -> dict[str, str]:
    """The user's, but for what would lead git to another repository, or to a question."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**inherited, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
