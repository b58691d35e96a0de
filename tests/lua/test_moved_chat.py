"""A chat at its end stays there, with a waiting request in sight, whatever moves its window or sets its view."""

from __future__ import annotations

import pytest

from tests.lua.review_events import recorded
from tests.lua.test_permissions import asked

MANAGER = """
-- Moves windows to an edge of the screen without autocommands, in one step or in several, and sets the views of these
-- windows that it has stored when they were new: this is what layout managers do.
local api, is_slow, views = vim.api, ..., {}
local function quietly(run)
  vim.o.eventignore = "all"
  pcall(run)
  vim.o.eventignore = ""
end
local function restore(is_late)
  for win, view in pairs(views) do
    if api.nvim_win_is_valid(win) and not (is_late and win == api.nvim_get_current_win()) then
      api.nvim_win_call(win, function() vim.fn.winrestview(view) end)
    end
  end
end
function _G.manage()
  local steps, chat = is_slow and 3 or 1, nil
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    chat = vim.bo[api.nvim_win_get_buf(win)].filetype == "acp_chat" and win or chat
  end
  _G.managed = false
  local function step()
    quietly(function()
      api.nvim_win_set_height(chat, api.nvim_win_get_height(chat) - (steps > 0 and 1 or 0))
      restore(steps <= 0)
    end)
    steps = steps - 1
    if steps < (is_slow and -1 or 0) then
      _G.managed = true
    else
      vim.defer_fn(step, 10)
    end
  end
  step()
end
api.nvim_create_autocmd("FileType", { pattern = "acp_*", callback = function(event)
  local win = vim.fn.bufwinid(event.buf)
  views[win] = views[win] or api.nvim_win_call(win, vim.fn.winsaveview)
  vim.schedule(function() quietly(restore) end)
end })
"""
WINDOW = """local kind = ...
return vim.iter(vim.api.nvim_list_wins()):find(function(win)
  return vim.bo[vim.api.nvim_win_get_buf(win)].filetype == kind
end)"""
STATE = """
local bufnr = require("acp_nvim.host.sessions").get(...).bufnr
local win = vim.fn.bufwinid(bufnr)
local last = vim.api.nvim_buf_line_count(bufnr)
return { vim.api.nvim_win_get_cursor(win)[1] == last, vim.fn.line("w$", win) == last, vim.fn.line("w0", win) }
"""


LAST = "return vim.api.nvim_buf_line_count(require('acp_nvim.host.sessions').get(...).bufnr)"


def say(editor, key, first, count):
    for block in range(first, first + count):
        editor.apply({"type": "append", "session": key, "block": block, "kind": "agent", "text": f"text {block}\nmore"})


@pytest.fixture(params=[False, True], ids=["in one step", "in several"])
def managed(request, screen):
    editor = recorded(screen(columns=110, rows=32))
    editor.lua(MANAGER, request.param)
    editor.command("edit a.txt")
    editor.command("AcpChat! demo")
    editor.key = int(editor.lua("return vim.b.acp_nvim_session"))
    return editor


def manage(editor):
    editor.lua("_G.manage()")
    editor.wait_until("_G.managed", what="the windows to be laid out")


UNSEEN = """
-- sets the view that a window had when it was new, some time after the last step, and no event tells of it
vim.defer_fn(function()
  vim.o.eventignore = "all"
  vim.api.nvim_win_call(..., function() vim.fn.winrestview({ lnum = vim.fn.line("."), topline = vim.fn.line(".") }) end)
  vim.cmd.redraw()
  _G.is_set = true
  vim.defer_fn(function() vim.o.eventignore = "" end, 50)
end, 80)
"""


def is_at_end(editor, text):
    editor.wait_until(lambda: editor.lua(STATE, editor.key)[:2] == [True, True], what="the end of the chat")
    editor.wait_for(text)


@pytest.mark.parametrize("focus", ["acp_prompt", "acp_chat", "text"])
def test_a_request_stays_in_sight(managed, focus):
    managed.command("stopinsert")
    say(managed, managed.key, 1, 30)
    managed.apply(asked(managed.key, 99))
    managed.wait_for("Allow once")
    managed.api("set_current_win", managed.lua(WINDOW, focus))
    for _ in range(3):
        manage(managed)
        is_at_end(managed, "Reject once")
    say(managed, managed.key, 100, 1)
    is_at_end(managed, "text 100")


@pytest.mark.parametrize("focus", ["acp_prompt", "acp_chat", "text"])
def test_a_request_comes_back_into_sight_when_no_event_tells_that_it_went(managed, focus):
    managed.command("stopinsert")
    say(managed, managed.key, 1, 30)
    managed.apply(asked(managed.key, 99))
    managed.api("set_current_win", managed.lua(WINDOW, focus))
    manage(managed)
    managed.lua(UNSEEN.replace("...", str(managed.lua(WINDOW, "acp_chat"))))
    managed.wait_until("_G.is_set", what="the view")
    managed.wait_until(lambda: managed.lua(STATE, managed.key)[2] < managed.lua(LAST, managed.key), what="the request")
    is_at_end(managed, "Allow once")


@pytest.mark.parametrize(
    "command", ["copen", "wincmd =", "set columns=90", "set lines=20", "vsplit", "AcpToggle | AcpToggle"]
)
def test_other_windows_that_come_and_go_move_nothing(managed, command):
    managed.command("stopinsert")
    say(managed, managed.key, 1, 30)
    managed.apply(asked(managed.key, 99))
    for one in command.split(" | "):
        managed.command(one)
    is_at_end(managed, "Reject once")


def test_who_reads_above_is_left_there(managed):
    managed.command("stopinsert")
    say(managed, managed.key, 1, 30)
    managed.api("set_current_win", managed.lua(WINDOW, "acp_chat"))
    managed.type("gg")
    managed.wait_until("vim.fn.line('.') == 1")
    managed.type("\x17p")
    manage(managed)
    say(managed, managed.key, 50, 5)
    assert managed.lua(STATE, managed.key)[0] is False
