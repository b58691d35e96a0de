"""The keys that are mapped in chat and prompt are those that `g?` and the help list for them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lua.test_permissions import OPTIONS, asked

MAPPED = """
local found = {}
for _, mode in ipairs({ "n", "i" }) do
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(..., mode)) do
    if vim.startswith(map.desc or "", "acp: ") then
      found[vim.keycode(map.lhs)] = true
    end
  end
end
return vim.tbl_keys(found)
"""
LISTED = """
require("acp_nvim.keys.help").show(...)
local found = {}
for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
  for _, key in ipairs(vim.split(line:match("^ (.-)  "), " ")) do
    found[vim.keycode(key)] = true
  end
end
vim.cmd.close()
return vim.tbl_keys(found)
"""


@pytest.mark.parametrize(("where", "field"), [("chat", "bufnr"), ("prompt", "prompt_bufnr")])
def test_what_is_mapped_is_listed(editor: Any, where: str, field: str) -> None:
    key = editor.chat()
    editor.apply({"type": "prompt_suggestion", "session": key, "text": "run the tests"})
    mapped = set(editor.lua(MAPPED, editor.session(key, field)))
    assert len(mapped) > 10
    assert set(editor.lua(LISTED, where, False)) == mapped


def test_what_answers_a_request_is_listed_while_it_waits(editor: Any, key: int) -> None:
    editor.apply(asked(key))
    mapped = set(editor.lua(MAPPED, editor.session(key, "bufnr")))
    listed = set(editor.lua(LISTED, "chat", True))
    assert mapped - listed == {str(number + 1) for number in range(len(OPTIONS))}
    assert listed - mapped == {"p"}  # there is no change to preview
    assert {"a", "A", "r", "R", "\r"} <= mapped
