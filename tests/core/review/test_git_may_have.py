"""Where the user's git, or jj, may have written a file while a command of an agent ran, the command did not surely."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from acp_nvim.file_time import last_change
from acp_nvim.review.evidence import Observation
from acp_nvim.review.git_contents import GitContents
from acp_nvim.snapshots.objects import BLOB, object_id
from acp_nvim.snapshots.places import Places
from tests.support.five_ways import git, look
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio


class Tree:
    """A repository of the user's with `f` and `gone` on `main`, other contents on `other`, and three stashes of `f`."""

    def __init__(self, directory: Path, *options: str) -> None:
        self.directory = Path(os.path.realpath(directory))
        self.top = self.directory / "project"
        self.top.mkdir()
        self.git("init", "-q", "-b", "main", *options)
        self.write(f="one\ntwo\nthree\n", gone="gone\n")
        self.commit("first")
        self.git("checkout", "-q", "-b", "other")
        self.write(f="one\ntwo\nTHREE\n", new="new\n")
        self.git("rm", "-q", "gone")
        self.commit("second")
        self.git("checkout", "-q", "main")
        for number in range(3):
            self.write(f=f"stash {number}\n")
            self.git("stash")
        self.contents = GitContents(str(self.top), shadow(self.directory))
        self.known: dict[Path, str | None] = {}

    def git(self, *words: str, where: Path | None = None) -> None:
        git(where or self.top, *words)

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.top / name).write_text(text)

    def commit(self, subject: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)

    def note(self, *paths: Path) -> None:
        """The scan before the turn: what these files are now. The clock then goes on, as git's times are compared."""
        self.known = {path: oid(path) for path in paths}
        self.since = os.stat(self.top).st_ctime_ns
        ticks = self.directory / "ticks"

        def is_later() -> bool:
            ticks.write_text("")
            return ticks.stat().st_mtime_ns > max(os.stat(self.top / ".git").st_ctime_ns, self.since) + 50_000_000

        wait_until(is_later, what="another time")

    async def may_have(self) -> dict[str, str | None]:
        """Of each file that has changed since, which program may have done it."""
        found = {}
        for path, before in self.known.items():
            changed, size = last_change(str(path))
            seen = Observation(str(path), changed, size, before, oid(path), changed)
            if seen.before != seen.after:
                found[path.name] = await self.contents.made(seen, False)
        return found


def shadow(directory: Path) -> Path:
    """A git directory of the host's own."""
    places = Places(directory / "shadow")
    places.prepare()
    places.close()
    return places.directory


def oid(path: Path) -> str | None:
    return object_id(BLOB, path.read_bytes()) if path.exists() else None


Act = Callable[[Tree], None]


def acts(*lines: str) -> Act:
    """These commands of git."""

    def act(tree: Tree) -> None:
        for line in lines:
            tree.git(*line.split())

    return act


def look_only(tree: Tree) -> None:
    """Somebody else changes files, and git looks at them."""
    tree.write(f="mine\n", new="")
    (tree.top / "gone").unlink()
    tree.git("status")


GIT: Final[dict[str, tuple[Act, Act, dict[str, str | None]]]] = {
    "the newest stash": (acts(), acts("stash pop"), {"f": "git"}),
    "an older stash": (acts(), acts("stash apply stash@{2}"), {"f": "git"}),
    "packed refs": (acts("pack-refs --all"), acts("stash pop stash@{1}"), {"f": "git"}),
    "all in packs": (acts("gc -q --prune=now"), acts("stash pop stash@{1}"), {"f": "git"}),
    "a branch": (acts(), acts("checkout -q other"), {"f": "git", "gone": "git", "new": "git"}),
    "a branch in packs": (acts("repack -q -a -d"), acts("switch -q other"), {"f": "git", "gone": "git", "new": "git"}),
    "restore": (acts(), acts("restore --source=other f"), {"f": "git"}),
    "a merge": (acts(), acts("merge -q --no-edit other"), {"f": "git", "gone": "git", "new": "git"}),
    "a commit": (acts(), acts("cherry-pick other"), {"f": "git", "gone": "git", "new": "git"}),
    "a reset": (acts(), acts("reset -q --hard other"), {"f": "git", "gone": "git", "new": "git"}),
    "and added again": (acts(), acts("stash pop", "add f", "commit -q -m more"), {"f": "git"}),
    "not by git": (acts(), lambda tree: tree.write(f="mine\n", new="mine\n"), {"f": None, "new": None}),
    "not by git, which only looks": (
        acts(),
        look_only,
        {"f": None, "new": None, "gone": None},
    ),
    "the same content, while git rests": (acts(), lambda tree: tree.write(f="stash 0\n"), {"f": None}),
}


