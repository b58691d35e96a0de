"""What a layout of the user's keeps: its proportions, its comparison, its side bars; and where files go in it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lua.review_files import TWO, review, tell, written
from tests.lua.test_window_buffers import WINDOWS

WIDTHS = """return vim.tbl_map(vim.api.nvim_win_get_width, vim.tbl_filter(function(win)
  return vim.api.nvim_win_get_position(win)[1] == 0
end, vim.api.nvim_tabpage_list_wins(0)))"""
HEIGHTS = "return vim.tbl_map(vim.api.nvim_win_get_height, vim.api.nvim_tabpage_list_wins(0))"
SHOWN = "return vim.fn.expand('%:t')"


def files(editor, *names):
    for name in names:
        written(editor.project, name)


@pytest.mark.parametrize("option", ["equalalways", "noequalalways"])
def test_code_windows_share_what_the_chat_takes(editor, option):
    files(editor, "a.txt", "b.txt")
    editor.command(f"set {option} | edit a.txt | vsplit b.txt | vertical resize 80")
    assert editor.lua(WIDTHS) == [80, 39]
    editor.command("AcpChat")
    assert editor.lua(WIDTHS) == [47, 23, 48]
    editor.command("AcpToggle")
    assert editor.lua(WIDTHS) == [80, 39]


def test_below_a_readable_width_the_chat_has_a_tab_page_which_it_keeps(editor):
    files(editor, "a.txt", "b.txt")
    editor.lua("vim.o.columns, vim.o.lines = 80, 24")
    editor.command("edit a.txt | vsplit b.txt")
    key = editor.chat()
    assert editor.lua(WINDOWS) == ["acp_chat", "acp_prompt"]
    editor.command("tabprevious")
    assert editor.lua(WINDOWS) == ["b.txt", "a.txt"]
    editor.command("AcpChat")
    assert editor.lua("return { vim.fn.tabpagenr('$'), vim.b.acp_nvim_session }") == [2, key]


def test_rows_share_what_the_list_takes(editor):
    files(editor, "a.txt", "b.txt")
    editor.command("edit a.txt | split b.txt | resize 26")
    tell(editor, review(written(editor.project, "new.py"), hunks=TWO))
    before = editor.lua(HEIGHTS)
    editor.command("AcpReview")
    high, low, own = editor.lua(HEIGHTS)
    assert own == 3
    assert abs(high / low - before[0] / before[1]) < 0.5
    editor.keys("q")
    assert editor.lua(HEIGHTS) == before


SPLITS = st.lists(st.sampled_from(["split", "vsplit", "wincmd w", "resize +5", "vertical resize 15"]), max_size=7)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    splits=SPLITS,
    columns=st.integers(40, 220),
    lines=st.integers(15, 60),
    position=st.sampled_from(["right", "left", "bottom"]),
)
def test_what_was_readable_stays_so_in_any_layout(editor, splits, columns, lines, position):
    editor.command("silent! tabonly! | silent! only! | enew!")
    editor.lua("vim.o.columns, vim.o.lines = ...", columns, lines)
    editor.lua('require("acp_nvim").setup({ ui = { position = ... } })', position)
    for split in splits:
        editor.command(f"silent! {split}")
    sizes = """local out = {}
    for _, win in ipairs(...) do
      out[#out + 1] = { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }
    end
    return out"""
    wins = editor.api("list_wins")
    before = editor.lua(sizes, wins)
    editor.command("AcpChat")
    least = editor.lua(
        'local edge = require("acp_nvim.windows.edge") return { edge.readable("width"), edge.readable("height") }'
    )
    for old, new in zip(before, editor.lua(sizes, wins), strict=True):
        assert new[0] >= min(old[0], least[0]), (before, position)
        assert new[1] >= min(old[1], least[1]), (before, position)
    editor.command("AcpToggle")


BARS = {
    "of netrw": "Lexplore",
    "of netrw, which may be listed": "Lexplore | setlocal buflisted winfixwidth",
    "of a plugin": "topleft 30vnew | setlocal buftype=nofile nomodifiable winfixwidth nobuflisted",
    "without a fixed width": "topleft 30vnew | setlocal nomodifiable nobuflisted",
}


@pytest.mark.parametrize("bar", BARS)
def test_a_side_bar_is_no_code_window_even_if_it_was_used_last(editor, bar):
    files(editor, "a.txt")
    tell(editor, review(written(editor.project, "new.py"), hunks=TWO))
    editor.command("edit a.txt")
    code = editor.api("get_current_win")
    editor.command("AcpReview")
    editor.keys("q")
    editor.command(BARS[bar])
    side = editor.api("get_current_win")
    shown = editor.api("win_get_buf", side)
    editor.command("AcpReview")
    editor.keys("<CR>")
    assert (editor.api("get_current_win"), editor.lua(SHOWN)) == (code, "new.py")
    assert editor.api("win_get_buf", side) == shown


def test_files_go_to_the_code_window_used_last_whatever_came_after_it(editor):
    files(editor, "a.txt", "b.txt", "c.txt")
    tell(editor, review(written(editor.project, "new.py"), hunks=TWO))
    key = editor.chat()
    editor.command("wincmd h | edit a.txt | split b.txt | split c.txt")
    wins = [editor.lua("return vim.fn.bufwinid(...)", name) for name in ("a.txt", "b.txt")]
    for win in (*wins, wins[0]):
        editor.api("set_current_win", win)
        editor.command("help")
        editor.command("wincmd p")
        editor.focus(editor.session(key, "bufnr"))
        editor.command("AcpReview")
        editor.keys("<CR>")
        assert editor.api("get_current_win") == win
        editor.command("buffer #")


@pytest.mark.parametrize("key", ["<CR>", "]h"])
def test_a_comparison_keeps_both_halves(editor, key):
    files(editor, "a.txt", "b.txt")
    first, second = written(editor.project, "one.py"), written(editor.project, "two.py")
    tell(editor, review(first, hunks=TWO), review(second, hunks=TWO))
    editor.command("edit one.py | vertical diffsplit b.txt | wincmd p")
    halves = {win: editor.api("win_get_buf", win) for win in editor.api("list_wins")}
    editor.wait_until("#require('acp_nvim.review.files').hunks(vim.fn.bufnr('one.py')) >= 0")
    if key == "<CR>":
        editor.command("AcpReview")
        editor.keys("j<CR>")
    else:
        editor.lua("vim.api.nvim_win_set_cursor(0, { 20, 0 }) require('acp_nvim.review.files.open').step(false)")
    assert {win: editor.api("win_get_buf", win) for win in halves} == halves
    assert editor.lua(SHOWN) == "two.py"
    assert not editor.lua("return vim.wo.diff")


def test_the_focus_goes_back_to_where_it_came_from(editor):
    files(editor, "a.txt", "b.txt")
    tell(editor, review(written(editor.project, "new.py"), hunks=TWO))
    editor.command("edit a.txt | vsplit b.txt")
    came_from = editor.api("get_current_win")
    for open_it, close in (("AcpChat", "AcpToggle"), ("AcpReview", "normal q")):
        editor.command(open_it)
        editor.command("stopinsert")
        editor.command(close)
        assert editor.api("get_current_win") == came_from, open_it
