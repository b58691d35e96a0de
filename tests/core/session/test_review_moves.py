"""Real agents whose commands rename directories, and put files and directories in each other's place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from acp_nvim.contract import events, review_events
from acp_nvim.review.workspace import Workspace
from tests.core.session.host import Host
from tests.core.session.test_review import do, judge, line, reviews, undo
from tests.core.session.test_review_kept import checkpoints, restore
from tests.support.agent_edits import AGENT, Work, git
from tests.support.everything import everything

pytestmark = pytest.mark.anyio

LINES = "".join(f"line {number}\n" for number in range(20)).encode()
BEFORE = {
    "src/a.py": LINES,
    "src/deep/b.py": b"# b\n" + LINES,
    "src/run*": b"echo\n",
    "lib/a.py": b"# lib\n" + LINES,
    "lib/b.py": b"# b\n",
}
R = ("rename", 0, 0)
Shown = dict[str, tuple[str, int, int, str | None]]
CASES: dict[str, tuple[str, Shown]] = {
    "mv": ("mv src core", {"core/": (*R, "src/")}),
    "git mv": ("git mv src core", {"core/": (*R, "src/")}),
    "mv and edit": (
        "mv src core; echo more >>core/a.py; rm core/deep/b.py; echo new >core/new",
        {
            "core/": (*R, "src/"),
            "core/a.py": ("modify", 1, 0, None),
            "core/deep/b.py": ("delete", 0, 21, None),
            "core/new": ("add", 1, 0, None),
        },
    ),
    "mv and chmod": (
        "mv src core; chmod 600 core/a.py",
        {"core/": (*R, "src/"), "core/a.py": ("mode", 0, 0, None)},
    ),
    "a swap": ("mv src x; mv lib src; mv x lib", {"lib/": (*R, "src/"), "src/": (*R, "lib/")}),
    "a swap and an edit": (
        "mv src x; mv lib src; mv x lib; echo more >>lib/a.py",
        {"lib/": (*R, "src/"), "src/": (*R, "lib/"), "lib/a.py": ("modify", 1, 0, None)},
    ),
    "two swaps, one of an inner directory": (
        "mv src x; mv lib src; mv x lib; mv src x; mv lib/deep src; mv x lib/deep",
        {"lib/": (*R, "src/"), "src/": (*R, "lib/deep/"), "lib/deep/": (*R, "lib/")},
    ),
    "a swap without an inner directory": (
        "mv src x; mv lib src; mv x lib; mv lib/deep src/",
        {"lib/": (*R, "src/"), "src/": (*R, "lib/"), "src/deep/": (*R, "lib/deep/")},
    ),
    "one in the place of another that was in it": (
        "mv src/deep x; mv src x/; mv x src",
        {"src/": (*R, "src/src/deep/"), "src/src/": (*R, "src/")},
    ),
    "a link is left": (
        "mv src core; ln -s core src",
        {"core/": (*R, "src/"), "src": ("add", 0, 0, None)},
    ),
    "a swap with an inner one, and a link is left": (
        "mv lib x; mv src/deep lib; mv x src/deep; mv src core; ln -s core src",
        {
            "core/": (*R, "src/"),
            "lib/": (*R, "core/deep/"),
            "core/deep/": (*R, "lib/"),
            "src": ("add", 0, 0, None),
        },
    ),
    "a swap, and files of both have the same name and are deleted": (
        "mv src x; mv lib src; mv x lib; rm lib/a.py src/a.py",
        {
            "lib/": (*R, "src/"),
            "src/": (*R, "lib/"),
            "lib/a.py": ("delete", 0, 20, None),
            "src/a.py": ("delete", 0, 21, None),
        },
    ),
    "a swap, and one of them is deleted": (
        "mv src x; mv lib src; mv x lib; rm src/a.py",
        {"lib/": (*R, "src/"), "src/": (*R, "lib/"), "src/a.py": ("delete", 0, 21, None)},
    ),
    "a swap, and the other one of them is deleted": (
        "mv src x; mv lib src; mv x lib; rm lib/a.py",
        {"lib/": (*R, "src/"), "src/": (*R, "lib/"), "lib/a.py": ("delete", 0, 20, None)},
    ),
    "a swap, and git brings the files back": (
        "mv src x; mv lib src; mv x lib; git checkout -q -- .",
        {
            "lib/": (*R, "src/"),
            "src/": (*R, "lib/"),
            "lib/a.py": ("modify", 1, 0, None),
            "lib/b.py": ("add", 1, 0, None),
            "src/a.py": ("modify", 0, 1, None),
            "src/deep/b.py": ("add", 21, 0, None),
            "src/link": ("add", 0, 0, None),
            "src/run": ("add", 1, 0, None),
        },
    ),
    "a swap, and git brings the files of one back": (
        "mv src x; mv lib src; mv x lib; git checkout -q -- src",
        {
            "lib/": (*R, "src/"),
            "src/": (*R, "lib/"),
            "src/a.py": ("modify", 0, 1, None),
            "src/deep/b.py": ("add", 21, 0, None),
            "src/link": ("add", 0, 0, None),
            "src/run": ("add", 1, 0, None),
        },
    ),
    "git brings back what was deleted before its directory was renamed": (
        "rm src/run; mv src core; git checkout -q -- .",
        {
            "core/": (*R, "src/"),
            "core/run": ("delete", 0, 1, None),
            "src/a.py": ("add", 20, 0, None),
            "src/deep/b.py": ("add", 21, 0, None),
            "src/link": ("add", 0, 0, None),
            "src/run": ("add", 1, 0, None),
        },
    ),
    "git brings back what only one of two swapped ones had": (
        "rm lib/b.py; mv src x; mv lib src; mv x lib; git checkout -q -- lib",
        {
            "lib/": (*R, "src/"),
            "src/": (*R, "lib/"),
            "lib/a.py": ("modify", 1, 0, None),
            "lib/b.py": ("add", 1, 0, None),
            "src/b.py": ("delete", 0, 1, None),
        },
    ),
    "into a new one": ("mkdir -p pkg/python; mv src pkg/python/", {"pkg/python/src/": (*R, "src/")}),
    "a file becomes a directory": (
        "rm lib/a.py; mkdir -p lib/a.py/one; echo 1 >lib/a.py/one/x; echo 2 >lib/a.py/y",
        {
            "lib/a.py": ("delete", 0, 21, None),
            "lib/a.py/one/x": ("add", 1, 0, None),
            "lib/a.py/y": ("add", 1, 0, None),
        },
    ),
    "a directory becomes a file": (
        "rm -r src/deep; echo 1 >src/deep",
        {"src/deep": ("add", 1, 0, None), "src/deep/b.py": ("delete", 0, 21, None)},
    ),
    "a directory becomes a link": (
        "rm -r src/deep; ln -s ../lib src/deep",
        {"src/deep": ("add", 0, 0, None), "src/deep/b.py": ("delete", 0, 21, None)},
    ),
}


def slashed(shown: Shown) -> Shown:
    """Names without the slashes of directories, as paths have them."""
    return {name.rstrip("/"): (*one[:3], one[3] and one[3].rstrip("/")) for name, one in shown.items()}


async def begin(host: Host) -> Path:
    """A repository with all that directories have."""
    work = Work(BEFORE, {}, "", {})
    cwd = host.cwd
    git(cwd, "init", "-q")
    for name, data in work.before.items():
        path = cwd / name.rstrip("*")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if name.endswith("*") else 0o644)
    (cwd / "src/empty").mkdir(mode=0o700)
    (cwd / "src/out.o").write_bytes(b"built\n")
    (cwd / "src/link").symlink_to("a.py")
    (cwd / ".gitignore").write_text("*.o\n")
    git(cwd, "add", "-A")
    git(cwd, "commit", "-q", "-m", "first")
    return cwd


def workspace_of(host: Host, cwd: Path) -> Workspace:
    return host.app.reviews.workspaces.at(str(cwd.resolve()))


async def open_and_wait(host: Host, cwd: Path) -> None:
    """Open a session, and let it look at ignored files, as users take their time before they prompt."""
    host.script(AGENT)
    host.open(cwd=str(cwd))
    workspace = workspace_of(host, cwd)
    await host.until("the first snapshot", lambda: workspace.scanner.last is not None)
    await workspace.look_further(2**30)
    await host.nothing_comes_late()


@pytest.mark.parametrize(
    ("shell", "shown"),
    [
        ("mv src x; mv built src; mv x built", {"built": (*R, "src"), "src": (*R, "built")}),
        ("mv built core", {"core": (*R, "built")}),
        (
            "mv built core; echo more >>core/deep/some",
            {"core": (*R, "built"), "core/deep/some": ("binary", 0, 0, None)},
        ),
        ("mv src core; mv built src", {"core": (*R, "src"), "src": (*R, "built")}),
        ("mv built/deep core", {"core": (*R, "built/deep")}),
        ("mv src x; mv built/deep src; mv x built/deep", {"built/deep": (*R, "src"), "src": (*R, "built/deep")}),
    ],
)
async def test_a_directory_whose_files_are_all_ignored_is_renamed_too(host: Host, shell: str, shown: Shown) -> None:
    cwd = await begin(host)
    (cwd / ".gitignore").write_text("*.o\n/built/\n")
    (cwd / "built/deep").mkdir(parents=True)
    (cwd / "built/deep/all.o").write_bytes(b"built\n")
    (cwd / "built/deep/some").write_bytes(b"built\n")
    git(cwd, "commit", "-q", "-a", "-m", "second")
    before = everything(cwd)
    await open_and_wait(host, cwd)
    await do(host, Work({}, {}, shell, {}), "a command", cwd)
    done = everything(cwd)
    listed = {name: line(one, cwd) for name, one in reviews(host, cwd).items()}
    assert listed == shown
    if "core/deep/some" in listed:  # what it was is not known
        return
    await judge(host, "reject", cwd)
    await host.until("the files of before", lambda: everything(cwd) == before)
    await undo(host, cwd)
    assert everything(cwd) == done


@pytest.mark.parametrize(("shell", "shown"), CASES.values(), ids=CASES)
async def test_what_a_command_does_is_listed_rejected_and_undone_at_once(host: Host, shell: str, shown: Shown) -> None:
    cwd = await begin(host)
    before = everything(cwd)
    await do(host, Work({}, {}, shell, {}), "a command", cwd)
    done = everything(cwd)
    listed = {name: line(one, cwd) for name, one in reviews(host, cwd).items()}
    assert listed == slashed(shown)
    slashes = {one.path.endswith("/") for one in reviews(host, cwd).values() if one.operation == "rename"}
    assert slashes <= {True}
    assert {one.why for one in reviews(host, cwd).values()} == {f"by `{shell}`"}
    summary = host.of(review_events.Summary)[-1]
    assert {one.path.removeprefix(f"{cwd}/"): one.operation for one in summary.files} == {
        name: one[0] for name, one in shown.items()
    }
    await judge(host, "reject", cwd)
    assert [one.text for one in host.editor.all(events.Error)] == []
    await host.until("the files of before, and nothing beside them", lambda: everything(cwd) == before)
    await undo(host, cwd)
    assert everything(cwd) == done
    assert {name: line(one, cwd) for name, one in reviews(host, cwd).items()} == listed
    await judge(host, "keep", cwd)
    assert everything(cwd) == done


SWAP = "mv src x; mv lib src; mv x lib"
TURNS = [
    (SWAP, "rm -r src"),
    (SWAP, "rm -r lib"),
    (SWAP, "rm -r src lib"),
    (SWAP, "rm -r src", "mv lib src"),
    (SWAP, "rm -r src", "mv lib core"),
    (SWAP, "rm -r src", "mkdir src; echo new >src/a.py; echo new >src/new"),
    (SWAP, "rm -r src", "mv lib/deep src"),
    (SWAP, "rm -r src", "echo more >>lib/a.py", "rm -r lib"),
    (SWAP, "rm src/*", "rmdir src"),
    (SWAP, SWAP),
    (SWAP, "rm src/a.py", SWAP),
    (SWAP, "rm -r lib/deep; mv src lib/deep"),
    ("mv src core; mv lib src", "rm -r src"),
    ("mv src core", "mv lib src", "rm -r src"),
    ("mv src core", "rm -r core", "mv lib src"),
    ("mv src x; mv lib src; mv x lib; mv lib/deep src/", "rm -r src"),
    ("mv src/deep x; mv src lib/; mv x src", "rm -r src"),
    ("mv src core; ln -s core src", "rm -r core", "rm src"),
    ("mv src core", "mkdir pkg; mv core pkg/core"),
    ("echo 1 >lib/new", "mv lib x; mv src lib", "mv x src", "mv src core; ln -s core src"),
    ("echo 1 >lib/new", "mv lib x", "mv src lib", "mv x src", "mv src core; ln -s core src"),
    ("mv lib x; mv src lib", "mv x src; mv src core; ln -s core src"),
    ("cp -p src/run x; echo 1 >>x; mv x src/run", "git checkout -q -- ."),
]


@pytest.mark.parametrize("commands", TURNS, ids=map(", ".join, TURNS))
async def test_what_several_turns_do_is_rejected_restored_and_undone_at_once(
    host: Host, commands: tuple[str, ...]
) -> None:
    cwd = await begin(host)
    (cwd / "src/empty").rmdir()
    (cwd / "src/out.o").unlink()  # what is ignored, and deleted, does not come back
    await play(host, cwd, commands)


async def play(host: Host, cwd: Path, commands: tuple[str, ...]) -> None:
    """Have an agent run one command a turn; reject all, undo that, and restore the first turn."""
    before = everything(cwd)
    await open_and_wait(host, cwd)
    for command in commands:
        await host.turn(Work({}, {}, command, {}).prompt("a command", cwd))
        await host.app.sessions[1].changes.settled()
    done = everything(cwd)
    assert bool(reviews(host, cwd)) == (done != before)
    if done == before:
        return
    await judge(host, "reject", cwd)
    await host.until("the files of before", lambda: everything(cwd) == before)
    await undo(host, cwd)
    assert everything(cwd) == done
    first = [one for one in await checkpoints(host, cwd) if one.kind == "turn"][-1]
    restored = await restore(host, cwd, first.id)
    assert (restored.conflicts, restored.problem) == ([], None)
    assert everything(cwd) == before


CIRCLE = "mv built x; mv src/built built; mv x src/built; mv built x; mv src built; mv x src"
EMPTIED = "rm built/in/all.o; echo new >built/in/list; mv built/in core; rm -r built; echo 1 >built"


@pytest.mark.parametrize(
    ("shell", "renamed"), [(CIRCLE, {"built", "src", "built/built"}), (EMPTIED, {"core"})], ids=["circle", "emptied"]
)
async def test_directories_of_ignored_files_and_the_one_above(host: Host, shell: str, renamed: set[str]) -> None:
    cwd = await begin(host)
    (cwd / ".gitignore").write_text("*.o\nbuilt/\n")
    (cwd / "src/empty").rmdir()
    (cwd / "src/out.o").unlink()  # what is ignored, and deleted, does not come back
    for name in ("built", "built/in", "src/built"):
        (cwd / name).mkdir()
        (cwd / name / "all.o").write_text(name)
    git(cwd, "commit", "-q", "-a", "-m", "second")
    before = everything(cwd)
    await open_and_wait(host, cwd)
    await do(host, Work({}, {}, shell, {}), "a command", cwd)
    done = everything(cwd)
    assert {name for name, one in reviews(host, cwd).items() if one.path.endswith("/")} == renamed
    await judge(host, "reject", cwd)
    gone = {name: one for name, one in before.items() if shell == EMPTIED and re.match("built/.*all", name)}
    await host.until("the files of before", lambda: everything(cwd) | gone == before)
    await undo(host, cwd)
    assert everything(cwd) == done


async def test_what_is_shown_where_another_directory_was_is_listed_although_it_is_no_rename(host: Host) -> None:
    cwd = await begin(host)
    (cwd / ".gitignore").write_text("*.o\n/built/\n")
    (cwd / "built").mkdir()
    (cwd / "built/some").write_bytes(b"built\n")
    git(cwd, "commit", "-q", "-a", "-m", "second")
    before = everything(cwd)
    await open_and_wait(host, cwd)
    await do(host, Work({}, {}, "rm -r lib", {}), "a command", cwd)
    await do(host, Work({}, {}, "mv built lib", {}), "a command", cwd)
    assert {*reviews(host, cwd)} == {"lib/a.py", "lib/b.py", "lib/some"}
    host.app.receive("review", {"action": "reject", "session": 1})
    await host.until("the rejection", lambda: host.editor.all(review_events.Judged))
    left = {name.replace("built", "lib"): one for name, one in before.items() if name.startswith("built/")}
    assert everything(cwd) == {name: one for name, one in before.items() if not name.startswith("built")} | left


HIDING = [
    ("mv src built",),
    ("mv src built; echo more >>built/a.py; echo new >built/new; rm built/deep/b.py",),
    ("mv src built", "echo more >>built/a.py; echo new >built/new; ln -s new built/other"),
    ("mv src built; echo new >built/new", "rm built/new; chmod 600 built/a.py", "echo new >built/new"),
    ("mv src kept/built/", "echo new >kept/built/src/new", "rm kept/built/src/new"),
    ("mv src kept/built/", "echo more >>kept/built/src/a.py; mv kept/built/src core"),
    ("mv src kept/built/", "echo new >kept/built/src/new; mv kept/built/src built", "echo newer >built/newer"),
    ("mv src built", "mv built/deep built/deeper; echo new >built/deeper/new"),
    ("mv src built", "mv built/deep kept/built/; echo new >kept/built/deep/new", "mv built src"),
    ("mv src x; mv lib built; mv x lib; echo new >built/new", "mv built src; echo newer >src/newer"),
    ("mv src x; mv kept/built src; mv x kept/built; echo new >kept/built/new",),
    ("mv src built; git checkout -q .",),
    ("mv src kept/built/; git checkout -q .", "echo new >kept/built/src/new"),
    ("mv src built; mkdir src; echo new >src/a.py", "echo new >built/new"),
    ("mv src/deep built", "echo new >built/new", "mv src built/; mv built/src/a.py built/b.py"),
    ("mv lib away", "mv kept/built lib; rm -r away; rmdir kept; echo new >kept"),
]


@pytest.mark.parametrize("commands", HIDING, ids=map(", ".join, HIDING))
async def test_a_directory_that_is_renamed_to_where_it_is_ignored_is_still_seen(
    host: Host, commands: tuple[str, ...]
) -> None:
    cwd = await begin(host)
    (cwd / ".gitignore").write_text("*.o\nbuilt/\n")
    (cwd / "kept/built").mkdir(parents=True)
    (cwd / "kept/built/all").write_bytes(b"built\n")
    git(cwd, "commit", "-q", "-a", "-m", "second")
    await play(host, cwd, commands)


async def test_what_a_build_has_made_and_renamed_is_not_listed(host: Host) -> None:
    cwd = await begin(host)
    (cwd / ".gitignore").write_text("*.o\nbuilt/\n")
    git(cwd, "commit", "-q", "-a", "-m", "second")
    host.script(AGENT)
    host.open(cwd=str(cwd))
    await host.turn(Work({}, {}, "mkdir new; echo 1 >new/1; sleep 0.2; mv new built", {}).prompt("a command", cwd))
    await host.app.sessions[1].changes.settled()
    assert not reviews(host, cwd)
