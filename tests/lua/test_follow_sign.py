"""The sign beside the line where an agent is: in every buffer that has the file, followed or not."""

from __future__ import annotations

import os

import pytest

from tests.lua.test_follow import code, location, settle, tell, turn_ends, turn_starts

__all__ = ["code"]

SIGNS = """local signs = {}
local ns = vim.api.nvim_create_namespace("acp_nvim.follow.sign")
for _, b in ipairs(vim.api.nvim_list_bufs()) do
  for _, m in ipairs(vim.api.nvim_buf_get_extmarks(b, ns, 0, -1, { details = true })) do
    local name = vim.fs.basename(vim.api.nvim_buf_get_name(b))
    table.insert(signs, { name, m[2] + 1, vim.trim(m[4].sign_text), m[4].sign_hl_group })
  end
end
return signs"""


def signs(editor):
    return [tuple(sign) for sign in editor.lua(SIGNS)]


def bright(name, line):
    return (name, line, "▶", "AcpAgentSign")


def dim(name, line):
    return (name, line, "▶", "AcpAgentSignOver")


@pytest.mark.parametrize("follows", [True, False])
def test_it_is_where_the_agent_is_whether_it_is_followed_or_not(editor, code, follows):
    editor.chat()
    editor.command(f"AcpFollow {'on' if follows else 'off'}")
    tell(editor, turn_starts(), location(editor, line=30))
    assert signs(editor) == [bright("code.txt", 30)]
    tell(editor, location(editor, line=9999))
    assert signs(editor) == [bright("code.txt", 200)]
    tell(editor, location(editor))
    assert signs(editor) == [bright("code.txt", 200)]
    editor.command("badd other.txt | call bufload('other.txt')")
    tell(editor, location(editor, "other.txt", 7))
    assert signs(editor) == [bright("other.txt", 7)]


def test_it_is_dimmed_after_the_turn_and_gone_with_the_next(editor, code):
    editor.chat()
    tell(editor, turn_starts(), location(editor, line=30))
    tell(editor, location(editor, line=40), turn_ends())
    assert signs(editor) == [dim("code.txt", 40)]
    tell(editor, location(editor, line=50))
    assert signs(editor) == [dim("code.txt", 50)]
    tell(editor, turn_starts())
    assert signs(editor) == []


def test_it_is_dimmed_when_the_host_is_gone(editor, code):
    editor.chat()
    tell(editor, turn_starts(), location(editor, line=30))
    editor.lua('local h = require("acp_nvim.host") _G.channel = 2 h.on_end("python", 3)')
    assert signs(editor) == [dim("code.txt", 30)]


def test_nothing_is_shown_where_nothing_is_known(editor, code):
    editor.command("AcpFollow off")
    editor.chat()
    tell(editor, turn_starts(), location(editor))
    assert signs(editor) == []
    tell(editor, location(editor, "missing.txt", 5), location(editor, "", 5))
    assert signs(editor) == []


def test_each_agent_has_one(editor, code):
    first, second = editor.chat(), editor.chat()
    tell(editor, location(editor, line=10, session=first), location(editor, line=20, session=second))
    tell(editor, location(editor, line=30, session=first))
    assert sorted(sign[1] for sign in signs(editor)) == [20, 30]


def test_it_moves_with_the_text_and_comes_back_with_it(editor, code):
    key = editor.chat()
    tell(editor, turn_starts(), location(editor, line=30))
    editor.api("set_current_win", code)
    editor.keys("ggOnew<Esc>")
    assert signs(editor) == [bright("code.txt", 31)]
    editor.command("write")
    editor.command("edit!")
    assert signs(editor) == [bright("code.txt", 31)]
    editor.command("enew | bwipeout! code.txt")
    assert signs(editor) == []
    editor.command("edit code.txt")
    assert signs(editor) == [bright("code.txt", 31)]
    editor.keys("u")
    assert editor.session(key, "key") == key


def test_a_file_that_is_opened_later_under_another_name_has_it(editor, code):
    editor.command("AcpFollow off")
    editor.chat()
    os.symlink("other.txt", editor.project / "link.txt")
    tell(editor, turn_starts(), location(editor, "other.txt", 12))
    assert signs(editor) == []
    editor.api("set_current_win", code)
    editor.command("edit link.txt")
    assert [sign[1:] for sign in signs(editor)] == [bright("", 12)[1:]]


@pytest.mark.parametrize(("option", "seen"), [("A!", "A!"), ("abc", "ab"), ("", None), ("世界", "世"), ("a\tb", "ab")])
def test_the_option_says_what_it_is(editor, code, option, seen):
    editor.lua("require('acp_nvim').setup({ follow = { sign = ... } })", option)
    editor.chat()
    tell(editor, turn_starts(), location(editor, line=3))
    assert [sign[2] for sign in signs(editor)] == ([] if seen is None else [seen])
    assert editor.messages() == []
    settle(editor)
