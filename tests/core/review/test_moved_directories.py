"""Directories that agents rename: listed once, rejected, undone, kept and restored in one step."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.contract import review_events
from acp_nvim.snapshots.snapshot import Changed, Snapshot
from tests.core.review.desk import Desk, running_desk
from tests.support.everything import everything

pytestmark = pytest.mark.anyio

LINES = "".join(f"line {number}\n" for number in range(20))


def lay_out(desk: Desk) -> None:
    """Two directories, with all that may be in one."""
    for name in ("src/a.py", "src/deep/b.py", "lib/a.py", "lib/c.py"):
        desk.put(name, f"# {name}\n{LINES}".encode())
    desk.put(".gitignore", b"*.o\n")
    desk.put("src/out.o", b"built\n")
    desk.put("src/run.sh", b"echo\n")
    (desk.cwd / "src/run.sh").chmod(0o755)
    (desk.cwd / "src/empty").mkdir(mode=0o700)
    (desk.cwd / "src/link").symlink_to("a.py")


def move(desk: Desk, old: str, new: str) -> None:
    (desk.cwd / old).rename(desk.cwd / new)


def edit(desk: Desk, name: str, old: str = "line 3", new: str = "LINE 3") -> None:
    desk.put(name, (desk.cwd / name).read_text().replace(f"{old}\n", f"{new}\n").encode())


def swap(desk: Desk) -> None:
    move(desk, "src", "other")
    move(desk, "lib", "src")
    move(desk, "other", "lib")


def rename(desk: Desk) -> None:
    move(desk, "src", "core")


def rename_and_edit(desk: Desk) -> None:
    rename(desk)
    edit(desk, "core/a.py")


def leave_a_link(desk: Desk) -> None:
    rename(desk)
    (desk.cwd / "src").symlink_to("core")


def leave_a_directory(desk: Desk) -> None:
    rename(desk)
    desk.put("src/a.py", b"from core.a import *\n")


def leave_a_file(desk: Desk) -> None:
    rename(desk)
    desk.put("src", b"moved to core\n")


def add_and_delete(desk: Desk) -> None:
    rename(desk)
    desk.put("core/new/d.py", b"new\n")
    (desk.cwd / "core/deep/b.py").unlink()
    (desk.cwd / "core/a.py").rename(desk.cwd / "core/e.py")


def into_another(desk: Desk) -> None:
    move(desk, "src", "lib/src")


def into_a_new_one(desk: Desk) -> None:
    (desk.cwd / "pkg/core").mkdir(parents=True)
    move(desk, "src", "pkg/core/src")


def out_and_around(desk: Desk) -> None:
    move(desk, "src/deep", "deep")
    move(desk, "src", "core")


def in_place_of_a_file(desk: Desk) -> None:
    (desk.cwd / "lib/c.py").unlink()
    move(desk, "src", "lib/c.py")


def below_itself(desk: Desk) -> None:
    move(desk, "src", "other")
    (desk.cwd / "src").mkdir()
    move(desk, "other", "src/old")


def swap_and_edit(desk: Desk) -> None:
    swap(desk)
    edit(desk, "src/a.py")
    edit(desk, "lib/a.py", "line 7", "LINE 7")
    (desk.cwd / "src/c.py").unlink()


R = "rename"
CASES: dict[str, tuple[Callable[[Desk], None], dict[str, tuple[str, int, int, str | None]]]] = {
    "rename": (rename, {"core": (R, 0, 0, "src")}),
    "rename and edit": (rename_and_edit, {"core": (R, 0, 0, "src"), "core/a.py": ("modify", 1, 1, None)}),
    "a link is left": (leave_a_link, {"core": (R, 0, 0, "src"), "src": ("add", 0, 0, None)}),
    "a directory is left": (leave_a_directory, {"core": (R, 0, 0, "src"), "src/a.py": ("add", 1, 0, None)}),
    "a file is left": (leave_a_file, {"core": (R, 0, 0, "src"), "src": ("add", 1, 0, None)}),
    "two are swapped": (swap, {"lib": (R, 0, 0, "src"), "src": (R, 0, 0, "lib")}),
    "swapped and edited": (
        swap_and_edit,
        {
            "lib": (R, 0, 0, "src"),
            "src": (R, 0, 0, "lib"),
            "src/a.py": ("modify", 1, 1, None),
            "lib/a.py": ("modify", 1, 1, None),
            "src/c.py": ("delete", 0, 21, None),
        },
    ),
    "into another": (into_another, {"lib/src": (R, 0, 0, "src")}),
    "into a new one": (into_a_new_one, {"pkg/core/src": (R, 0, 0, "src")}),
    "in place of a file": (in_place_of_a_file, {"lib/c.py": (R, 0, 0, "src")}),
    "below itself": (below_itself, {"src/old": (R, 0, 0, "src")}),
    "an inner one first": (out_and_around, {"core": (R, 0, 0, "src"), "deep": (R, 0, 0, "core/deep")}),
}


async def turn(desk: Desk, act: Callable[[Desk], None]) -> None:
    await desk.begin_turn()
    act(desk)
    await desk.end_turn()


async def undo(desk: Desk) -> review_events.Restored:
    newest = next(one for one in await desk.checkpoints() if one.undo)
    return await desk.restore(newest.id)


@pytest.mark.parametrize(("act", "shown"), CASES.values(), ids=CASES)
async def test_a_renamed_directory_is_one_change(
    tmp_path: Path, act: Callable[[Desk], None], shown: dict[str, tuple[str, int, int, str | None]]
) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        before = everything(desk.cwd)
        await turn(desk, act)
        done, listed = everything(desk.cwd), desk.shown()
        expected = dict(shown)
        if act is in_place_of_a_file:  # two changes of the same name
            assert listed.pop("lib/c.py") == shown["lib/c.py"]
            assert {one.path for one in desk.reviews.ledger.open()} >= {str(desk.cwd / "lib/c.py")}
            expected.pop("lib/c.py")
        assert listed == expected
        await desk.judge("reject")
        assert (desk.errors(), desk.shown()) == ([], {})
        assert everything(desk.cwd) == before
        told = await undo(desk)
        assert (told.problem, told.conflicts) == (None, [])
        assert everything(desk.cwd) == done
        assert desk.shown() == (listed if act is not in_place_of_a_file else desk.shown())
        await desk.restart()
        await desk.judge("reject")
        assert (desk.errors(), desk.shown()) == ([], {})
        assert everything(desk.cwd) == before
        await desk.look_around()
        assert desk.shown() == {}
        [made] = [one for one in await desk.checkpoints() if one.kind == "turn"]
        await undo(desk)
        await desk.look_around()
        assert everything(desk.cwd) == done
        told = await desk.restore(made.id)
        assert (told.problem, told.conflicts) == (None, [])
        assert everything(desk.cwd) == before


async def reject(desk: Desk, name: str) -> None:
    """What the user does on one line of the list; the name of a directory ends with a slash."""
    await desk.reviews.judge("reject", f"{desk.cwd}/{name}", None, None)


@pytest.mark.parametrize("act", [rename, leave_a_link, leave_a_directory, leave_a_file, swap, below_itself])
async def test_one_line_is_rejected_with_what_is_in_its_way(tmp_path: Path, act: Callable[[Desk], None]) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        before = everything(desk.cwd)
        await turn(desk, act)
        done, listed = everything(desk.cwd), desk.shown()
        name = next(name for name, one in listed.items() if one[0] == R)
        await reject(desk, f"{name}/")
        assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, before)
        await undo(desk)
        assert (desk.shown(), everything(desk.cwd)) == (listed, done)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("src/mine.txt", "src/mine.txt is in the way"),
        ("src", "src is in the way"),
        ("src/out.o", "src/out.o is in the way"),
    ],
)
async def test_what_the_user_has_put_in_the_way_stays_and_so_does_the_rest(
    tmp_path: Path, name: str, words: str
) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        await turn(desk, rename_and_edit)
        desk.put(name, b"mine\n")
        await desk.look_around()
        before, listed = everything(desk.cwd), desk.shown()
        assert set(listed) == {"core", "core/a.py"}
        await reject(desk, "core/")
        assert words in desk.errors()[-1]
        assert (desk.shown(), everything(desk.cwd)) == (listed, before)
        await desk.judge("reject")
        assert words in desk.errors()[-1]
        assert set(desk.shown()) == {"core"}
        (desk.cwd / name).unlink()
        await desk.judge("reject")
        assert desk.shown() == {}
        assert (desk.cwd / "src/a.py").read_text() == f"# src/a.py\n{LINES}"


async def test_what_an_agent_left_is_not_rejected_when_something_of_the_users_is_there_too(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        await turn(desk, leave_a_directory)
        desk.put("src/mine.txt", b"mine\n")
        await desk.look_around()
        before, listed = everything(desk.cwd), desk.shown()
        await reject(desk, "core/")
        assert "src/mine.txt is there" in desk.errors()[-1]
        assert (desk.shown(), everything(desk.cwd)) == (listed, before)


async def test_the_users_files_and_buffers_go_along(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        desk.open("src/deep/b.py")
        await turn(desk, rename_and_edit)
        assert str(desk.cwd / "core/deep/b.py") in desk.editor.buffers
        desk.put("core/mine.txt", b"mine\n")
        desk.open("core/a.py")
        await desk.review("core/a.py")
        unsaved = f"mine\n{desk.text('core/deep/b.py')}"
        await desk.type("core/deep/b.py", unsaved, is_told=True)
        await reject(desk, "core/")
        assert desk.errors() == []
        assert desk.shown() == {"src/a.py": ("modify", 1, 1, None)}
        assert desk.text("src/deep/b.py") == unsaved
        assert (desk.cwd / "src/mine.txt").read_bytes() == b"mine\n"
        await desk.judge("reject", "src/a.py")
        assert desk.text("src/a.py") == (desk.cwd / "src/a.py").read_text() == f"# src/a.py\n{LINES}"
        await desk.look_around()
        assert desk.shown() == {}


async def test_a_directory_and_its_files_are_kept_one_by_one(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        await turn(desk, add_and_delete)
        assert set(desk.shown()) == {"core", "core/e.py", "core/new/d.py", "core/deep/b.py"}
        assert desk.shown()["core/e.py"] == (R, 0, 0, "core/a.py")
        await desk.reviews.judge("keep", f"{desk.cwd}/core/", None, None)
        assert set(desk.shown()) == {"core/e.py", "core/new/d.py", "core/deep/b.py"}
        await desk.judge("keep", "core/e.py")
        await desk.judge("reject")
        assert (desk.errors(), desk.shown()) == ([], {})
        names = {name for name in everything(desk.cwd) if name.startswith(("core", "src"))}
        inside = ("e.py", "deep", "deep/b.py", "out.o", "run.sh", "empty", "link")
        assert names == {"core", *(f"core/{name}" for name in inside)}


async def test_the_files_of_a_directory_are_rejected_before_and_after_it(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        before = everything(desk.cwd)
        await turn(desk, add_and_delete)
        await desk.judge("reject", "core/deep/b.py")
        await reject(desk, "core/")
        assert desk.shown() == {"src/e.py": (R, 0, 0, "src/a.py"), "src/new/d.py": ("add", 1, 0, None)}
        await desk.judge("reject", "src/new/d.py")
        await desk.judge("reject", "src/e.py")
        assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, before)


async def test_a_directory_that_gets_another_name_again(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        before = everything(desk.cwd)
        await turn(desk, rename_and_edit)
        await turn(desk, lambda desk: move(desk, "core", "third"))
        assert desk.shown() == {"third": (R, 0, 0, "src"), "third/a.py": ("modify", 1, 1, None)}
        await turn(desk, lambda desk: move(desk, "third", "src"))
        assert desk.shown() == {"src/a.py": ("modify", 1, 1, None)}
        await turn(desk, rename)
        assert desk.shown() == {"core": (R, 0, 0, "src"), "core/a.py": ("modify", 1, 1, None)}
        await turn(desk, lambda desk: move(desk, "core/deep", "core/deeper"))
        await turn(desk, lambda desk: edit(desk, "core/deeper/b.py"))
        assert set(desk.shown()) == {"core", "core/a.py", "core/deeper", "core/deeper/b.py"}
        first = [one for one in await desk.checkpoints() if one.kind == "turn"][-1]
        await desk.judge("reject")
        assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, before)
        await undo(desk)
        assert set(desk.shown()) == {"core", "core/a.py", "core/deeper", "core/deeper/b.py"}
        told = await desk.restore(first.id)
        assert (told.problem, told.conflicts, everything(desk.cwd)) == (None, [], before)
        await undo(desk)
        assert set(desk.shown()) == {"core", "core/a.py", "core/deeper", "core/deeper/b.py"}
        await desk.judge("reject")
        assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, before)


async def test_a_restore_undoes_the_edits_of_several_turns_under_several_names(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        states = []
        for act in (
            lambda desk: edit(desk, "src/a.py"),
            lambda desk: (rename(desk), edit(desk, "core/a.py", "line 9", "LINE 9"))[0],
            leave_a_directory_there,
            lambda desk: edit(desk, "core/deep/b.py"),
        ):
            states.append(everything(desk.cwd))
            await turn(desk, act)
        turns = [one for one in await desk.checkpoints() if one.kind == "turn"]
        await desk.reviews.plan(str(desk.cwd), turns[-1].id)
        plan = desk.editor.all(review_events.RestorePlanned)[-1]
        names = {one.path.removeprefix(f"{desk.cwd}/"): one.operation for one in plan.files}
        assert names == {"core/a.py": "modify", "core/deep/b.py": "modify", "src/a.py": "delete", "src/": R}
        assert "rename from core/\nrename to src/\n" in plan.patch
        for made, state in zip(turns, reversed(states), strict=True):
            told = await desk.restore(made.id)
            assert (told.problem, told.conflicts) == (None, [])
            assert everything(desk.cwd) == state


def leave_a_directory_there(desk: Desk) -> None:
    desk.put("src/a.py", b"from core.a import *\n")


async def test_a_renamed_directory_that_is_deleted_is_a_deletion_under_the_old_name(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("src/a.py", LINES.encode())
        before = everything(desk.cwd)
        await desk.begin_turn()
        rename(desk)
        await desk.look_around()
        assert set(desk.shown()) == {"core"}
        (desk.cwd / "core/a.py").unlink()
        (desk.cwd / "core").rmdir()
        await desk.end_turn()
        assert desk.shown() == {"src/a.py": ("delete", 0, 20, None)}
        await desk.judge("reject")
        assert (desk.errors(), everything(desk.cwd)) == ([], before)


async def test_a_swapped_directory_that_is_deleted_is_under_review_with_its_files(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        before = everything(desk.cwd)
        await desk.begin_turn()
        swap(desk)
        await desk.look_around()
        shutil.rmtree(desk.cwd / "src")
        await desk.end_turn()
        assert desk.shown() == {
            "lib": (R, 0, 0, "src"),
            "src": (R, 0, 0, "lib"),
            "src/a.py": ("delete", 0, 21, None),
            "src/c.py": ("delete", 0, 21, None),
        }
        await desk.judge("reject")
        assert (desk.errors(), everything(desk.cwd)) == ([], before)


async def test_a_swapped_directory_that_is_deleted_is_not_under_review_without_its_files(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        await desk.begin_turn()
        swap(desk)
        await desk.look_around()
        shutil.rmtree(desk.cwd / "src")
        await desk.end_turn()
        await desk.judge("keep", "src/a.py")
        await desk.judge("keep", "src/c.py")
        await desk.look_around()
        assert desk.shown() == {"lib": (R, 0, 0, "src")}
        await desk.judge("reject")
        assert (desk.errors(), desk.shown(), (desk.cwd / "lib").exists()) == ([], {}, False)


async def test_the_names_of_a_swapped_directory_that_is_deleted_can_be_rejected_first(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        before = everything(desk.cwd)
        await desk.begin_turn()
        swap(desk)
        await desk.look_around()
        shutil.rmtree(desk.cwd / "src")
        await desk.end_turn()
        await desk.reviews.judge("reject", f"{desk.cwd}/lib/", None, None)
        assert desk.shown() == {"lib/a.py": ("delete", 0, 21, None), "lib/c.py": ("delete", 0, 21, None)}
        await desk.judge("reject")
        assert (desk.errors(), everything(desk.cwd)) == ([], before)


@pytest.mark.parametrize(
    ("other", "act", "expected"),
    [
        ("docs", swap, {"lib": "src", "src": "lib", "docs": "lib/deep", "lib/deep": "docs"}),
        ("lib", leave_a_link, {"core": "src", "src": None, "lib": "core/deep", "core/deep": "lib"}),
    ],
)
async def test_what_is_renamed_while_a_swap_is_entered_is_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    other: str,
    act: Callable[[Desk], None],
    expected: dict[str, str | None],
) -> None:
    """It has come after the snapshot, and a link in its place is no directory: the swap has not brought them."""
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        desk.put("docs/a.md", b"# docs\n")
        before = everything(desk.cwd)
        await desk.begin_turn()
        move(desk, other, "away")
        move(desk, "src/deep", other)
        move(desk, "away", "src/deep")
        shadow = desk.reviews.workspaces.at(str(desk.cwd)).scanner.shadow
        changes = shadow.changes

        async def then_act(old: Snapshot, new: Snapshot) -> list[Changed]:
            found = await changes(old, new)
            act(desk)
            return found

        with monkeypatch.context() as slow:
            slow.setattr("acp_nvim.snapshots.shadow.RETAKE_NS", 0)  # names change all the time
            slow.setattr(shadow, "changes", then_act)
            await desk.look_around()
        await desk.end_turn()
        assert {name: one[3] for name, one in desk.shown().items()} == expected
        await desk.judge("reject")
        assert (desk.errors(), everything(desk.cwd)) == ([], before)


async def test_another_host_goes_on_with_a_turn_that_has_renamed_a_directory(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        before = everything(desk.cwd)
        await desk.begin_turn()
        rename(desk)
        await desk.look_around()
        edit(desk, "core/a.py")
        move(desk, "lib", "library")
        await desk.restart()
        assert set(desk.shown()) == {"core", "core/a.py", "library"}
        await desk.judge("reject")
        assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, before)


async def test_the_users_rename_of_a_directory_takes_the_changes_along(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        lay_out(desk)
        desk.put("src/doc/n.md", LINES.encode())
        await turn(desk, rename_and_edit)
        await turn(desk, lambda desk: move(desk, "core/doc", "core/docs"))
        move(desk, "core", "mine")
        await desk.judge("reject", "core/a.py")
        assert desk.shown() == {"mine/docs": (R, 0, 0, "mine/doc")}
        await desk.judge("reject")
        assert (desk.errors(), desk.shown()) == ([], {})
        assert (desk.cwd / "mine/a.py").read_text() == f"# src/a.py\n{LINES}"
        assert (desk.cwd / "mine/doc/n.md").is_file()
        assert not (desk.cwd / "src").exists()
