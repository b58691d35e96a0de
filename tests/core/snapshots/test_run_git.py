"""git is fed, heard and ended, whatever it does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from acp_nvim.snapshots.run_git import Output, run_git
from acp_nvim.snapshots.snapshot import GitFailedError, SnapshotError
from tests.core.snapshots.workspaces import write

pytestmark = pytest.mark.anyio


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a program in the place of git."""

    def put(source: str) -> None:
        write(tmp_path / "bin" / "git", f"#!{sys.executable}\nimport os, sys, time\n{source}\n").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    return put


async def test_large_input_output_and_complaints_do_not_block_each_other(tmp_path: Path, pretend) -> None:
    pretend("sys.stderr.write('e' * 1000000); data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data * 2)")
    data = b"x" * 1_000_000
    assert await run_git(tmp_path, ["anything"], stdin=data) == data * 2


async def test_who_does_not_read(tmp_path: Path, pretend) -> None:
    pretend("os.close(0); print('done')")
    assert await run_git(tmp_path, ["anything"], stdin=b"x" * 1_000_000) == b"done\n"


async def test_failures_say_what_git_said(tmp_path: Path, pretend) -> None:
    pretend("sys.stderr.write('fatal: ' + 'x' * 1000); sys.exit(3)")
    with pytest.raises(GitFailedError) as caught:
        await run_git(tmp_path, ["-c", "a=b", "anything", "-z"])
    assert str(caught.value) == "git anything failed with code 3; :AcpLog has its words"
    assert caught.value.said == f"fatal: {'x' * 1000}"
    assert caught.value.code == 3


async def test_output_that_is_too_much_ends_it(tmp_path: Path, pretend) -> None:
    pretend("while True: sys.stdout.write('name\\0' * 1000)")
    output = Output(5000, of_names=True)
    found = await run_git(tmp_path, ["anything"], output=output)
    assert output.full
    assert found.startswith(b"name\0" * 5000)
    pretend("sys.stdout.write('12345'); sys.stdout.flush(); time.sleep(600)")
    output = Output(4)
    assert await run_git(tmp_path, ["anything"], output=output) == b"12345"


async def test_output_up_to_the_limit_is_all(tmp_path: Path, pretend) -> None:
    pretend("sys.stdout.write('12345')")
    output = Output(5)
    assert await run_git(tmp_path, ["anything"], output=output) == b"12345"
    assert not output.full


async def test_what_cannot_be_started(tmp_path: Path, pretend) -> None:
    pretend("")
    os.chmod(tmp_path / "bin" / "git", 0o644)
    with pytest.raises(SnapshotError, match="git cannot be started: Permission denied"):
        await run_git(tmp_path, ["anything"])


async def test_the_environment(tmp_path: Path, pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", "x")
    monkeypatch.setenv("GIT_DIR", "x")
    monkeypatch.setenv("OTHER", "kept")
    pretend("print(repr({k: v for k, v in os.environ.items() if k.startswith('GIT_') or k in ('HOME', 'OTHER')}))")
    found = eval(await run_git(tmp_path, ["anything"], cwd="/", env={"GIT_INDEX_FILE": "index"}))
    assert found["GIT_DIR"] == found["HOME"] == str(tmp_path)
    assert found["GIT_WORK_TREE"] == "/"
    assert found["OTHER"] == "kept"
    assert found["GIT_INDEX_FILE"] == "index"
    assert "GIT_SSH_COMMAND" not in found
