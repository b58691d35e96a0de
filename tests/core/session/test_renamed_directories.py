"""Who has renamed a directory, whose files do not change by that; what was in it, and what came into it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from unittest.mock import AsyncMock

import anyio
import pytest

from acp_nvim.contract import events, review_events
from acp_nvim.review.turn.turn_changes import UNSEEN
from acp_nvim.snapshots import comparing
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Snapshot
from tests.core.session.host import Host
from tests.core.session.test_review import reviews
from tests.support.agent_edits import git, look
from tests.support.cases import case

pytestmark = pytest.mark.anyio

# The prompt is a command line. It may wait for a file, which it names with $GO.
AGENT = """
import subprocess

def turn(agent, prompt):
    prompt.update("tool_call", toolCallId=prompt.text, status="in_progress", title=prompt.text, kind="execute",
                  rawInput={"command": prompt.text})
    prompt.until_heard()
    subprocess.run(prompt.text, shell=True, check=True)
    prompt.update("tool_call_update", toolCallId=prompt.text, status="completed")
"""

TEXTS = {"a.py": "a\n" * 20, "b.py": "b\n" * 20, "sub/c.py": "c\n" * 20}


def lay_out(root: Path, *names: str) -> None:
    """Directories with the files of `TEXTS`, each with texts of its own."""
    for name in names:
        for file, text in TEXTS.items():
            path = root / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name}\n{text}")


async def begin(host: Host) -> None:
    """A session in a repository, of which the host has seen everything."""
    host.script(AGENT)
    for number in range(len(COMMANDS)):
        lay_out(host.cwd / str(number), "src", "lib")
    lay_out(host.directory / "outside", "new")
    git(host.cwd, "init", "-q")
    git(host.cwd, "add", "-A")
    git(host.cwd, "commit", "-q", "-m", "first")
    host.open()
    await host.turn("true")


def verdicts(host: Host, root: Path) -> dict[str, str]:
    """Who did it, by the name of each file or directory (with a slash) that is listed, and by its earlier name."""
    top, found = f"{root}{os.sep}", {}
    for one in reviews(host, root).values():
        for path in (one.path, one.old_path):
            if path is not None and path.startswith(top):
                found[path.removeprefix(top)] = one.by
    return found


def below(*names: str) -> set[str]:
    """The files of directories as `lay_out` makes them."""
    return {f"{name}/{file}" for name in names for file in TEXTS}


COMMANDS = {
    "mv src core": {"src/", "core/"},
    "git mv src core": {"src/", "core/"},
    "mv src t; mv lib src; mv t lib": {"src/", "lib/"},
    "cp -a ../../outside/new /tmp/$$; mv /tmp/$$ new": below("new"),
    "mv lib ../../outside/lib$$": below("lib"),
    "mv src/sub c": {"src/sub/", "c/"},
    "mv src core; echo more >> core/a.py": {"src/", "core/", "core/a.py"},
    "mv src core; ln -s core src": {"src/", "core/", "src"},
    "mv src core; sed -i s/a/A/ core/*.py": {"src/", "core/", "core/a.py"},
    "mv src SRC": {"src/", "SRC/"},
    "rm -r lib; mv src lib": below("src", "lib"),
    "cp -a src copy": below("copy"),
    "cp -al src linked": below("linked"),
    "tar -cf - src | (mkdir t; cd t; tar -xf -)": below("t/src"),
    "mkdir -p deep/er; mv src deep/er/": {"src/", "deep/er/src/"},
}


async def test_an_agents_command_renames_directories(host: Host) -> None:
    await begin(host)
    for number, (command, expected) in enumerate(COMMANDS.items()):
        with case(command):
            root = host.cwd / str(number)
            summaries = len(host.of(review_events.Summary))
            assert await host.turn(f"cd {root}; {command}") == "end_turn"
            await host.until("a summary", lambda known=summaries: len(host.of(review_events.Summary)) > known)
            assert verdicts(host, root) == dict.fromkeys(expected, "agent")


async def test_a_user_renames_directories(host: Host) -> None:
    await begin(host)
    await settled(host)
    await host.nothing_comes_late()
    for number, command in enumerate(COMMANDS):
        run(command, host.cwd / str(number))
    await host.turn("true")
    await settled(host)
    assert reviews(host, host.cwd) == {}


def run(command: str, directory: Path) -> None:
    """The user types it in a terminal."""
    subprocess.run(command, shell=True, check=True, cwd=directory)


async def settled(host: Host) -> None:
    """The changes of the last turn are known."""
    [session] = host.app.sessions.values()
    await session.changes.settled()


async def rename_unseen(host: Host, monkeypatch: pytest.MonkeyPatch, act: Callable[[Path], None]) -> dict[str, str]:
    """A command renames a directory, then the user acts, before the host looks; who did what, without `mine.py`."""
    await begin(host)
    root, gate, take = host.cwd / "0", anyio.Event(), Shadow.take

    async def take_later(shadow: Shadow, past: Snapshot | None, *, again: bool) -> Snapshot:
        await gate.wait()
        return await take(shadow, past, again=again)

    host.prompt(f"cd {root}; touch ../began; until [ -e ../go ]; do sleep 0.01; done; mv src core")
    await host.until("the command", (host.cwd / "began").exists)
    monkeypatch.setattr(Shadow, "take", take_later)
    (host.cwd / "go").touch()
    turns = len(host.of(events.TurnEnd))
    await host.until("the end of the turn", lambda: len(host.of(events.TurnEnd)) > turns)
    await host.nothing_comes_late()
    act(root)
    gate.set()
    await settled(host)
    return {name: by for name, by in verdicts(host, root).items() if not name.endswith("mine.py")}


async def test_a_user_adds_a_file_to_what_a_command_has_renamed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def act(root: Path) -> None:
        (root / "core" / "mine.py").write_text("mine\n")

    assert await rename_unseen(host, monkeypatch, act) == dict.fromkeys(("src/", "core/"), "agent")


async def test_a_user_adds_files_everywhere_after_a_command(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the time of the rename is not known, only that the agent's command may have done it."""

    def act(root: Path) -> None:
        (root / "core" / "mine.py").write_text("mine\n")
        (root / "mine.py").write_text("mine\n")

    assert await rename_unseen(host, monkeypatch, act) == dict.fromkeys(("src/", "core/"), "unknown")


