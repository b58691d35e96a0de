"""Where the user's git, or jj, may have written a file while a command of an agent ran, the command did not surely."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
import pytest

from acp_nvim.evidence import git_contents
from acp_nvim.evidence.evidence import Observation
from acp_nvim.evidence.git_contents import GitContents
from acp_nvim.evidence.users_work import UsersWork
from acp_nvim.file_time import last_change
from acp_nvim.snapshots.objects import BLOB, object_id
from acp_nvim.snapshots.places import Places
from acp_nvim.snapshots.snapshot import GoneError
from tests.support.agent_edits import git, look
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
        self.contents = GitContents(str(self.top), shadow(self.directory), self.read)
        self.known: dict[Path, str | None] = {}
        self.kept: dict[str, bytes] = {}

    def git(self, *words: str, where: Path | None = None) -> None:
        git(where or self.top, *words)

    async def read(self, oid: str) -> bytes:
        """What the review has kept of files."""
        if oid not in self.kept:
            raise GoneError(oid)
        return self.kept[oid]

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.top / name).write_text(text)

    def commit(self, subject: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)

    def note(self, *paths: Path) -> None:
        """The scan before the turn: what these files are now. The clock then goes on."""
        self.known = {path: oid(path) for path in paths}
        self.since = os.stat(self.top).st_ctime_ns
        self.tick()

    def tick(self) -> None:
        """Let the clock go on, as git's times are compared."""
        last = max(os.stat(self.top / ".git").st_ctime_ns, *(last_change(str(path))[0] for path in self.known))
        ticks = self.directory / "ticks"

        def is_later() -> bool:
            ticks.write_text("")
            return ticks.stat().st_mtime_ns > max(last, self.since) + 50_000_000

        wait_until(is_later, what="another time")

    async def may_have(self) -> dict[str, str | None]:
        """Of each file that has changed since, which program may have done it."""
        found = {}
        for path, before in self.known.items():
            seen = self.look(path, before)
            if seen.before != seen.after:
                found[path.name] = await self.contents.made(seen, False)
        return found

    def look(self, path: Path, before: str | None) -> Observation:
        """What is to be judged of a file now."""
        changed, size = last_change(str(path))
        return Observation(str(path), changed, size, before, oid(path), changed)


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
    """Return an act that runs these commands of git."""

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
    """Return the time of the last change of each file and directory."""
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
    contents, tree.contents = tree.contents, GitContents(str(borrowed), shadow(tree.directory / "more"), tree.read)
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


def replace(text: str) -> Callable[[Path], object]:
    """Return an act that writes another text."""
    return lambda path: path.write_text(text)


def make_directory(path: Path) -> None:
    """Replace the file by a directory."""
    path.unlink()
    path.mkdir()


LATER: Final[dict[str, Callable[[Path], object]]] = {
    "deleted": Path.unlink,
    "a directory": make_directory,
    "git's": replace("one\ntwo\nTHREE\n"),
    "another": replace("another\n"),
}
"""What becomes of a file between the look at it and the judgement."""


@pytest.mark.parametrize("options", [[], ["--object-format=sha256"]], ids=["sha1", "sha256"])
@pytest.mark.parametrize("later", LATER.values(), ids=list(LATER))
async def test_what_it_was_is_judged_not_what_it_is_now(
    tmp_path: Path, options: list[str], later: Callable[[Path], object]
) -> None:
    tree = Tree(tmp_path, *options)
    tree.git("config", "core.autocrlf", "true")
    path = tree.top / "f"
    seen = {}
    for text in ("mine\n", "one\r\ntwo\r\nTHREE\r\n"):
        tree.note(path)
        path.write_bytes(text.encode())
        seen[text] = tree.look(path, tree.known[path])
    later(path)
    tree.git("rm", "-q", "--cached", "gone")
    assert [await tree.contents.made(one, False) for one in seen.values()] == ["git perhaps", "git perhaps"]
    tree.kept = {one.after or "": text.encode() for text, one in seen.items()}
    assert [await tree.contents.made(one, False) for one in seen.values()] == [None, "git"]


