"""No word is cut where a line wraps, unless it is longer than the row: virtual text, and the pages of a request."""

from __future__ import annotations

import pytest

from tests.lua.conftest import RECORD
from tests.lua.test_chat import call

FIT = 'return require("acp_nvim.render.tail").wrapped(...)'
ROWS = """vim.cmd.redraw()
local info, rows = vim.fn.getwininfo(...)[1], {}
for row = info.winrow, info.winrow + info.height do
  local cells = {}
  for column = info.wincol, info.wincol + info.width - 1 do
    table.insert(cells, vim.fn.screenstring(row, column))
  end
  table.insert(rows, (table.concat(cells):gsub("%s+$", "")))
end
return rows"""


@pytest.mark.parametrize(
    ("texts", "used", "wanted"),
    [
        (["  pending"], 5, ["  pending"]),
        (["  pending"], 13, ["       pending"]),
        (["  pending"], 20, ["pending"]),
        (["  failed", "  of the other call"], 8, ["  failed", "  ofthe other call"]),
        (["  wordlongerthanthewholewindow of"], 3, ["  wordlongerthanthewholewindow of"]),
    ],
)
def test_blanks_fill_the_row_before_a_word_that_would_be_cut(editor, texts, used, wanted):
    assert [one[0] for one in editor.lua(FIT, [[text, "Group"] for text in texts], used, 20)] == wanted


def test_no_word_is_cut_at_any_width_of_the_chat(screen):
    editor = screen()
    editor.lua(RECORD)
    editor.command("AcpChat! demo")
    editor.apply(*(call(1, number, title="x" * (14 + number)) for number in range(1, 9)))
    win = editor.lua("return vim.fn.bufwinid('acp://demo chat 1')")
    editor.api("set_current_win", win)
    for width in (40, *range(24, 34), 60):
        editor.command(f"vertical resize {width}")
        editor.wait_until(
            lambda: sum("pending" in row for row in editor.lua(ROWS, win)) == 8, what=f"whole words at {width} columns"
        )


PIECES = """local line, width = ...
return require("acp_nvim.permission.wrapped")({ lines = { line }, highlights = {} }, width)"""


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("git status and more", ["git ", "status ", "and more"]),
        ("0123456789ab and more", ["0123456789", "ab and ", "more"]),
        ("        abcdefgh", ["        ab", "cdefgh"]),
        ("größe überall 漢字漢字", ["größe ", "überall ", "漢字漢字"]),
        ("größegrößegröße da", ["größegröße", "größe da"]),
        ("exactly 10", ["exactly 10"]),
        ("", [""]),
    ],
)
def test_pages_of_a_request_break_lines_behind_blanks(editor, line, wanted):
    assert editor.lua(PIECES, line, 10) == wanted
