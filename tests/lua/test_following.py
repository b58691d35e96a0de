"""The chat follows its end as long as the cursor is there, and stays where the user reads otherwise."""

from __future__ import annotations

import pytest

from tests.lua.test_chat import append, call

LOOKS = """
local win = ...
local line, column = unpack(vim.api.nvim_win_get_cursor(win))
local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
return { line == last, vim.fn.line("w0", win), vim.fn.line("w$", win) == last, column }
"""


def opened(editor, lines=100):
    """A chat with so many lines, and its window."""
    key = editor.chat()
    editor.apply(append(key, 1, "".join(f"line {number}\n" for number in range(lines))))
    return key, editor.lua("return vim.fn.bufwinid(...)", editor.session(key, "bufnr"))


def place(editor, win):
    """Whether the cursor is in the last line, the first line that is seen, whether the last one is."""
    editor.command("redraw")
    in_last, first, sees_last, _ = editor.lua(LOOKS, win)
    return in_last, first, sees_last


def more(editor, key, text="more\n" * 30):
    editor.apply(append(key, 1, text))


@pytest.mark.parametrize("inside", [False, True])
def test_the_end_is_followed_from_inside_and_from_elsewhere(editor, inside):
    key, win = opened(editor)
    if inside:
        editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    for _ in range(3):
        more(editor, key)
        in_last, _, sees_last = place(editor, win)
        assert in_last
        assert sees_last


def test_who_reads_elsewhere_stays_there_and_goes_on_at_the_end(editor):
    key, win = opened(editor)
    editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    editor.keys("20gg")
    before = place(editor, win)
    more(editor, key)
    editor.apply(call(key, 2), append(key, 3, "end"))
    assert place(editor, win) == before
    editor.keys("G")
    more(editor, key)
    editor.apply(append(key, 3, "\n" * 40))
    assert place(editor, win)[0]
    assert place(editor, win)[2]


def test_a_scrolled_window_stays(editor):
    key, win = opened(editor)
    editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    editor.keys("<C-y>" * 40)
    before = place(editor, win)
    assert not before[0]
    more(editor, key)
    assert place(editor, win) == before


def test_two_windows_follow_each_by_itself(editor):
    key, win = opened(editor)
    editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    other = editor.lua("vim.cmd.split() return vim.api.nvim_get_current_win()")
    editor.keys("10gg")
    before = place(editor, other)
    more(editor, key)
    assert place(editor, other) == before
    assert place(editor, win)[0]
    assert place(editor, win)[2]
    editor.keys("G")
    editor.lua("vim.api.nvim_set_current_win(...)", win)
    editor.keys("10gg")
    more(editor, key)
    assert place(editor, other)[0]
    assert place(editor, other)[2]
    assert not place(editor, win)[0]


@pytest.mark.parametrize(("keys", "leave"), [("v", "<Esc>"), ("Vk", "j<Esc>"), (":echo", "<Esc>"), ("/x", "<Esc>")])
def test_selections_and_commands_are_left_alone_and_the_end_is_followed_afterwards(editor, keys, leave):
    key, win = opened(editor)
    editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    editor.keys(keys)
    mode, cursor = editor.api("get_mode")["mode"], editor.api("win_get_cursor", win)
    more(editor, key)
    more(editor, key)
    assert editor.api("get_mode")["mode"] == mode
    assert editor.api("win_get_cursor", win) == cursor
    editor.keys(leave)
    if keys == "Vk":  # the cursor was moved meanwhile: then it stays
        assert editor.api("win_get_cursor", win) == [cursor[0] + 1, cursor[1]]
    else:
        editor.wait_until(lambda: place(editor, win)[0], what="the end to be followed")
        more(editor, key)
        assert place(editor, win)[0]
        assert place(editor, win)[2]


def test_a_selection_further_up_stays_when_it_ends(editor):
    key, win = opened(editor)
    editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    editor.keys("v")
    more(editor, key)
    editor.keys("10k<Esc>")
    line = editor.api("win_get_cursor", win)[0]
    more(editor, key)
    assert editor.api("win_get_cursor", win)[0] == line


def test_the_beginning_of_a_last_line_longer_than_the_window_can_be_read(editor):
    key, win = opened(editor)
    more(editor, key, "long " * 3000)
    editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    editor.keys("0")
    more(editor, key, "longer " * 50)
    assert editor.api("win_get_cursor", win)[1] == 0
    editor.keys("$")
    more(editor, key, "at the end")
    editor.command("redraw")
    assert editor.api("win_get_cursor", win)[1] == 15000 + 350 + len("at the end") - 1
    more(editor, key, "\nand on")
    assert place(editor, win)[0]


def test_a_short_last_line_is_followed_from_anywhere_in_it(editor):
    key, win = opened(editor)
    more(editor, key, "some words")
    editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    editor.keys("0")
    more(editor, key, " and more\n" * 3)
    assert place(editor, win)[0]


@pytest.mark.parametrize("size", ["resize 4", "vertical resize 20", "resize +10"])
def test_a_window_that_gets_another_size_follows(editor, size):
    key, win = opened(editor)
    more(editor, key, "words " * 40)
    editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    editor.command(size)
    more(editor, key, "words " * 40)
    assert place(editor, win)[0]
    assert place(editor, win)[2]


def test_what_is_drawn_at_the_end_is_followed_and_what_changes_above_moves_nothing(editor):
    key, win = opened(editor)
    editor.apply(call(key, 2), append(key, 3, "end"))
    assert place(editor, win)[0]
    options = [{"option_id": "yes", "name": "Yes", "kind": "allow_once"}]
    request = {"id": 1, "tool_call_id": "t1", "title": "Edit", "kind": "edit", "options": options, "content": []}
    asked = {"type": "permission", "session": key, "block": 4, "request": {**request, "locations": []}}
    editor.apply(asked)
    assert place(editor, win)[0]
    assert place(editor, win)[2]
    editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    editor.keys("50gg")
    before = place(editor, win)
    editor.apply(call(key, 2, "completed", content=[{"type": "text", "text": "a\nb\nc"}]))
    editor.apply({"type": "summary", "session": key, "block": 5, "id": "c", "files": [], "time": 1})
    assert place(editor, win) == before


@pytest.mark.parametrize("what", ["the prompt grows", "a float opens"])
def test_a_cursor_that_is_moved_when_the_chat_gets_another_size_stays(editor, what):
    key, win = opened(editor)
    editor.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(...)", win)
    more(editor, key)
    height = editor.lua("return vim.api.nvim_win_get_height(...)", win)
    if what == "the prompt grows":
        change = 'vim.api.nvim_buf_set_lines(prompt, 0, -1, true, vim.fn["repeat"]({ "text" }, 9))'
    else:
        change = (
            "vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false,"
            ' { relative = "editor", row = 0, col = 0, width = 9, height = 2 })'
        )
    editor.lua(
        f"local win, prompt = ... {change} vim.api.nvim_win_set_cursor(win, {{ 20, 0 }})",
        win,
        editor.session(key, "prompt_bufnr"),
    )
    if what == "the prompt grows":
        editor.wait_until(lambda: editor.lua("return vim.api.nvim_win_get_height(...)", win) < height, what="less room")
    more(editor, key)
    assert editor.lua("return vim.api.nvim_win_get_cursor(...)", win) == [20, 0]
