"""Runs git in a repository of the user's: with their configuration, but without the programs that it names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import anyio

from acp_nvim.limits import GIT_ERROR_CHARS, GIT_LOOK_SECONDS
from acp_nvim.process import git as process

GIT_WORK_SECONDS: Final = 120.0
"""Time for git to read or to write all files of a work tree: 100,000 take 20 s."""

NO_DRIVERS = 1
"""The exit code of `git config` when it finds nothing."""


class WorktreeError(Exception):
    """Why it cannot be done, in words for the user."""


async def git(cwd: str, *arguments: str, seconds: float = GIT_LOOK_SECONDS) -> str:
    """The stdout of `git <arguments>` there. Raises `WorktreeError`. When it is cancelled, git is gone afterwards.

    It must be a command that neither looks into files nor writes them, which may run filters: `work` is for those.
    """
    ended = await _run(cwd, (*process.NO_PROGRAMS, *arguments), seconds)
    if ended.code != 0:
        said = ended.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise WorktreeError(f"git {_name(arguments)} failed: {said[:GIT_ERROR_CHARS] or ended.code}")
    return ended.stdout.decode("utf-8", "surrogateescape")


async def work(cwd: str, *arguments: str) -> str:
    """Run git without filters, for commands that look into files, or write them: they may take a while."""
    return await git(cwd, *await without_drivers(cwd), *arguments, seconds=GIT_WORK_SECONDS)


async def without_drivers(cwd: str) -> list[str]:
    """Options that switch off the filters and hooks which the configuration there names. Raises `WorktreeError`."""
    ended = await _run(cwd, process.DRIVERS, GIT_LOOK_SECONDS)
    if ended.code not in (0, NO_DRIVERS):
        said = ended.stderr.decode("utf-8", "replace").strip()
        raise WorktreeError(f"git config failed: {said[:GIT_ERROR_CHARS]}")
    try:
        return process.disable(ended.stdout)
    except ValueError as error:
        raise WorktreeError(f"git is not run in {cwd}: {error}") from error


async def asks(cwd: str, *arguments: str) -> str | None:
    """What git says there, without the newline at its end; None when it says no."""
    try:
        return (await git(cwd, *arguments)).removesuffix("\n")
    except WorktreeError:
        return None


async def _run(cwd: str, arguments: Sequence[str], seconds: float) -> process.Ended:
    try:
        with anyio.fail_after(seconds):
            return await process.run(arguments, cwd, process.environment({}))
    except TimeoutError as error:
        what = f"git {_name(arguments)} took longer than {seconds:g} s in {cwd}"
        raise WorktreeError(f"{what}: look for files there that cannot be read, FIFOs for example") from error
    except FileNotFoundError as error:
        missing = f"there is no directory {cwd}" if error.filename == cwd else "git is not installed, or not in PATH"
        raise WorktreeError(missing) from error
    except OSError as error:
        raise WorktreeError(f"git cannot be started: {error.strerror}") from error


def _name(arguments: Sequence[str]) -> str:
    fronts = ["", *arguments]
    pairs = zip(fronts, arguments, strict=False)
    words = [word for front, word in pairs if not word.startswith("-") and front != "-c"]
    return " ".join(words[:2] if words[:1] == ["worktree"] else words[:1])
