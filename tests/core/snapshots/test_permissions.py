"""Snapshots know the permissions of files and directories, and which of them have changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.file_time import now
from acp_nvim.snapshots import permissions, work_tree, workspace_scanner
from acp_nvim.snapshots.comparing import CLOCK_NS
from acp_nvim.snapshots.index import Index
from acp_nvim.snapshots.permissions import UNKNOWN, PermissionTable, decode
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Changed, Snapshot
from acp_nvim.snapshots.workspace_scanner import WorkspaceScanner
from acp_nvim.workspace.permissions import bits
from tests.core.snapshots.workspaces import git, repository, shadow_of, write
from tests.support.examples import examples
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio

paths = st.binary(min_size=1, max_size=8).filter(lambda path: b"\0" not in path)
numbers = st.integers(UNKNOWN, 2**44)


@given(
    st.builds(
        PermissionTable,
        st.tuples(numbers, numbers, numbers),
        st.dictionaries(paths, numbers, max_size=4),
        st.frozensets(st.sampled_from([b"", b"a/", b"b c/d/"]), max_size=3),
    )
)
@settings(max_examples=examples(60))
def test_a_table_is_read_as_it_was_written(table: PermissionTable) -> None:
    assert decode(table.encode()) == table


@pytest.fixture(params=["at once", "later"])
def when(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Look at the files that git knows early or late."""
    if request.param == "later":
        for module in (work_tree, workspace_scanner):
            monkeypatch.setattr(module, "AT_ONCE", -1)
    return request.param


def modes(changed: list[Changed], root: Path) -> dict[str, tuple[str, str]]:
    """The bits before and after, of the file and the directories above it."""

    def words(permissions: tuple[int, ...]) -> str:
        return " ".join(f"{bits(one):o}" for one in permissions)

    return {
        os.path.relpath(one.path, root): (
            "gone" if one.before is None else words(one.before.permissions),
            "gone" if one.after is None else words(one.after.permissions),
        )
        for one in changed
    }


async def after(shadow: Shadow, before: Snapshot) -> dict[str, tuple[str, str]]:
    return modes(await shadow.changes(before, await shadow.take()), Path(shadow.root))


@pytest.mark.usefixtures("when")
async def test_what_has_changed(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", a="a", b="b", c="c", d__e__f="f", d__g="g", same="s", wider="w", x="x")
    (root / "x").chmod(0o755)
    git(root, "commit", "-q", "-a", "-m", "x")
    for name, mode in (("a", 0o600), ("d", 0o750), ("d/e", 0o700), ("d/e/f", 0o640), ("b", 0o444), ("x", 0o711)):
        (root / name).chmod(mode)
    write(root / "new", "n").chmod(0o660)
    later = now() + 2 * CLOCK_NS
    wait_until(lambda: now() > later)  # what is looked at later must be seen to be older than the snapshot
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "late").touch()
        await shadow.look_at_permissions()
        for name in ("a", "b", "c", "d/e/f", "d/g", "x"):
            (root / name).unlink()
        (root / "d/e").rmdir()
        (root / "d").rmdir()
        (root / "wider").chmod(0o666)
        (root / "new").chmod(0o600)
        (root / "late").chmod(0o755)
        assert await after(shadow, first) == {
            "a": ("600", "gone"),
            "b": ("444", "gone"),
            "c": ("644", "gone"),
            "d/e/f": ("640 700 750", "gone"),
            "d/g": ("644 750", "gone"),
            "late": ("gone", "755"),
            "new": ("660", "600"),
            "wider": ("644", "666"),
            "x": ("711", "gone"),
        }


