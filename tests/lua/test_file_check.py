"""Neovim asks nothing about changed files when the plugin shows, compares or deletes buffers, wherever it does so."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from tests.lua.conftest import LuaEditor
from tests.support.cases import case

TEXT = "one\ntwo\n"
UNSAVED = "not saved"

PREPARE = """
local M, api = {}, vim.api
_G.check = M
vim.o.hidden = true
pcall(api.nvim_clear_autocmds, { group = "nvim.autoread" }) -- 0.13 watches files, and asks by itself in these cases
local switch = require("acp_nvim.windows.switch")
local file_check = require("acp_nvim.buffers.file_check")
M.ways = {
  show = function(file, win) switch.show(win, file) end,
  show_unasked = function(file, win) switch.show_unasked(win, file) end,
  split = function(file) switch.split(file, { split = "below", win = -1 }) end,
  open = function(file) switch.open(file) end,
  tab = function(file) switch.open(file, true) end,
  follow = function(file, win) require("acp_nvim.follow.jump").show(win, file, 1) end,
  code = function(file, win) require("acp_nvim.windows.open").show(file, win) end,
  leave = function(file, win) require("acp_nvim.windows.shadow").leave(api.nvim_win_get_buf(win), file, false) end,
  compare = function(file) file_check.compare(file) end,
  compare_shown = function(file, win)
    file_check.without({ file }, function() api.nvim_win_set_buf(win, file) end)
    vim.wo[win].eventignorewin = vim.go.eventignorewin -- the window has the options that the buffer had last
    file_check.compare(file)
  end,
  track = function(file) require("acp_nvim.buffers").read(api.nvim_buf_get_name(file), "") end,
  roots = function(file)
    require("acp_nvim.buffers").set_roots(1, { vim.fs.dirname(api.nvim_buf_get_name(file)) })
  end,
  settle = function(file) require("acp_nvim.buffers.stamp").settle(file) end,
  delete = function(file)
    vim.cmd("silent! tabonly! | silent! only!")
    local doomed = api.nvim_create_buf(false, true)
    api.nvim_win_set_buf(0, doomed)
    for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
      if info.bufnr ~= file then vim.cmd("silent! bwipeout! " .. info.bufnr) end
    end
    switch.delete(doomed)
  end,
}
M.contexts = {
  plain = function(run) run() end,
  noautocmd = function(run)
    _G.run_now = run
    vim.cmd("noautocmd lua run_now()")
  end,
  eventignorewin = function(run)
    for _, win in ipairs(api.nvim_list_wins()) do vim.wo[win].eventignorewin = "all" end
    vim.go.eventignorewin = "all"
    run()
  end,
  meanwhile = function(run)
    local id = api.nvim_create_autocmd({ "BufLeave", "WinLeave" }, {
      callback = function()
        local path = api.nvim_buf_get_name(M.file)
        if vim.fn.getftype(path) == "file" then vim.fn.writefile({ "again and again" }, path) end
      end,
    })
    run()
    api.nvim_del_autocmd(id)
  end,
  autocommand = function(run)
    local id = api.nvim_create_autocmd("User", { pattern = "Waits", callback = run })
    api.nvim_exec_autocmds("User", { pattern = "Waits", modeline = false })
    api.nvim_del_autocmd(id)
  end,
}
function M.begin(path, is_tracked, is_modified, autoread)
  vim.o.autoread = autoread
  vim.cmd("silent! tabonly! | silent! only! | enew!")
  require("acp_nvim.buffers").set_roots(1, is_tracked and { vim.fs.dirname(path) } or {})
  vim.cmd("silent edit " .. path)
  M.file = api.nvim_get_current_buf()
  if is_modified then api.nvim_buf_set_lines(0, 0, 0, true, { "UNSAVED" }) end
  vim.cmd("enew | split | enew")
  M.win = vim.fn.win_getid(2)
  vim.v.warningmsg = ""
  vim.cmd("messages clear")
  _G.acp_test.messages = {}
