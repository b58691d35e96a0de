"""Which files are in a snapshot: those that the user's git does not ignore."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import pytest

from acp_nvim.evidence.evidence import Observation
from acp_nvim.evidence.git_contents import GitContents
from acp_nvim.file_time import now
from acp_nvim.snapshots import work_tree
from acp_nvim.snapshots.directories import CLOCK_NS
from acp_nvim.snapshots.index import Index
from acp_nvim.snapshots.objects import DIRECTORY, parse_tree
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Snapshot
from tests.core.review.test_git_contents import nothing_kept
from tests.core.snapshots.test_users_repository import everything
from tests.core.snapshots.workspaces import git, repository, shadow_of, told, write
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio


async def files(shadow: Shadow) -> set[str]:
    """The paths in a new snapshot, without files that begin with a dot."""
    await shadow.take()
    return await files_of(shadow, await shadow.take())


async def files_of(shadow: Shadow, snapshot: Snapshot) -> set[str]:
    """The paths in a snapshot, without files that begin with a dot."""
    found, waiting = set(), [("", snapshot.id)]
    while waiting:
        where, tree = waiting.pop()
        data = await shadow._store.blocking(partial(shadow._store._read_tree, tree))
        for name, entry in parse_tree(data).items():
            path = f"{where}{os.fsdecode(name)}"
            if entry.mode == DIRECTORY:
                waiting.append((f"{path}/", entry.oid))
            elif not name.startswith(b"."):
                found.add(path)
    return found


async def test_rules_in_the_work_tree(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".gitignore": "*.o\n/build/\n", "sub__.gitignore": "!keep.o\nlocal\n"})
    for name in ("a.o", "a.c", "build/x", "sub/keep.o", "sub/b.o", "sub/local", "sub/build/x"):
        write(root / name, name)
    async with shadow_of(root) as shadow:
        assert await files(shadow) == {"a.c", "sub/keep.o", "sub/build/x"}


async def test_rules_above_the_workspace_and_of_the_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "w", **{".gitignore": "*.o\n/sub/build/\n/build/\n", "other": "x"})
    write(top / ".git" / "info" / "exclude", "secret\n")
    root = top / "sub"
    for name in ("a.o", "a.c", "build/x", "secret", "deep/build/x"):
        write(root / name, name)
    async with shadow_of(root, tmp_path / "git") as shadow:
        assert await files(shadow) == {"a.c", "deep/build/x"}


async def test_rules_of_a_linked_work_tree(tmp_path: Path) -> None:
    top = repository(tmp_path / "w", file="text")
    write(top / ".git" / "info" / "exclude", "secret\n")
    git(top, "worktree", "add", "-q", "../linked")
    write(tmp_path / "linked" / "secret", "x")
    async with shadow_of(tmp_path / "linked") as shadow:
        assert await files(shadow) == {"file"}


@pytest.mark.parametrize("where", ["default", "xdg", ".gitconfig", "config", "included", "repository"])
async def test_the_users_own_rules(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    root = repository(tmp_path / "w", **{"a.c": "x", "a.own": "x"})
    git(root, "rm", "-q", "--cached", "a.own")
    rules = {"default": home / ".config/git/ignore", "xdg": tmp_path / "xdg/git/ignore"}.get(where, home / "own rules")
    if where == "xdg":
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    setting = '[core]\n\texcludesFile = "~/own rules"\n'
    if where == "included":
        write(home / ".gitconfig", "[include]\n\tpath = more\n")
        write(home / "more", setting)
    elif where == "repository":
        git(root, "config", "core.excludesFile", "~/own rules")
    elif where in (".gitconfig", "config"):
        write(home / where if where == ".gitconfig" else home / ".config" / "git" / where, setting)
    write(rules, "*.own\n")
    async with shadow_of(root) as shadow:
        assert await files(shadow) == {"a.c"}


async def test_a_negation_of_the_repository_is_stronger_than_the_users_rule(tmp_path: Path, home: Path) -> None:
    root = repository(tmp_path / "w")
    write(home / ".config" / "git" / "ignore", "*.own")
    write(root / ".git" / "info" / "exclude", "!keep.own\n")
    for name in ("a.own", "keep.own"):
        write(root / name, name)
    async with shadow_of(root) as shadow:
        assert await files(shadow) == {"keep.own"}


@pytest.mark.parametrize("fold", [0, 100])
async def test_what_the_repository_has_although_it_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fold: int
) -> None:
    monkeypatch.setattr(work_tree, "FOLD_FILES", fold)
    root = repository(tmp_path / "w", dist__kept="1", dist__too="1", file="text")
    write(root / ".gitignore", "dist/\n")
    write(root / "dist" / "other", "1")
    later = now() + CLOCK_NS
    wait_until(lambda: now() > later)  # the rules are older than the snapshots
    async with shadow_of(root) as shadow:
        assert await files(shadow) == {"dist/kept", "dist/too", "file"}
        first = await shadow.take()
        write(root / "dist" / "kept", "2")
        write(root / "dist" / "other", "2")
        (root / "dist" / "too").unlink()
        second = await shadow.take()
        assert told(root, await shadow.changes(first, second)) == ["M dist/kept", "D dist/too"]
        write(root / "dist" / "too", "3")
        assert told(root, await shadow.changes(second, await shadow.take())) == ["A dist/too"]
        git(root, "add", "-f", "dist/other")
        assert "dist/other" in await files(shadow)


FORMATS = {
    "SHA-256": [["init", "-q", "--object-format=sha256"]],
    "split": [["init", "-q"], ["update-index", "--split-index"]],
    "SHA-256, split": [["init", "-q", "--object-format=sha256"], ["update-index", "--split-index"]],
    "sparse": [["init", "-q"], ["sparse-checkout", "set", "--cone", "--sparse-index", "dist"]],
}


@pytest.mark.parametrize("words", FORMATS.values(), ids=FORMATS)
async def test_what_an_index_of_any_format_has_although_it_is_ignored(tmp_path: Path, words: list[list[str]]) -> None:
    root = tmp_path / "w"
    for name in ("dist/kept", "dist/too", "out/deep/file", "file"):
        write(root / name, "1")
    git(root, *words[0])
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    for more in words[1:]:
        git(root, *more)
    write(root / ".gitignore", "dist/\n")
    write(root / "dist" / "other", "1")
    before = everything(root / ".git")
    async with shadow_of(root) as shadow:
        assert {"dist/kept", "dist/too", "file"} <= await files(shadow)
        first = await shadow.take()
        write(root / "dist" / "kept", "2")
        write(root / "dist" / "other", "2")
        (root / "dist" / "too").unlink()
        assert told(root, await shadow.changes(first, await shadow.take())) == ["M dist/kept", "D dist/too"]
        assert "dist/other" not in await files(shadow)
        contents = GitContents(str(root), tmp_path / "w.shadow" / "git", nothing_kept)
        seen = Observation(str(root / "file"), time.time_ns(), 1, None, "0" * 40)
        assert await contents.made(seen, False) is None
    assert everything(root / ".git") == before
    assert not list((tmp_path / "w.shadow" / "git").glob("incoming/*"))


async def test_a_directory_that_its_repository_ignores_has_only_its_own_rules(tmp_path: Path) -> None:
    home = repository(tmp_path / "home")
    write(home / ".git" / "info" / "exclude", "*\n")
    root = home / "project"
    write(root / ".gitignore", "*.o\n")
    for name in ("a.c", "a.o"):
        write(root / name, name)
    async with shadow_of(root, tmp_path / "git") as shadow:
        assert await files(shadow) == {"a.c"}


async def test_new_rules_count(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / ".git" / "info" / "exclude", "new\n")
        write(root / "new", "text 1")
        write(root / "newer", "text 2")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["A newer"]


async def test_files_that_are_no_longer_ignored_are_not_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_nvim.snapshots.comparing.CLOCK_NS", 0)
    root = repository(tmp_path / "w", **{".gitignore": "dist/\nlocal\n"})
    write(root / "dist" / "a" / "old", "text 1")
    write(root / "local", "text 2")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / ".gitignore").unlink()
        write(root / "created", "text 3")
        second = await shadow.take()
        assert told(root, await shadow.changes(first, second)) == ["D .gitignore", "A created"]
        assert told(root, await shadow.changes(second, first)) == ["A .gitignore", "D created"]
        write(root / "local", "text 4")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["D .gitignore", "A created", "M local"]


async def test_files_that_are_ignored_now_are_not_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_nvim.snapshots.comparing.CLOCK_NS", 0)
    root = repository(tmp_path / "w", dist__file="text", other="x")
    git(root, "rm", "-q", "--cached", "dist/file")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
    write(root / ".gitignore", "dist/\n")
    for index in (tmp_path / "w.shadow" / "git" / "indexes").iterdir():
        index.unlink()
    async with shadow_of(root) as shadow:
        assert told(root, await shadow.changes(first, await shadow.take())) == ["A .gitignore"]


async def test_ignored_files_that_are_moved_out_are_not_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for one in ("comparing", "newness"):
        monkeypatch.setattr(f"acp_nvim.snapshots.{one}.CLOCK_NS", 0)
    root = repository(tmp_path / "w", **{".gitignore": "build/\n"})
    write(root / "build" / "one" / "file", "text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        os.rename(root / "build" / "one", root / "one")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["M one/file"]


async def test_a_rename_onto_what_was_there_is_a_deletion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_nvim.snapshots.comparing.CLOCK_NS", 0)
    root = repository(tmp_path / "w", **{".gitignore": "there\n", "file": "the same text\n" * 9})
    write(root / "there", "the same text\n" * 9)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "file").unlink()
        write(root / ".gitignore", "")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["M .gitignore", "D file"]


@pytest.mark.parametrize("fold", [0, 100])
async def test_what_a_snapshot_had_stays_although_it_is_ignored_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fold: int
) -> None:
    monkeypatch.setattr(work_tree, "FOLD_FILES", fold)
    root = repository(tmp_path / "w", file="text")
    write(root / "notes", "mine")
    write(root / "secret.key", "mine")
    repository(root / "clone", inner="text")
    async with shadow_of(root) as shadow:
        await shadow.take()
        write(root / ".gitignore", "notes\nsecret.key\nclone\n")
        first = await shadow.take()
        for name in ("notes", "secret.key", "clone/inner"):
            write(root / name, "theirs")
        second = await shadow.take()
        assert told(root, await shadow.changes(first, second)) == ["M clone/inner", "M notes", "M secret.key"]
        (root / "notes").unlink()
        assert told(root, await shadow.changes(second, await shadow.take())) == ["D notes"]


async def test_rules_that_change_while_the_index_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "w", a="a")
    update = Index.update

    async def late(index: Index, paths: list[bytes], gone: list[bytes]) -> None:
        monkeypatch.setattr(Index, "update", update)
        write(root / ".gitignore", "*.o\nhidden\n")
        write(root / "hidden", "hidden")
        await update(index, paths, gone)

    async with shadow_of(root) as shadow:
        await shadow.take()
        write(root / ".gitignore", "*.o\n")
        await shadow.take()
        first = await shadow.take()
        write(root / "a", "b")
        monkeypatch.setattr(work_tree, "FOLD_FILES", 0)
        monkeypatch.setattr(Index, "update", late)
        second = await shadow.take(first)
        found = await shadow.changes(first, second)
        found += await shadow.changes(second, await shadow.take(first))
        assert "A hidden" in told(root, found)
