"""Renamed directories are found by inode, with every file in them; nothing that was there is lost by that."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from unittest.mock import AsyncMock

import anyio
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.evidence.change_times import change_time
from acp_nvim.file_time import last_change, now
from acp_nvim.snapshots import comparing, directories, moved_rows
from acp_nvim.snapshots.directories import CLOCK_NS, Directories, Inode
from acp_nvim.snapshots.objects import LEFT_OUT
from acp_nvim.snapshots.snapshot import Changed, GoneError
from tests.core.snapshots.workspaces import git, look, repository, shadow_of, told, write
from tests.support.examples import examples
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio


def moves(root: Path, found: list[Changed]) -> set[str]:
    """Return the renamed directories."""
    return {
        f"{os.path.relpath(one.moved.old, root)} -> {os.path.relpath(one.moved.new, root)}"
        for one in found
        if one.moved is not None
    }


def swap(root: Path) -> None:
    os.rename(root / "a", root / "t")
    os.rename(root / "b", root / "a")
    os.rename(root / "t", root / "b")


def replace(root: Path) -> None:
    shutil.rmtree(root / "b")
    os.rename(root / "a", root / "b")


def make_again(root: Path) -> None:
    """The new directories may get the numbers of the old ones."""
    for name in "ab":
        shutil.rmtree(root / name)
    for name in "ba":
        for file in ("same", name, "sub/deep"):
            write(root / name / file, f"new {name}")


STEPS = {
    "rename": (lambda root: os.rename(root / "a", root / "c"), {"a -> c"}),
    "swap": (swap, {"a -> b", "b -> a"}),
    "into a new one": (lambda root: (os.mkdir(root / "n"), os.rename(root / "a", root / "n" / "a")), {"a -> n/a"}),
    "out of one": (lambda root: os.rename(root / "a" / "sub", root / "c"), {"a/sub -> c"}),
    "both": (
        lambda root: (os.rename(root / "a", root / "c"), os.rename(root / "c" / "sub", root / "sub")),
        {"a -> c", "a/sub -> sub"},
    ),
    "a link is left": (lambda root: (os.rename(root / "a", root / "c"), os.symlink("c", root / "a")), {"a -> c"}),
    "letters": (lambda root: os.rename(root / "a", root / "A"), {"a -> A"}),
    "instead of another": (replace, None),
    "made again": (make_again, set()),
    "the project": (lambda root: (os.rename(root, f"{root}2"), os.rename(f"{root}2", root)), set()),
    "to the outside": (lambda root: os.rename(root / "a", root.parent / "a"), set()),
    "from the outside": (lambda root: shutil.move(root.parent / "lib", root / "lib"), set()),
    "copied": (lambda root: shutil.copytree(root / "a", root / "c"), set()),
}


@pytest.mark.parametrize("kind", ["repository", "directory"])
@pytest.mark.parametrize("step", STEPS)
async def test_directories(tmp_path: Path, step: str, kind: str) -> None:
    act, expected = STEPS[step]
    root = repository(tmp_path / "w") if kind == "repository" else tmp_path / "w"
    for name in "ab":
        for file in ("same", name, "sub/deep"):
            write(root / name / file, f"{name} {file}")
    write(root.parent / "lib" / "file", "text")
    if kind == "repository":
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "more")
    async with shadow_of(root, tmp_path / "git") as shadow:
        first, before = await shadow.take(), look(root)
        wait_until_later()
        first, old = await shadow.take(), first
        assert await shadow.changes(old, first) == []
        act(root)
        found = await shadow.changes(first, await shadow.take())
        if expected is not None:
            assert moves(root, found) == expected
        check(root, before, found)


async def test_a_directory_that_changed_during_a_snapshot_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would have come when it was made, for ever, and what an agent removes there would be the user's."""
    root = repository(tmp_path / "w")
    path = write(root / "c", "text")
    look_at = Directories.look
    made = root.parent.stat().st_mtime_ns
    monkeypatch.setattr(Directories, "look", lambda top, time, names: look_at(top, made, names))
    async with shadow_of(root, tmp_path / "git") as shadow:
        first = await shadow.take()
        wait_until_later()
        second = await shadow.take()
        assert await shadow.changes(first, second) == []
        path.unlink()
        found = change_time(str(path), shadow.directories(second), second.time - CLOCK_NS)
        assert (found.time, found.other) == (last_change(str(path))[0], None)
        assert found.time > second.time - CLOCK_NS


async def test_a_new_directory_that_has_got_the_number_of_another_one_has_not_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path / "w")
    write(root / "a" / "same", "text")
    wait_until_later()
    async with shadow_of(root, tmp_path / "git") as shadow:
        first = await shadow.take()
        known = shadow.directories(first)
        assert known is not None
        shutil.rmtree(root / "a")
        write(root / "b" / "same", "text")
        number, look_at = known.inodes[b"a"].number, directories.inode_at

        def reused(path: bytes) -> Inode | None:
            found = look_at(path)
            is_new = found is not None and os.path.basename(path) == b"b"
            return msgspec.structs.replace(found, number=number) if is_new else found

        monkeypatch.setattr(directories, "inode_at", reused)
        assert all(one.moved is None for one in await shadow.changes(first, await shadow.take()))
        assert not known.came(str(root / "b"))
        assert change_time(str(root / "b" / "same"), known, first.time - CLOCK_NS).other is None


