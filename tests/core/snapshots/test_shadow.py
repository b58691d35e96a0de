"""What of a change two snapshots tell."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import msgspec
import pytest

from acp_nvim.snapshots import found_files, work_tree
from acp_nvim.snapshots.index import Index
from acp_nvim.snapshots.objects import LooseObjects
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Blob, Snapshot
from acp_nvim.snapshots.workspace_scanner import WorkspaceScanner
from tests.core.snapshots.test_ignored import files_of
from tests.core.snapshots.workspaces import repository, shadow_of, told, untracked, write

pytestmark = pytest.mark.anyio

LONG = "".join(f"line {number}\n" for number in range(50))


@pytest.fixture(params=["beside the index", "in the index"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Use both ways in which a changed file is kept."""
    if request.param == "in the index":
        monkeypatch.setattr(work_tree, "FOLD_FILES", 0)
    return request.param


async def changed(shadow: Shadow, before: Snapshot) -> list[str]:
    return told(Path(shadow.root), await shadow.changes(before, await shadow.take()))


@pytest.mark.usefixtures("way")
async def test_what_happens_to_files(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", changed=LONG, gone="gone\n", moved=LONG, edited__far__away=LONG + "x", mode="m")
    os.symlink("changed", root / "link")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / "changed", "other\n")
        (root / "gone").unlink()
        os.rename(root / "moved", root / "moved there")
        (root / "edited" / "far" / "away").unlink()
        write(root / "edited" / "new", LONG + "y")
        write(root / "new" / "file", "new\n")
        (root / "mode").chmod(0o755)
        (root / "link").unlink()
        os.symlink("gone", root / "link")
        assert await changed(shadow, first) == [
            "M changed",
            "R edited/far/away -> edited/new",
            "D gone",
            "M link",
            "M mode",
            "R moved -> moved there",
            "A new/file",
        ]


