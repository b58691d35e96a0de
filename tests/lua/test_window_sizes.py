"""How large the windows of a chat are: what the user makes of them stays, and the prompt follows its text."""

from __future__ import annotations

import json

import pytest

from tests.lua.conftest import LuaEditor

FIT = 'require("acp_nvim.chat.windows.fit").now()'
SIZE = "local w = vim.fn.win_findbuf(...)[1] return { vim.api.nvim_win_get_width(w), vim.api.nvim_win_get_height(w) }"


def size(editor, key, buffer="bufnr"):
    """Width and height of the window with the chat or the prompt."""
    editor.lua(FIT)
    return editor.lua(SIZE, editor.session(key, buffer))


def again(editor, key):
    """Closed and opened again: its size."""
    editor.command("AcpToggle")
    editor.wait_until(lambda: not editor.lua("return vim.fn.win_findbuf(...)", editor.session(key, "bufnr")))
    editor.command("AcpToggle")
    return size(editor, key)


def resized(editor, command):
    """Neovim tells of it when it waits for a key again."""
    editor.lua("_G.told = false")
    editor.lua('vim.api.nvim_create_autocmd("WinResized", { once = true, callback = function() _G.told = true end })')
    editor.command(command)
    editor.wait_until("_G.told", what="WinResized")


def resize(editor, key, command):
    """What a user does in the chat's window."""
    editor.focus(editor.session(key, "bufnr"))
    resized(editor, command)


def test_a_width_is_kept_for_the_next_time(editor):
    key = editor.chat()
    assert size(editor, key)[0] == 48
    resize(editor, key, "vertical resize 61")
    assert again(editor, key)[0] == 61
    editor.lua('require("acp_nvim").setup({ ui = { position = "left" } })')
    assert again(editor, key)[0] == 48


def test_a_height_is_kept_too(editor):
    editor.lua('require("acp_nvim").setup({ ui = { position = "bottom" } })')
    key = editor.chat()
    whole = size(editor, key)[1] + size(editor, key, "prompt_bufnr")[1]
    resize(editor, key, "resize +5")
    again(editor, key)
    assert size(editor, key)[1] + size(editor, key, "prompt_bufnr")[1] == whole + 5


def test_what_happens_to_other_windows_is_no_wish(editor):
    key = editor.chat()
    resize(editor, key, "wincmd h | only")
    editor.command("AcpToggle")
    assert size(editor, key)[0] == 48
    resize(editor, key, "wincmd h | close")
    editor.command("vnew")
    editor.lua(FIT)
    editor.command("wincmd l")
    assert again(editor, key)[0] == 48


def test_the_size_of_a_window_that_another_buffer_has_taken_is_no_wish(editor):
    key = editor.chat()
    size(editor, key)
    resize(editor, key, "edit! other.txt | vertical resize 30")
    editor.command("AcpChat")
    assert size(editor, key)[0] == 48


def test_a_screen_that_is_too_small_is_no_wish(editor):
    key = editor.chat()
    size(editor, key)
    for columns in (30, 120):
        resized(editor, f"set columns={columns}")
    assert again(editor, key)[0] == 48


def test_a_larger_screen_has_its_share(editor):
    key = editor.chat()
    resize(editor, key, "vertical resize 60")
    editor.lua("vim.o.columns = 200")
    assert again(editor, key)[0] == 100


def test_another_width_in_the_options_counts_again(editor):
    key = editor.chat()
    resize(editor, key, "vertical resize 61")
    editor.lua('require("acp_nvim").setup({ ui = { width = 50 } })')
    assert again(editor, key)[0] == 50


def test_the_next_neovim_knows_it(editor, tmp_path):
    key = editor.chat()
    resize(editor, key, "vertical resize 61")
    editor.lua('require("acp_nvim.chat.windows.sizes").write()')
    path = editor.lua('return vim.fn.stdpath("state") .. "/acp_nvim/windows.json"')
    with open(path) as file:
        assert json.load(file) == {"right": {"cells": 61, "of": 120}}
    editor.lua('package.loaded["acp_nvim.chat.windows.sizes"] = nil')
    assert editor.lua('return require("acp_nvim.chat.windows.sizes").kept("right", 120)') == 61


