"""Random turns in a directory of random files: who goes back finds every byte, and again by undoing that."""

from __future__ import annotations

import os
import random
import subprocess

import anyio
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from acp_nvim.contract import review_events
from tests.core.review.desk import Desk, play
from tests.support.agent_edits import Tree, git
from tests.support.examples import examples

NAMES = ["a", "b", "d/a", "d/e/b", "x"]
KINDS = ["text", "text", "text", "bytes", "delete", "rename", "mode", "fs"]
TURNS = st.lists(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 2**32)), max_size=5), min_size=1, max_size=3)


def lines(of: random.Random) -> bytes:
    """Return random lines."""
    return b"".join(b"line %d\n" % of.randrange(10**6) for _ in range(of.randrange(1, 12)))


def edited(of: random.Random, data: bytes) -> bytes:
    """Some lines are others, are gone, or came."""
    found = data.splitlines(keepends=True)
    for _ in range(of.randrange(1, 3)):
        at = of.randrange(len(found) + 1)
        found[at : at + of.randrange(3)] = lines(of).splitlines(keepends=True)[: of.randrange(3)]
    return b"".join(found)


class Files:
    """The files of a workspace, in random hands."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def names(self) -> list[str]:
        """Return the names of the files."""
        return sorted(name.rstrip("*") for name in self.desk.look())

    def begin(self, seed: int) -> None:
        """A few files of all kinds."""
        of = random.Random(seed)
        for name in NAMES[:-1]:
            self.desk.put(name, of.choice([lines(of), lines(of), of.randbytes(40) + b"\0"]))
        self.desk.put("keep", b"nobody changes this\n")
        if seed % 2:
            git(self.desk.cwd, "init", "-q")

    async def act(self, kind: str, seed: int) -> None:
        """Do one thing to one file; changes by the agent's own tools are noticed later."""
        of = random.Random(seed)
        names = [name for name in self.names if name != "keep"]
        free = [name for name in NAMES if name not in names]
        if kind == "rename" and names and free:
            new = self.desk.cwd / of.choice(free)
            new.parent.mkdir(parents=True, exist_ok=True)
            os.rename(self.desk.cwd / of.choice(names), new)
        elif kind == "delete" and names:
            (self.desk.cwd / of.choice(names)).unlink()
        elif kind == "mode" and names:
            path = self.desk.cwd / of.choice(names)
            path.chmod(path.stat().st_mode ^ 0o111)
        elif kind == "bytes":
            self.desk.put(of.choice(NAMES), of.randbytes(of.randrange(1, 60)) + b"\0")
        elif kind == "fs":
            await self._write(of.choice(names or NAMES), of)
        elif kind == "text":
            name = of.choice(NAMES)
            data = (self.desk.cwd / name).read_bytes() if name in names else b""
            self.desk.put(name, edited(of, data) if data and b"\0" not in data else lines(of))

    async def _write(self, name: str, of: random.Random) -> None:
        path = self.desk.cwd / name
        if path.exists() and b"\0" not in path.read_bytes():
            await self.desk.look_around()
            await self.desk.fs_write(name, lambda text: edited(of, text.encode()).decode())


def merged(now: bytes, after: bytes, before: bytes, desk: Desk) -> bytes | None:
    """What git makes of it; None: a conflict."""
    paths = []
    for name, data in (("now", now), ("after", after), ("before", before)):
        paths.append(desk.state.parent / name)
        paths[-1].write_bytes(data)
    answer = subprocess.run(["git", "merge-file", "-p", *map(str, paths)], capture_output=True, check=False)
    return answer.stdout if answer.returncode == 0 else None


def contents(tree: Tree) -> Tree:
    """Return the contents, without the mark of executable files."""
    return {name.rstrip("*"): data for name, data in tree.items()}


def name_of(path: str, desk: Desk) -> str:
    """Return the path, relative to the workspace."""
    return os.path.relpath(path, desk.cwd)


Shown = dict[str, tuple[str, int, int, str | None] | None]


async def looked_at(desk: Desk) -> Shown:
    """What a list of the files says when somebody has opened all of them; None of what is reviewed as a whole."""
    for name in desk.shown():
        await desk.review(name)
    entries = desk.reviews.ledger.entries
    return {name: None if entries[str(desk.cwd / name)].text is None else one for name, one in desk.shown().items()}


def is_same(one: Shown, other: Shown) -> bool:
    """Whether the lists say the same; what was no text in between may be reviewed as a whole, or by lines."""
    return one.keys() == other.keys() and all(
        None in (one[name], other[name]) or one[name] == other[name] for name in one
    )


