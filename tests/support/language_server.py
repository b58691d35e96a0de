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
    local last = 0
    return {
      request = function(method, params, reply, replied)
        last = last + 1
        local id = last
        local function say(err, result)
          if replied then
            replied(id)
          end
          reply(err, result)
        end
        if method == "initialize" then
          reply(nil, { capabilities = capabilities })
        else
          vim.schedule(function() answer(method, params, say) end)
        end
        return true, id
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
  implementationProvider = true,
  referencesProvider = true,
  renameProvider = true,
  workspaceSymbolProvider = true,
}
local cmd = connect(capabilities, function(method, _, reply)
  local made = _G.replies[method]
  made = type(made) == "function" and made() or vim.json.decode(made or "null", { luanil = { object = true } })
  for _ = 1, _G.reply_count or 1 do
    reply(nil, made ~= vim.NIL and made or nil)
  end
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

    def makes(self, method: str, chunk: str) -> None:
        """Answer requests with that method with what a chunk of Lua returns, which may be larger than JSON can be."""
        self._nvim.lua("local method, chunk = ...; _G.replies[method] = loadstring(chunk)", method, chunk)

    def uri(self, name: str) -> str:
        """The URI of a file of the project."""
        return (Path(self._nvim.project) / name).as_uri()


def edit(line: int, character: int, end_line: float, end_character: int, text: str) -> dict[str, Any]:
    """A text edit as language servers send it."""
    begin, end = {"line": line, "character": character}, {"line": end_line, "character": end_character}
    return {"range": {"start": begin, "end": end}, "newText": text}
