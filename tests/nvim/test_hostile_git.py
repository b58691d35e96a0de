"""A project whose git configuration names programs everywhere: none of them is run, whatever the user does here."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.worktrees.worktree import Worktrees, inspect, remove
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.hostile_repository import HostileRepository

SCRIPT = """
ROOT = os.getcwd()

def turn(agent, prompt):
    agent.note(blocks=prompt.blocks)
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "edit", "kind": "edit", "status": "in_progress"}
    agent.update(prompt.session_id, call)
    prompt.until_heard()
    for name in ("plain.txt", "a.evil", "new.long"):
        with open(os.path.join(ROOT, name), "a") as file:
            file.write("of the agent\\n")
    prompt.write(os.path.join(ROOT, "b.dotted"), "of the agent\\n")
    agent.update(prompt.session_id, {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"})
"""


def text_of(path: Path) -> str:
    return path.read_text()


def change(path: Path) -> None:
    path.write_text("changed\n")


@pytest.fixture
def hostile(tmp_path: Path) -> HostileRepository:
    return HostileRepository(tmp_path / "hostile", tmp_path / "executed")


@pytest.mark.parametrize("words", [["diff", "HEAD"], ["status"], ["worktree", "add", "-b", "x", "../x"]])
def test_the_repository_is_hostile(hostile: HostileRepository, words: list[str]) -> None:
    subprocess.run(["git", *words], cwd=hostile.root, capture_output=True, check=False)
    assert hostile.executed()


def test_nothing_of_it_is_run(
    editor: Callable[..., HeadlessEditor], hostile: HostileRepository, tmp_path: Path
) -> None:
    script = agent_script(tmp_path, SCRIPT)
    nvim = editor(agents={"it": {"command": script.argv}})
    nvim.command(f"cd {hostile.root}")
    nvim.command("edit plain.txt")
    nvim.command("AcpChat it")
    directory = str(hostile.root)
    nvim.lua("require('acp_nvim.prompt.complete.files').when_listed(..., function() end)", directory)
    nvim.wait_until("return require('acp_nvim.prompt.complete.files').get(...).whole", 60, "the list", directory)
    for count in (1, 2):
        nvim.command("AcpPrompt look at @diff")
        nvim.wait_until(lambda count=count: len(nvim.events("AcpTurnEnd")) == count)
    blocks = script.notes("blocks")[0]
    assert "+changed" in str(blocks), "the diff is sent all the same"
    nvim.command("AcpReview")
    nvim.command("AcpReview rejectall")
    nvim.command("AcpRestore undo")
    nvim.command("AcpSessions")
    nvim.command("checkhealth acp_nvim")
    assert hostile.executed() == []


@pytest.mark.anyio
async def test_worktrees_run_nothing_of_it(hostile: HostileRepository, tmp_path: Path) -> None:
    made = await Worktrees(tmp_path / "worktrees").make(str(hostile.root), "fix")
    file = Path(made.path, "a.evil")
    assert text_of(file) == "first\n"
    assert any("have filters" in words and words.startswith("2 files") for words in made.remarks)
    outlook = await inspect(made.path)
    assert (outlook.changed, outlook.commits) == (0, 0)
    change(file)
    assert (await inspect(made.path)).changed == 1
    await remove(made.path, force=True)
    with pytest.raises(FileNotFoundError):
        text_of(file)
    assert hostile.executed() == []


@pytest.mark.anyio
async def test_a_filter_that_cannot_be_switched_off(hostile: HostileRepository, tmp_path: Path) -> None:
    with (hostile.root / ".git" / "config").open("a") as file:
        file.write('[filter "a=b"]\n\tsmudge = touch it\n')
    with pytest.raises(Exception, match=r"filter\.a=b cannot be switched off"):
        await Worktrees(tmp_path / "worktrees").make(str(hostile.root), "fix")
