"""What the rules at a snapshot ignored is known later, as git would have said then."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import anyio
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from acp_nvim.snapshots.earlier_rules import ignored
from acp_nvim.snapshots.index import Differences, Index
from acp_nvim.snapshots.store import Store
from tests.core.snapshots.test_directories import wait_until_later
from tests.core.snapshots.workspaces import git, repository, shadow_of, told, write
from tests.support.examples import examples

RULES = ["*.o", "/a", "b/", "!c.o", "a/*", "!a/b", "**/c", "d*/", "\\!x", "#", "*", "!*/"]
NAMES = ["a", "b", "c.o", "dd", "!x"]
PLACES = ["", "a", "a/b", "dd"]

rules = st.dictionaries(st.sampled_from(PLACES), st.lists(st.sampled_from(RULES), max_size=3), max_size=3)
texts = st.lists(st.sampled_from(RULES), max_size=2)
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)


def said_by_git(top: Path, names: list[str]) -> set[str]:
    """Return those names that git ignores now."""
    words = ["git", "check-ignore", "-z", "--no-index", "-v", "--stdin"]
    lines = "".join(f"{name}\0" for name in names)
    rows = subprocess.run(words, cwd=top, input=lines, capture_output=True, text=True, check=False).stdout.split("\0")
    return {name for pattern, name in zip(rows[2::4], rows[3::4], strict=True) if not pattern.startswith("!")}


async def said_later(top: Path, below: str, names: list[str]) -> set[str]:
    """Which of them were ignored at a snapshot of the workspace `below`, after all rules have gone."""
    (top / below).mkdir(exist_ok=True)
    async with shadow_of(top / below, top.parent / "git") as shadow:
        snapshot = await shadow.take()
        shutil.rmtree(top / ".git")
        for place in PLACES:
            (top / place / ".gitignore").unlink(missing_ok=True)
    store = Store(top.parent / "git")
    found = await ignored(store, snapshot, [os.fsencode(name) for name in names])
    store.places.close()
    return {os.fsdecode(name) for name in found}


@given(given=rules, exclude=texts, below=st.booleans(), names=st.lists(paths, min_size=1, max_size=6, unique=True))
@settings(max_examples=examples(15))
def test_as_git_would_have_said(
    tmp_path_factory: pytest.TempPathFactory,
    given: dict[str, list[str]],
    exclude: list[str],
    below: bool,
    names: list[str],
) -> None:
    top = repository(tmp_path_factory.mktemp("rules") / "w")
    write(top / ".git" / "info" / "exclude", "\n".join(exclude))
    for place, lines in given.items():
        write(top / place / ".gitignore", "\n".join(lines))
    expected = said_by_git(top, [f"a/{name}" for name in names] if below else names)
    # no snapshot has a file with rules that ignore it; of a workspace that is ignored, other rules do not count
    odd = [f"{place}/.gitignore".lstrip("/") for place in given] + (["a"] if below else [])
    event(f"is odd: {bool(said_by_git(top, odd))}")
    if not said_by_git(top, odd):
        found = anyio.run(said_later, top, "a" if below else "", names)
        assert {f"a/{name}" for name in found} == expected if below else found == expected


@pytest.mark.anyio
async def test_rules_that_are_in_no_file_of_the_work_tree(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_nvim.snapshots.comparing.CLOCK_NS", 0)
    root = repository(tmp_path / "w", file="text")
    write(home / ".config" / "git" / "ignore", "*.own\n")
    write(root / "a.own", "mine")
    write(root / "b.own", "mine")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(home / ".config" / "git" / "ignore", "hidden\n")
        (root / "a.own").unlink()
        write(root / "a.own", "theirs")
        write(root / "hidden", "theirs")
        write(root / "new.txt", "theirs")
        assert told(root, await shadow.changes(first, await shadow.take(first))) == [
            "M a.own",
            "A hidden",
            "A new.txt",
        ]


@pytest.mark.anyio
async def test_rules_of_a_submodule(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", **{".gitignore": "*.own\n"})
    root = repository(tmp_path / "w")
    git(root, "submodule", "add", "-q", str(inner), "sub")
    write(root / "sub" / "a.own", "mine")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / "sub" / ".gitignore", "hidden\n")
        (root / "sub" / "a.own").unlink()
        write(root / "sub" / "a.own", "theirs")
        write(root / "sub" / "hidden", "theirs")
        found = await shadow.changes(first, await shadow.take(first))
        assert told(root, found) == ["M sub/.gitignore", "M sub/a.own", "A sub/hidden"]
        assert next(one.before for one in found if one.path.endswith(".own")) is not None


@pytest.mark.anyio
async def test_a_work_tree_inside_is_asked_for_with_the_rules_around_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="1")
    repository(root / "inner", deep="2")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / ".gitignore", "*\n!.gitignore\n")
        write(root / "file", "3")
        assert told(root, await shadow.changes(first, await shadow.take(first))) == ["A .gitignore", "M file"]


@pytest.mark.anyio
@pytest.mark.parametrize("when", ["written again", "removed"])
async def test_rules_that_were_others_only_while_git_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """What was ignored before is not taken for a new file, though it is one by its inode."""
    root = repository(tmp_path / "w", file="1")
    write(root / ".gitignore", "*.log\n")
    git(root, "add", "-A")
    write(root / "a.log", "the user's")
    ask = Index.differences

    async def differences(index: Index, room: int) -> Differences:
        (root / ".gitignore").write_text("")
        found = await ask(index, room)
        (root / ".gitignore").write_text("*.log\n")
        return found

    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / "b.log", "an agent's")
        (root / "b.log").replace(root / "a.log")
        monkeypatch.setattr(Index, "differences", differences)
        second = await shadow.take(first)
        if when == "removed":
            (root / ".gitignore").unlink()
        assert told(root, await shadow.changes(first, second)) == ["M a.log"]


@pytest.mark.anyio
async def test_what_the_beginning_of_the_turn_ignored_is_not_new_when_it_comes_back(tmp_path: Path) -> None:
    """A snapshot of the middle may find neither the rules nor a file that is being renamed."""
    root = repository(tmp_path / "w", **{".gitignore": "build/\n", "a": "1"})
    write(root / "build" / "out", "the user's")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / ".gitignore").unlink()
        (root / "build" / "out").rename(root / "a")
        middle = await shadow.take(first)
        assert told(root, await shadow.changes(first, middle)) == ["D .gitignore", "M a"]
        write(root / "build" / "out", "an agent's")
        last = await shadow.take(first)
        assert told(root, await shadow.changes(middle, last)) == ["M build/out"]
        assert told(root, await shadow.changes(last, await shadow.take(last))) == []


WHOLE_TURNS = {
    "an ignored one is changed, then shown": ([("a.o", "theirs"), (".gitignore", "")], {"M a.o", "M .gitignore"}),
    "an ignored one is made, then shown": ([("new.o", "theirs"), (".gitignore", "")], {"M new.o", "M .gitignore"}),
    "one is made where new rules ignore it": (
        [(".gitignore", "*.o\nnew\n"), ("new", "theirs"), ("other", "")],
        {"A new", "A other", "M .gitignore"},
    ),
    "one is made, then hidden, then changed, then shown": (
        [("new", "theirs"), (".gitignore", "*.o\nnew\n"), ("new", "again"), (".gitignore", "*.o\n#\n")],
        {"A new", "M .gitignore"},
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("looks", ["one", "many", "many quick ones"])
@pytest.mark.parametrize(("steps", "expected"), WHOLE_TURNS.values(), ids=WHOLE_TURNS)
async def test_a_look_in_the_middle_of_a_turn_changes_nothing(
    tmp_path: Path, steps: list[tuple[str, str]], expected: set[str], looks: str
) -> None:
    root = repository(tmp_path / "w", **{".gitignore": "*.o\n"})
    for name in ("a.o", "b.o"):
        write(root / name, "mine")
    wait_until_later()
    found: dict[str, str] = {}
    async with shadow_of(root) as shadow:
        began = last = await shadow.take()
        for number, (name, text) in enumerate(steps, 1):
            write(root / name, text)
            if looks == "many":
                wait_until_later()
            if looks != "one" or number == len(steps):
                now = await shadow.take(began)
                for one in told(root, await shadow.changes(last, now)):
                    found.setdefault(one.partition(" ")[2], one)
                last = now
    assert {*found.values()} == expected
