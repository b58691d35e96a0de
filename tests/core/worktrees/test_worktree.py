"""Work trees for sessions, in real repositories: what is made, what is refused, what is never touched."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from acp_nvim.worktrees.worktree import WorktreeError, Worktrees, inspect, remove

pytestmark = pytest.mark.anyio


def git(cwd: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit, and a directory in it that is committed."""
    project = tmp_path / "a project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.txt").write_text("one\n")
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    return project


@pytest.fixture
def worktrees(tmp_path: Path) -> Worktrees:
    return Worktrees(tmp_path / "state" / "worktrees")


def make(path: str) -> None:
    Path(path).mkdir(parents=True)


def is_there(path: str) -> bool:
    return Path(path).exists()


async def refusal(worktrees: Worktrees, cwd: Path, name: str = "fix") -> str:
    with pytest.raises(WorktreeError) as caught:
        await worktrees.make(str(cwd), name)
    return str(caught.value)


async def test_it_is_made_beside_the_project_on_a_branch_of_its_own(project: Path, worktrees: Worktrees) -> None:
    (project / "src" / "a.txt").write_text("two\n")
    (project / "new.txt").write_text("new\n")
    before = git(project, "status", "--porcelain")
    made = await worktrees.make(str(project / "src"), "fix")
    assert Path(made.cwd) == Path(made.path) / "src"
    assert (Path(made.cwd) / "a.txt").read_text() == "one\n"
    assert git(Path(made.path), "symbolic-ref", "--short", "HEAD") == made.branch == "acp/fix"
    assert git(project, "symbolic-ref", "--short", "HEAD") == "main"
    assert git(project, "status", "--porcelain") == before
    assert made.remarks == (
        f"2 files in {project} have changes that are not committed: the worktree does not have them.",
    )
    assert (worktrees.root_of(made.cwd), worktrees.root_of(str(project))) == (made.path, None)
    assert worktrees.root_of(str(worktrees.directory)) is None
    again = await worktrees.make(str(project / "src"), "fix")
    assert (again.path, again.remarks) == (made.path, ("It was there already.",))


async def test_a_directory_that_is_not_committed_gives_the_top(project: Path, worktrees: Worktrees) -> None:
    (project / "mine").mkdir()
    made = await worktrees.make(str(project / "mine"), "fix")
    assert made.cwd == made.path


@pytest.mark.parametrize("name", ["", "../out", "a b", "-x", "x..y", "end.lock", "x" * 61, "a/b"])
async def test_what_is_no_name_is_refused(project: Path, worktrees: Worktrees, name: str) -> None:
    assert "cannot be the name" in await refusal(worktrees, project, name)
    assert not worktrees.directory.exists()


async def test_what_is_in_the_way_is_said(tmp_path: Path, project: Path, worktrees: Worktrees) -> None:
    assert "is not in a git repository" in await refusal(worktrees, Path("/"))  # no repository above it
    assert "is not in a work tree" in await refusal(worktrees, project / ".git")
    assert "there is no directory" in await refusal(worktrees, tmp_path / "none")
    git(project, "branch", "acp/taken")
    assert "there is a branch acp/taken already" in await refusal(worktrees, project, "taken")
    assert "is inside of the project" in await refusal(Worktrees(project / "trees"), project)
    make(worktrees.path(str(project), "stranger"))
    assert "it is no worktree of" in await refusal(worktrees, project, "stranger")
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    assert "has no commit yet" in await refusal(worktrees, empty)
    (tmp_path / "file").write_text("")
    assert "Not a directory" in await refusal(Worktrees(tmp_path / "file" / "x"), project)


async def test_without_git_it_says_so(project: Path, worktrees: Worktrees, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "git is not installed" in await refusal(worktrees, project)


async def test_git_variables_of_the_surroundings_mean_nothing(
    project: Path, worktrees: Worktrees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other.git"))
    made = await worktrees.make(str(project), "fix")
    assert (Path(made.path) / "src" / "a.txt").exists()


async def test_nothing_is_lost_when_it_is_removed(project: Path, worktrees: Worktrees) -> None:
    made = await worktrees.make(str(project), "fix")
    outlook = await inspect(made.path)
    assert (outlook.changed, outlook.commits, outlook.branch) == (0, 0, "acp/fix")
    words = await remove(made.path, force=False)
    assert words.endswith("is removed, and its branch acp/fix, on which nothing was.")
    assert not is_there(made.path)
    assert git(project, "branch", "--format=%(refname:short)") == "main"
    assert git(project, "worktree", "list").count("\n") == 0


async def test_changes_are_lost_only_by_force_and_commits_never(project: Path, worktrees: Worktrees) -> None:
    made = await worktrees.make(str(project), "fix")
    path = Path(made.path)
    (path / "src" / "a.txt").write_text("committed\n")
    git(path, "commit", "-qam", "of the agent")
    git(path, "mv", "src/a.txt", "src/b.txt")
    (path / "new.txt").write_text("")
    outlook = await inspect(made.path)
    assert (outlook.changed, outlook.commits) == (2, 1)
    with pytest.raises(WorktreeError, match=r"2 files in .* have changes"):
        await remove(made.path, force=False)
    assert (path / "new.txt").exists()
    words = await remove(made.path, force=True)
    assert words.endswith("is removed; its branch acp/fix stays.")
    assert git(project, "log", "-1", "--format=%s", "acp/fix") == "of the agent"


async def test_a_branch_of_the_users_stays_whatever_is_on_it(project: Path, worktrees: Worktrees) -> None:
    made = await worktrees.make(str(project), "fix")
    git(Path(made.path), "checkout", "-q", "-b", "mine")
    await remove(made.path, force=False)
    assert git(project, "branch", "--format=%(refname:short)").split() == ["acp/fix", "main", "mine"]


async def test_what_is_no_work_tree_is_neither_looked_at_nor_removed(tmp_path: Path, project: Path) -> None:
    with pytest.raises(WorktreeError):
        await inspect(str(tmp_path))
    with pytest.raises(WorktreeError):
        await remove(str(project), force=False)
    assert (project / "src" / "a.txt").exists()