async def test_a_directory_changes_between_two_snapshots(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", d__a="a", e__b="b")
    async with shadow_of(root) as shadow:
        await shadow.take()
        (root / "d").chmod(0o700)
        second = await shadow.take()
        (root / "d/a").unlink()
        (root / "d").rmdir()
        assert await after(shadow, second) == {"d/a": ("644 700", "gone")}


async def test_what_changed_before_it_was_looked_at_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (work_tree, workspace_scanner):
        monkeypatch.setattr(module, "AT_ONCE", -1)
    root = repository(tmp_path / "w", a="a", b="b")
    (root / "b").chmod(0o600)
    later = now() + 2 * CLOCK_NS
    wait_until(lambda: now() > later)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "a").chmod(0o666)
        await shadow.look_at_permissions()
        second = await shadow.take()
        assert modes(await shadow.changes(first, second), root) == {}
        (root / "a").chmod(0o600)
        (root / "b").chmod(0o644)
        assert await after(shadow, second) == {"a": ("666", "600"), "b": ("600", "644")}


async def test_another_host_finds_other_permissions_usual(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", a="a", b="b", c="c", d="d")
    (root / "d").chmod(0o600)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        await shadow.hold("turn", [], [first])
    for name in "abc":
        (root / name).chmod(0o666)
    async with shadow_of(root) as shadow:
        assert await after(shadow, first) == dict.fromkeys("abc", ("644", "666"))


async def test_work_trees_inside(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", a="a")
    inner = repository(root / "inner", b="b", c__d="d")
    (inner / "c").chmod(0o700)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "a").chmod(0o600)
        (inner / "b").chmod(0o600)
        (inner / "c/d").unlink()
        (inner / "c").rmdir()
        assert await after(shadow, first) == {
            "a": ("644", "600"),
            "inner/b": ("644 755", "600 755"),
            "inner/c/d": ("644 700 755", "gone"),
        }


async def test_what_was_away_and_is_back(tmp_path: Path) -> None:
    """Files that are back are as in our index, so git does not name them."""
    root = repository(tmp_path / "w", d__a="a", d__b="b", e="e")
    (root / "d/a").chmod(0o600)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "d").rename(root / "away")
        await shadow.take()
        (root / "away").rename(root / "d")
        third = await shadow.take()
        assert modes(await shadow.changes(first, third), root) == {}
        (root / "d/a").unlink()
        assert await after(shadow, third) == {"d/a": ("600 755", "gone")}


async def test_a_long_look_at_permissions_keeps_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, goes_on = repository(tmp_path / "w", file="text"), anyio.Event()
    async with shadow_of(root) as shadow, anyio.create_task_group() as tasks:
        read_permissions = WorkspaceScanner.read_permissions

        async def read_slowly(*args: Any) -> Any:
            await goes_on.wait()
            return await read_permissions(*args)

        monkeypatch.setattr(WorkspaceScanner, "read_permissions", read_slowly)
        for module in (work_tree, workspace_scanner):
            monkeypatch.setattr(module, "AT_ONCE", -1)
        await shadow.take()
        tasks.start_soon(shadow.look_at_permissions)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(shadow.clean, 10**9)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(60):
            [oid] = await shadow.store([b"text"])
            assert await shadow.read([oid]) == [b"text"]
        goes_on.set()


@pytest.mark.parametrize("seconds", [0, 2], ids=["was fresh", "was known for long"])
async def test_a_file_that_is_replaced_while_the_index_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    root = repository(tmp_path / "w", b="b")
    monkeypatch.setattr(permissions, "now", lambda: now() + seconds * 10**9)
    update = Index.update

    async def late(index: Index, paths: list[bytes], gone: list[bytes]) -> None:
        monkeypatch.setattr(Index, "update", update)
        write(root / "new", "more").chmod(0o640)
        os.rename(root / "new", root / "b")
        await update(index, paths, gone)

    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / "b", "more").chmod(0o600)
        monkeypatch.setattr(work_tree, "FOLD_FILES", 0)
        monkeypatch.setattr(Index, "update", late)
        monkeypatch.setattr(permissions, "now", lambda: now() + 2 * 10**9)
        second = await shadow.take()
        found = modes(await shadow.changes(first, second), root)
        assert found | await after(shadow, second) == {"b": ("644", "640")}
