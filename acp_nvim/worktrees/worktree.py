"""Manages a worktree for one session: on a new branch, in a directory outside the user's work tree."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.limits import GIT_ERROR_CHARS, GIT_LOOK_SECONDS
from acp_nvim.process import git as process
from acp_nvim.state.private_file import make_directory

BRANCHES = "acp/"
"""Prefix of the branches that we create."""

_NOWHERE = {
    "not a git repository": "is not in a git repository",
    "must be run in a work tree": "is not in a work tree of git",
}
"""Messages of git about the directory, and ours."""

_STATUS = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
"""Without a look into submodules: git would start another git there, with the submodule's configuration."""

_NAME = pattern(r"[\w][\w.+-]{0,59}")


GIT_WORK_SECONDS: Final = 120.0
"""Time in seconds for git to read or write all files of a work tree: 100,000 take 20 s."""

NO_DRIVERS = 1
"""The exit code of `git config` when it finds nothing."""


class WorktreeError(Exception):
    """A worktree operation failed; the message says why, in words for the user."""


class Worktree(msgspec.Struct, frozen=True, kw_only=True):
    """A worktree at `path`; `cwd` is the session's directory in it, `remarks` are for the user."""

    path: str
    cwd: str
    branch: str
    remarks: tuple[str, ...] = ()


class WorktreeStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What would be lost with a worktree: `changed` files not committed, and `commits` only on its branch."""

    path: str
    branch: str | None
    changed: int
    commits: int


class Worktrees:
    """The git worktrees that this plugin has created, at `directory/<project>/<name>`."""

    def __init__(self, directory: Path) -> None:
        self.directory = Path(os.path.realpath(directory))

    def path(self, top: str, name: str) -> str:
        """Return the path of the worktree `name` for the repository whose work tree is at `top`."""
        digest = hashlib.sha256(os.fsencode(top)).hexdigest()[:8]
        project = re.sub(r"[^\w.-]", "_", os.path.basename(top))[-40:].lstrip(".") or "project"
        return str(self.directory / f"{project}-{digest}" / name)

    def name_of(self, path: str) -> str | None:
        """Return the name of the worktree that contains `path`; None when there is none."""
        try:
            parts = Path(path).relative_to(self.directory).parts
        except ValueError:
            return None
        return parts[1] if len(parts) > 1 else None

    def root_of(self, path: str) -> str | None:
        """Return the directory of the worktree that contains `path`; None when there is none."""
        name = self.name_of(path)
        return str(self.directory.joinpath(*Path(path).relative_to(self.directory).parts[:2])) if name else None

    async def make(self, cwd: str, name: str) -> Worktree:
        """Return the worktree `name` for a session at `cwd`; create it if needed. Raises `WorktreeError`."""
        top = await _top(cwd)
        branch = f"{BRANCHES}{name}"
        if not _NAME.fullmatch(name) or await try_git(top, "check-ref-format", "--branch", branch) is None:
            raise WorktreeError(f"{name!r} cannot be the name of a branch")
        path = self.path(top, name)
        if Path(path).is_relative_to(top):
            raise WorktreeError(f"{self.directory} is inside of the project: set worktree_directory to another one")
        if _is_directory(path):
            await _require_same(top, path)
            return Worktree(
                path=path, cwd=_same_place(cwd, top, path), branch=branch, remarks=("It was there already.",)
            )
        await self._add(top, path, branch)
        return Worktree(path=path, cwd=_same_place(cwd, top, path), branch=branch, remarks=await _remarks(top, path))

    async def _add(self, top: str, path: str, branch: str) -> None:
        if await try_git(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
            raise WorktreeError(f"the repository at {top} has no commit yet")
        if await try_git(top, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}") is not None:
            raise WorktreeError(f"there is a branch {branch} already: choose another name")
        try:
            await anyio.to_thread.run_sync(make_directory, Path(path).parent)
        except OSError as error:
            raise WorktreeError(f"{error.filename}: {error.strerror}") from error
        await work(top, "worktree", "add", "--quiet", "-b", branch, "--", path, "HEAD")


async def inspect(path: str) -> WorktreeStatus:
    """Return what a worktree holds. Raises `WorktreeError`."""
    changed = await work(path, *_STATUS)
    branch = await try_git(path, "symbolic-ref", "--short", "--quiet", "HEAD")
    own = ["--not", f"--exclude={branch}", "--branches", "--remotes", "--tags"] if branch else []
    commits = await git(path, "rev-list", "--count", "HEAD", *own) if branch else "0"
    return WorktreeStatus(path=path, branch=branch, changed=_files(changed), commits=int(commits))


async def remove(path: str, force: bool) -> str:
    """Remove a worktree and return a message for the user. With changes only by `force`. Raises `WorktreeError`.

    Also delete its branch if we created it and it has no commits of its own.
    """
    status = await inspect(path)
    if status.changed and not force:
        raise WorktreeError(f"{status.changed} files in {path} have changes that are not committed")
    common = os.path.join(path, (await git(path, "rev-parse", "--git-common-dir")).removesuffix("\n"))
    await work(common, "worktree", "remove", *(["--force"] if force else []), "--", path)
    branch = status.branch
    if branch is None or not branch.startswith(BRANCHES):
        return f"The worktree {path} is removed."
    if status.commits or await try_git(common, "branch", "--quiet", "-D", "--", branch) is None:
        return f"The worktree {path} is removed; its branch {branch} stays."
    return f"The worktree {path} is removed, and its branch {branch}, on which nothing was."


async def _top(cwd: str) -> str:
    """Return the top of the repository's work tree, as a real path."""
    try:
        top = (await git(cwd, "rev-parse", "--show-toplevel")).removesuffix("\n")
    except WorktreeError as error:
        for said, words in _NOWHERE.items():
            if said in str(error):
                raise WorktreeError(f"{cwd} {words}") from error
        raise
    return _real(top)