@pytest.mark.parametrize("most", [0, 500])
async def test_a_file_that_is_made_again_in_a_swapped_directory_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """This holds for any name of the directory, and any number of files."""
    monkeypatch.setattr(moved_rows, "FEW_PATHS", most)
    root = repository(tmp_path / "w", b__own="b", other__file="text")
    write(root / "-x" / "own", "x")
    write(root / "-x" / "more", "x")
    wait_until_later()
    async with shadow_of(root, tmp_path / "git") as shadow:
        first = await shadow.take()
        os.rename(root / "-x", root / "t")
        os.rename(root / "b", root / "-x")
        os.rename(root / "t", root / "b")
        (root / "b" / "more").unlink()
        write(root / "-x" / "more", "x")
        found = await shadow.changes(first, await shadow.take())
        assert moves(root, found) == {"-x -> b", "b -> -x"}
        gone, again = [one for one in found if one.path == str(root / "-x" / "more")]
        assert (gone.moved, again.moved, gone.after, again.before) == (None, None, None, None)
        assert gone.before == again.after
        assert str(root / "other" / "file") not in {one.path for one in found}


async def test_a_directory_that_is_reached_by_a_link_is_not_there(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", a__deep__file="text")
    (root / "a").rename(root / "b")
    (root / "a").symlink_to("b")  # the index still has what was there
    wait_until_later()
    async with shadow_of(root, tmp_path / "git") as shadow:
        first = await shadow.take()
        known = shadow.directories(first)
        assert known is not None
        assert sorted(known.inodes) == [b"", b"b", b"b/deep"]
        assert known.now(b"a/deep") is None
        assert known.now(b"b/deep") == known.inodes[b"b/deep"]


async def test_after_an_earlier_snapshot_is_lost_renames_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path / "w", a__file="text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        wait_until_later()
        later = await shadow.take()
        with monkeypatch.context() as patched:
            patched.setattr(comparing, "changes", AsyncMock(side_effect=GoneError("gone")))
            with pytest.raises(GoneError):
                await shadow.changes(first, later)
        second = await shadow.take()
        wait_until_later()
        os.rename(root / "a", root / "b")
        assert moves(root, await shadow.changes(second, await shadow.take())) == {"a -> b"}


def wait_until_later() -> None:
    """What has changed until now is older than the next snapshot, by more than the errors of the clock."""
    then = now()
    wait_until(lambda: now() > then + CLOCK_NS)


def check(root: Path, before: dict[str, tuple[str, bytes]], found: list[Changed]) -> None:
    """What is said to have changed is the whole difference of the two trees, and no file stands for two."""
    after = {name: what for name, what in look(root).items() if not name.startswith(".git/")}
    before = {name: what for name, what in before.items() if not name.startswith(".git/")}
    paths = [os.path.relpath(one.path, root) for one in found]
    assert len(paths) == len(set(paths)), told(root, found)
    names = {name: name for name in before}
    for one in found:
        path, old = os.path.relpath(one.path, root), os.path.relpath(one.old_path or one.path, root)
        had = one.before is not None and one.before.mode != LEFT_OUT  # what came from outside has unknown contents
        assert had == (old in before), told(root, [one])
        assert (one.after is not None) == (path in after), told(root, [one])
    known = [one for one in found if one.before is not None and one.before.mode != LEFT_OUT]
    sources = [os.path.relpath(one.old_path or one.path, root) for one in known]
    assert len(sources) == len(set(sources)), told(root, found)
    same = {name for name in names if name not in sources and name not in paths}
    assert {name: before[name] for name in same} == {name: after.get(name) for name in same}
    assert after.keys() - same == {path for path, one in zip(paths, found, strict=True) if one.after is not None}


NAMES = ("a", "b", "c", "d")
Path_ = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
Step = st.one_of(
    st.tuples(st.just("move"), Path_, Path_),
    st.tuples(st.just("write"), Path_, st.sampled_from(["1", "2", "3"])),
    st.tuples(st.just("remove"), Path_, st.just("")),
    st.tuples(st.just("link"), Path_, Path_),
    st.tuples(st.just("look"), st.just(""), st.just("")),
)


def take_step(root: Path, kind: str, path: str, other: str) -> None:
    """Somebody does it, if it can be done."""
    try:
        if kind == "move":
            (root / other).parent.mkdir(parents=True, exist_ok=True)
            os.rename(root / path, root / other)
        elif kind == "write":
            write(root / path / "file", other)
        elif kind == "link":
            (root / path).symlink_to(other)
        elif (root / path).is_dir() and not (root / path).is_symlink():
            shutil.rmtree(root / path)
        else:
            (root / path).unlink(missing_ok=True)
    except (OSError, shutil.Error):
        return


@settings(max_examples=examples(25))
@given(st.lists(Path_, min_size=2, max_size=5), st.lists(Step, max_size=8))
def test_whatever_moves_the_changes_are_the_whole_difference(files: list[str], steps: list[tuple[str, ...]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(os.path.realpath(place), "w")
        root.mkdir()
        for number, name in enumerate(files):
            write(root / name / "file", f"{number}")
        anyio.run(play, root, steps)


async def play(root: Path, steps: list[tuple[str, ...]]) -> None:
    """Take the steps, and look whenever one says so, and at the end."""
    async with shadow_of(root) as shadow:
        last, before = await shadow.take(), look(root)
        for kind, path, other in [*steps, ("look", "", "")]:
            if kind != "look":
                take_step(root, kind, path, other)
                continue
            wait_until_later()
            taken = await shadow.take()
            check(root, before, await shadow.changes(last, taken))
            last, before = taken, look(root)
