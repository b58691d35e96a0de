"""Buffers of the plugin that are read again, or that were there before it."""

from __future__ import annotations

import pytest

NAMES = """return vim.tbl_map(function(w)
  return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(w))
end, vim.api.nvim_tabpage_list_wins(0))"""


@pytest.fixture
def key(editor):
    key = editor.chat()
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "agent", "text": "said\nbefore"})
    return key


@pytest.mark.parametrize("how", ["edit", "edit!", "silent! windo edit"])
def test_the_prompt_keeps_its_text_and_works(editor, key, how):
    editor.keys("imy<CR>draft<Esc>")
    editor.command(how)
    assert editor.prompt_lines(key) == ["my", "draft"]
    editor.focus(editor.session(key, "prompt_bufnr"))
    editor.keys("<CR>")
    assert editor.sent("prompt")[0]["text"] == "my\ndraft"


@pytest.mark.parametrize("how", ["edit", "edit!"])
def test_the_chat_is_asked_for_again(editor, key, how):
    chat = editor.session(key, "bufnr")
    editor.focus(chat)
    editor.command(how)
    assert editor.session(key, "bufnr") == chat
    assert editor.sent("redraw")[-1] == {"session": key}
    editor.apply(
        {"type": "reset", "session": key},
        {"type": "append", "session": key, "block": 1, "kind": "agent", "text": "again"},
    )
    assert editor.lines(key) == ["", "again"]
    editor.command("AcpChat")
    assert len(editor.lua(NAMES)) == 3


@pytest.mark.parametrize("how", ["edit", "bwipeout | AcpChat", "bdelete | AcpChat"])
def test_the_chat_keeps_its_text_when_no_host_can_send_it(editor, key, how):
    editor.focus(editor.session(key, "bufnr"))
    editor.lua("require('acp_nvim.host').channel = function() end")
    editor.command(how)
    assert editor.lines(key)[:3] == ["", "said", "before"]


def test_keys_work_in_a_prompt_that_was_deleted_and_is_gone_back_to(editor, key):
    prompt = editor.session(key, "prompt_bufnr")
    editor.keys("idraft<Esc>")
    editor.command("bdelete")
    editor.command(f"split | buffer {prompt}")
    editor.keys("<CR>")
    assert editor.sent("prompt")[0]["text"] == "draft"


def test_what_a_vim_session_left_becomes_the_chat(editor):
    editor.command("edit acp://demo chat 1 | split acp://demo prompt 1")
    editor.keys("ityped before<Esc>")
    left = sorted(editor.lua(NAMES))
    key = editor.chat()
    assert sorted(editor.lua(NAMES)) == left
    assert editor.prompt_lines(key) == ["typed before"]
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "agent", "text": "hello"})
    assert editor.lines(key) == ["", "hello"]