@pytest.mark.parametrize("options", [[], ["--object-format=sha256"]], ids=["sha1", "sha256"])
@pytest.mark.parametrize(("before", "act", "expected"), GIT.values(), ids=list(GIT))
async def test_while_a_command_runs(
    tmp_path: Path, options: list[str], before: Act, act: Act, expected: dict[str, str | None]
) -> None:
    tree = Tree(tmp_path, *options)
    before(tree)
    tree.note(*(tree.top / name for name in ("f", "gone", "new")))
    act(tree)
    kept, times = look(tree.top / ".git", git=True), look_at_times(tree.top)
    found = await tree.may_have()
    if options and "gone" in expected:  # of another format the index is not read
        expected = {**expected, "gone": "git perhaps"}
    assert found == expected
    assert look(tree.top / ".git", git=True) == kept
    assert look_at_times(tree.top) == times


def look_at_times(top: Path) -> dict[str, int]:
    """When each file and directory was changed."""
    return {str(path): path.lstat().st_ctime_ns for path in (top, *top.rglob("*"))}


async def test_a_conflict_is_of_git(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.write(f="one\ntwo\n3\n")
    tree.commit("mine")
    tree.note(tree.top / "f")
    with pytest.raises(AssertionError, match="merge"):
        git(tree.top, "merge", "-q", "other")
    assert "<<<<<<<" in (tree.top / "f").read_text()
    assert await tree.may_have() == {"f": "git"}


async def test_a_merge_of_both_texts(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.write(f="ONE\ntwo\nthree\n")
    tree.commit("mine")
    tree.note(tree.top / "f")
    tree.git("rebase", "-q", "other")
    assert (tree.top / "f").read_text() == "ONE\ntwo\nTHREE\n"
    assert await tree.may_have() == {"f": "git"}


async def test_a_checkout_that_still_goes_on(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.note(tree.top / "f")
    (tree.top / ".git" / "index.lock").touch()
    tree.write(f="one\ntwo\nTHREE\n")
    os.utime(tree.top / ".git", ns=(0, 0))
    assert await tree.may_have() == {"f": "git"}


async def test_objects_of_another_repository_linked_and_inner_work_trees(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.git("gc", "-q")
    borrowed, linked = tree.directory / "borrowed", tree.top / "linked"
    tree.git("clone", "-q", "-s", str(tree.top), str(borrowed))
    tree.git("worktree", "add", "-q", "--detach", str(linked), "main")
    tree.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tree.top), "inner")
    inner = tree.top / "inner"
    tree.note(borrowed / "f", linked / "f", inner / "f")
    for where in (linked, inner):
        tree.git("checkout", "-q", "origin/other" if where == inner else "other", where=where)
        changed = {path: before for path, before in tree.known.items() if path.parent == where}
        tree.known, others = changed, tree.known
        assert await tree.may_have() == {"f": "git"}, where
        tree.known = others
    tree.git("checkout", "-q", "origin/other", where=borrowed)
    contents, tree.contents = tree.contents, GitContents(str(borrowed), shadow(tree.directory / "more"))
    tree.known = {borrowed / "f": tree.known[borrowed / "f"]}
    assert await tree.may_have() == {"f": "git"}
    tree.contents = contents


async def test_what_git_converts_it_may_have(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.git("config", "core.autocrlf", "true")
    tree.write(**{".gitattributes": "*.bin filter=any\nd/** ident\n"})
    paths = [tree.top / name for name in ("f", "a.bin", "a.txt")]
    tree.note(*paths)
    tree.git("checkout", "-q", "other")
    assert b"\r\n" in paths[0].read_bytes()
    tree.write(**{"a.bin": "converted\n", "a.txt": "plain\n"})
    tree.git("add", "f")
    assert await tree.may_have() == {"f": "git", "a.bin": "git perhaps", "a.txt": None}


async def test_jj_without_git_beside_it(tmp_path: Path) -> None:
    """As jj keeps a work tree: its contents in a git repository of its own, its state in a directory."""
    tree = Tree(tmp_path)
    store = tree.top / ".jj" / "repo" / "store"
    store.mkdir(parents=True)
    (tree.top / ".jj" / "working_copy").mkdir()
    tree.git("config", "core.bare", "true")
    shutil.move(tree.top / ".git", store / "git")
    (store / "git_target").write_text("git")
    (tree.top / ".git").mkdir()  # no repository
    tree.note(tree.top / "f", tree.top / "new")
    tree.write(f="one\ntwo\nTHREE\n", new="mine\n")
    assert await tree.may_have() == {"f": None, "new": None}
    (tree.top / ".jj" / "working_copy" / "state").touch()
    assert await tree.may_have() == {"f": "jj", "new": None}
