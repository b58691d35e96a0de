"""What tests ask of the language server of the prompts, through Neovim's own client."""

from __future__ import annotations

import subprocess
from typing import Any

ASK = """
local method, params = ...
local client = vim.lsp.get_clients({ name = "acp_nvim" })[1]
local one = { done = false }
_G.asked = _G.asked or {}
table.insert(_G.asked, one)
local _, id = client:request(method, params, function(err, result)
  one.done, one.err, one.result = true, err, result
end, 0)
return { #_G.asked, id }
"""


class PromptServer:
    """The server behind the current buffer of an editor, which is a prompt."""

    def __init__(self, editor: Any) -> None:
        self.editor = editor
        editor.wait_until('#vim.lsp.get_clients({ bufnr = 0, name = "acp_nvim" }) == 1', what="the server")

    def start(self, method: str, params: Any) -> tuple[int, int]:
        """Sends a request; its number for `answer`, and its id."""
        number, request = self.editor.lua(ASK, method, params)
        return number, request

    def answer(self, number: int) -> Any:
        """Its result; fails when it is an error."""
        self.editor.wait_until("_G.asked[...].done", 30, f"the answer {number}", number)
        err = self.editor.lua("return _G.asked[...].err", number)
        assert err is None, err
        return self.editor.lua("return _G.asked[...].result", number)

    def error(self, method: str, params: Any) -> Any:
        """The error that it answers with."""
        number, _ = self.start(method, params)
        self.editor.wait_until("_G.asked[...].done", 30, "the error", number)
        return self.editor.lua("return _G.asked[...].err", number)

    def position(self, line: int, character: int) -> Any:
        """The parameters of a request about a place in the prompt."""
        uri = self.editor.lua("return vim.uri_from_bufnr(0)")
        return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}

    def complete(self, text: str) -> Any:
        """What is offered at the end of a prompt with this text."""
        lines = text.split("\n")
        self.editor.api("buf_set_lines", 0, 0, -1, True, lines)
        params = self.position(len(lines) - 1, len(lines[-1].encode()))
        return self.answer(self.start("textDocument/completion", params)[0])

    def texts(self, text: str) -> list[str]:
        """Return the text that each completion would insert."""
        return [item["textEdit"]["newText"] for item in self.complete(text)["items"]]


def git_project(editor: Any, *files: str) -> None:
    """Makes these files, and a repository of them."""
    for name in files:
        path = editor.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}\n")
    for arguments in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *arguments], cwd=editor.project, check=True)
