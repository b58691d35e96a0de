"""git as it is used for merges: undisturbed by anything around it, and never left behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import anyio
import pytest

from acp_nvim.workspace import merge as merging
from acp_nvim.workspace.merge import CONFLICT, Merge, merge
from tests.support.processes import look_at
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio

BASE, OURS, THEIRS, BOTH = "1\n2\n3\n4\n", "user\n2\n3\n4\n", "1\n2\n3\nagent\n", "user\n2\n3\nagent\n"
BROKEN = "[merge\nthis is no configuration"
HANGS = 'echo $$ > "$PID_FILE"\nexec tail -f /dev/null'


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's directory for temporary files; nothing is left in it at the end."""
    directory = tmp_path / "project" / "temporary"
    directory.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert os.listdir(directory) == []


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a program named git, of these lines of shell, before the real one."""

    def put(script: str) -> None:
        program = tmp_path / "bin" / "git"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("PID_FILE", str(tmp_path / "pid"))
        monkeypatch.setenv("COPIES", str(tmp_path))

    return put


async def merges() -> None:
    """A merge and a conflict are what they should be."""
    assert await merge(BASE, OURS, THEIRS) == Merge(BOTH)
    assert await merge(BASE, OURS, OURS + "agent\n" + "4\n") == Merge(OURS + "agent\n" + "4\n")
    assert await merge(BASE, OURS, BASE.replace("1", "agent")) == Merge(None, CONFLICT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_DIR", "/nonsense"),
        ("GIT_WORK_TREE", "/nonsense"),
        ("GIT_CONFIG_PARAMETERS", "'nonsense"),
        ("GIT_CONFIG_COUNT", "nonsense"),
        ("GIT_CONFIG_SYSTEM", "{broken}"),
        ("GIT_CONFIG_GLOBAL", "{broken}"),
        ("GIT_CONFIG", "{broken}"),
        ("GIT_TRACE", "1"),
        ("GIT_EXEC_PATH", "/nonsense"),
        ("LC_ALL", "nonsense"),
    ],
)
async def test_the_environment_does_not_matter(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken").write_text(BROKEN)
    monkeypatch.setenv(name, value.format(broken=tmp_path / "broken"))
    await merges()


@pytest.mark.parametrize(
    "configuration",
    ["[merge]\nconflictStyle = zdiff3\n[alias]\nmerge-file = !false\n", "[merge]\nconflictStyle = x\n", BROKEN],
)
async def test_the_users_configuration_does_not_matter(
    configuration: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (tmp_path / ".gitconfig", tmp_path / "git" / "config"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(configuration)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    await merges()


@pytest.mark.parametrize("inside", ["", "temporary"])
async def test_a_repository_around_it_does_not_matter(
    inside: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = temporary.parent / inside / ".git"
    (git / "objects").mkdir(parents=True)
    (git / "refs").mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(BROKEN)
    monkeypatch.chdir(git.parent)
    await merges()
    shutil.rmtree(git)


async def test_the_texts_themselves_are_not_written_to_any_file(fake_git, tmp_path: Path) -> None:
    fake_git('cp ours base theirs "$COPIES"; cat ours')
    assert await merge(BASE, OURS, THEIRS) == Merge(OURS)
    for name in ("ours", "base", "theirs"):
        assert all(line.isdecimal() for line in (tmp_path / name).read_text().splitlines())


async def test_git_is_told_where_not_to_look_and_speaks_one_language(
    fake_git, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_git('env > "$COPIES/environment"; cat ours')
    monkeypatch.setenv("GIT_DIR", "/nonsense")
    await merge(BASE, OURS, THEIRS)
    lines = (tmp_path / "environment").read_text().splitlines()
    assert sorted(line for line in lines if line.startswith(("GIT_", "LC_ALL="))) == [
        "GIT_ALLOW_PROTOCOL=none",
        f"GIT_CEILING_DIRECTORIES={temporary}",
        "GIT_CONFIG_GLOBAL=/dev/null",
        "GIT_CONFIG_NOSYSTEM=1",
        "GIT_NO_LAZY_FETCH=1",
        "GIT_OPTIONAL_LOCKS=0",
        "GIT_TERMINAL_PROMPT=0",
        "LC_ALL=C",
    ]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo that is no merge", "git wrote something else than a merge"),
        ("echo broken >&2; exit 255", "git failed with code 255: broken"),
        ("exit 128", "git failed with code 128: "),
        ("kill -9 $$", "git failed with code -9: "),
        ("exit 127", CONFLICT),
    ],
)
async def test_a_git_that_fails_is_no_merge_in_words(script: str, why: str, fake_git) -> None:
    fake_git(script)
    assert await merge(BASE, OURS, THEIRS) == Merge(None, why)


async def test_without_git_there_is_no_merge_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await merge(BASE, OURS, THEIRS) == Merge(None, "git, which merges, is not installed or not in PATH")
    assert await merge(BASE, BASE, THEIRS) == Merge(THEIRS)  # it is not needed for that


async def test_a_git_that_may_not_be_run_is_no_merge_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("no program")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await merge(BASE, OURS, THEIRS) == Merge(None, "git, which merges, cannot be started: Permission denied")


async def test_no_room_for_temporary_files_is_no_merge_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(merging, "_write_files", full)
    why = "a temporary file for git cannot be written: No space left on device"
    assert await merge(BASE, OURS, THEIRS) == Merge(None, why)
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    assert await merge(BASE, OURS, THEIRS) == Merge(None, why)


async def test_a_git_that_takes_too_long_is_killed(fake_git, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_git(HANGS)
    monkeypatch.setattr(merging, "MERGE_SECONDS", 0.1)
    assert await merge(BASE, OURS, THEIRS) == Merge(None, "git took too long: more than 0.1 s")


async def test_a_merge_that_is_cancelled_leaves_no_git_behind(fake_git, tmp_path: Path) -> None:
    fake_git(HANGS)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(merge, BASE, OURS, THEIRS)
        pid = int(await anyio.to_thread.run_sync(wait_until, lambda: pid_in(tmp_path / "pid")))
        assert look_at(pid)
        tasks.cancel_scope.cancel()
    assert look_at(pid) is None


@pytest.mark.parametrize("steps", range(0, 60, 3))
async def test_a_merge_can_be_cancelled_at_any_step(steps: int) -> None:
    merged: list[Merge] = []

    async def merges() -> None:
        merged.append(await merge(BASE, OURS, THEIRS))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(merges)
        for _ in range(steps):
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert merged in ([], [Merge(BOTH)])


def pid_in(path: Path) -> str:
    """What is written there, once all of it is."""
    text = path.read_text() if path.exists() else ""
    return text if text.endswith("\n") else ""
