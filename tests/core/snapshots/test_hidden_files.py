"""What was not ignored is still seen when its directory is renamed to where it is ignored."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from acp_nvim.file_time import now
from acp_nvim.snapshots import hidden_files
from acp_nvim.snapshots.directories import CLOCK_NS
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Snapshot
from tests.core.review.test_directory_renames import move
from tests.core.snapshots.test_ignored import files_of
from tests.core.snapshots.workspaces import git, repository, shadow_of, write
from tests.support.examples import examples
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio

RULES = "built/\n*.o\n"


class Turn:
    """The snapshots of one turn of an agent."""

    def __init__(self, shadow: Shadow, past: Snapshot) -> None:
        self.shadow = shadow
        self.past = self.last = past

    @classmethod
    async def begin(cls, shadow: Shadow) -> Turn:
        """Look at all files, and at the ignored ones."""
        snapshot = await shadow.take()
        await shadow.remember_ignored()
        return cls(shadow, snapshot)

    async def look(self) -> tuple[set[str], set[str]]:
        """The files in the next snapshot, and those that differ from the one before."""
        snapshot = await self.shadow.take(self.past)
        changed = await self.shadow.changes(self.last, snapshot)
        self.last = snapshot
        return await files_of(self.shadow, snapshot), {one.path.removeprefix(f"{self.shadow.root}/") for one in changed}


def contents(top: Path) -> dict[str, str]:
    """Where the file with each content is."""
    files = [path for path in top.rglob("*") if path.is_file() and path.relative_to(top).parts[0] != ".git"]
    return {path.read_text(): str(path.relative_to(top)) for path in files}


DIRECTORIES = ("src", "src/deep", "src/deep/a", "lib", "lib/b", "built", "built/out", "kept/built", "kept/c")
steps = st.lists(
    st.tuples(st.sampled_from(DIRECTORIES), st.sampled_from(DIRECTORIES), st.booleans(), st.booleans()),
    min_size=1,
    max_size=5,
)


@given(moves=steps)
@settings(max_examples=examples(20))
async def test_wherever_directories_go(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, str, bool, bool]]
) -> None:
    """`moves`: two directories, which are swapped or of which one is put into the other, and whether a look follows."""
    with tempfile.TemporaryDirectory(dir=tmp_path_factory.getbasetemp()) as place:
        top = Path(place) / "w"
        repository(top, **{".gitignore": RULES})
        for name in DIRECTORIES:
            write(top / name / f"{name.replace('/', '-')}.txt", name)
            write(top / name / f"{name.replace('/', '-')}.o", f"{name} ignored")
        git(top, "add", "-A")
        git(top, "commit", "-q", "-m", "second")
        async with shadow_of(top, top.parent / "git") as shadow:
            turn = await Turn.begin(shadow)
            seen = {name for name in DIRECTORIES if "built" not in name}
            for number, (first, second, swaps, looks) in enumerate(moves):
                now = {text: top / path for text, path in contents(top).items()}
                move(top, str(now[first].parent), str(now[second].parent), swaps)
                if first in seen:
                    write(top / contents(top)[first], first)
                    write((top / contents(top)[first]).parent / f"new{number}", f"new {number}")
                    seen.add(f"new {number}")
                if looks:
                    found, _ = await turn.look()
                    there = contents(top)
                    assert {there[one] for one in seen} <= found
                    assert not [path for text, path in there.items() if text.endswith("ignored") and path in found]
                    event("something is seen in an ignored directory", any("built/" in there[one] for one in seen))


async def test_what_was_made_in_the_turn_is_not_followed(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".gitignore": RULES, "a": "a"})
    async with shadow_of(root) as shadow:
        turn = await Turn.begin(shadow)
        write(root / "new/1", "1")
        assert await turn.look() == ({"a", "new/1"}, {"new/1"})
        (root / "new").rename(root / "built")
        assert await turn.look() == ({"a"}, {"new/1"})


async def test_the_user_s_rename_is_not_followed(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".gitignore": RULES, "a": "a", "src__b": "b"})
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "src").rename(root / "built")
        turn = await Turn.begin(shadow)
        await shadow.changes(first, turn.last)
        assert await turn.look() == ({"a"}, set())


async def test_a_directory_with_too_many_files_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_files, "WALKED_FILES", 3)
    root = repository(tmp_path / "w", **{".gitignore": RULES, "a": "a"}, **{f"src__{one}": "b" for one in "1234"})
    async with shadow_of(root) as shadow:
        turn = await Turn.begin(shadow)
        (root / "src").rename(root / "built")
        assert await turn.look() == ({"a"}, {"src/1", "src/2", "src/3", "src/4"})


async def test_an_index_that_is_written_again(tmp_path: Path) -> None:
    """More files than can be kept beside the index are put into the index."""
    names = [f"{number}" for number in range(250)]
    root = repository(tmp_path / "w", **{".gitignore": RULES, "a": "a"}, **{f"src__{one}": one for one in names})
    write(root / "lib/1", "a library")
    write(root / "lib/other", "of the library")
    async with shadow_of(root) as shadow:
        turn = await Turn.begin(shadow)
        (root / "src").rename(root / "built")
        there, library = {f"built/{one}" for one in names}, {"lib/1", "lib/other"}
        assert await turn.look() == ({"a", *library, *there}, there)
        assert await turn.look() == ({"a", *library, *there}, set())
        write(root / "built/1", "other")
        (root / "built/2").unlink()
        write(root / "built/new", "new")
        there = there - {"built/2"} | {"built/new"}
        assert await turn.look() == ({"a", *library, *there}, {"built/1", "built/2", "built/new"})
        write(root / "built/2", "2")
        there.add("built/2")
        assert await turn.look() == ({"a", *library, *there}, {"built/2"})
        move(root, str(root / "built"), str(root / "lib"), swaps=True)
        found, _ = await turn.look()
        assert found == {"a", "built/1", "built/other", *(path.replace("built", "lib") for path in there)}


@pytest.mark.parametrize(("workspace", "repositories"), [("part", [""]), ("", ["", "part"])], ids=["below", "nested"])
async def test_where_the_repository_is_not_the_workspace(
    tmp_path: Path, workspace: str, repositories: list[str]
) -> None:
    """The workspace is a directory of the repository, or has a repository in it."""
    part = tmp_path / "w/part"
    for name, text in {".gitignore": RULES, "src/b": "b"}.items():
        write(part / name, text)
    for one in reversed(repositories):
        repository(tmp_path / "w" / one)
    start = "" if workspace else "part/"
    async with shadow_of(tmp_path / "w" / workspace) as shadow:
        turn = await Turn.begin(shadow)
        (part / "src").rename(part / "built")
        write(part / "built/new", "new")
        found, _ = await turn.look()
        assert found == {f"{start}built/b", f"{start}built/new"}
        (part / "kept").mkdir()
        (part / "built").rename(part / "kept/built")
        write(part / "kept/built/newer", "newer")
        found, _ = await turn.look()
        assert found == {f"{start}kept/built/{name}" for name in ("b", "new", "newer")}


async def test_a_work_tree_in_the_directory(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".gitignore": RULES, "a": "a", "src__b": "b"})
    repository(root / "src/inner", c="c")
    async with shadow_of(root) as shadow:
        turn = await Turn.begin(shadow)
        (root / "src").rename(root / "built")
        write(root / "built/inner/new", "new")
        found, _ = await turn.look()
        assert found == {"a", "built/b", "built/inner/c", "built/inner/new"}


async def test_a_link_in_its_place(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".gitignore": RULES, "a": "a", "src__b": "b"})
    async with shadow_of(root) as shadow:
        turn = await Turn.begin(shadow)
        (root / "src").rename(root / "built")
        assert await turn.look() == ({"a", "built/b"}, {"built/b"})
        (root / "built").rename(tmp_path / "elsewhere")
        (root / "built").symlink_to(tmp_path / "elsewhere")
        found, _ = await turn.look()
        assert "built/b" not in found


async def test_another_host_sees_what_was_followed(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".gitignore": RULES, "a": "a", "src__b": "b"})
    async with shadow_of(root) as shadow:
        turn = await Turn.begin(shadow)
        (root / "src").rename(root / "built")
        write(root / "built/new", "new")
        assert await turn.look() == ({"a", "built/b", "built/new"}, {"built/b", "built/new"})
        table = await shadow.keep_directories(turn.last)
        await shadow.hold("turn", [table], [turn.last])
    async with shadow_of(root) as shadow:
        await shadow.take_directories(turn.last, table)
        snapshot = await shadow.take()
        assert await shadow.changes(turn.last, snapshot) == []
        write(root / "built/b", "edited")
        assert await Turn(shadow, snapshot).look() == ({"a", "built/b", "built/new"}, {"built/b"})


async def test_permissions_in_a_directory_that_is_not_hidden_any_more(tmp_path: Path) -> None:
    """The permissions are not known from before, so they have not changed."""
    root = repository(tmp_path / "w", **{".gitignore": RULES, "a": "a"})
    write(root / "built/deep/own", "own").chmod(0o600)
    later = now() + CLOCK_NS
    wait_until(lambda: now() > later)
    async with shadow_of(root) as shadow:
        turn = await Turn.begin(shadow)
        (root / "built").rename(root / "core")
        snapshot = await shadow.take(turn.past)
        moved = await shadow.changes(turn.past, snapshot)
        assert await files_of(shadow, snapshot) == {"a", "core/deep/own"}
        assert [one.path for one in moved] == [f"{root}/core/", f"{root}/core/deep/own"]
        assert all(one.before is None and one.moved is not None for one in moved)