@pytest.mark.parametrize("text", ["", "{", "[]", '{"right": 5}', '{"right": {"cells": "x", "of": 0}}', '"x"', "null"])
def test_a_broken_file_of_sizes_is_none(tmp_path, text):
    editor = LuaEditor(tmp_path)
    try:
        path = editor.lua(
            'local d = vim.fn.stdpath("state") .. "/acp_nvim" vim.fn.mkdir(d, "p") return d .. "/windows.json"'
        )
        with open(path, "w") as file:
            file.write(text)
        key = editor.chat()
        assert size(editor, key)[0] == 48
        resize(editor, key, "vertical resize 61")
        assert again(editor, key)[0] == 61
        editor.lua('require("acp_nvim.chat.windows.sizes").write()')
        with open(path) as file:
            assert json.load(file)["right"]["cells"] == 61
    finally:
        editor.close()


def fill(editor, key, lines):
    editor.api("buf_set_lines", editor.session(key, "prompt_bufnr"), 0, -1, True, lines)


def heights(editor, key):
    return [size(editor, key, buffer)[1] for buffer in ("bufnr", "prompt_bufnr")]


@pytest.mark.parametrize("position", ["right", "bottom", "float", "tab"])
def test_the_prompt_grows_with_its_text_and_shrinks_again(editor, position):
    editor.lua('require("acp_nvim").setup({ ui = { position = ..., prompt_height = 3, height = 30 } })', position)
    key = editor.chat()
    chat, prompt = heights(editor, key)
    assert prompt == 3
    seen = []
    for count in (2, 4, 9, 500, 3, 1):
        fill(editor, key, ["x"] * count)
        seen.append(heights(editor, key))
        assert sum(seen[-1]) == chat + prompt
    most = (chat + prompt) // 2
    assert [one[1] for one in seen] == [3, 5, 10, most, 4, 3]


def test_lines_that_wrap_count(editor):
    editor.lua('require("acp_nvim").setup({ ui = { prompt_height = 2 } })')
    key = editor.chat()
    fill(editor, key, ["x" * 100])
    assert heights(editor, key)[1] == 4


def test_sending_makes_it_small_again(editor):
    key = editor.chat()
    fill(editor, key, ["x"] * 12)
    assert heights(editor, key)[1] == 13
    editor.keys("<CR>")
    editor.wait_until(
        lambda: editor.lua(SIZE, editor.session(key, "prompt_bufnr"))[1] == 6, what="the prompt to shrink"
    )


def test_a_prompt_that_the_user_made_larger_stays_so(editor):
    key = editor.chat()
    editor.lua(FIT)
    resized(editor, "resize 10")
    fill(editor, key, ["x"])
    assert heights(editor, key)[1] == 10
    fill(editor, key, ["x"] * 12)
    assert heights(editor, key)[1] == 13
    fill(editor, key, ["x"])
    assert heights(editor, key)[1] == 10


def test_a_prompt_without_a_bar_needs_no_line_for_it(editor):
    editor.lua('require("acp_nvim").setup({ ui = { winbar = false, prompt_height = 2 } })')
    key = editor.chat()
    fill(editor, key, ["x"] * 5)
    assert heights(editor, key)[1] == 5


@pytest.mark.parametrize("position", ["bottom", "right", "float", "tab"])
def test_eight_lines_of_the_chat_stay_on_a_small_screen(editor, position):
    editor.lua("vim.o.columns, vim.o.lines = 80, 24")
    editor.lua('require("acp_nvim").setup({ ui = { position = ... } })', position)
    key = editor.chat()
    for lines in (1, 20):
        fill(editor, key, ["x"] * lines)
        chat, prompt = heights(editor, key)
        assert chat - 1 >= 8  # without the line above it
        assert prompt - 1 >= 5


@pytest.mark.parametrize("option", ["equalalways", "noequalalways"])
@pytest.mark.parametrize("position", ["bottom", "right"])
def test_the_sizes_come_back_when_other_windows_close(editor, position, option):
    editor.command(f"set {option}")
    editor.lua("vim.o.columns, vim.o.lines = 80, 24")
    editor.lua('require("acp_nvim").setup({ ui = { position = ... } })', position)
    key = editor.chat()
    fill(editor, key, ["x"] * 20)
    before = [size(editor, key), size(editor, key, "prompt_bufnr")]
    for command in ("copen", "help", "botright 9new", "set lines=12", "set columns=50"):
        editor.command("1wincmd w")
        resized(editor, command)
        assert [size(editor, key), size(editor, key, "prompt_bufnr")] != before
        resized(editor, "set lines=24 columns=80" if command.startswith("set") else "quit")
        assert [size(editor, key), size(editor, key, "prompt_bufnr")] == before, command
