"""The highlight groups: links that a colour scheme may replace, and clears."""

from __future__ import annotations

LINK = "return vim.api.nvim_get_hl(0, { name = ... }).link"


def test_groups_are_there_after_another_colour_scheme(editor):
    editor.lua("require('acp_nvim.highlights').define()")
    assert editor.lua(LINK, "AcpUserHeader") == "Title"
    editor.command("colorscheme blue")
    assert editor.lua(LINK, "AcpUserHeader") == "Title"


def test_what_the_user_has_set_stays(editor):
    editor.command("highlight! link AcpUserHeader Comment")
    editor.lua("require('acp_nvim.highlights').define()")
    assert editor.lua(LINK, "AcpUserHeader") == "Comment"


def test_they_are_set_once(editor):
    count = """local set, calls = vim.api.nvim_set_hl, 0
    vim.api.nvim_set_hl = function(...) calls = calls + 1; return set(...) end
    for _ = 1, 3 do require('acp_nvim.highlights').define() end
    vim.api.nvim_set_hl = set
    return { calls, vim.tbl_count(require('acp_nvim.highlights').links) }"""
    calls, links = editor.lua(count)
    assert calls == links
