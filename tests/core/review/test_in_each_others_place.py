"""Files, directories and links that agents put in each other's place: one rejection, and one undo, are enough."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.review.desk import running_desk
from tests.support.everything import everything

pytestmark = pytest.mark.anyio

Tree = dict[str, bytes | str | None]
"""Texts of files, targets of links; None: an empty directory."""


def put(directory: Path, tree: Tree) -> None:
    for name, content in tree.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        elif isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content)


def clear(directory: Path, names: list[str]) -> None:
    for name in names:
        path = directory / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


A, B, C = b"a\n" * 9, b"b\n" * 8, b"c\n" * 7
TARGET: Tree = {"other/x": C}

CASES: dict[str, tuple[Tree, list[str], Tree]] = {
    "a file becomes a directory": ({"f": A}, ["f"], {"f/x": B, "f/y": C}),
    "of many levels": ({"f": A}, ["f"], {"f/one/two/x": B, "f/one/y": C}),
    "an empty one": ({"f": A}, ["f"], {"f": None}),
    "a directory becomes a file": ({"d/x": A, "d/y": B}, ["d"], {"d": C}),
    "a deep one": ({"d/one/two/x": A, "d/y": B}, ["d"], {"d": C}),
    "an inner one": ({"d/one/two/x": A, "d/y": B}, ["d/one"], {"d/one": C}),
    "a link becomes a directory": ({**TARGET, "l": "other"}, ["l"], {"l/x": B}),
    "a directory becomes a link": ({**TARGET, "d/x": A, "d/y": B}, ["d"], {"d": "other"}),
    "a link becomes a file": ({**TARGET, "l": "other"}, ["l"], {"l": B}),
    "a file becomes a link": ({**TARGET, "f": A}, ["f"], {"f": "other"}),
    "a directory with a link becomes a link": ({**TARGET, "d/l": "../other", "d/x": A}, ["d"], {"d": "other"}),
    "both ways": ({"f": A, "d/x": B}, ["f", "d"], {"f/x": B, "d": A}),
    "a file moves into its place": ({"f": A}, ["f"], {"f/f": A}),
    "a file moves out to its place": ({"d/x": A}, ["d"], {"d": A}),
    "new directories": ({"f": A}, [], {"new/one/x": B, "new/y": C, "z/l": "../f"}),
    "an empty directory of before": ({"f": A, "empty": None}, [], {"empty/x": B, "empty/new/y": C}),
}


@pytest.mark.parametrize("is_open", [False, True], ids=["", "open"])
@pytest.mark.parametrize(("before", "gone", "after"), CASES.values(), ids=CASES)
async def test_one_rejection_and_one_undo(
    tmp_path: Path, before: Tree, gone: list[str], after: Tree, is_open: bool
) -> None:
    async with running_desk(tmp_path) as desk:
        put(desk.cwd, before)
        for name in [name for name, content in before.items() if isinstance(content, bytes) and is_open]:
            desk.open(name)
        was = everything(desk.cwd)
        await desk.begin_turn()
        clear(desk.cwd, gone)
        put(desk.cwd, after)
        await desk.end_turn()
        done, listed = everything(desk.cwd), desk.shown()
        await desk.judge("reject")
        assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, was)
        await desk.look_around()
        assert (desk.shown(), everything(desk.cwd)) == ({}, was)
        newest, turn = (await desk.checkpoints())[:2]
        told = await desk.restore(newest.id)
        assert (told.problem, told.conflicts) == (None, [])
        assert everything(desk.cwd) == {name: one for name, one in done.items() if name not in lost(after)}
        if "rename" not in [one[0] for one in listed.values()]:  # else it was rejected in two parts
            assert desk.shown() == listed
        assert desk.shown().keys() >= listed.keys()
        await desk.restart()
        told = await desk.restore(turn.id)
        assert (told.problem, told.conflicts, everything(desk.cwd)) == (None, [], was)


def lost(after: Tree) -> list[str]:
    """Directories without files are in no snapshot: an undo does not bring them back."""
    return [name for name, content in after.items() if content is None]


ONE: dict[str, tuple[Tree, list[str], Tree, str]] = {
    "the file": ({"f": A}, ["f"], {"f/x": B, "f/one/y": C}, "f"),
    "the link": ({**TARGET, "l": "other"}, ["l"], {"l/x": B}, "l"),
    "a file of the directory": ({"d/x": A}, ["d"], {"d": C}, "d/x"),
    "a file of a directory that is a link now": ({**TARGET, "d/x": A}, ["d"], {"d": "other"}, "d/x"),
}


@pytest.mark.parametrize(("before", "gone", "after", "name"), ONE.values(), ids=ONE)
async def test_one_file_is_rejected_with_what_is_in_its_place(
    tmp_path: Path, before: Tree, gone: list[str], after: Tree, name: str
) -> None:
    async with running_desk(tmp_path) as desk:
        put(desk.cwd, before)
        was = everything(desk.cwd)
        await desk.begin_turn()
        clear(desk.cwd, gone)
        put(desk.cwd, after)
        await desk.end_turn()
        await desk.judge("reject", name)
        assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, was)


@pytest.mark.parametrize("mine", ["f/mine.txt", "f/one/mine.txt"])
@pytest.mark.parametrize("name", [None, "f"], ids=["all", "one"])
async def test_what_is_the_users_there_stays(tmp_path: Path, mine: str, name: str | None) -> None:
    async with running_desk(tmp_path) as desk:
        put(desk.cwd, {"f": A})
        await desk.begin_turn()
        clear(desk.cwd, ["f"])
        put(desk.cwd, {"f/x": B, "f/one/y": C})
        await desk.end_turn()
        put(desk.cwd, {mine: b"mine\n"})
        await desk.look_around()
        listed = desk.shown()
        await desk.judge("reject", name)
        assert mine in desk.errors()[-1]
        assert (desk.cwd / mine).read_bytes() == b"mine\n"
        assert desk.shown() == (listed if name else {"f": listed["f"]})
        clear(desk.cwd, [mine])
        await desk.judge("reject", name)
        assert (desk.shown(), everything(desk.cwd)["f"][1]) == ({}, A)


async def test_a_link_above_is_not_followed(tmp_path: Path) -> None:
    """What is rejected had been there before somebody put a link to the user's directory in its place."""
    async with running_desk(tmp_path) as desk:
        put(desk.cwd, {"other/x": B, "f": A})
        await desk.begin_turn()
        put(desk.cwd, {"d/x": B})
        await desk.end_turn()
        clear(desk.cwd, ["d"])
        put(desk.cwd, {"d": "other"})
        await desk.judge("reject")
        assert (desk.cwd / "other/x").read_bytes() == B
        assert os.readlink(desk.cwd / "d") == "other"


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: (path.mkdir(), (path / "inner").mkdir())])
async def test_an_empty_directory_of_the_users_stays(tmp_path: Path, make: Callable[[Path], object]) -> None:
    async with running_desk(tmp_path) as desk:
        put(desk.cwd, {"f": A})
        make(desk.cwd / "mine")
        was = everything(desk.cwd)
        await desk.begin_turn()
        put(desk.cwd, {"mine/x": B, "mine/new/y": C})
        await desk.end_turn()
        await desk.judge("reject")
        assert (desk.shown(), everything(desk.cwd)) == ({}, was)


async def test_a_directory_that_a_scan_has_found_empty_goes_with_the_files_that_come_later(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        put(desk.cwd, {"f": A})
        was = everything(desk.cwd)
        await desk.begin_turn()
        put(desk.cwd, {"new": None, "made": B})
        await desk.look_around()
        put(desk.cwd, {"new/one/x": C})
        await desk.end_turn()
        await desk.judge("reject")
        assert (desk.errors(), desk.shown(), everything(desk.cwd)) == ([], {}, was)
