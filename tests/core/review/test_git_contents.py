"""What git made of a file is known by what git has, and had before; what git was given later does not count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_nvim.evidence.evidence import Observation
from acp_nvim.evidence.git_contents import GitContents
from acp_nvim.file_time import last_change
from acp_nvim.snapshots.objects import BLOB, object_id
from acp_nvim.snapshots.places import Places
from acp_nvim.snapshots.snapshot import GoneError
from tests.support.agent_edits import git
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio


async def nothing_kept(oid: str) -> bytes:
    """Raise the error for contents that were not kept."""
    raise GoneError(oid)


class Repository:
    """A repository of the user's with one commit of `f` on `main`, and another text of it, and `new`, on `other`."""

    def __init__(self, directory: Path) -> None:
        self.top = Path(os.path.realpath(directory)) / "project"
        self.top.mkdir()
        self.git("init", "-q", "-b", "main")
        self.write("f", "one\n")
        self.commit("first")
        self.git("checkout", "-q", "-b", "other")
        self.write("f", "two\n")
        self.write("new", "new\n")
        self.commit("second")
        self.git("checkout", "-q", "main")
        places = Places(directory / "shadow")
        places.prepare()
        places.close()
        self.contents = GitContents(str(self.top), places.directory, nothing_kept)

    def git(self, *words: str) -> None:
        git(self.top, *words)

    def write(self, name: str, text: str) -> None:
        (self.top / name).write_text(text)

    def commit(self, subject: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)

    def oid(self, name: str) -> str | None:
        path = self.top / name
        return object_id(BLOB, path.read_bytes()) if path.exists() else None

    async def made(self, name: str, before: str | None, *, since: int = 0, is_first: bool = True) -> str | None:
        """Return which part of git has made the file what it is."""
        path = str(self.top / name)
        changed, size = last_change(path)
        return await self.contents.made(Observation(path, changed, size, before, self.oid(name), since), is_first)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


async def test_a_branch_is_checked_out_and_left_again(repository: Repository) -> None:
    before = repository.oid("f")
    repository.git("checkout", "-q", "other")
    assert await repository.made("f", before) == "git"
    assert await repository.made("new", None) == "git"
    new = repository.oid("new")
    repository.git("checkout", "-q", "main")
    assert await repository.made("new", new) == "git"


@pytest.mark.parametrize("how", [["checkout", "f"], ["stash"], ["reset", "-q", "--hard"], ["restore", "f"]])
async def test_what_the_user_wrote_is_thrown_away(repository: Repository, how: list[str]) -> None:
    repository.write("f", "mine\n")
    before = repository.oid("f")
    repository.git(*how)
    assert repository.oid("f") != before
    assert await repository.made("f", before) == "git"


async def test_what_was_stashed_comes_back(repository: Repository) -> None:
    repository.write("f", "mine\n")
    repository.write("untracked", "mine\n")
    untracked = repository.oid("untracked")
    repository.git("stash", "-u")
    assert await repository.made("untracked", untracked) == "git"
    before = repository.oid("f")
    repository.git("stash", "pop")
    assert await repository.made("f", before) == "git stash"
    assert await repository.made("untracked", None) == "git stash"


async def test_every_stash_is_known_that_was_there_before(repository: Repository) -> None:
    before = repository.oid("f")
    for number in range(3):
        repository.write("f", f"{number}\n")
        repository.git("stash")
    repository.git("pack-refs", "--all")
    await repository.contents.look()
    repository.git("stash", "pop", "stash@{2}")
    assert (repository.top / "f").read_text() == "0\n"
    assert await repository.made("f", before) == "git stash"


async def test_what_git_never_had_was_not_removed_by_it(repository: Repository) -> None:
    repository.write("untracked", "mine\n")
    untracked = repository.oid("untracked")
    (repository.top / "untracked").unlink()
    repository.git("rm", "-q", "f")
    assert await repository.made("untracked", untracked) is None
    assert await repository.made("untracked", untracked, is_first=False) is None


async def test_a_rebase(repository: Repository) -> None:
    repository.write("mine", "mine\n")
    repository.commit("mine")
    before = repository.oid("f")
    repository.git("rebase", "-q", "other")
    assert await repository.made("f", before) == "git"
    assert await repository.made("new", None) == "git"


async def test_what_is_added_later_was_not_made_by_git(repository: Repository) -> None:
    before = repository.oid("f")
    repository.write("f", "by the agent\n")
    os.utime(repository.top / "f")
    assert await repository.made("f", before) is None
    while not await _is_later(repository):
        repository.git("add", "f")
    assert await repository.made("f", before) is None
    repository.git("commit", "-q", "-m", "more")
    assert await repository.made("f", before) is None


async def _is_later(repository: Repository) -> bool:
    """Whether the clock has gone on since the file was written, for the object that git has added."""
    oid = repository.oid("f") or ""
    loose = repository.top / ".git" / "objects" / oid[:2] / oid[2:]
    if not loose.exists():
        return False
    is_later = loose.stat().st_mtime_ns > (repository.top / "f").stat().st_ctime_ns + 50_000_000
    if not is_later:
        loose.unlink()
        repository.git("rm", "-q", "--cached", "f")
    return is_later


async def test_what_is_the_same_by_chance_was_not_made_by_git(repository: Repository) -> None:
    """Nothing of git is newer than the file."""
    os.utime(repository.top / ".git" / "index", ns=(0, 0))
    repository.write("f", "one\n")
    assert await repository.made("f", object_id(BLOB, b"mine\n")) is None


async def test_outside_of_any_repository(repository: Repository, tmp_path: Path) -> None:
    contents = GitContents(str(tmp_path), tmp_path / "shadow", nothing_kept)
    assert await contents.made(Observation(str(tmp_path / "f"), 1, 1, None, "e" * 40), True) is None


async def test_what_git_would_have_added_again_it_may_have_made(repository: Repository) -> None:
    before = repository.oid("f")
    repository.write("f", "by the agent\n")
    os.utime(repository.top / "f")
    while not await _is_later(repository):
        repository.git("add", "f")
    assert await repository.made("f", before) is None
    assert await repository.made("f", before, is_first=False) == "git"


async def test_what_git_has_removed_before_another_file_was_made(repository: Repository) -> None:
    repository.git("checkout", "-q", "other")
    new, since = repository.oid("new"), last_change(str(repository.top / "new"))[0]
    repository.git("checkout", "-q", "main")
    index = os.stat(repository.top / ".git" / "index").st_mtime_ns
    wait_until(lambda: _made_later(repository.top, index + 30_000_000), what="another time")
    assert await repository.made("new", new) is None
    assert await repository.made("new", new, since=since) == "git"


def _made_later(top: Path, moment: int) -> bool:
    (top / "more").unlink(missing_ok=True)
    (top / "more").touch()
    return os.stat(top).st_mtime_ns > moment