async def test_a_user_edits_a_file_in_what_a_command_has_renamed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The edit is the user's, the rename is not: it can be rejected, and the edit stays."""

    def act(root: Path) -> None:
        (root / "core" / "a.py").write_text("mine\n")

    assert await rename_unseen(host, monkeypatch, act) == dict.fromkeys(("src/", "core/"), "agent")
    host.app.receive("review", {"action": "reject"})
    await host.until("the answer", lambda: host.editor.all(review_events.Judged))
    lay_out(host.directory / "expected", "src", "lib")
    (host.directory / "expected" / "src" / "a.py").write_text("mine\n")
    assert look(host.cwd / "0") == look(host.directory / "expected")


async def test_an_error_of_ours_in_finding_renamed_directories_hides_nothing(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files are listed then, one by one; it may not be known any more who moved them."""
    await begin(host)
    monkeypatch.setattr(comparing, "find_moved", AsyncMock(side_effect=KeyError(b"core/a.py")))
    await host.turn(f"cd {host.cwd / '0'}; mv src core")
    await settled(host)
    found = verdicts(host, host.cwd / "0")
    assert found.keys() == below("src", "core")
    assert set(found.values()) <= {"agent", "unknown"}
    assert host.notices() == []


async def test_an_error_of_ours_in_looking_at_the_files_is_said(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    await begin(host)
    await settled(host)
    with monkeypatch.context() as broken:
        broken.setattr(comparing, "changes", AsyncMock(side_effect=KeyError(b"core/a.py")))
        await host.turn(f"cd {host.cwd / '0'}; mv src core")
        await settled(host)
        assert UNSEEN in host.notices()
    await host.turn("true")
    await settled(host)
    assert set(verdicts(host, host.cwd / "0")) == below("src", "core")
    assert host.notices().count(UNSEEN) == 1
