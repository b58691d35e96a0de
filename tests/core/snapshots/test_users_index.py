"""A snapshot that begins with the user's index has the bytes of the disk, whatever that index says of them."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.snapshots import work_tree
from acp_nvim.snapshots.index import Index
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import GitFailedError, Snapshot
from acp_nvim.snapshots.users_index import UsersIndex
from tests.core.snapshots.test_users_repository import everything
from tests.core.snapshots.workspaces import KIND, git, look, repository, shadow_of, told, write

pytestmark = pytest.mark.anyio

OLD = 1_600_000_000


async def contents(shadow: Shadow, snapshot: Snapshot) -> dict[str, tuple[int, bytes]]:
    """Modes and bytes of the files in a snapshot, as git lists them."""
    place, env = shadow._store.places.directory, {**os.environ, **shadow._store.borrowing}

    def ask(*words: str, given: str = "") -> bytes:
        words = ("git", f"--git-dir={place}", *words)
        return subprocess.run(words, env=env, check=True, capture_output=True, input=given.encode()).stdout

    rows = [row.partition(b"\t") for row in ask("ls-tree", "-r", "-z", snapshot.id).split(b"\0")[:-1]]
    listed = [(os.fsdecode(path), *what.decode().split(" ")) for what, _, path in rows]
    oids = [oid for _, mode, _, oid in listed if mode != "160000"]
    said = io.BytesIO(ask("cat-file", "--batch", given="".join(f"{oid}\n" for oid in oids)))
    blobs = {}
    for oid in oids:
        head = said.readline().split()
        assert head[:2] == [oid.encode(), b"blob"]
        blobs[oid] = said.read(int(head[2]) + 1)[:-1]
    return {path: (int(mode, 8), blobs.get(oid, b"")) for path, mode, _, oid in listed}


def on_disk(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return the files as a plain look at the disk finds them."""
    return {path: (KIND[kind], data) for path, (kind, data) in look(root).items() if ".git" not in Path(path).parts}


def checked_out(root: Path) -> None:
    """Let git write all files again, as a clone does, and long ago."""
    for path in look(root):
        if ".git" not in Path(path).parts:
            (root / path).unlink()
    git(root, "checkout", "-q", "--", ".")
    for path in look(root):
        if ".git" not in Path(path).parts:
            os.utime(root / path, (OLD, OLD), follow_symlinks=False)
    git(root, "status")


def attributes(rules: str, *settings: tuple[str, str]) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        for name, value in settings:
            git(root, "config", name, value)
        write(root / ".gitattributes", rules)
        git(root, "add", ".gitattributes")
        git(root, "commit", "-q", "-m", "rules")
        checked_out(root)

    return do


def autocrlf(root: Path) -> None:
    git(root, "config", "core.autocrlf", "true")
    checked_out(root)


def autocrlf_once(root: Path) -> None:
    autocrlf(root)
    git(root, "config", "--unset", "core.autocrlf")


def in_info(root: Path) -> None:
    write(root / ".git" / "info" / "attributes", "*.txt eol=crlf\n")
    checked_out(root)


def flagged(flag: str) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        git(root, "update-index", flag, "a.txt", "d/b.txt")
        write(root / "a.txt", "other\n")
        (root / "d" / "b.txt").unlink()

    return do


def sparse(root: Path) -> None:
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "d")


def racy(root: Path) -> None:
    write(root / "a.txt", "1111\n")
    git(root, "add", "a.txt")
    status = (root / "a.txt").stat()
    write(root / "a.txt", "2222\n")
    os.utime(root / "a.txt", ns=(status.st_atime_ns, status.st_mtime_ns))