async def _require_same(top: str, path: str) -> None:
    """Check that the existing directory is a work tree of the same repository."""
    commons = []
    for one in (top, path):
        said = await try_git(one, "rev-parse", "--show-toplevel", "--git-common-dir")
        shown, _, common = (said or "").partition("\n")
        commons.append(_real(os.path.join(one, common)) if _real(shown) == one else "")
    if not commons[1] or commons[0] != commons[1]:
        raise WorktreeError(f"{path} is in the way: it is no worktree of {top}")


async def _remarks(top: str, path: str) -> tuple[str, ...]:
    """Describe what of the user's work tree is missing in the worktree at `path`."""
    try:
        changed = _files(await work(top, *_STATUS))
        filtered = await _filtered(path)
    except WorktreeError:
        return ()
    words = []
    if changed:
        words.append(f"{changed} files in {top} have changes that are not committed: the worktree does not have them.")
    if filtered:
        words.append(
            f"{filtered} files in the worktree have filters (git-lfs, for example), which were not run: they have the "
            "text that git keeps."
        )
    return tuple(words)


async def _filtered(path: str) -> int:
    """Count the files with a configured filter."""
    options = " ".join(await without_drivers(path))
    names = re.findall(r"filter\.([\w-]+)\.clean=", options)  # git takes no others in a pathspec
    places = [f":(attr:filter={name})" for name in names]
    return (await work(path, "ls-files", "-z", "--", *places)).count("\0") if places else 0


def _files(porcelain: str) -> int:
    """Count the files in the output of `git status --porcelain -z`."""
    names = iter(porcelain.split("\0"))
    count = 0
    for name in names:
        if name:
            count += 1
            if name[0] in "RC":
                next(names, None)  # where it was before
    return count


def _same_place(cwd: str, top: str, path: str) -> str:
    """Return the directory in the worktree that corresponds to `cwd`; its top, if there is none."""
    inside = os.path.normpath(os.path.join(path, os.path.relpath(_real(cwd), top)))
    return inside if _is_directory(inside) else path


def _is_directory(path: str) -> bool:
    return os.path.isdir(path)


def _real(path: str) -> str:
    return os.path.realpath(path)


async def git(cwd: str, *arguments: str, seconds: float = GIT_LOOK_SECONDS) -> str:
    """Return the stdout of `git <arguments>`, run in `cwd`. Raises `WorktreeError`.

    The command must not read or write contents of files, because that may run filters: use `work` then. `seconds` is
    the time limit. When this is cancelled, git is gone afterwards.
    """
    ended = await _run(cwd, (*process.NO_PROGRAMS, *arguments), seconds)
    if ended.code != 0:
        said = ended.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise WorktreeError(f"git {_name(arguments)} failed: {said[:GIT_ERROR_CHARS] or ended.code}")
    return ended.stdout.decode("utf-8", "surrogateescape")


async def work(cwd: str, *arguments: str) -> str:
    """Run git without filters, for commands that read or write contents of files and may take a while."""
    return await git(cwd, *await without_drivers(cwd), *arguments, seconds=GIT_WORK_SECONDS)


async def without_drivers(cwd: str) -> list[str]:
    """Return options that switch off the configured filters and hooks. Raises `WorktreeError`."""
    ended = await _run(cwd, process.DRIVERS, GIT_LOOK_SECONDS)
    if ended.code not in (0, NO_DRIVERS):
        said = ended.stderr.decode("utf-8", "replace").strip()
        raise WorktreeError(f"git config failed: {said[:GIT_ERROR_CHARS]}")
    try:
        return process.disable(ended.stdout)
    except ValueError as error:
        raise WorktreeError(f"git is not run in {cwd}: {error}") from error


async def try_git(cwd: str, *arguments: str) -> str | None:
    """Return git's answer without the newline at its end; None when git fails."""
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
