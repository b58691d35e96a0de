"""A project that brings MCP servers with it: the user is asked in a real Neovim, and sees all that would run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import Editor, HeadlessEditor
from tests.support.screen import ScreenEditor

SELECT = """
_G.asked = {}
vim.ui.select = function(items, opts, on_choice)
  local words = vim.tbl_map(opts.format_item, items)
  table.insert(_G.asked, { prompt = opts.prompt, kind = opts.kind, words = words })
  _G.choose = function(number) on_choice(number and items[number] or nil) end
end
"""
SERVERS = {"files": {"command": "sh", "args": ["-c", "echo hi"], "env": {"TOKEN": "${TOKEN:-none}"}}}


def begun(
    start: Callable[..., Any], directory: Path, ask: str = "AcpPrompt hello", **more: Any
) -> tuple[Editor, AgentScript]:
    """A session in a project with a `.mcp.json`."""
    script = agent_script(directory, "def turn(agent, prompt):\n    prompt.say('done')\n")
    config = {"default_agent": "it", "mcp": {"enabled": False}, **more}
    nvim = start(agents={"it": {"command": script.argv}}, config=config)
    write(nvim, SERVERS)
    nvim.lua(SELECT)
    nvim.command(ask)
    return nvim, script


def write(nvim: Editor, servers: Any) -> None:
    (nvim.project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def sent(script: AgentScript, number: int = 0) -> list[str]:
    """The names of the servers that the agent was given."""
    return [one["name"] for one in script.received("session/new")[number]["params"]["mcpServers"]]


@pytest.mark.parametrize(("choice", "names"), [(1, []), (2, ["files"]), (3, []), (None, [])])
def test_the_user_decides(
    screen: Callable[..., ScreenEditor], tmp_path: Path, choice: int | None, names: list[str]
) -> None:
    nvim, script = begun(screen, tmp_path)
    nvim.wait_until("#_G.asked == 1", what="a question")
    asked = nvim.lua("return _G.asked[1]")
    assert asked["prompt"].splitlines() == [
        ".mcp.json names MCP servers for agents:",
        "  files: sh -c echo hi (env: TOKEN=${TOKEN:-none})",
    ]
    assert [one.split(":")[0].split(" in ")[0] for one in asked["words"]] == [
        "not now",
        "use them",
        "never use this content",
    ]
    nvim.wait_until(lambda: "files: sh -c echo hi" in nvim.chat_text(), what="the same in the chat")
    assert script.received("session/new") == []
    assert nvim.lua('return require("acp_nvim").status().state') == "starting"
    nvim.lua("_G.choose(...)", choice)
    nvim.wait_until(lambda: "done" in nvim.chat_text(), what="the answer to the prompt that waited")
    assert sent(script) == names

    nvim.command("AcpChat! it")  # another session in the same project
    nvim.wait_until(lambda: len(script.received("session/new")) == 2, what="the second session")
    assert sent(script, 1) == names
    assert nvim.lua("return #_G.asked") == 1


def test_all_that_would_run_is_seen(screen: Callable[..., ScreenEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, "def turn(agent, prompt):\n    prompt.say('done')\n")
    nvim = screen(agents={"it": {"command": script.argv}}, config={"default_agent": "it", "mcp": {"enabled": False}})
    hidden = {"command": "./run.sh", "args": ["a" + " " * 400 + "b", "c\u3164\u2800d"], "env": {"A\n": "x\u202e"}}
    write(nvim, {"files": hidden, "long": {"command": "x" * 60_000}, "page\u202e": {"url": "https://here/\ue000"}})
    (nvim.project / "run.sh").write_text("true\n")
    nvim.lua(SELECT)
    nvim.command("AcpPrompt hello")
    nvim.wait_until("#_G.asked == 1", what="a question")
    assert nvim.lua("return _G.asked[1]")["prompt"].splitlines() == [
        ".mcp.json names MCP servers for agents:",
        "  files: ./run.sh a ··· 400 spaces ··· b c\\u3164\\u2800d (env: A\\n=x\\u202e)",
        "  page\\u202e: https://here/\\ue000",
        "You are asked again when a file of the project that they run changes:",
        "  run.sh",
    ]
    nvim.lua("_G.choose(1)")
    nvim.wait_until(lambda: "done" in nvim.chat_text(), what="the answer to the prompt that waited")
    assert "MCP server long of" in nvim.chat_text()


def test_who_types_is_asked_when_they_pause(screen: Callable[..., ScreenEditor], tmp_path: Path) -> None:
    nvim, script = begun(screen, tmp_path, ask="AcpChat it")
    nvim.lua("require('acp_nvim').prompt('hello') vim.api.nvim_input('inext, 2')")
    nvim.wait_until(lambda: any("you are asked about them when you" in one for one in nvim.messages()), what="news")
    nvim.keys("<CR>do more")
    assert nvim.lua("return #_G.asked") == 0
    assert nvim.buffer_text().splitlines()[-1] == "do more"
    nvim.keys("<Esc>")
    nvim.wait_until("#_G.asked == 1", what="a question")
    nvim.lua("_G.choose(2)")
    nvim.wait_until(lambda: "done" in nvim.chat_text(), what="the answer to the prompt that waited")
    assert sent(script) == ["files"]


def test_a_start_can_be_cancelled_while_the_user_is_asked(screen: Callable[..., ScreenEditor], tmp_path: Path) -> None:
    nvim, script = begun(screen, tmp_path)
    nvim.wait_until("#_G.asked == 1", what="a question")
    nvim.command("AcpCancel")
    nvim.wait_until(lambda: "Cancelled before it was sent." in nvim.chat_text(), what="the end of the start")
    nvim.lua("_G.choose(2)")
    assert script.received("session/new") == []


def test_nobody_is_asked_where_nobody_could_answer(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    nvim, script = begun(editor, tmp_path)
    nvim.wait_until(lambda: "done" in nvim.chat_text(), what="the answer")
    assert sent(script) == []
    assert nvim.lua("return #_G.asked") == 0


def test_it_can_be_switched_off(screen: Callable[..., ScreenEditor], tmp_path: Path) -> None:
    nvim, script = begun(screen, tmp_path, project_mcp_servers=False)
    nvim.wait_until(lambda: "done" in nvim.chat_text(), what="the answer")
    assert sent(script) == []
    assert nvim.lua("return #_G.asked") == 0


def test_a_faulty_file_is_named_in_the_chat(screen: Callable[..., ScreenEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, "def turn(agent, prompt):\n    prompt.say('done')\n")
    nvim = screen(agents={"it": {"command": script.argv}}, config={"default_agent": "it", "mcp": {"enabled": False}})
    (nvim.project / ".mcp.json").write_text("{")
    nvim.command("AcpPrompt hello")
    nvim.wait_until(lambda: "done" in nvim.chat_text(), what="the answer")
    words = "The MCP servers of .mcp.json are left out: it is no valid JSON of this kind"
    assert words in " ".join(nvim.chat_text().split())
    assert sent(script) == []
