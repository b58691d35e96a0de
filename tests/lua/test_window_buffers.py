"""The plugin's windows keep their buffers, whatever shows another one, and `:AcpChat` finds back from everywhere."""

from __future__ import annotations

import pytest

from tests.lua.conftest import LuaEditor

WINDOWS = """local out = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local bufnr = vim.api.nvim_win_get_buf(win)
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(bufnr))
  table.insert(out, vim.bo[bufnr].filetype:match("^acp_.*") or name)
end
return out"""
OPEN = ["one.txt", "acp_chat", "acp_prompt"]
DRAFT = ["a draft", "of two lines"]
PARTS = ["bufnr", "prompt_bufnr"]
SPLITS = ["split", "vsplit"]
"""In the chat these stay: each window scrolls and folds by itself."""
WAYS = [
    *SPLITS,
    *("edit! two.txt", "bnext!", "setlocal nowinfixbuf | call nvim_win_set_buf(0, bufnr('two.txt'))"),
    *("split | edit two.txt", "only", "wincmd H", "wincmd J", "wincmd K", "wincmd L", "wincmd T", "wincmd x"),
    *("wincmd r", "tabnew %", "tab split", "1tabnew two.txt", "quit", "sball", "ball", "bunload", "bdelete"),
    *("only | bdelete", "bwipeout"),
]


def restart(editor: LuaEditor) -> None:
    """Only a window with a file is left, then the chat is opened."""
    editor.lua('require("acp_nvim.chat.windows").close(require("acp_nvim.host.sessions").get(...))', editor.key)
    editor.command("silent! tabonly! | silent! only! | edit! one.txt | AcpChat")


@pytest.fixture
def opened(editor):
    """Two files, one of them in a window, a chat beside it, and a draft in its prompt."""
    for name in ("one.txt", "two.txt"):
        (editor.project / name).write_text("text\n")
    editor.command("edit two.txt | edit one.txt")
    editor.key = editor.chat()
    editor.api("buf_set_lines", editor.session(editor.key, "prompt_bufnr"), 0, -1, True, DRAFT)
    return editor


@pytest.mark.parametrize("part", PARTS)
def test_another_buffer_does_not_take_the_window(opened, part):
    opened.focus(opened.session(opened.key, part))
    opened.command("let @# = 'two.txt'")
    for command in ["bnext", "edit two.txt", "buffer two.txt", "enew", "find two.txt", 'execute "normal! \\<C-^>"']:
        said = opened.lua("local ok, err = pcall(vim.cmd, ...) return ok and '' or err", command)
        assert "E1513" in said, command
        assert opened.lua(WINDOWS) == OPEN, command


def test_a_quickfix_entry_opens_in_the_code_window_used_before(opened):
    for part, name in zip(PARTS, ("two.txt", "one.txt"), strict=True):
        opened.command("1wincmd w")
        opened.focus(opened.session(opened.key, part))
        opened.command(f"call setqflist([#{{filename: '{name}', lnum: 1}}]) | cc")
        assert opened.lua(WINDOWS) == [name, "acp_chat", "acp_prompt"]


def come_back(editor: LuaEditor, part: str, command: str) -> None:
    """Runs a command in the chat or in the prompt, and opens the chat again."""
    editor.focus(editor.session(editor.key, part))
    editor.command(command)
    editor.lua('require("acp_nvim.chat.windows.fit").now()')
    editor.command("AcpChat")
    shown = [one for one in editor.lua(WINDOWS) if one.startswith("acp_")]
    chats = 2 if part == "bufnr" and command in SPLITS else 1
    assert sorted(shown) == ["acp_chat"] * chats + ["acp_prompt"], command
    assert editor.lua("return { vim.bo.filetype, vim.wo.winfixbuf }") == ["acp_prompt", True], command
    assert editor.prompt_lines(editor.key) == DRAFT, command
    assert editor.messages() == [], command


@pytest.mark.parametrize("part", PARTS)
def test_one_chat_and_one_prompt_come_back_with_the_draft(opened, part):
    for command in WAYS:
        come_back(opened, part, command)
        restart(opened)


@pytest.mark.parametrize("position", ["left", "bottom", "tab", "float"])
def test_they_come_back_at_every_position(opened, position):
    opened.lua('require("acp_nvim").setup({ ui = { position = ... } })', position)
    for command in ("edit! two.txt", "tab split", "tabnew %", "bwipeout"):
        for part in PARTS:
            restart(opened)
            come_back(opened, part, command)


def test_a_window_that_got_another_buffer_by_force_is_free(opened):
    opened.focus(opened.session(opened.key, "prompt_bufnr"))
    opened.command("edit! two.txt | edit one.txt")
    assert opened.lua("return { vim.wo.winfixbuf, vim.wo.winfixheight }") == [False, False]