end
function M.go(way, context)
  M.done, M.err = false, nil
  local function run()
    local ok, err = pcall(M.ways[way], M.file, M.win)
    M.err = not ok and err or nil
  end
  M.contexts[context](run)
  M.done = true
end
function M.seen()
  local found = {
    done = M.done,
    err = M.err,
    warned = vim.v.warningmsg,
    said = vim.fn.execute("messages"),
    buftype = vim.bo[M.file].buftype,
    lines = api.nvim_buf_get_lines(M.file, 0, -1, true),
    modified = vim.bo[M.file].modified,
  }
  vim.go.eventignorewin = ""
  for _, win in ipairs(api.nvim_list_wins()) do vim.wo[win].eventignorewin = "" end
  return found
end
function M.finish()
  vim.cmd("silent! tabonly! | silent! only! | enew!")
  vim.cmd("silent! bwipeout! " .. M.file)
end
""".replace("UNSAVED", UNSAVED)


def others_change(path: Path) -> None:
    path.write_text("of others\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))


def others_replace(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


STATES = {
    "changed": others_change,
    "conflict": others_change,
    "deleted": lambda path: path.unlink(),
    "created": others_change,
    "mode": lambda path: path.chmod(0o755),
    "FIFO": others_replace,
}
WAYS = [
    "show",
    "show_unasked",
    "split",
    "open",
    "tab",
    "follow",
    "code",
    "leave",
    "compare",
    "compare_shown",
    "track",
    "roots",
    "settle",
    "delete",
]
CONTEXTS = ["plain", "noautocmd", "eventignorewin", "autocommand", "meanwhile"]

BUFFERS = [(False, False), (False, True), (True, False)]
"""Whether an agent works on the file, which switches 'autoread' off, and 'autoread'."""


@pytest.mark.parametrize("state", STATES)
def test_nothing_is_asked(editor: LuaEditor, state: str) -> None:
    editor.api("ui_attach", 80, 24, {})
    editor.lua(PREPARE)
    kinds = itertools.product(WAYS, CONTEXTS, BUFFERS)
    for number, (way, context, (is_tracked, autoread)) in enumerate(kinds):
        with case(f"{way} {context} tracked={is_tracked} autoread={autoread}"):
            path = editor.project / f"{state}{number}.txt"
            if state != "created":
                path.write_text(TEXT)
            editor.lua("check.begin(...)", str(path), is_tracked, state == "conflict", autoread)
            STATES[state](path)
            on_disk = None if state in ("deleted", "FIFO") else path.read_text()
            editor.lua("check.go(...)", way, context)
            seen = editor.lua("return check.seen()")
            assert editor.api("get_mode") == {"mode": "n", "blocking": False}
            assert (seen["done"], seen.get("err"), seen["warned"], seen["buftype"]) == (True, None, "", "")
            assert "E211" not in seen["said"]
            assert on_disk is None or path.read_text() in (on_disk, "again and again\n")
            assert state != "conflict" or (seen["lines"][0], seen["modified"]) == (UNSAVED, True)
            editor.lua("check.finish()")


def test_telling_neovim_what_a_buffer_is_based_on_writes_nothing(editor: LuaEditor) -> None:
    """Even where autocommands cannot run: the one that takes the place of writing the file is among them."""
    editor.lua(PREPARE)
    path = editor.project / "file.txt"
    path.write_text(TEXT)
    editor.lua("check.begin(...)", str(path), True, True, False)
    others_change(path)
    editor.lua('require("acp_nvim.buffers.file_check").with_autocommands = pcall')
    editor.lua("check.go(...)", "settle", "noautocmd")
    seen = editor.lua("return check.seen()")
    assert (path.read_text(), seen["modified"], seen["buftype"]) == ("of others\n", True, "")


@pytest.mark.parametrize(
    ("state", "autoread", "words"),
    [
        ("conflict", False, "was changed on disk, too: :write asks first"),
        ("changed", False, "was changed on disk: :edit reads it"),
        ("changed", True, ""),
        ("deleted", False, "was deleted on disk: :write creates it"),
    ],
)
def test_a_message_takes_the_place_of_the_question(editor: LuaEditor, state: str, autoread: bool, words: str) -> None:
    editor.lua(PREPARE)
    path = editor.project / "file.txt"
    path.write_text(TEXT)
    editor.lua("check.begin(...)", str(path), False, state == "conflict", autoread)
    STATES[state](path)
    editor.lua("check.go(...)", "show", "plain")
    editor.keys("")
    assert editor.messages() == ([f"acp_nvim: file.txt {words}"] if words else [])
    if autoread:
        assert editor.lua("return check.seen()")["lines"] == ["of others"]


def test_a_window_for_messages_that_hears_nothing_keeps_no_message_away(editor: LuaEditor) -> None:
    """Neovim 0.12 can have such windows."""
    editor.lua(PREPARE)
    path = editor.project / "file.txt"
    path.write_text(TEXT)
    editor.lua("check.begin(...)", str(path), False, False, False)
    others_change(path)
    config = {"relative": "editor", "row": 0, "col": 0, "width": 9, "height": 1, "focusable": False, "noautocmd": True}
    win = editor.lua("return vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false, ...)", config)
    editor.lua("vim.wo[...].eventignorewin = 'all'", win)
    editor.lua("check.go(...)", "show", "plain")
    editor.keys("")
    assert editor.messages() == ["acp_nvim: file.txt was changed on disk: :edit reads it"]
    assert editor.lua("return vim.wo[...].eventignorewin", win) == "all"


def test_neovim_asks_the_user_as_always(editor: LuaEditor) -> None:
    """What was shown unasked is compared when the user looks; nothing is suppressed for good."""
    editor.api("ui_attach", 80, 24, {})
    editor.lua(PREPARE)
    path = editor.project / "file.txt"
    path.write_text(TEXT)
    editor.lua("check.begin(...)", str(path), False, True, False)
    others_change(path)
    editor.lua("check.go(...)", "show_unasked", "plain")
    editor.rpc.notify("nvim_input", ":checktime<CR>")
    editor.wait_until(lambda: editor.api("get_mode")["mode"] == "r?", what="Neovim's question")
    editor.api("input", "O")
    editor.wait_until(lambda: editor.api("get_mode")["mode"] == "n", what="the answer")
    assert editor.lua("return check.seen()")["lines"][0] == UNSAVED


@pytest.mark.parametrize("context", ["plain", "noautocmd", "autocommand"])
def test_neovim_is_told_what_a_buffer_is_based_on_wherever_that_is(editor: LuaEditor, context: str) -> None:
    editor.api("ui_attach", 80, 24, {})
    editor.lua(PREPARE)
    path = editor.project / "file.txt"
    path.write_text(TEXT)
    editor.lua("check.begin(...)", str(path), False, True, False)
    others_change(path)
    editor.lua("check.go(...)", "settle", context)
    editor.lua("return check.seen()")
    editor.keys(":checktime | buffer file.txt | write<CR>")
    assert editor.api("get_mode") == {"mode": "n", "blocking": False}
    assert path.read_text() == f"{UNSAVED}\n{TEXT}"


def test_the_host_is_told_of_a_changed_file_that_is_followed(editor: LuaEditor) -> None:
    """The file may be outside of the agent's directories, where Neovim does not check it."""
    editor.lua(PREPARE)
    path = editor.project / "file.txt"
    path.write_text(TEXT)
    editor.lua("check.begin(...)", str(path), False, False, False)
    editor.lua('require("acp_nvim.buffers").set_roots(1, { "/nowhere" })')
    others_change(path)
    editor.lua("check.go(...)", "follow", "plain")
    editor.wait_until(lambda: editor.sent("disk_changed"), what="the host to be told")
    assert editor.sent("disk_changed") == [{"paths": [str(path)]}]
