"""A work tree for one session: on a new branch of its own, in a directory outside of the user's."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import anyio.to_thread
import msgspec

from acp_nvim.workspace.private_file import make_directory
from acp_nvim.worktrees.git import WorktreeError, asks, git, without_drivers, work

BRANCHES = "acp/"
"""Begins the names of the branches that we make."""

_NOWHERE = {
    "not a git repository": "is not in a git repository",
    "must be run in a work tree": "is not in a work tree of git",
}
"""What git says, and what it means for a directory."""

_STATUS = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
"""To look into the files of a submodule, git would start another git there, with the configuration of that one."""

_NAME = re.compile(r"[\w][\w.+-]{0,59}")


class Worktree(msgspec.Struct, frozen=True, kw_only=True):
    """`path` is its directory, `cwd` the place in it that is the session's; `remarks` are for the user."""

    path: str
    cwd: str
    branch: str
    remarks: tuple[str, ...] = ()


class WorktreeStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What would be lost with a work tree: files with changes that are not committed. `commits`: only on its branch."""

    path: str
    branch: str | None
    changed: int
    commits: int


class Worktrees:
    """The git work trees that this plugin has made, at `directory/<project>/<name>`."""

    def __init__(self, directory: Path) -> None:
        self.directory = Path(os.path.realpath(directory))

    def __repr__(self) -> str:
        return f"<Worktrees in {self.directory}>"

    def path(self, top: str, name: str) -> str:
        """Where the one of that name is, or would be, for the repository whose work tree is at `top`."""
        digest = hashlib.sha256(os.fsencode(top)).hexdigest()[:8]
        project = re.sub(r"[^\w.-]", "_", os.path.basename(top))[-40:].lstrip(".") or "project"
        return str(self.directory / f"{project}-{digest}" / name)

    def name_of(self, path: str) -> str | None:
        """The name of the one in which that path is."""
        try:
            parts = Path(path).relative_to(self.directory).parts
        except ValueError:
            return None
        return parts[1] if len(parts) > 1 else None

    def root_of(self, path: str) -> str | None:
        """The directory of the one in which that path is."""
        name = self.name_of(path)
        return str(self.directory.joinpath(*Path(path).relative_to(self.directory).parts[:2])) if name else None

    async def make(self, cwd: str, name: str) -> Worktree:
        """One for a session that would work at `cwd`, or the one that has the name. Raises `WorktreeError`."""
        top = await _top(cwd)
        branch = f"{BRANCHES}{name}"
        if not _NAME.fullmatch(name) or await asks(top, "check-ref-format", "--branch", branch) is None:
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
        if await asks(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
            raise WorktreeError(f"the repository at {top} has no commit yet")
        if await asks(top, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}") is not None:
            raise WorktreeError(f"there is a branch {branch} already: choose another name")
        try:
            await anyio.to_thread.run_sync(make_directory, Path(path).parent)
        except OSError as error:
            raise WorktreeError(f"{error.filename}: {error.strerror}") from error
        await work(top, "worktree", "add", "--quiet", "-b", branch, "--", path, "HEAD")


async def look(path: str) -> WorktreeStatus:
    """What a work tree holds. Raises `WorktreeError`."""
    changed = await work(path, *_STATUS)
    branch = await asks(path, "symbolic-ref", "--short", "--quiet", "HEAD")
    own = ["--not", f"--exclude={branch}", "--branches", "--remotes", "--tags"] if branch else []
    commits = await git(path, "rev-list", "--count", "HEAD", *own) if branch else "0"
    return WorktreeStatus(path=path, branch=branch, changed=_files(changed), commits=int(commits))


async def remove(path: str, force: bool) -> str:
    """Remove a work tree: what is to be said of it. With changes only by `force`. Raises `WorktreeError`.

    Its branch goes too, if we made it and no commit is on it alone; else it stays.
    """
    status = await look(path)
    if status.changed and not force:
        raise WorktreeError(f"{status.changed} files in {path} have changes that are not committed")
    common = os.path.join(path, (await git(path, "rev-parse", "--git-common-dir")).removesuffix("\n"))
    await work(common, "worktree", "remove", *(["--force"] if force else []), "--", path)
    branch = status.branch
    if branch is None or not branch.startswith(BRANCHES):
        return f"The worktree {path} is removed."
    if status.commits or await asks(common, "branch", "--quiet", "-D", "--", branch) is None:
        return f"The worktree {path} is removed; its branch {branch} stays."
    return f"The worktree {path} is removed, and its branch {branch}, on which nothing was."


async def _top(cwd: str) -> str:
    """The work tree of the repository there, as a real path."""
    try:
        top = (await git(cwd, "rev-parse", "--show-toplevel")).removesuffix("\n")
    except WorktreeError as error:
        for said, words in _NOWHERE.items():
            if said in str(error):
                raise WorktreeError(f"{cwd} {words}") from error
        raise
    return _real(top)


async def _require_same(top: str, path: str) -> None:
    """The directory that is in the way must be a work tree of the same repository."""
    commons = []
    for one in (top, path):
        said = await asks(one, "rev-parse", "--show-toplevel", "--git-common-dir")
        shown, _, common = (said or "").partition("\n")
        commons.append(_real(os.path.join(one, common)) if _real(shown) == one else "")
    if not commons[1] or commons[0] != commons[1]:
        raise WorktreeError(f"{path} is in the way: it is no worktree of {top}")


async def _remarks(top: str, path: str) -> tuple[str, ...]:
    """What of the user's own work tree is not in the one at `path`."""
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
    """How many files there have a filter that is configured."""
    options = " ".join(await without_drivers(path))
    names = re.findall(r"filter\.([\w-]+)\.clean=", options)  # git takes no others in a pathspec
    places = [f":(attr:filter={name})" for name in names]
    return (await work(path, "ls-files", "-z", "--", *places)).count("\0") if places else 0


def _files(porcelain: str) -> int:
    """How many files `git status --porcelain -z` names."""
    names = iter(porcelain.split("\0"))
    count = 0
    for name in names:
        if name:
            count += 1
            if name[0] in "RC":
                next(names, None)  # where it was before
    return count


def _same_place(cwd: str, top: str, path: str) -> str:
    """Where the worktree at `path` has what `cwd` is below `top`; its top, when only the user's own tree has that."""
    inside = os.path.normpath(os.path.join(path, os.path.relpath(_real(cwd), top)))
    return inside if _is_directory(inside) else path


def _is_directory(path: str) -> bool:
    return os.path.isdir(path)


def _real(path: str) -> str:
    return os.path.realpath(path)
