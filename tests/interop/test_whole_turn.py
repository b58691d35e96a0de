"""A real agent does a whole turn: it reads text that only the buffer has, asks, is answered in the chat, and edits."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.screen import ScreenEditor

ON_DISK = "pass\n"
IN_BUFFER = ["# this line and the next are in the buffer only", 'print("hello")']
RECORDED = Path(__file__).with_name("recorded")
LIMIT = 90.0


def answer_all(nvim: ScreenEditor, project: Path) -> None:
    """Allow once, by key, in the chat, whatever is asked, until the turn ends."""
    nvim.wait_until('#require("acp_nvim").permissions() > 0', LIMIT)
    nvim.type("\x17k")
    while not nvim.events("AcpTurnEnd"):
        for asked in nvim.lua('return require("acp_nvim").permissions()')[:1]:
            if asked["kind"] == "edit":
                record(nvim, project, "asking")
            nvim.type("a")
            nvim.wait_until(lambda asked=asked: asked["id"] in done(nvim), LIMIT)
        nvim.wait_until(
            lambda: nvim.events("AcpTurnEnd") or nvim.lua('return #require("acp_nvim").permissions()'), LIMIT
        )


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


@pytest.fixture
def project() -> Iterator[Path]:
    """A directory with a short name, so that screens stay readable."""
    with tempfile.TemporaryDirectory(prefix="p-") as directory:
        yield Path(directory)


@pytest.mark.timeout(300)
def test_a_whole_turn(
    screen: Callable[..., ScreenEditor], project: Path, real_agent: tuple[str, dict[str, Any]]
) -> None:
    name, agent = real_agent
    nvim = screen(columns=130, rows=45, agents={name: {"command": agent["command"], "env": agent.get("env", {})}})
    nvim.command(f"cd {project}")
    path = project / "main.py"
    path.write_text(ON_DISK)
    (project / "util.py").write_text("def add(a, b):\n    return a + b\n")
    nvim.command(f"edit {path}")
    nvim.api("buf_set_lines", 0, 0, -1, True, IN_BUFFER)

    nvim.type(":AcpChat\r")
    nvim.wait_until('require("acp_nvim").status().state == "idle"', LIMIT)
    nvim.lua("vim.api.nvim_paste(..., true, -1)", agent["prompt"].format(project=project))
    nvim.type("\r")
    answer_all(nvim, project)
    record(nvim, project, "done")

    assert nvim.events("AcpTurnEnd")[0]["stop_reason"] == "end_turn"
    buffer = nvim.buffer_text(nvim.lua("return vim.fn.bufnr('main.py')"))
    if not agent.get("writes_the_disk_itself"):
        assert buffer.startswith(IN_BUFFER[0] + '\nprint("hello, world")')
        assert path.read_text() == buffer + "\n"
    assert agent.get("answer", "") in nvim.chat_text()
    assert "Traceback" not in nvim.chat_text() + nvim.printed()