async def turns_played(files: Files, turns, restarts: int) -> list[Tree]:
    """The files before each turn that has changed something, the first one first."""
    before = []
    for number, turn in enumerate(turns):
        tree = files.desk.look()
        await files.desk.begin_turn(f"turn {number}")
        for kind, seed in turn:
            await files.act(kind, seed)
        await files.desk.end_turn()
        if files.desk.look() != tree:
            before.append(tree)
        if restarts & (1 << number):
            shown = await looked_at(files.desk)
            await files.desk.restart()
            assert is_same(await looked_at(files.desk), shown)
    return before


@settings(max_examples=examples(10))
@given(seed=st.integers(0, 2**32), turns=TURNS, restarts=st.integers(0, 7), back=st.integers(0, 2))
def test_to_go_back_and_to_undo_that_gives_every_byte(seed, turns, restarts, back) -> None:
    async def played(desk: Desk) -> None:
        files = Files(desk)
        files.begin(seed)
        before = await turns_played(files, turns, restarts)
        now, shown = desk.look(), await looked_at(desk)
        found = [one for one in await desk.checkpoints() if one.kind == "turn"][::-1]
        assert len(found) == len(before)
        if not found:
            event("nothing was changed")
            return
        back_to = back % len(found)
        is_whole = back_to == 0 and not any(one[0] == "rename" for one in desk.shown().values())
        done = await desk.restore(found[back_to].id)
        assert (done.conflicts, done.problem) == ([], None)
        assert desk.look() == before[back_to]
        assert back_to or desk.shown() == {}
        if restarts & 8:
            await desk.restart()
        undone = await desk.restore(done.undo_id)
        assert (undone.conflicts, undone.problem) == ([], None)
        assert desk.look() == now
        assert not is_whole or is_same(await looked_at(desk), shown)
        event(f"{len(found)} turns, back to {back_to}")

    play(played)


@settings(max_examples=examples(10))
@given(seed=st.integers(0, 2**32), turns=TURNS, later=st.lists(st.integers(0, 2**32), max_size=4))
def test_what_the_user_has_changed_since_stays(seed, turns, later) -> None:
    async def played(desk: Desk) -> None:
        files = Files(desk)
        files.begin(seed)
        before = await turns_played(files, turns, 0)
        after = desk.look()
        for one in later:
            await files.act("text", one)
        now = desk.look()
        if not before:
            return
        found = [one for one in await desk.checkpoints() if one.kind == "turn"][-1]
        done = await desk.restore(found.id)
        conflicts = [name_of(path, desk) for path in done.conflicts]
        assert done.problem is None
        got, trees = contents(desk.look()), [contents(tree) for tree in (before[0], after, now)]
        for name in {name for tree in trees for name in tree}:
            old, agents, users = (tree.get(name) for tree in trees)
            is_text = not any(b"\0" in data for data in (old, agents, users) if data is not None)
            if name in conflicts:
                wanted = users
                event("a conflict")
            elif users == agents:
                wanted = old
            elif old is not None and agents is not None and users is not None and is_text:
                wanted = merged(users, agents, old, desk)
            else:
                continue
            assert got.get(name) == wanted, name

    play(played)


@settings(max_examples=examples(10))
@given(seed=st.integers(0, 2**32), turns=TURNS, restarts=st.integers(0, 7))
@example(seed=0, turns=[[("rename", 0), ("fs", 0), ("delete", 0)]], restarts=0)
@example(seed=0, turns=[[("rename", 0), ("fs", 0), ("text", 0)]], restarts=0)
@example(seed=0, turns=[[("rename", 0), ("fs", 0), ("rename", 1)]], restarts=0)
def test_to_reject_all_gives_every_byte_and_to_keep_all_changes_none(seed, turns, restarts) -> None:
    async def played(desk: Desk) -> None:
        files = Files(desk)
        files.begin(seed)
        before = desk.look()
        await turns_played(files, turns, restarts)
        now, shown = desk.look(), await looked_at(desk)
        await desk.judge("reject")
        assert (desk.shown(), desk.errors()) == ({}, [])
        assert desk.look() == before
        undone = [one for one in await desk.checkpoints() if one.kind == "reject"]
        if undone:
            done = await desk.restore(undone[0].id)
            assert (done.conflicts, done.problem) == ([], None)
            assert is_same(await looked_at(desk), shown)
        assert desk.look() == now
        await desk.judge("keep")
        assert (desk.shown(), desk.errors(), desk.look()) == ({}, [], now)

    play(played)


def test_a_list_that_is_asked_for_during_a_restore_has_it() -> None:
    async def played(desk: Desk) -> None:
        files = Files(desk)
        files.begin(0)
        await turns_played(files, [[("fs", 0)]], 0)
        turn = (await desk.checkpoints())[0]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.restore, turn.id)
            tasks.start_soon(desk.reviews.list, str(desk.cwd), str(desk.cwd))
        newest = desk.editor.all(review_events.CheckpointsListed)[-1].checkpoints[0]
        assert (newest.kind, newest.undo) == ("restore", True)

    play(played)