def conflict(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")
    write(root / "a.txt", "theirs\n")
    git(root, "commit", "-q", "-a", "-m", "theirs")
    git(root, "checkout", "-q", "-")
    write(root / "a.txt", "ours\n")
    git(root, "commit", "-q", "-a", "-m", "ours")
    subprocess.run(["git", "merge", "-q", "other"], cwd=root, check=False, capture_output=True)


def staged(root: Path) -> None:
    write(root / "a.txt", "staged\n")
    write(root / "new", "new\n")
    write(root / "later", "later\n")
    git(root, "add", "a.txt", "new")
    git(root, "add", "-N", "later")
    git(root, "rm", "-q", "--cached", "d/b.txt")
    write(root / "a.txt", "changed again\n")


def version(number: str) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        git(root, "update-index", "--force-write-index", "--index-version", number)

    return do


def split(root: Path) -> None:
    git(root, "update-index", "--split-index")


def caches(root: Path) -> None:
    git(root, "config", "core.untrackedCache", "true")
    git(root, "update-index", "--untracked-cache")
    git(root, "status")


def missing(root: Path) -> None:
    """Remove an object, as in a partial clone."""
    oid = git(root, "rev-parse", "HEAD:a.txt").strip()
    (root / ".git" / "objects" / oid[:2] / oid[2:]).unlink()


def packed(root: Path) -> None:
    git(root, "gc", "-q", "--prune=now")
    git(root, "pack-refs", "--all")


def borrowing(root: Path) -> None:
    """Make a clone whose alternates have alternates."""
    os.rename(root, root.parent / "first")
    git(root.parent, "clone", "-q", "--shared", "first", "second")
    git(root.parent, "clone", "-q", "--shared", "second", str(root))


def unborn(root: Path) -> None:
    git(root, "checkout", "-q", "--orphan", "fresh")


def detached(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")


def file_modes(root: Path) -> None:
    git(root, "config", "core.fileMode", "false")
    (root / "a.txt").chmod(0o755)


CASES: dict[str, Callable[[Path], None]] = {
    "clean": checked_out,
    "eol": attributes("*.txt text eol=crlf\n"),
    "ident": attributes("*.txt ident\n"),
    "filter of the same size": attributes("*.txt filter=turn\n", ("filter.turn.smudge", "tr a-z b-za")),
    "filter": attributes("*.txt filter=more\n", ("filter.more.smudge", "cat; echo more")),
    "encoding": attributes("*.txt text working-tree-encoding=UTF-16\n"),
    "macro": attributes("[attr]turned filter=turn\n*.txt turned\n", ("filter.turn.smudge", "tr a-z b-za")),
    "autocrlf": autocrlf,
    "autocrlf once": autocrlf_once,
    "info/attributes": in_info,
    "assume-unchanged": flagged("--assume-unchanged"),
    "skip-worktree": flagged("--skip-worktree"),
    "sparse": sparse,
    "racy": racy,
    "conflict": conflict,
    "staged": staged,
    "version 2": version("2"),
    "version 4": version("4"),
    "split": split,
    "caches": caches,
    "missing": missing,
    "packed": packed,
    "alternates": borrowing,
    "unborn": unborn,
    "detached": detached,
    "modes": file_modes,
}


@pytest.mark.parametrize("case", CASES)
async def test_a_snapshot_has_what_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.setattr(work_tree, "FOLD_FILES", 100 * (len(case) % 2))  # both ways in which a changed file is kept
    root = repository(tmp_path / "w", **{"a.txt": "one\ntwo $Id$\n", "d__b.txt": "three\n", "d__e__c": "four\n"})
    os.symlink("a.txt", root / "link")
    git(root, "add", "link")
    git(root, "commit", "-q", "-m", "link")
    CASES[case](root)
    before = everything(root / ".git")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        assert await contents(shadow, first) == on_disk(root)
        for path in ("d/e/c", "new too"):
            write(root / path, "changed\n")
        second = await shadow.take()
        assert await contents(shadow, second) == on_disk(root)
        if case != "sparse":
            assert told(root, await shadow.changes(first, second)) == ["M d/e/c", "A new too"]
        await shadow.hold("all", [], [first, second])
        await shadow.clean(0)
    assert everything(root / ".git") == before


async def test_clean_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "w", **{f"d{number}/file": str(number) for number in range(9)})
    checked_out(root)
    monkeypatch.delattr(Index, "update")
    monkeypatch.delattr(work_tree, "keep_file")
    async with shadow_of(root) as shadow:
        assert await contents(shadow, await shadow.take()) == on_disk(root)


@pytest.mark.parametrize("lost", ["pruned", "repacked", "removed"])
async def test_what_is_held_does_not_need_the_users_repository(tmp_path: Path, lost: str) -> None:
    root = repository(tmp_path / "w", a="text 1\n", d__b="text 2\n")
    checked_out(root)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / "a", "other\n")
        second = await shadow.take()
        [one] = await shadow.changes(first, second)
        assert one.before is not None
        assert one.after is not None
        await shadow.hold("turn", [one.before.oid, one.after.oid], [first, second])
        if lost == "removed":
            shutil.rmtree(root / ".git")
        else:
            write(root / "d" / "b", "other\n")
            git(root, "checkout", "-q", "--orphan", "fresh")
            git(root, "commit", "-q", "-a", "-m", "anew")
            git(root, "branch", "-D", "master")
            git(root, "reflog", "expire", "--expire=now", "--all")
            git(root, "gc" if lost == "repacked" else "prune", *(["-q", "--prune=now"] if lost == "repacked" else []))
        assert told(root, await shadow.changes(first, second)) == ["M a"]
        assert await shadow.read([one.before.oid, one.after.oid]) == [b"text 1\n", b"other\n"]
    async with shadow_of(root) as shadow:
        await shadow.clean(0)
        assert await shadow.read([one.before.oid, one.after.oid]) == [b"text 1\n", b"other\n"]


async def test_a_moment_while_a_snapshot_is_taken(tmp_path: Path) -> None:
    """What changed since that moment may have been another file before."""
    root = repository(tmp_path / "w", tracked="1\n")
    checked_out(root)
    for name in ("early", "late"):
        write(root / name, f"{name}\n")
    async with shadow_of(root) as shadow:
        taken = await shadow.take()
        moment = (root / "late").stat().st_ctime_ns
        while (root / "late").stat().st_ctime_ns < moment + 200_000_000:
            (root / "late").chmod(0o644)
        before = await shadow.before(taken, moment + 100_000_000)
        assert told(root, await shadow.changes(before, taken)) == ["M late"]
        [late] = await shadow.changes(before, taken)
        assert late.before is not None
        assert late.before.oid == ""


async def test_all_files_are_read_when_git_fails_at_a_closer_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(users: UsersIndex) -> list[bytes]:
        raise GitFailedError("git ls-files failed")

    monkeypatch.setattr(UsersIndex, "_with_attributes", fail)
    root = repository(tmp_path / "w", **{"a.txt": "1\n"})
    attributes("*.txt ident\n")(root)
    async with shadow_of(root) as shadow:
        assert await contents(shadow, await shadow.take()) == on_disk(root)
