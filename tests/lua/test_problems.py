"""Which diagnostics are new in a turn, and when language servers have looked at the present text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.lua.conftest import LuaEditor

SERVER = """
local name, capabilities = ...
_G.servers = _G.servers or {}
local one = { said = {}, version = 0, closing = false }
_G.servers[name] = one
vim.lsp.start({
  name = name,
  root_dir = vim.fn.getcwd(),
  cmd = function(dispatchers)
    one.tell = dispatchers.notification
    return {
      request = function(method, params, done, replied)
        one.said[#one.said + 1] = method
        local id, results = #one.said, { initialize = { capabilities = capabilities } }
        results["textDocument/diagnostic"] = _G.pulled or { kind = "full", items = {} }
        vim.schedule(function()
          done(nil, results[method])
          if replied then
            replied(id)
          end
        end)
        return true, id
      end,
      notify = function(method, params)
        one.said[#one.said + 1] = method
        return true
      end,
      is_closing = function() return one.closing end,
      terminate = function() one.closing = true end,
    }
  end,
})
"""
SYNC = {"textDocumentSync": {"openClose": True, "change": 1}}
PUBLISH = """
local name, messages = ...
_G.servers[name].tell("textDocument/publishDiagnostics", {
  uri = vim.uri_from_bufnr(0),
  diagnostics = vim.tbl_map(function(one)
    local at = { line = one[1], character = 0 }
    return { range = { start = at, ["end"] = at }, message = one[2], severity = 1 }
  end, messages),
})
"""
BEGIN = """
_G.settled = nil
require("acp_nvim.problems.settling").settled(vim.api.nvim_get_current_buf(), ..., function(is_settled, names)
  _G.settled = { is_settled, names }
end)
"""
NEW = """
local new = require("acp_nvim.problems").new_since(1, vim.diagnostic.get(0))
return vim.tbl_map(function(one) return one.message end, new)
"""


@pytest.fixture
def nvim(editor: LuaEditor) -> LuaEditor:
    """A file that is open, with two lines."""
    (editor.project / "f.txt").write_text("one\ntwo\n")
    editor.command(f"edit {editor.project / 'f.txt'}")
    return editor


@pytest.fixture
def start(nvim: LuaEditor) -> Callable[..., None]:
    """Starts a language server in Neovim itself, which publishes nothing until a test has it do so."""

    def start(name: str = "it", **capabilities: Any) -> None:
        nvim.lua(SERVER, name, {**SYNC, **capabilities})
        nvim.wait_until(lambda: "textDocument/didOpen" in said(nvim, name), what="the file to be sent")

    return start


def said(nvim: LuaEditor, name: str = "it") -> list[str]:
    return list(nvim.lua("return _G.servers[...].said", name))


def publish(nvim: LuaEditor, *messages: tuple[int, str], name: str = "it") -> None:
    nvim.lua(PUBLISH, name, [list(one) for one in messages])


def change(nvim: LuaEditor) -> None:
    nvim.api("buf_set_lines", 0, 0, 0, True, ["more"])


def until_settled(nvim: LuaEditor) -> tuple[bool, list[str]]:
    is_settled, names = nvim.wait_until("_G.settled", what="an answer")
    return is_settled, list(names)


# --- what is new ------------------------------------------------------------------------------------------------------


def test_of_equal_problems_as_many_are_new_as_there_are_more(nvim: LuaEditor, start: Callable[..., None]) -> None:
    start()
    publish(nvim, (0, "a"), (1, "b"))
    nvim.lua('require("acp_nvim.problems").mark(1)')
    assert nvim.lua(NEW) == []
    publish(nvim, (1, "a"), (0, "b"))  # the problems have moved
    assert nvim.lua(NEW) == []
    publish(nvim, (0, "a"), (1, "a"), (1, "c"))
    assert sorted(nvim.lua(NEW)) == ["a", "c"]
    nvim.lua('require("acp_nvim.problems").forget(1)')
    assert nvim.lua('return require("acp_nvim.problems").is_marked(1)') is False


def test_files_that_were_not_open_are_known_as_such(nvim: LuaEditor) -> None:
    nvim.lua('require("acp_nvim.problems").mark(1)')
    was_open = 'return require("acp_nvim.problems").was_open(1, vim.api.nvim_get_current_buf())'
    assert nvim.lua(was_open) is True
    (nvim.project / "g.txt").write_text("x\n")
    nvim.command(f"edit {nvim.project / 'g.txt'}")
    assert nvim.lua(was_open) is False


def test_without_language_servers_nothing_of_them_is_loaded(editor: LuaEditor) -> None:
    before = editor.lua('return package.loaded["vim.lsp"] ~= nil')
    editor.lua('require("acp_nvim.problems").mark(1)')
    assert editor.lua('return package.loaded["vim.lsp"] ~= nil') is before


# --- when they have looked at the present text ------------------------------------------------------------------------


def test_a_text_that_it_has_looked_at_before_is_settled(nvim: LuaEditor, start: Callable[..., None]) -> None:
    start()
    publish(nvim)
    nvim.lua(BEGIN, 60_000)
    assert until_settled(nvim) == (True, [])


@pytest.mark.parametrize("loaded", ["before the change", "after it"])
def test_a_changed_text_is_awaited(nvim: LuaEditor, start: Callable[..., None], loaded: str) -> None:
    start()
    publish(nvim)
    if loaded == "before the change":
        nvim.lua('require("acp_nvim.problems.settling")')
    else:
        nvim.lua('require("acp_nvim.problems.settling"); vim.api.nvim_buf_set_lines(0, 0, 0, true, { "first" })')
        nvim.wait_until(lambda: "textDocument/didChange" in said(nvim), what="the first change to be sent")
        publish(nvim)
    count = said(nvim).count("textDocument/didChange")
    change(nvim)
    nvim.lua(BEGIN, 60_000)
    nvim.wait_until(lambda: said(nvim).count("textDocument/didChange") > count, what="the change to be sent")
    assert nvim.lua("return _G.settled") is None
    publish(nvim, (0, "a"))
    assert until_settled(nvim) == (True, [])


def test_who_publishes_nothing_is_named_and_not_awaited_again(nvim: LuaEditor, start: Callable[..., None]) -> None:
    nvim.lua('require("acp_nvim.problems.settling")')
    start()
    nvim.lua(BEGIN, 1_001)
    assert until_settled(nvim) == (False, ["it"])
    change(nvim)
    nvim.lua(BEGIN, 60_000)
    assert until_settled(nvim) == (True, [])


def test_who_is_still_busy_is_awaited(nvim: LuaEditor, start: Callable[..., None]) -> None:
    start()
    progress = '_G.servers.it.tell("$/progress", { token = 1, value = { kind = ..., title = "Indexing" } })'
    nvim.lua(progress, "begin")
    nvim.lua(BEGIN, 200)
    assert until_settled(nvim) == (False, ["it"])
    nvim.lua(progress, "end")
    nvim.lua(BEGIN, 60_000)
    assert until_settled(nvim) == (True, [])


GOOD = {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "message": "good"}
ODD: list[Any] = [
    5,
    "x",
    {"kind": "full", "items": 5},
    {"kind": 5},
    {"kind": "full", "items": [5, {"range": []}, GOOD]},
]


def test_what_is_answered_for_a_hidden_file_may_be_anything(nvim: LuaEditor, start: Callable[..., None]) -> None:
    nvim.lua('require("acp_nvim.problems.settling")')
    start(diagnosticProvider={"interFileDependencies": False, "workspaceDiagnostics": False})
    nvim.wait_until(lambda: "textDocument/diagnostic" in said(nvim), what="Neovim to ask for what is visible")
    hidden = nvim.lua("local nr = vim.api.nvim_get_current_buf(); vim.cmd.enew({ bang = true }); return nr")
    for one in ODD:
        count = said(nvim).count("textDocument/diagnostic")
        nvim.lua("_G.pulled = ...", one)
        nvim.api("buf_set_lines", hidden, 0, 0, True, ["more"])
        nvim.lua(BEGIN.replace("vim.api.nvim_get_current_buf()", str(hidden)), 60_000)
        assert until_settled(nvim) == (True, []), one
        assert said(nvim).count("textDocument/diagnostic") == count + 1, one
    assert nvim.printed() == ""
    assert nvim.lua("return vim.tbl_map(function(one) return one.message end, vim.diagnostic.get(...))", hidden) == [
        "good"
    ]


def test_who_publishes_when_asked_is_asked_once_for_a_hidden_file(nvim: LuaEditor, start: Callable[..., None]) -> None:
    nvim.lua('require("acp_nvim.problems.settling")')
    start(diagnosticProvider={"interFileDependencies": False, "workspaceDiagnostics": False})
    nvim.wait_until(lambda: "textDocument/diagnostic" in said(nvim), what="Neovim to ask for what is visible")
    hidden = nvim.lua("local nr = vim.api.nvim_get_current_buf(); vim.cmd.enew({ bang = true }); return nr")
    count = said(nvim).count("textDocument/diagnostic")
    nvim.api("buf_set_lines", hidden, 0, 0, True, ["more"])
    nvim.lua(BEGIN.replace("vim.api.nvim_get_current_buf()", str(hidden)), 60_000)
    assert until_settled(nvim) == (True, [])
    assert said(nvim).count("textDocument/diagnostic") == count + 1
