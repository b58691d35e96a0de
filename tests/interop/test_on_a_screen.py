"""Real agents on a real screen: answered by keys, with text that only the buffer has; all that they did is reviewed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.interop import installing
from tests.interop.agent_file import AgentFile, agents
from tests.interop.model.server import ModelServer
from tests.interop.stage import LIMIT, Stage
from tests.interop.wire import Wire
from tests.support.agent_edits import Tree, git, lay_out, look
from tests.support.screen import ScreenEditor

IN_BUFFER = ["# this line and the next are in the buffer only", 'print("hello")']
BEFORE = {"main.py": b'print("hello")\n', "util.py": b"def add(a, b):\n    return a + b\n"}
RECORDED = Path(__file__).with_name("recorded")
SHOWN = """
local found = {}
for _, one in ipairs(require("acp_nvim.review.files").all()) do
  if one.operation ~= "none" and one.by ~= "state" then
    found[vim.fs.basename(one.path)] = one.operation
  end
end
return found
"""


@pytest.fixture(params=[agent for agent in agents() if not agent.is_example], ids=lambda agent: agent.name)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """An agent that is installed, and its model; no Neovim."""
    agent: AgentFile = request.param
    model = ModelServer()
    stage = Stage(tmp_path / "stage", agent, model)
    try:
        installing.install(agent)
        stage.lay_out()
        yield stage
    finally:
        stage.abandon()
        model.close()


@pytest.fixture
def project() -> Iterator[Path]:
    """A directory with a short name, so that screens stay readable."""
    with tempfile.TemporaryDirectory(prefix="p-") as directory:
        yield Path(directory)


def start(screen: Callable[..., ScreenEditor], stage: Stage, project: Path) -> ScreenEditor:
    """A Neovim with the file in a window."""
    config = {"default_agent": stage.agent.name, "log": {"traffic": True}}
    nvim = screen(columns=130, rows=45, agents={stage.agent.name: stage.definition()}, config=config)
    nvim.command(f"cd {project}")
    nvim.command(f"edit {project / 'main.py'}")
    return nvim


def converse(nvim: ScreenEditor, project: Path, more: str = "") -> None:
    """One turn, from the command to the end: whatever is asked is allowed once, by key, in the chat."""
    nvim.type(":AcpChat\r")
    nvim.wait_until('vim.bo.filetype == "acp_prompt" and require("acp_nvim").status().state == "idle"', LIMIT)
    nvim.lua("vim.api.nvim_paste(..., true, -1)", f"scene:work in:{project} {more}")
    nvim.type("\r")
    in_chat, before = False, len(nvim.events("AcpTurnEnd"))
    while len(nvim.events("AcpTurnEnd")) == before:
        for asked in nvim.lua('return require("acp_nvim").permissions()')[:1]:
            if not in_chat:
                nvim.type("\x17k")
                in_chat = True
            if asked["kind"] == "edit":
                record(nvim, project, "asking")
            allow(nvim, asked["id"])
        nvim.wait_until(
            lambda: len(nvim.events("AcpTurnEnd")) > before or nvim.lua('return #require("acp_nvim").permissions()'),
            LIMIT,
        )
    assert nvim.events("AcpTurnEnd")[-1]["stop_reason"] == "end_turn"


def allow(nvim: ScreenEditor, permission: int) -> None:
    """Press the key that allows; if something of it was out of sight, it is shown first, for a second press."""
    nvim.type("a")
    nvim.wait_until(lambda: permission in done(nvim) or nvim.find("press a to allow"), LIMIT, "an answer, or all of it")
    if permission not in done(nvim):
        nvim.type("a")
        nvim.wait_until(lambda: permission in done(nvim), LIMIT, "the answer")


def done(nvim: ScreenEditor) -> list[int]:
    """The ids of the permissions that were answered."""
    return [event["id"] for event in nvim.events("AcpPermissionDone")]


def record(nvim: ScreenEditor, project: Path, moment: str) -> None:
    """Keep what the screen shows, when ACP_NVIM_RECORD is set; the project's directory is masked."""
    if os.environ.get("ACP_NVIM_RECORD"):
        name = os.environ["PYTEST_CURRENT_TEST"].split("[")[1].split("]")[0]
        text = "\n".join(row.rstrip() for row in nvim.rows())
        RECORDED.mkdir(exist_ok=True)
        (RECORDED / f"{name}-{moment}.txt").write_text(text.replace(str(project).lstrip("/"), "project") + "\n")


@pytest.mark.timeout(600)
def test_a_whole_turn(screen: Callable[..., ScreenEditor], stage: Stage, project: Path) -> None:
    path = project / "main.py"
    path.write_text("pass\n" if stage.agent.reads_buffers else "\n".join(IN_BUFFER) + "\n")
    nvim = start(screen, stage, project)
    if stage.agent.reads_buffers:
        nvim.api("buf_set_lines", 0, 0, -1, True, IN_BUFFER)
    converse(nvim, project, f"above:{quote(IN_BUFFER[0])}")
    record(nvim, project, "done")
    wire = Wire(nvim.places.directory / "state")
    assert bool(wire.received("fs/read_text_file")) is stage.agent.reads_buffers
    nr = nvim.lua("return vim.fn.bufnr('main.py')")
    if stage.agent.edits_disk:
        assert nvim.buffer_text(nr) == "\n".join(IN_BUFFER)
        assert path.read_text() == "pass\n"
        nvim.lua("vim.api.nvim_buf_call(..., vim.cmd.write)", nr)
        converse(nvim, project)
    changed = IN_BUFFER[0] + '\nprint("hello, world")'
    nvim.wait_until(lambda: nvim.buffer_text(nr) == changed, LIMIT)
    assert path.read_text() == changed + "\n"
    assert "All of it is done." in nvim.chat_text()
    assert "Traceback" not in nvim.chat_text() + nvim.printed()
    assert not wire.open_requests()


def without_records(stage: Stage, tree: Tree) -> Tree:
    """What is in a project, but for the agent's own records."""
    return {path: data for path, data in tree.items() if Path(path).parts[0] not in stage.agent.records}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("action", ["keepall", "rejectall"])
def test_all_that_it_changed_is_reviewed(
    screen: Callable[..., ScreenEditor], stage: Stage, project: Path, action: str
) -> None:
    lay_out(project, BEFORE)
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "first")
    users = look(project / ".git", git=True)
    nvim = start(screen, stage, project)
    converse(nvim, project)
    after = without_records(stage, look(project))
    assert {path for path in {*BEFORE, *after} if BEFORE.get(path) != after.get(path)} == {"main.py", "NOTES.md"}
    nvim.wait_until(lambda: nvim.lua(SHOWN) == {"main.py": "modify", "NOTES.md": "add"}, LIMIT, "the review")
    nvim.command(f"AcpReview! {action}")
    nvim.wait_until(lambda: nvim.lua(SHOWN) in ({}, []), LIMIT, "nothing to be left")
    assert without_records(stage, look(project)) == (BEFORE if action == "rejectall" else after)
    left = look(project / ".git", git=True)
    left.pop(stage.agent.name, None)  # some agents leave a note there
    assert left == users
