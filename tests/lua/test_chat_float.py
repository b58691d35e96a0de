"""A chat in floating windows: one border around chat and prompt."""

from __future__ import annotations

import pytest

from tests.lua.test_pinned_plan import PIN, plan
from tests.lua.test_winbar import status

FLOATS = """local out = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local config = vim.api.nvim_win_get_config(win)
  if config.relative ~= "" then
    local name = vim.w[win].acp_nvim_part or vim.bo[vim.api.nvim_win_get_buf(win)].filetype
    out[name] = { config.row, config.col, config.width, config.height }
  end
end
return next(out) and out or vim.empty_dict()"""
FIT = 'require("acp_nvim.chat.windows.fit").now()'
FILETYPE = "return vim.bo.filetype"


def floats(editor):
    """Row, column, width and height of each by its name."""
    editor.lua(FIT)
    return editor.lua(FLOATS)


@pytest.fixture
def key(editor):
    editor.lua('require("acp_nvim").setup({ ui = { position = "float" } })')
    return editor.chat()


def inside(shown):
    """The rows of chat, plans and prompt lie one below the other, and fill the border."""
    row, col, width, height = shown["frame"]
    at = row + 1
    for name in ("acp_chat", "pin", "acp_prompt"):
        if name in shown:
            assert shown[name][:3] == [at, col + 1, width]
            at += shown[name][3]
    return at == row + 1 + height


def test_one_border_around_both(editor, key):
    shown = floats(editor)
    assert shown["frame"] == [3, 11, 96, 30]
    assert shown["acp_prompt"][3] == 6
    assert inside(shown)
    assert editor.lua(FILETYPE) == "acp_prompt"


@pytest.mark.parametrize(
    ("ui", "size"),
    [({"width": 60, "height": 20}, [60, 20]), ({"width": 0.5}, [60, 30]), ({"width": 999, "height": 999}, [118, 36])],
)
def test_its_size_is_that_of_the_options(editor, ui, size):
    editor.lua('require("acp_nvim").setup({ ui = ... })', {"position": "float", **ui})
    editor.chat()
    shown = floats(editor)
    assert shown["frame"][2:] == size
    assert inside(shown)


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (60, 15), (40, 12), (20, 8), (20, 6)])
def test_it_fits_into_any_screen_and_grows_again(editor, key, columns, lines):
    wide = floats(editor)
    editor.lua("vim.o.columns, vim.o.lines = ...", columns, lines)
    shown = floats(editor)
    row, col, width, _ = shown["acp_chat"]
    assert min(row, col) >= 0
    assert col + width <= columns
    below = shown["acp_prompt"]
    assert below[0] + below[3] <= lines - 1
    assert "frame" not in shown or inside(shown)
    editor.lua("vim.o.columns, vim.o.lines = 120, 40")
    assert floats(editor) == wide


def test_plans_are_between_them(editor, key):
    editor.apply(status(key), plan(key, 1, "ci"))
    shown = floats(editor)
    assert shown["pin"][3] == 2
    assert inside(shown)
    assert editor.lua(PIN) == [" ✓ step 1", " ▸ step 2"]
    editor.apply({"type": "turn_end", "session": key, "stop_reason": "end_turn"})
    shown = floats(editor)
    assert "pin" not in shown
    assert inside(shown)


@pytest.mark.parametrize("where", ["bufnr", "prompt_bufnr"])
@pytest.mark.parametrize("how", ["quit", "close", "toggle"])
def test_closing_one_closes_all_and_the_session_goes_on(editor, key, where, how):
    editor.apply(status(key), plan(key, 1, "ci"))
    floats(editor)
    editor.focus(editor.session(key, where))
    editor.command("AcpToggle" if how == "toggle" else how)
    editor.wait_until(lambda: editor.lua(FLOATS) == {}, what="all floats to go")
    assert editor.sent("stop") == []
    editor.command("AcpToggle")
    shown = floats(editor)
    assert inside(shown)
    assert editor.lua(FILETYPE) == "acp_prompt"
    assert editor.session(key, "prompt_bufnr") == editor.lua("return vim.api.nvim_get_current_buf()")


def test_only_closes_it_too(editor, key):
    editor.command("wincmd t | only")
    editor.wait_until(lambda: editor.lua(FLOATS) == {}, what="all floats to go")
    assert len(editor.api("list_wins")) == 1


def test_it_closes_with_its_tab(editor):
    editor.lua('require("acp_nvim").setup({ ui = { position = "float" } })')
    editor.command("tabnew")
    editor.chat()
    floats(editor)
    editor.command("tabclose")
    assert editor.lua(FLOATS) == {}
    assert len(editor.api("list_wins")) == 1


def test_keys_go_from_one_to_the_other(editor, key):
    seen = []
    for keys in ("<C-w>k", "<C-w>j", "<C-w><C-k>", "<C-w><Up>", "<C-w><Down>"):
        editor.keys(keys)
        seen.append(editor.lua(FILETYPE))
    assert seen == ["acp_chat", "acp_prompt", "acp_chat", "acp_chat", "acp_prompt"]


def test_these_keys_are_neovims_own_in_other_windows(editor, key):
    editor.command("quit")
    editor.wait_until(lambda: editor.lua(FLOATS) == {}, what="all floats to go")
    editor.lua('require("acp_nvim").setup({})')
    editor.command("AcpChat")
    editor.keys("<C-w>k")
    assert editor.lua(FILETYPE) == "acp_chat"
    editor.command("wincmd t | split")
    editor.command("wincmd b")
    editor.keys("<C-w>2k")
    assert editor.lua(FILETYPE) != "acp_prompt"


def test_another_session_takes_the_same_floats(editor, key):
    second = editor.chat()
    shown = floats(editor)
    assert sorted(shown) == ["acp_chat", "acp_prompt", "frame"]
    assert editor.lua("return vim.b.acp_nvim_session") == second


def test_there_may_be_one_in_each_tab(editor, key):
    editor.command("tabnew | AcpChat")
    assert sorted(floats(editor)) == ["acp_chat", "acp_prompt", "frame"]
    editor.command("quit")
    editor.wait_until(lambda: editor.lua(FLOATS) == {}, what="all floats to go")
    editor.command("tabprevious")
    assert sorted(floats(editor)) == ["acp_chat", "acp_prompt", "frame"]
