"""What the user has set for code does not show in the plugin's windows, unless a FileType autocommand wants it."""

from __future__ import annotations

from tests.lua.test_pinned_plan import pinned, plan
from tests.lua.test_winbar import status

LOUD = """set number relativenumber list cursorline cursorcolumn colorcolumn=80 signcolumn=yes foldcolumn=2 spell
set statuscolumn=%l nowrap"""
SHOWN = """local out = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local kind, loud, wo = vim.bo[vim.api.nvim_win_get_buf(win)].filetype, {}, vim.wo[win]
  for _, name in ipairs({ "number", "relativenumber", "list", "cursorline", "cursorcolumn", "spell" }) do
    table.insert(loud, wo[name] and name or nil)
  end
  local columns = wo.colorcolumn .. wo.signcolumn .. wo.foldcolumn .. wo.statuscolumn
  table.insert(loud, columns ~= "no0" and columns or nil)
  out[kind] = loud
end
return out"""


def opened(editor):
    """All windows of the plugin that a session without a host has."""
    for line in LOUD.split("\n"):
        editor.command(line)
    key = editor.chat()
    editor.apply(status(key), plan(key, 1, "ci"))
    assert pinned(editor)
    editor.command("AcpQueue")
    return key


def test_none_of_them_shows(editor):
    opened(editor)
    shown = editor.lua(SHOWN)
    assert len(shown.pop("")) > 6
    assert shown.pop("acp_plan") == ["list"]  # for a mark where a line is cut
    assert shown == {kind: [] for kind in ("acp_chat", "acp_prompt", "acp_queue")}


def test_a_filetype_autocommand_has_the_last_word_each_time(editor):
    editor.command("autocmd FileType acp_chat,acp_prompt,acp_plan,acp_queue setlocal list cursorline")
    opened(editor)
    for _ in range(2):
        shown = editor.lua(SHOWN)
        assert len(shown.pop("")) > 6
        assert set(map(tuple, shown.values())) == {("list", "cursorline")}
        for command in ("quit", "AcpToggle", "AcpToggle", "AcpQueue"):
            editor.command(command)


def test_a_filetype_autocommand_that_fails_is_told(editor):
    editor.command("autocmd FileType acp_prompt call NoSuchFunction()")
    editor.chat()
    assert "NoSuchFunction" in editor.message()
    assert editor.lua("return { vim.bo.filetype, vim.wo.winfixbuf }") == ["acp_prompt", True]
