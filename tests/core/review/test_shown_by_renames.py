"""Files come to light with a renamed directory, or move to where one was: they are not new, and are never deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from acp_nvim.file_time import now
from acp_nvim.snapshots.directories import CLOCK_NS
from tests.core.review.desk import Desk, running_desk
from tests.support.everything import everything
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio

BUILT = b"built\n" * 10


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with running_desk(tmp_path) as made:
        yield made


async def begin(desk: Desk, rules: bytes, **files: bytes) -> None:
    """A turn in a workspace with these files (`__` stands for a slash), the ignored ones of which are remembered."""
    desk.put(".gitignore", rules)
    for name, data in files.items():
        desk.put(name.replace("__", "/").replace("_", "."), data)
    edge = now() + CLOCK_NS
    wait_until(lambda: now() > edge, what="the files to be older than the turn")
    await desk.begin_turn()
    [workspace] = desk.reviews.workspaces.all.values()
    await workspace.scanner.shadow.remember_ignored()
    await desk.end_turn()
    await desk.begin_turn()


def swap(desk: Desk, one: str, other: str) -> None:
    (desk.cwd / one).rename(desk.cwd / "away")
    (desk.cwd / other).rename(desk.cwd / one)
    (desk.cwd / "away").rename(desk.cwd / other)


@pytest.mark.parametrize("how", ["edited", "made executable"])
async def test_what_was_ignored_as_a_whole_keeps_what_was_changed_in_it(desk: Desk, how: str) -> None:
    await begin(desk, b"build/\n", src__a_py=b"a\n" * 20, build__out_o=BUILT, build__same_o=BUILT)
    changed = desk.cwd / "build/out.o"
    if how == "edited":
        changed.write_bytes(BUILT + b"more\n")
    else:
        changed.chmod(0o755)
    expected = everything(desk.cwd)
    swap(desk, "src", "build")
    await desk.look_around()
    desk.put("build/out.o", b"another\n")
    await desk.end_turn()
    assert desk.shown().keys() == {"src", "build", "src/out.o", "build/out.o"}
    await desk.judge("reject")
    assert everything(desk.cwd) == expected
    [said] = desk.errors()
    assert said.startswith(f"{desk.cwd}/src/out.o was left as it is: what it had before is not known")


async def test_what_was_replaced_there_is_not_new(desk: Desk) -> None:
    await begin(desk, b"build/\n", src__a_py=b"a\n" * 20, build__out_o=BUILT)
    desk.put("build/tmp", BUILT + b"more\n")
    (desk.cwd / "build/tmp").replace(desk.cwd / "build/out.o")
    expected = everything(desk.cwd)
    swap(desk, "src", "build")
    await desk.end_turn()
    assert desk.shown().keys() == {"src", "build", "src/out.o"}
    await desk.judge("reject")
    assert everything(desk.cwd) == expected


@pytest.mark.parametrize("rules", [None, b"build/\n", b"build/\n*.log\n", b""], ids=["no", "the same", "more", "none"])
async def test_what_is_made_in_what_was_ignored_as_a_whole_is_new(desk: Desk, rules: bytes | None) -> None:
    """This holds for any rules that are written in the turn."""
    await begin(desk, b"build/\n", src__a_py=b"a\n" * 20, build__out_o=BUILT, build__in__out_o=BUILT)
    expected = everything(desk.cwd)
    desk.put("build/in/list", b"new\n")
    desk.put("build/made/deep/list", b"new\n")
    if rules is not None:
        desk.put(".gitignore", rules)
    (desk.cwd / "build").rename(desk.cwd / "core")
    await desk.end_turn()
    shown = {name: one[0] for name, one in desk.shown().items()}
    assert shown.pop(".gitignore", None) == ("modify" if rules not in (None, b"build/\n") else None)
    assert shown == {
        "core": "rename",
        "core/in/list": "add",
        "core/made/deep/list": "add",
    }
    await desk.judge("reject")
    assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, expected)


async def test_what_was_ignored_in_a_directory_is_part_of_its_rename(desk: Desk) -> None:
    await begin(desk, b"/build/in/\n", build__a_py=b"a\n" * 20, build__in__out_o=BUILT, build__in__deep__out_o=BUILT)
    first = everything(desk.cwd)
    (desk.cwd / "docs").mkdir()
    (desk.cwd / "build").rename(desk.cwd / "docs/core")
    await desk.end_turn()
    assert desk.shown() == {"docs/core": ("rename", 0, 0, "build")}
    await desk.judge("reject")
    assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, first)


async def test_what_is_made_beside_what_comes_to_light_is_looked_at_by_itself(desk: Desk) -> None:
    await begin(desk, b"/src/*.o\n", src__a_py=b"a\n" * 20, src__out_o=BUILT)
    desk.put("src/out.o", BUILT + b"more\n")
    (desk.cwd / "src").rename(desk.cwd / "core")
    for name in ("src/out.o", "src/new.py", "core/new.py"):
        desk.put(name, b"new\n")
    await desk.end_turn()
    assert desk.shown().keys() == {"core", "core/out.o", "src/new.py", "core/new.py"}
    assert {desk.shown()[name][0] for name in ("src/new.py", "core/new.py")} == {"add"}


async def test_what_is_made_where_an_ignored_directory_was_is_new(desk: Desk) -> None:
    await begin(desk, b"build/\n", src__a_py=b"a\n" * 20, build__out_o=BUILT)
    first = everything(desk.cwd)
    swap(desk, "src", "build")
    desk.put("build/out.o", b"another\n")
    (desk.cwd / "build/link").symlink_to("out.o")
    await desk.end_turn()
    await desk.judge("reject")
    assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, first)


async def test_what_is_remembered_of_a_single_file_comes_back(desk: Desk) -> None:
    await begin(desk, b"/src/*.o\n", src__a_py=b"a\n" * 20, src__out_o=BUILT, lib__b_py=b"b\n" * 20)
    first = everything(desk.cwd)
    desk.put("src/out.o", BUILT + b"more\n")
    swap(desk, "src", "lib")
    await desk.end_turn()
    assert desk.shown().keys() == {"src", "lib", "lib/out.o"}
    await desk.judge("reject")
    assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, first)


@pytest.mark.parametrize("edits", [False, True], ids=["as it was", "edited"])
async def test_what_comes_from_elsewhere_to_the_place_of_a_renamed_directory_stays(desk: Desk, edits: bool) -> None:
    outside = desk.cwd.parent / "outside.txt"
    outside.write_bytes(b"mine\n")
    await begin(desk, b"", src__a_py=b"a\n" * 20)
    (desk.cwd / "src").rename(desk.cwd / "core")
    (desk.cwd / "src").mkdir()
    outside.rename(desk.cwd / "src/mine.txt")
    if edits:
        (desk.cwd / "src/mine.txt").write_bytes(b"mine\nmore\n")
    await desk.end_turn()
    await desk.judge("reject")
    contents = [data for _, data in everything(desk.cwd).values() if isinstance(data, bytes)]
    assert [data for data in contents if data.startswith(b"mine")] == [b"mine\n" + b"more\n" * edits]
    assert all("was left as it is" in said or "is in the way" in said for said in desk.errors())


@pytest.mark.parametrize("edits", [False, True], ids=["as it was", "edited"])
@pytest.mark.parametrize("place", ["project/build", "outside"])
async def test_a_directory_that_comes_to_the_place_of_another_keeps_what_is_in_it(
    desk: Desk, place: str, edits: bool
) -> None:
    """The other directory may have lost a file of the same name."""
    other = desk.cwd.parent / place
    other.mkdir(parents=True)
    for name in ("a.py", "keep.py"):
        (other / name).write_text(f"mine {name}\n")
    await begin(desk, b"build/\n", src__a_py=b"a\n" * 20, src__b_py=b"b\n" * 20)
    (desk.cwd / "src").rename(desk.cwd / "core")
    (desk.cwd / "core/a.py").unlink()
    other.rename(desk.cwd / "src")
    if edits:
        with (desk.cwd / "src/a.py").open("a") as file:
            file.write("more\n")
    await desk.end_turn()
    await desk.judge("reject")
    contents = [data for _, data in everything(desk.cwd).values() if isinstance(data, bytes)]
    mine = sorted(data for data in contents if data.startswith(b"mine"))
    assert mine == [b"mine a.py\n" + b"more\n" * edits, b"mine keep.py\n"]
    assert b"a\n" * 20 in contents
