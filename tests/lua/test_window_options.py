"""What the user has set for code does not show in the plugin's windows, unless a FileType autocommand wants it."""

from __future__ import annotations

from tests.lua import test_terminals as terminals
from tests.lua.review_files import review, tell, written
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


KINDS = ["acp_chat", "acp_plan", "acp_prompt", "acp_queue", "acp_review", "acp_terminal"]


def opened(editor):
    """Open a window of each kind."""
    for line in LOUD.split("\n"):
        editor.command(line)
    key, _ = terminals.opened(editor)
    editor.apply(status(key), plan(key, 2, "ci"))
    assert pinned(editor)
    editor.command("AcpQueue")
    tell(editor, review(written(editor.project, "a.py"), added=3, removed=1))
    editor.command("AcpReview")


def test_none_of_them_shows(editor):
    opened(editor)
    shown = editor.lua(SHOWN)
    assert len(shown.pop("")) > 6
    assert shown.pop("acp_plan") == ["list"]  # for a mark where a line is cut
    assert shown.pop("acp_review") == ["cursorline"]
    assert shown == {kind: [] for kind in KINDS if kind not in ("acp_plan", "acp_review")}
    fixed = "return vim.tbl_map(function(win) return vim.wo[win].winfixbuf end, vim.api.nvim_tabpage_list_wins(0))"
    assert editor.lua(fixed).count(True) == len(KINDS)


def test_a_filetype_autocommand_has_the_last_word_each_time(editor):
    editor.command(f"autocmd FileType {','.join(KINDS)} setlocal list cursorline")
    opened(editor)
    for _ in range(2):
        shown = editor.lua(SHOWN)
        assert len(shown.pop("")) > 6
        assert set(map(tuple, shown.values())) == {("list", "cursorline")}
        for command in ("AcpToggle", "AcpToggle", "AcpReview", "quit", "AcpReview"):
            editor.command(command)


def test_a_filetype_autocommand_that_fails_is_told(editor):
    editor.command("autocmd FileType acp_prompt call NoSuchFunction()")
    editor.chat()
    assert "NoSuchFunction" in editor.message()
    assert editor.lua("return { vim.bo.filetype, vim.wo.winfixbuf }") == ["acp_prompt", True]
