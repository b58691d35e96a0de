"""A language server inside Neovim that answers as the test says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.nvim.agent_tools import Tools
from tests.support.editor import HeadlessEditor

START = """
_G.replies = {}
local capabilities = {
  textDocumentSync = 1,
  codeActionProvider = { resolveProvider = true },
  definitionProvider = true,
  documentFormattingProvider = true,
  documentSymbolProvider = true,
  hoverProvider = true,
  renameProvider = true,
  workspaceSymbolProvider = true,
}
vim.lsp.config("fake", { filetypes = { "python" }, root_markers = { ".git" }, cmd = function()
  return {
    request = function(method, _, callback)
      if method == "initialize" then
        callback(nil, { capabilities = capabilities })
      else
        vim.schedule(function() callback(nil, vim.json.decode(_G.replies[method], { luanil = { object = true } })) end)
      end
      return true, 1
    end,
    notify = function() return true end,
    is_closing = function() return false end,
    terminate = function() end,
  }
end })
vim.lsp.enable("fake")
"""


class FakeServer:
    """The language server `fake` for Python."""

    def __init__(self, here: Tools) -> None:
        self._nvim: HeadlessEditor = here.nvim
        self._nvim.lua(START)

    def replies(self, method: str, result: Any) -> None:
        """Answer requests with that method with `result` from now on."""
        self._nvim.lua("local method, result = ...; _G.replies[method] = result", method, json.dumps(result))

    def uri(self, name: str) -> str:
        """The URI of a file of the project."""
        return (Path(self._nvim.project) / name).as_uri()


def edit(line: int, character: int, end_line: int, end_character: int, text: str) -> dict[str, Any]:
    """A text edit as language servers send it."""
    begin, end = {"line": line, "character": character}, {"line": end_line, "character": end_character}
    return {"range": {"start": begin, "end": end}, "newText": text}