async def test_what_has_passed_was_made_earlier_than_the_file_tells(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    path = tree.top / "f"
    tree.note(path)
    tree.git("restore", "--source=other", "f")
    made = oid(path)
    tree.tick()
    tree.write(f="mine\n")
    changed, size = last_change(str(path))
    seen = Observation(str(path), changed, size, tree.known[path], made, tree.since, is_past=True)
    assert await tree.contents.made(seen, False) == "git"
    assert await tree.contents.made(msgspec.structs.replace(seen, is_past=False), False) is None


def lock(tree: Tree) -> None:
    """Let a git hold the lock of the index."""
    (tree.top / ".git" / "index.lock").touch()


def unlock(tree: Tree) -> None:
    """Release the lock of the index."""
    (tree.top / ".git" / "index.lock").unlink()


by_agent: Final[Act] = lambda tree: tree.write(f="stash 0\n")  # noqa: E731
by_git: Final[Act] = acts("restore --source=other f")
NOTED: Final[dict[str, tuple[list[Act], list[Act], list[Act], str | None]]] = {
    "git works later": ([], [by_agent], [acts("rm -q --cached gone")], None),
    "and works while it is changed again": ([], [by_agent], [lock, lambda tree: tree.write(f="stash 1\n")], "git"),
    "git worked before": ([acts("rm -q --cached gone")], [by_agent], [acts("stash clear", "add gone")], None),
    "git works just then": ([], [by_agent, lock], [unlock], "git"),
    "it was changed later": ([], [], [by_agent, acts("rm -q --cached gone")], "git"),
    "by git": ([], [by_git], [acts("rm -q --cached gone")], "git"),
}


@pytest.mark.parametrize(("before", "first", "then", "expected"), NOTED.values(), ids=list(NOTED))
async def test_git_has_not_made_what_was_changed_before_its_work(
    tmp_path: Path, before: list[Act], first: list[Act], then: list[Act], expected: str | None
) -> None:
    """What it does between two notes may be its work, what it does later is not."""
    tree = Tree(tmp_path)
    tree.note(tree.top / "f")
    for acts_now in (before, first, then):
        for one in acts_now:
            one(tree)
        if acts_now is not then:
            tree.tick()
            await tree.contents.note()
    assert await tree.may_have() == {"f": expected}


async def test_jj_without_git_beside_it(tmp_path: Path) -> None:
    """jj keeps contents in a git repository of its own, and its state in a directory."""
    tree = Tree(tmp_path)
    store = tree.top / ".jj" / "repo" / "store"
    store.mkdir(parents=True)
    (tree.top / ".jj" / "working_copy").mkdir()
    tree.git("config", "core.bare", "true")
    shutil.move(tree.top / ".git", store / "git")
    (store / "git_target").write_text("git")
    (tree.top / ".git").mkdir()  # an empty `.git` is no repository
    tree.note(tree.top / "f", tree.top / "new")
    tree.write(f="one\ntwo\nTHREE\n", new="mine\n")
    assert await tree.may_have() == {"f": None, "new": None}
    (tree.top / ".jj" / "working_copy" / "state").touch()
    assert await tree.may_have() == {"f": "jj", "new": None}


@pytest.mark.parametrize(("later", "expected"), [(0, "git"), (1, None)])
async def test_what_changes_in_the_tick_of_the_look_may_be_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: int, expected: str | None
) -> None:
    tree = Tree(tmp_path)
    path = tree.top / "f"
    tree.note(path)
    changed = tree.since + 3600_000_000_000
    monkeypatch.setattr(git_contents, "next_tick", lambda: changed + later)
    await tree.contents.note()
    by_git(tree)
    monkeypatch.setattr(UsersWork, "last_work", lambda _: changed)
    seen = msgspec.structs.replace(tree.look(path, tree.known[path]), changed=changed)
    assert await tree.contents.made(seen, False) == expected
