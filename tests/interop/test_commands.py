"""Real agents run commands, in terminals of Neovim's or by themselves: each of their requests has one answer."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import HeadlessEditor

LIMIT = 150.0
ANSWER = """
local asked = require("acp_nvim").permissions()
for _, one in ipairs(asked) do
  local wanted = one.options[1]
  for _, option in ipairs(one.options) do
    wanted = option.kind == "allow_once" and option or wanted
  end
  require("acp_nvim.requests").answer(one.id, wanted.option_id)
end
return vim.tbl_map(function(one) return one.kind end, asked)
"""


@pytest.fixture
def project() -> Iterator[Path]:
    """What the scripted model expects, below a short name."""
    with tempfile.TemporaryDirectory(prefix="p-") as directory:
        Path(directory, "main.py").write_text('print("hello")\n')
        Path(directory, "util.py").write_text("def add(a, b):\n    return a + b\n")
        yield Path(directory)


def recorded(directory: Path) -> list[tuple[str, Any]]:
    """Direction and message of all that went over the wire."""
    [path] = directory.rglob("traffic/*.jsonl")
    lines = map(json.loads, path.read_text().splitlines()[1:])
    return [(line["direction"], line["message"]) for line in lines if "message" in line]


def keep(name: str, text: str) -> None:
    """What the chat shows, in the directory that ACP_NVIM_CHATS names."""
    if directory := os.environ.get("ACP_NVIM_CHATS"):
        Path(directory, f"{name}.txt").write_text(text + "\n")


@pytest.mark.timeout(300)
def test_each_request_has_one_answer_and_nothing_is_left_open(
    editor: Callable[..., HeadlessEditor], tmp_path: Path, project: Path, real_agent: tuple[str, dict[str, Any]]
) -> None:
    name, agent = real_agent
    agents = {name: {"command": agent["command"], "env": agent.get("env", {})}}
    nvim = editor(agents=agents, config={"default_agent": name, "log": {"traffic": True}})
    nvim.command(f"cd {project}")
    nvim.lua('require("acp_nvim").prompt(...)', agent["prompt"].format(project=project))
    asked: list[str] = []
    try:
        nvim.wait_until(lambda: asked.extend(nvim.lua(ANSWER)) or nvim.events("AcpTurnEnd"), LIMIT, "the turn's end")
    finally:
        keep(name, nvim.chat_text().replace(str(project), "/project"))
    assert nvim.events("AcpTurnEnd")[0]["stop_reason"] == "end_turn"
    assert nvim.lua('return require("acp_nvim").permissions()') in ([], {})
    wire = recorded(tmp_path)
    requests = [one for direction, one in wire if direction == "received" and "method" in one and "id" in one]
    answers = [one["id"] for direction, one in wire if direction == "sent" and "method" not in one]
    assert Counter(map(repr, answers)) == Counter(repr(one["id"]) for one in requests)
    methods = {one["method"] for one in requests}
    assert ("terminal/create" in methods) is ("terminal" in agent.get("runs", []))
    assert ("execute" in asked) is ("asked" in agent.get("runs", []))
    assert agent.get("shows", "") in nvim.chat_text()