@pytest.mark.usefixtures("way")
async def test_blobs_and_modes(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", mode="m", file="f")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "mode").chmod(0o755)
        (root / "file").unlink()
        os.symlink("mode", root / "file")
        file, mode = await shadow.changes(first, await shadow.take())
        assert mode.before is not None
        assert mode.after == Blob(mode.before.oid, 0o100755)
        assert mode.before.mode == 0o100644
        assert file.before is not None
        assert file.after is not None
        assert (file.before.mode, file.after.mode) == (0o100644, 0o120000)
        assert await shadow.read([file.before.oid, file.after.oid]) == [b"f", b"mode"]


@pytest.mark.usefixtures("way")
async def test_files_become_directories_and_back(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", a="a", b__c="c", b__d__e="e")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "a").unlink()
        write(root / "a" / "in", "one\ntwo\n")
        for name in ("b/c", "b/d/e"):
            (root / name).unlink()
        (root / "b/d").rmdir()
        (root / "b").rmdir()
        write(root / "b", "three\nfour\n")
        second = await shadow.take()
        found = told(root, await shadow.changes(first, second))
        assert sorted(found) == ["A a/in", "A b", "D a", "D b/c", "D b/d/e"]
        back = told(root, await shadow.changes(second, first))
        assert sorted(back) == ["A a", "A b/c", "A b/d/e", "D a/in", "D b"]


@pytest.mark.usefixtures("way")
async def test_nothing_changed(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        os.utime(root / "file", (1, 1))
        second = await shadow.take()
        assert first.id == second.id
        assert await shadow.changes(first, second) == []


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("elsewhere", ["moved", "."])
async def test_a_link_in_the_place_of_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: str
) -> None:
    """What is behind it is not there; nothing has to be read again."""
    root = repository(tmp_path / "w", a="a", src__a=LONG, src__deep__b="b")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        monkeypatch.delattr(WorkspaceScanner, "forget")
        os.rename(root / "src", root / "moved")
        os.symlink(elsewhere, root / "src")
        second = await shadow.take()
        assert await files_of(shadow, second) == {"a", "src", "moved/a", "moved/deep/b"}
        (root / "src").unlink()
        os.rename(root / "moved", root / "src")
        assert await changed(shadow, second) == ["D src", "R moved/a -> src/a", "R moved/deep/b -> src/deep/b"]
        assert (await shadow.take()).id == first.id


@pytest.mark.usefixtures("way")
async def test_a_directory_in_the_place_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "w", a="a", b="b", tracked="c")
    write(root / ".git/info/exclude", "tracked\n*.o\n")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        monkeypatch.delattr(WorkspaceScanner, "forget")
        for name in ("b", "tracked"):
            (root / name).unlink()
            write(root / name / "x.o", "ignored")
        assert await changed(shadow, first) == ["D b", "D tracked"]
        write(root / "b" / "seen", "new")
        assert await changed(shadow, first) == ["D b", "A b/seen", "D tracked"]


@pytest.mark.usefixtures("way")
async def test_changes_of_the_same_size_in_the_same_moment_are_seen(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="0000")
    async with shadow_of(root) as shadow:
        ids = []
        for number in range(30):
            write(root / "file", f"{number:04}")
            ids.append((await shadow.take()).id)
        assert len(set(ids)) == 30


async def test_an_edit_during_the_snapshot_is_seen_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git has hashed the file; it changes within the same second; the index is written in a later one."""
    monkeypatch.setattr(work_tree, "FOLD_FILES", 0)
    root = untracked(tmp_path / "w", file="0000")
    write_tree = Index.write_tree

    async def late(index: Index) -> None:
        await write_tree(index)
        write(root / "file", "1111")
        os.utime(index.own, (time.time() + 5, time.time() + 5))

    async with shadow_of(root) as shadow:
        monkeypatch.setattr(Index, "write_tree", late)
        first = await shadow.take()
        monkeypatch.setattr(Index, "write_tree", write_tree)
        assert await changed(shadow, first) == ["M file"]


ODD = [
    b"new\nline",
    b"not \xff utf-8",
    b"-dash",
    b"'quote\"",
    b" space ",
    b"back\\slash",
    b"*?[x]",
    b":(top)",
    b"!no",
    b"#no",
    b"a\tb",
    b"git~1",
]


@pytest.mark.usefixtures("way")
async def test_odd_names(tmp_path: Path) -> None:
    root = repository(tmp_path / "w")
    paths = [os.path.join(os.fsencode(root), one, b"in " + one) for one in ODD]
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        for path in paths:
            os.mkdir(os.path.dirname(path))
            write(Path(os.fsdecode(path)), path)
        second = await shadow.take()
        found = await shadow.changes(first, second)
        assert {os.fsencode(one.path) for one in found} == set(paths)
        blobs = await shadow.read([one.after.oid for one in found if one.after is not None])
        assert blobs == [os.fsencode(one.path) for one in found]
        for path in paths:
            os.unlink(path)
        assert len(await changed(shadow, second)) == len(paths)


@pytest.mark.usefixtures("way")
async def test_what_is_neither_file_nor_link_is_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text", other="text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "file").unlink()
        os.mkfifo(root / "file")
        os.mkfifo(root / "fifo")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(root / "socket"))
            assert await changed(shadow, first) == ["D file"]
        assert await changed(shadow, first) == ["D file"]


@pytest.mark.usefixtures("way")
async def test_names_that_git_refuses_do_not_disturb(tmp_path: Path) -> None:
    root = repository(tmp_path / "w")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / ".GIT" / "config", "x")
        write(root / "in" / ".Git", "x")
        os.symlink("nowhere", root / ".gitmodules")
        write(root / "file", "x")
        second = await shadow.take()
        third = await shadow.take()
        assert told(root, await shadow.changes(first, second)) == ["A file"]
        assert second.id == third.id


async def test_empty_files_are_not_renamed(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", a__init="")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "a" / "init").unlink()
        write(root / "b" / "init", "")
        assert await changed(shadow, first) == ["D a/init", "A b/init"]


async def test_a_directory_without_a_repository(tmp_path: Path) -> None:
    root = tmp_path / "w"
    write(root / "file", "text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / "sub" / "file", "text 2")
        assert await changed(shadow, first) == ["A sub/file"]
    assert not (root / ".git").exists()


async def test_an_empty_directory(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / "file", "text")
        second = await shadow.take()
        (root / "file").unlink()
        assert told(root, await shadow.changes(first, second)) == ["A file"]
        assert (await shadow.take()).id == first.id


async def test_snapshots_can_be_written_down(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
    write(root / "file", "other")
    async with shadow_of(root) as shadow:
        again = msgspec.json.decode(msgspec.json.encode(first), type=Snapshot)
        assert await changed(shadow, again) == ["M file"]


async def test_private_directories_and_files_being_written_are_not_looked_at(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".gitignore": "!*\n"})
    place = root / ".state" / "a [b]" / "git"
    async with shadow_of(root, place, [str(root / ".state" / "a [b]")]) as shadow:
        first = await shadow.take()
        write(root / ".state" / "a [b]" / "log", "x")
        write(root / ".state" / "a b", "x")
        write(root / ".acp_nvim-0123456789abcdef", "x")
        write(root / ".acp_nvim-mine", "x")
        assert await changed(shadow, first) == ["A .acp_nvim-mine", "A .state/a b"]


async def test_what_is_known_of_a_file_that_changes_just_now_is_not_relied_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "w" / "file", "text")
    loose = LooseObjects(tmp_path)
    where = os.fsencode(tmp_path / "w"), b"file"
    assert found_files.keep_file(loose, *where)[0] == ""
    later = file.stat().st_ctime_ns + 3 * 10**9
    monkeypatch.setattr(found_files.time, "time_ns", lambda: later)
    assert found_files.keep_file(loose, *where)[0] == found_files.inspect(where[0], [where[1]])[0].key != ""
