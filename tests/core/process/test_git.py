"""git, run so that nothing is run which a repository's configuration names."""

from __future__ import annotations

import os
import re
from pathlib import Path

import anyio
import pytest

import acp_nvim
from acp_nvim.process import git
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio


def test_only_one_module_runs_git() -> None:
    root = Path(acp_nvim.__file__).parent
    starts = re.compile(r"""[\[(]\s*["']git["']""")
    found = [str(path.relative_to(root)) for path in root.rglob("*.py") if starts.search(path.read_text())]
    assert found == ["process/git.py"]


def test_drivers_are_switched_off_by_their_names() -> None:
    assert git.disable(b"filter.a.b.clean\0filter.a.b.required\0hook.x.command\0") == [
        *("-c", "filter.a.b.clean=", "-c", "filter.a.b.smudge=", "-c", "filter.a.b.process="),
        *("-c", "filter.a.b.required=false", "-c", "hook.x.enabled=false", "-c", "hook.x.command="),
    ]
    assert git.disable(b"") == []
    with pytest.raises(ValueError, match="a=b"):
        git.disable(b"filter.a=b.clean\0")


async def test_all_that_it_started_is_gone_when_it_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "git"
    fake.write_text(f"#!/bin/sh\nsleep 1000 &\necho $! > {tmp_path}/pid\nwait\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:

            async def cancel() -> None:
                await anyio.to_thread.run_sync(wait_until, lambda: started(tmp_path / "pid"))
                scope.cancel()

            tasks.start_soon(cancel)
            await git.run(["status"], str(tmp_path), git.environment({}))
    pid = started(tmp_path / "pid")
    await anyio.to_thread.run_sync(wait_until, lambda: not is_alive(pid))


def started(file: Path) -> int:
    return int(file.read_text() or 0) if file.exists() else 0


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
