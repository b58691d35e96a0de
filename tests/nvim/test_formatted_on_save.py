"""A formatter that runs before each write, beside an agent that changes the same lines."""

from __future__ import annotations

from shutil import copytree
from typing import Any

import pytest

from tests.support.places import ROOT

FORMATTER = """
vim.api.nvim_create_autocmd("BufWritePre", { pattern = "*.py", callback = function(event)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(event.buf, 0, -1, true)) do
    local formatted = line:gsub('f"(.-)"', "f'%1'"):gsub("%s+$", "")
    if formatted ~= line then
      vim.api.nvim_buf_set_text(event.buf, row - 1, 0, row - 1, #line, { formatted })
    end
  end
end })
"""
RULES = [{"kind": "edit", "action": "allow"}, {"command": "wc *", "action": "allow"}]


@pytest.mark.parametrize("typed", ["", "x = 1  "])
def test_what_the_formatter_makes_of_the_agents_lines_is_rejected_with_them(editor: Any, typed: str) -> None:
    config = {"default_agent": "demo", "permissions": {"rules": RULES}}
    nvim = editor(env={"ACP_NVIM_DEMO_SPEED": "0"}, config=config)
    copytree(ROOT / "acp_nvim" / "demo_project", nvim.project, dirs_exist_ok=True)
    path = nvim.project / "greeting.py"
    nvim.lua(FORMATTER)
    nvim.command(f"cd {nvim.project} | edit greeting.py")
    if typed:
        nvim.command(f"call append('$', '{typed}')")
    before = path.read_text() + typed.strip() + ("\n" if typed else "")
    nvim.command("AcpPrompt What is wrong?")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    nvim.command("write")
    assert "f'Hello, {name}!'" in path.read_text()
    assert path.read_text().splitlines() == nvim.buffer_text(nvim.api("get_current_buf")).splitlines()
    nvim.command("AcpReview rejectall")
    nvim.wait_until(lambda: "for name in names" not in path.read_text(), what="the rejection")
    assert [line.rstrip() for line in path.read_text().splitlines()] == [line.rstrip() for line in before.splitlines()]
