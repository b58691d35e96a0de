"""Contents of ignored files, which are known when new rules show the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.file_time import now
from acp_nvim.snapshots import ignored_files
from acp_nvim.snapshots.directories import CLOCK_NS
from acp_nvim.snapshots.index import Differences, Index
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.workspace.permissions import bits
from tests.core.snapshots.workspaces import repository, shadow_of, write
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio


def shown_by_other_rules(root: Path) -> list[Path]:
    """Return all files that other rules would show."""
    return [path for path in root.rglob("*.*") if path.is_file() and path.suffix in (".conf", ".pem")]


async def known_before(
    shadow: Shadow, root: Path, then: Callable[[], object] = lambda: None
) -> dict[str, bytes | None]:
    """What is known of the files that are shown by other rules; `then` happens before the last snapshot with rules."""
    await shadow.take()
    await shadow.remember_ignored()
    then()
    first = await shadow.take()
    write(root / ".gitignore", "")
    for path in shown_by_other_rules(root):
        path.unlink()
        write(path, "theirs")
    found: dict[str, bytes | None] = {}
    for one in await shadow.changes(first, await shadow.take()):
        if not one.path.endswith(".gitignore"):
            assert one.before is not None
            data = await shadow.read([one.before.oid]) if one.before.oid else [None]
            found[one.path.removeprefix(f"{root}/")] = data[0]
    return found


async def test_what_is_remembered(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".gitignore": "*.conf\n*.pem\nbuild/\n"})
    write(root / "a.conf", "mine")
    write(root / "d" / "b.conf", "mine, too")
    write(root / "large.conf", "x" * (ignored_files.IGNORED_FILE_BYTES + 1))
    write(root / "private.conf", "password").chmod(0o600)
    write(root / "secret.pem", "key")
    write(root / "build" / "out.conf", "made")
    async with shadow_of(root) as shadow:
        assert await known_before(shadow, root) == {
            "a.conf": b"mine",
            "d/b.conf": b"mine, too",
            "large.conf": None,
            "private.conf": None,
            "secret.pem": None,
            "build/out.conf": None,
        }
        oids = list((tmp_path / "w.shadow").rglob("objects/??/*"))
        assert not any(b"password" in path.read_bytes() for path in oids)


async def test_the_newest_have_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ignored_files, "IGNORED_FILES_BYTES", 10)
    root = repository(tmp_path / "w", **{".gitignore": "*.conf\n"})
    for number in range(3):
        write(root / f"{number}.conf", f"{number} is 5")
        before = (root / f"{number}.conf").stat().st_ctime_ns
        while write(root / "tick.txt", "x").stat().st_ctime_ns == before:
            pass
    (root / "tick.txt").unlink()
    async with shadow_of(root) as shadow:
        assert await known_before(shadow, root) == {"0.conf": None, "1.conf": None, "2.conf": b"2 is 5"}


async def test_the_users_later_edits_count(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".gitignore": "*.conf\n"})
    for name in ("changed", "removed", "grown", "same"):
        write(root / f"{name}.conf", "old")

    def edit() -> None:
        write(root / "changed.conf", "new")
        write(root / "grown.conf", "x" * (ignored_files.IGNORED_FILE_BYTES + 1))
        (root / "removed.conf").unlink()
        write(root / "removed.conf", "again")

    async with shadow_of(root) as shadow:
        assert await known_before(shadow, root, edit) == {
            "changed.conf": b"new",
            "removed.conf": b"again",
            "grown.conf": None,
            "same.conf": b"old",
        }


async def test_a_snapshot_taken_again_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_nvim.snapshots.shadow.RETAKE_NS", 60 * 10**9)
    root = repository(tmp_path / "w", **{".gitignore": "*.conf\n"})
    write(root / "a.conf", "mine")
    ask = Index.differences
    looks: list[str] = []

    async def differences(index: Index, room: int) -> Differences:
        looks.append("look")
        if len(looks) < 5:
            write(root / f"new{len(looks)}", "x")
        return await ask(index, room)

    async with shadow_of(root) as shadow:
        opened = await shadow.take()
        await shadow.remember_ignored()
        await shadow.changes(opened, first := await shadow.take())
        write(root / ".gitignore", "")
        write(root / "a.conf", "theirs")
        monkeypatch.setattr(Index, "differences", differences)
        found = {one.path: one.before for one in await shadow.changes(first, await shadow.take())}
        assert len(looks) >= 5
        before = found[str(root / "a.conf")]
        assert before is not None
        assert await shadow.read([before.oid]) == [b"mine"]


async def test_a_cleaning_keeps_what_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_nvim.snapshots.shadow.FRESH_SECONDS", -1)
    root = repository(tmp_path / "w", **{".gitignore": "*.conf\n"})
    write(root / "a.conf", "mine")
    async with shadow_of(root) as shadow:
        await shadow.take()
        await shadow.remember_ignored()
        await shadow.clean(0)
        assert await known_before(shadow, root) == {"a.conf": b"mine"}


async def test_permissions_are_remembered(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".gitignore": "*.conf\n"})
    path = write(root / "a.conf", "mine")
    path.chmod(0o640)
    async with shadow_of(root) as shadow:
        await shadow.take()
        await shadow.remember_ignored()
        first = await shadow.take()
        write(root / ".gitignore", "")
        write(path, "theirs").chmod(0o666)
        [found] = [one for one in await shadow.changes(first, await shadow.take()) if one.path == str(path)]
        assert [bits(one.permissions[0]) for one in (found.before, found.after) if one] == [0o640, 0o666]


@pytest.mark.parametrize("looks", [False, True], ids=["without a look between", "with a look between"])
@pytest.mark.parametrize(
    ("hides", "known"), [("/src/*.o", b"mine"), ("build/", None)], ids=["single files", "the directory"]
)
async def test_a_renamed_directory_shows_them(tmp_path: Path, hides: str, known: bytes | None, looks: bool) -> None:
    root = repository(tmp_path / "w", **{".gitignore": f"{hides}\n", "src__a": "a"})
    ignored = root / hides.strip("/").partition("/")[0]
    changed, kept = write(ignored / "changed.o", "mine"), write(ignored / "kept.o", "mine, too")
    edge = kept.stat().st_ctime_ns + CLOCK_NS
    wait_until(lambda: now() > edge, what="time to pass")
    async with shadow_of(root) as shadow:
        opened = await shadow.take()
        await shadow.remember_ignored()
        await shadow.changes(opened, first := await shadow.take())
        write(changed, "theirs")
        if looks:
            edge = changed.stat().st_ctime_ns + CLOCK_NS
            wait_until(lambda: now() > edge, what="time to pass")
            await shadow.changes(first, last := await shadow.take(first))
        else:
            last = first
        ignored.rename(root / "core")
        found = await shadow.changes(last, await shadow.take(first))
        shown = {one.path: one.before for one in found if one.path.endswith(".o") and one.moved is None}
        assert [*shown] == [f"{root}/core/changed.o"]
        [before] = shown.values()
        assert before is not None
        assert (await shadow.read([before.oid]) if before.oid else [None]) == [known]
