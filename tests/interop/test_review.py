"""What a real agent did to files is reviewed, whoever wrote them: kept, or rejected to the last byte."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interop.test_whole_turn import LIMIT, answer_all
from tests.support.five_ways import git, lay_out, look
from tests.support.screen import ScreenEditor

BEFORE = {"main.py": b'print("hello")\n', "util.py": b"def add(a, b):\n    return a + b\n"}
SHOWN = """
local found = {}
for _, one in ipairs(require("acp_nvim.review.files").all()) do
  found[vim.fs.basename(one.path)] = one.operation ~= "none" and one.operation or nil
end
return found
"""


@pytest.fixture
def project() -> Iterator[Path]:
    """A directory with a short name, so that screens stay readable."""
    with tempfile.TemporaryDirectory(prefix="p-") as directory:
        yield Path(directory)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("action", ["keepall", "rejectall"])
def test_all_that_it_changed_is_reviewed(
    screen: Callable[..., ScreenEditor], project: Path, real_agent: tuple[str, dict[str, Any]], action: str
) -> None:
    name, agent = real_agent
    nvim = screen(columns=130, rows=45, agents={name: {"command": agent["command"], "env": agent.get("env", {})}})
    nvim.command(f"cd {project}")
    lay_out(project, BEFORE)
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "first")
    users = look(project / ".git", git=True)
    nvim.command(f"edit {project / 'main.py'}")
    nvim.type(":AcpChat\r")
    nvim.wait_until('require("acp_nvim").status().state == "idle"', LIMIT)
    nvim.lua("vim.api.nvim_paste(..., true, -1)", agent["prompt"].format(project=project))
    nvim.type("\r")
    answer_all(nvim, project)
    after = look(project)
    changed = {path for path in {*BEFORE, *after} if BEFORE.get(path) != after.get(path)}
    assert "main.py" in changed
    operations = {path: "modify" if path in BEFORE and path in after else "add" for path in changed}
    operations |= {path: "delete" for path in changed if path not in after}
    nvim.wait_until(lambda: nvim.lua(SHOWN) == operations, LIMIT, f"the review of {operations}")
    nvim.command(f"AcpReview! {action}")
    nvim.wait_until(lambda: nvim.lua(SHOWN) in ({}, []), LIMIT, "nothing to be left")
    assert look(project) == (BEFORE if action == "rejectall" else after)
    left = look(project / ".git", git=True)
    left.pop(name, None)  # some agents leave a note there
    assert left == users
