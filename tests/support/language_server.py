"""Language servers inside Neovim that answer as the test says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.editor import HeadlessEditor

CONNECT = """
---Return a `cmd` of `vim.lsp.config`; `answer(method, params, reply)` gets all requests except for `initialize`.
local function connect(capabilities, answer)
  return function()
    return {
      request = function(method, params, reply)
        if method == "initialize" then
          reply(nil, { capabilities = capabilities })
        else
          vim.schedule(function() answer(method, params, reply) end)
        end
        return true, 1
      end,
      notify = function() return true end,
      is_closing = function() return false end,
      terminate = function() end,
    }
  end
end
"""

START = (
    CONNECT
    + """
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
local cmd = connect(capabilities, function(method, _, reply)
  reply(nil, vim.json.decode(_G.replies[method], { luanil = { object = true } }))
end)
vim.lsp.config("fake", { filetypes = { "python" }, root_markers = { ".git" }, cmd = cmd })
vim.lsp.enable("fake")
"""
)


class FakeServer:
    """The language server `fake` for Python."""

    def __init__(self, nvim: HeadlessEditor) -> None:
        self._nvim = nvim
        nvim.lua(START)

    def replies(self, method: str, result: Any) -> None:
        """Answer requests with that method with `result` from now on."""
        self._nvim.lua("local method, result = ...; _G.replies[method] = result", method, json.dumps(result))

    def uri(self, name: str) -> str:
        """The URI of a file of the project."""
        return (Path(self._nvim.project) / name).as_uri()


def edit(line: int, character: int, end_line: float, end_character: int, text: str) -> dict[str, Any]:
    """A text edit as language servers send it."""
    begin, end = {"line": line, "character": character}, {"line": end_line, "character": end_character}
    return {"range": {"start": begin, "end": end}, "newText": text}
