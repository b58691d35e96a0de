"""Twenty sessions on three agents talk at once: each chat has what its own session said, all of it, in order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

SESSIONS = 20
LINES = 60
AGENTS = ("anna", "bert", "carl")

TALKER = f"""
    def turn(agent, prompt):
        name = prompt.text
        for number in range({LINES}):
            prompt.say(f"{{name}}, {{prompt.session_id}}: {{number}}\\n")
            if number == {LINES // 2}:
                prompt.tool("call", f"Tool of {{name}}, {{prompt.session_id}}", status="completed")
"""

OPEN = """
local client = require("acp_nvim.sessions.client")
local session = client.session(..., true)
client.prompt(..., { session_id = session.key })
return session.key
"""

SHOWN = """
local session = require("acp_nvim.host.sessions").get(...)
return {
  session.status.session_id,
  vim.tbl_filter(function(line)
    return line:find(", session", 1, true) ~= nil
  end, vim.api.nvim_buf_get_lines(session.bufnr, 0, -1, true)),
}
"""


def test_each_chat_is_exact(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    scripts = {name: agent_script(tmp_path, TALKER, name) for name in AGENTS}
    nvim = editor(agents={name: {"command": script.argv} for name, script in scripts.items()})
    names = {nvim.lua(OPEN, AGENTS[number % len(AGENTS)]): AGENTS[number % len(AGENTS)] for number in range(SESSIONS)}
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) == SESSIONS, what="the end of all turns")
    for key, name in names.items():
        session_id, shown = nvim.lua(SHOWN, key)
        said = [f"{name}, {session_id}: {number}" for number in range(LINES)]
        said.insert(LINES // 2 + 1, f"Tool of {name}, {session_id}")
        assert shown == said
    assert [len(script.notes("started")) for script in scripts.values()] == [1, 1, 1]
