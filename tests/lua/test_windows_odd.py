"""Windows where there is little room, or where others have their own ideas."""

from __future__ import annotations

import pytest

TYPES = """return vim.tbl_map(function(w)
  return vim.bo[vim.api.nvim_win_get_buf(w)].filetype
end, vim.api.nvim_tabpage_list_wins(0))"""
OPEN = ["", "acp_chat", "acp_prompt"]


def test_in_the_command_line_window_it_says_what_to_do(editor):
    editor.keys("q:")
    editor.command("AcpChat")
    assert "command-line window" in editor.message()
    editor.keys(":q<CR>")
    editor.command("AcpChat")
    assert editor.lua(TYPES) == OPEN


@pytest.mark.parametrize("lines", [3, 4])
def test_no_room_is_said(editor, lines):
    editor.lua("vim.o.columns, vim.o.lines = 12, ...", lines)
    editor.lua("vim.notify = function(text) table.insert(_G.acp_test.messages, { text = text }) end")
    editor.command("AcpChat")
    assert "no room" in editor.message()
    editor.lua("vim.o.columns, vim.o.lines = 120, 40")
    editor.command("AcpChat")
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"


def test_a_chat_in_a_tab_of_its_own_is_gone_to(editor):
    editor.lua('require("acp_nvim").setup({ ui = { position = "tab" } })')
    editor.command("AcpChat")
    editor.command("tabfirst | AcpChat")
    assert editor.lua("return vim.fn.tabpagenr('$')") == 2
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"


@pytest.mark.parametrize("also_code", [False, True])
def test_a_fixed_window_takes_another_session_and_stays_fixed(editor, also_code):
    editor.chat()
    editor.lua("vim.wo[vim.fn.win_getid(1)].winfixbuf = ...", also_code)
    second = editor.chat()
    assert editor.lua(TYPES) == OPEN
    chat = editor.focus(editor.session(second, "bufnr"))
    assert editor.lua("return vim.wo[...].winfixbuf", chat)


@pytest.mark.parametrize("height", [2.5, 0.5, 0, -3, 1e9])
def test_any_height_of_the_prompt(editor, height):
    editor.lua('require("acp_nvim").setup({ ui = { prompt_height = ... } })', height)
    editor.chat()
    assert editor.lua(TYPES) == OPEN


@pytest.mark.parametrize("option", ["diff", "scrollbind", "cursorbind"])
def test_what_binds_a_code_window_does_not_bind_the_chat(editor, option):
    editor.command(f"set {option}")
    editor.chat()
    values = [editor.api("get_option_value", option, {"win": win}) for win in editor.api("list_wins")]
    assert values == [True, False, False]


@pytest.mark.parametrize("event", ["BufEnter", "BufWinEnter", "WinEnter", "WinLeave", "BufLeave"])
def test_autocommands_that_fail_are_said_and_break_nothing(editor, event):
    editor.command(f"autocmd {event} * call NoSuchFunction()")
    editor.command("AcpChat")
    assert editor.lua(TYPES) == OPEN
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"
    assert "NoSuchFunction" in editor.message()
    assert "stack traceback" not in editor.message()
