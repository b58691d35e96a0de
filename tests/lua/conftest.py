"""A real headless Neovim with the plugin, and a recorder in place of the host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.contract import as_sent
from tests.support.editor import HeadlessEditor

RECORD = """
_G.sent = {}
local host = require("acp_nvim.host")
host.send = function(method, params)
  _G.acp_contract.message(method, params)
  table.insert(_G.sent, { method = method, params = params })
  return true
end
package.loaded["acp_nvim.early"] = { start = function() end }
require("acp_nvim.kernel.idle").run = vim.schedule -- tests press keys at once, and Neovim ignores CTRL-C while Lua runs
host.ensure = function() return true end
host.channel = function() return _G.channel or 1 end
vim.o.columns, vim.o.lines = 120, 40
"""

STATUS = {"agent": "demo", "agent_title": "demo", "cwd": "/p", "pending_permissions": 0, "queue": 0}
"""What the status of a session always has, but for its state."""

SEEN = """
local lines = vim.api.nvim_buf_get_lines(..., 0, -1, true)
local namespace = vim.api.nvim_create_namespace("acp_nvim.calls")
local marks = vim.api.nvim_buf_get_extmarks(..., namespace, 0, -1, { details = true })
for index = #marks, 1, -1 do
  local _, row, col, details = unpack(marks[index])
  local words = ""
  for _, chunk in ipairs(details.virt_text) do words = words .. chunk[1] end
  lines[row + 1] = lines[row + 1]:sub(1, col) .. words .. lines[row + 1]:sub(col + 1)
end
return lines
"""


class LuaEditor(HeadlessEditor):
    """Neovim with the plugin, but no host: what would be sent is recorded."""

    def __init__(self, directory: Path, **given: Any) -> None:
        super().__init__(directory, **given)
        self.lua(RECORD)

    def apply_and_type(self, keys: str, *events: dict[str, Any]) -> None:
        """Applies events, and types before Neovim can take the user's silence for a pause."""
        code = 'local events, keys = ... require("acp_nvim.events").apply(events) vim.api.nvim_input(keys)'
        self.lua(code, [as_sent(one) for one in events], keys)
        self.keys("")

    def chat(self, agent: str = "demo") -> int:
        """Opens a new chat; the key of its session."""
        self.command(f"AcpChat! {agent}")
        return int(self.lua("return vim.b.acp_nvim_session"))

    def session(self, key: int, field: str) -> Any:
        """One field of a session of the registry."""
        return self.lua('local key, field = ... return require("acp_nvim.host.sessions").get(key)[field]', key, field)

    def lines(self, key: int) -> list[str]:
        """The lines of a chat."""
        return list(self.api("buf_get_lines", self.session(key, "bufnr"), 0, -1, True))

    def seen(self, key: int) -> list[str]:
        """The lines of a chat with what stands before and behind the titles of tool calls, which is no text."""
        return list(self.lua(SEEN, self.session(key, "bufnr")))

    def prompt_lines(self, key: int) -> list[str]:
        """The lines of a prompt."""
        return list(self.api("buf_get_lines", self.session(key, "prompt_bufnr"), 0, -1, True))

    def sent(self, method: str) -> list[dict[str, Any]]:
        """The params of every message of this method to the host."""
        return [one["params"] for one in self.lua("return _G.sent") if one["method"] == method]

    def focus(self, bufnr: int) -> int:
        """Goes to the window that shows this buffer, and returns it."""
        return int(self.lua("local w = vim.fn.win_findbuf(...)[1] vim.api.nvim_set_current_win(w) return w", bufnr))

    def message(self) -> str:
        """All messages so far; they come a little later than what they are about, so there must be one."""
        self.wait_until(lambda: self.messages(), what="a message")
        return "\n".join(self.messages())


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[LuaEditor]:
    started = LuaEditor(tmp_path)
    yield started
    started.close()


@pytest.fixture
def key(editor: LuaEditor) -> int:
    """A session, with the focus in its chat."""
    opened = editor.chat()
    editor.focus(editor.session(opened, "bufnr"))
    return opened
