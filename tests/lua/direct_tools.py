"""Tools of the MCP server, called as the host calls them, in a Neovim that notes which files it opens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.lua.conftest import LuaEditor
from tests.support.language_server import FakeServer
from tests.support.waiting import wait_until

MAIN = "from shapes import area\n\nTOTAL = area(3, 4)\n"
SYMBOLS = "textDocument/documentSymbol"

WATCH = """
_G.opened, _G.read_bytes, _G.answers = {}, {}, {}
local uv = vim.uv
local fs_open, fs_read, io_open, bufload = uv.fs_open, uv.fs_read, io.open, vim.fn.bufload
uv.fs_open = function(path, ...)
  table.insert(_G.opened, path)
  return fs_open(path, ...)
end
uv.fs_read = function(file, size, ...)
  table.insert(_G.read_bytes, size)
  return fs_read(file, size, ...)
end
io.open = function(path, ...)
  table.insert(_G.opened, "io.open " .. path)
  return io_open(path, ...)
end
vim.fn.bufload = function(bufnr)
  table.insert(_G.opened, "bufload " .. vim.api.nvim_buf_get_name(bufnr))
  return bufload(bufnr)
end
"""

CALL = """
local call, tool, args = ...
local host, mcp = require("acp_nvim.host"), require("acp_nvim.mcp")
_G.answers[call] = {}
local ok, now = pcall(mcp.call, call, tool, args)
if not ok then error(tool .. ": " .. now, 0) end
if now then host.send("tool_answered", { call = call, answer = now }) end
"""

TAKEN = """
for _, one in ipairs(_G.sent) do
  if one.method == "tool_answered" then table.insert(_G.answers[one.params.call], one.params.answer) end
end
_G.sent = {}
for _, call in ipairs(...) do
  if #_G.answers[call] == 0 then return nil end
end
return vim.tbl_map(function(call) return _G.answers[call] end, ...)
"""


class DirectTools:
    """A project with the file `main.py`, and a language server for it."""

    def __init__(self, nvim: LuaEditor) -> None:
        self.nvim = nvim
        self.project = Path(nvim.project).resolve()
        (self.project / ".git").mkdir()
        (self.project / "main.py").write_text(MAIN)
        self.server = FakeServer(nvim)
        self.main = str(self.project / "main.py")
        self._last = 0
        nvim.lua(WATCH)
        self.answer("symbols", path=self.main)  # opens the file, and starts the server
        self.forget()

    def forget(self) -> None:
        """Forget which files were opened until now."""
        self.nvim.lua("_G.opened, _G.read_bytes = {}, {}")

    def opened(self) -> list[str]:
        """The files that Neovim has opened since, without our log and Lua."""
        return self.files(self.nvim.lua("return _G.opened"))

    @staticmethod
    def files(opened: Sequence[str]) -> list[str]:
        """Return the opened files that are neither logs nor Lua."""
        return [one for one in opened if not one.endswith((".log", ".lua", ".luac"))]

    def all_answers(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[list[dict[str, Any]]]:
        """Call tools at the same time; return all answers of each, when each has one."""
        numbers = []
        for tool, given in calls:
            self._last += 1
            numbers.append(self._last)
            where = {"session": 1, "cwd": str(self.project), "directories": [str(self.project)]}
            self.nvim.lua(CALL, self._last, tool, {**where, **given})
        answers = wait_until(lambda: self.nvim.lua(TAKEN, numbers), what="answers", describe=self.nvim.describe)
        return list(answers)

    def answer(self, tool: str, **given: Any) -> dict[str, Any]:
        """Call a tool; return its only answer."""
        (answers,) = self.all_answers([(tool, given)])
        assert len(answers) == 1, answers
        return dict(answers[0])

    def lines(self, tool: str, **given: Any) -> list[str]:
        """The lines of an answer that is no error."""
        answer = self.answer(tool, **given)
        assert "error" not in answer, answer
        return list(answer["lines"])

    def definition(self) -> list[str]:
        """What `definition` says of a symbol, for which the server has replies."""
        return self.lines("definition", **self.at)

    @property
    def at(self) -> dict[str, Any]:
        """The arguments of a tool about a symbol of `main.py`."""
        return {"path": self.main, "line": 1, "symbol": "shapes"}
