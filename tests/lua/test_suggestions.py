"""The prompt that an agent suggests: grey in the empty prompt; only a key makes it text, and nothing typed is lost."""

from __future__ import annotations

import pytest

from tests.lua.conftest import STATUS

TEXT = "Run the tests"


@pytest.fixture
def key(editor):
    return editor.chat()


def suggest(editor, key, text=TEXT):
    editor.apply({"type": "prompt_suggestion", "session": key, "text": text})


def status(editor, key, state):
    editor.apply({"type": "status", "session": key, "status": {**STATUS, "state": state}})


def ghost(editor, key):
    """What stands in the empty prompt without being text."""
    code = """
        local bufnr = require("acp_nvim.host.sessions").get(...).prompt_bufnr
        local space = vim.api.nvim_get_namespaces()["acp_nvim.placeholder"]
        local words = ""
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, space, 0, -1, { details = true })) do
          for _, chunk in ipairs(mark[4].virt_text) do
            words = words .. chunk[1]
          end
        end
        return words
    """
    return editor.lua(code, key)


def is_mapped(editor, mode="i"):
    return editor.lua('return vim.fn.maparg("<Right>", ..., false, true).buffer == 1', mode)


@pytest.mark.parametrize("keys", ["i<Right>", "<Right>"])
def test_a_key_makes_it_text_that_can_be_edited_sent_and_undone(editor, key, keys):
    suggest(editor, key)
    assert ghost(editor, key) == f"{TEXT} (<Right> takes it)"
    assert editor.prompt_lines(key) == [""]
    editor.keys(f"{keys}<Esc>")
    assert editor.prompt_lines(key) == [TEXT]
    assert ghost(editor, key) == ""
    editor.keys("u")
    assert editor.prompt_lines(key) == [""]
    editor.keys("<C-r>A now<Esc><CR>")
    assert [one["text"] for one in editor.sent("prompt")] == [f"{TEXT} now"]


def test_the_cursor_stands_behind_it(editor, key):
    suggest(editor, key)
    editor.keys("i<Right> please<Esc>")
    assert editor.prompt_lines(key) == [f"{TEXT} please"]


@pytest.mark.parametrize("keys", ["i<CR><Esc><CR>", "<CR>", "i<C-s><Esc>"])
def test_it_is_never_sent_by_itself(editor, key, keys):
    suggest(editor, key)
    editor.keys(keys)
    assert editor.sent("prompt") == []


def test_what_the_user_types_replaces_it_and_is_untouched(editor, key):
    suggest(editor, key)
    editor.keys("ix<Right>y<Esc>")
    assert editor.prompt_lines(key) == ["xy"]
    assert ghost(editor, key) == ""
    editor.keys("ddi<Right><Esc>")
    assert editor.prompt_lines(key) == [""]
    assert TEXT not in ghost(editor, key)


def test_one_that_comes_while_the_user_types_changes_nothing(editor, key):
    editor.keys("imine")
    suggest(editor, key)
    editor.keys("<Right>!<Esc>")
    assert editor.prompt_lines(key) == ["mine!"]
    assert ghost(editor, key) == ""


def test_a_turn_ends_it(editor, key):
    suggest(editor, key)
    editor.apply({"type": "turn_start", "session": key})
    assert TEXT not in ghost(editor, key)
    editor.keys("i<Right><Esc>")
    assert editor.prompt_lines(key) == [""]


def test_one_that_comes_before_the_turn_is_over_waits_for_its_end(editor, key):
    status(editor, key, "running")
    suggest(editor, key)
    assert TEXT not in ghost(editor, key)
    assert not is_mapped(editor)
    status(editor, key, "idle")
    assert TEXT in ghost(editor, key)


def test_it_can_be_withdrawn_and_replaced(editor, key):
    suggest(editor, key)
    suggest(editor, key, "Commit it")
    assert ghost(editor, key).startswith("Commit it")
    suggest(editor, key, "")
    assert ghost(editor, key).startswith("Ask ")
    assert not is_mapped(editor)


def test_the_option_switches_it_off(editor):
    editor.lua('require("acp_nvim").setup({ prompt = { suggestions = false } })')
    key = editor.chat()
    suggest(editor, key)
    assert ghost(editor, key).startswith("Ask ")
    assert not is_mapped(editor)


def test_another_key_and_the_users_own_mapping(editor):
    editor.lua("""
        require("acp_nvim").setup({ keymaps = { take_suggestion = { "<Right>", "<C-Y>" } } })
        vim.keymap.set("i", "<C-G>", "<Plug>(AcpTakeSuggestion)")
    """)
    key = editor.chat()
    editor.lua('vim.keymap.set("i", "<Right>", "mine", { buffer = true })')
    suggest(editor, key)
    editor.keys("i<Right><Esc>")
    assert editor.prompt_lines(key) == ["mine"]
    editor.keys("dd")
    for pressed in ("<C-Y>", "<C-G>"):
        suggest(editor, key)
        editor.keys(f"i{pressed}<Esc>")
        assert editor.prompt_lines(key) == [TEXT]
        editor.keys("dd")
    assert editor.lua('return vim.fn.maparg("<Right>", "i")') == "mine"


def test_without_a_key_of_ours_nothing_is_mapped(editor):
    editor.lua('require("acp_nvim").setup({ keymaps = { take_suggestion = false } })')
    key = editor.chat()
    suggest(editor, key)
    assert ghost(editor, key).startswith(TEXT)
    assert not is_mapped(editor)


@pytest.mark.parametrize("columns", [20, 40, 60])
@pytest.mark.parametrize("text", ["word " * 60, "日本語の提案" * 20, "👩‍💻 " * 40, "short"])
def test_it_is_one_line_as_wide_as_the_window(editor, key, columns, text):
    editor.lua("vim.o.columns = ...", columns)
    suggest(editor, key, text.strip())
    width = editor.lua("""
        local info = vim.fn.getwininfo(vim.fn.bufwinid(0))[1]
        return info.width - info.textoff
    """)
    shown = ghost(editor, key)
    assert editor.lua("return vim.api.nvim_strwidth(...)", shown) <= width
    assert shown.split("…")[0].split(" (")[0] in text
    editor.lua("vim.o.columns = 120")
    editor.wait_until(lambda: len(ghost(editor, key)) >= len(shown), what="the wider line")


def test_a_prompt_buffer_that_is_opened_later_shows_it(editor, key):
    editor.command("bwipeout!")
    suggest(editor, key)
    editor.command("AcpChat")
    assert ghost(editor, key).startswith(TEXT)
