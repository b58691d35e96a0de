"""Tables are shown in columns that fit the window, while their text stays as it is written."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.lua.conftest import LuaEditor
from tests.lua.test_chat import call
from tests.lua.test_markdown_screen import opened, tell

WIDE = """Here is the comparison:

| Option | What it does | Default |
|--------|:-------------|--------:|
| `timeout_ms` | The time in **milliseconds** until a request is given up, `a | b` included | thirty |
| `retries` | How often | 3 |
| 日本語の名前 | 表の中の長い文章はここで折り返される | x \\| y |

That is all.
"""
WORDS = [
    "Option",
    "What",
    "it",
    "does",
    "Default",
    "timeout_ms",
    "The",
    "time",
    "in",
    "milliseconds",
    "until",
    "a",
    "request",
    "is",
    "given",
    "up,",
    "a",
    "|",
    "b",
    "included",
    "thirty",
    "retries",
    "How",
    "often",
    "3",
    "x",
    "y",
]
MARKS = """
local bufnr = vim.fn.bufnr("acp://demo chat")
local namespace = vim.api.nvim_get_namespaces()["acp_nvim.tables"]
return vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })
"""
LAY_OUT = """
local lines, width = ...
local layout = require("acp_nvim.transcript.markdown.table_layout")
local columns = layout.columns(lines[1], lines[2])
local made = columns and layout.lay_out(lines, columns, width)
if not made then return columns or false end
local out = {}
for index, shown in ipairs(made.lines) do
  out[index] = {}
  for at, line in ipairs(shown) do
    out[index][at] = table.concat(vim.tbl_map(function(chunk) return chunk[1] end, line))
  end
end
local function width_of(line) return vim.api.nvim_strwidth(line) end
return { out, vim.tbl_map(function(shown) return vim.tbl_map(width_of, shown) end, out), #made.widths }
"""
SCREEN = """
vim.cmd.redraw()
local rows, top, left = {}, unpack(vim.fn.win_screenpos(0))
for row = top, top + vim.api.nvim_win_get_height(0) - 1 do
  for column = left, left + vim.api.nvim_win_get_width(0) - 1 do
    table.insert(rows, vim.fn.screenstring(row, column))
  end
end
return table.concat(rows)
"""
LAID_OUT = """
local update, index = require("acp_nvim.transcript.markdown.tables").update, 1
while debug.getupvalue(update, index) ~= "due" do
  index = index + 1
end
return next((select(2, debug.getupvalue(update, index)))) == nil
"""
"""No layout waits for its time."""
CHAT_WINDOW = 'vim.api.nvim_set_current_win(vim.fn.bufwinid(vim.fn.bufnr("acp://demo chat")))'


def chat_rows(editor):
    """What the window of the chat shows, without the window beside it and the prompt."""
    win = editor.lua("return vim.fn.win_screenpos(vim.fn.bufwinid(...))[2] - 1", editor.chat_buffer())
    rows = [row[win:] for row in editor.rows()]
    return rows[: next((at for at, row in enumerate(rows) if row.startswith("acp://demo chat")), len(rows))]


def table_rows(editor):
    """Return the rows of tables; Neovim ends a line that does not fit with `@@@`."""
    return [row for row in chat_rows(editor) if row.startswith("│") and "@@@" not in row]


def is_in_columns(rows):
    """Whether the bars of all rows are below each other; a wide character takes two columns of the screen."""

    def places(row):
        at, found = 0, []
        for char in row:
            if char == "│":
                found.append(at)
            at += 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        return found

    return len(rows) > 2 and len({tuple(places(row)) for row in rows}) == 1


@pytest.mark.parametrize(("columns", "rows"), [(80, 40), (120, 40), (100, 24), (60, 40)])
def test_a_wide_table_is_in_columns_and_shows_all_words(screen, columns, rows):
    editor = opened(screen, columns, rows)
    tell(editor, WIDE)
    editor.wait_until(lambda: is_in_columns(table_rows(editor)), what="columns")
    seen = " ".join(table_rows(editor))
    for word in WORDS if rows > 24 else WORDS[-5:]:
        assert word in seen or columns == 60, word
    assert "**" not in seen
    editor.lua(CHAT_WINDOW)
    editor.type("gg")
    editor.wait_until(lambda: is_in_columns(table_rows(editor)), what="columns at the beginning")
    editor.resize(columns + 30, rows)
    editor.wait_until(lambda: is_in_columns(table_rows(editor)), what="columns in another width")
    lines = editor.api("buf_get_lines", editor.chat_buffer(), 1, -1, True)
    assert lines == WIDE.split("\n"), "what is yanked is what the agent wrote"


def test_the_row_of_the_cursor_is_as_written_and_all_others_stay(screen):
    editor = opened(screen, 80, 40)
    tell(editor, WIDE)
    editor.wait_until(lambda: is_in_columns(table_rows(editor)), what="columns")
    editor.lua(CHAT_WINDOW)
    editor.type("/retries\r")
    editor.wait_for("| `retries` | How often | 3 |")
    assert "timeout_ms" in " ".join(table_rows(editor))
    editor.type("gg")
    editor.wait_until(lambda: is_in_columns(table_rows(editor)), what="columns again")


def test_a_table_that_fits_and_lines_up_stays_as_it_is_and_others_line_up(screen):
    editor = opened(screen, 80, 40)
    tell(editor, "| a | b |\n|---|---|\n| 1 | 2 |\n\nend")
    editor.wait_for("│ 1 │ 2 │")
    assert editor.lua(MARKS) == []
    tell(editor, "| a | long |\n|-|-|\n| longer | `b|c` |\n\nend", type="replace")
    editor.wait_for("│ longer │ b|c  │")
    editor.wait_for("│────────│──────│")


@pytest.mark.parametrize("text", ["- | a | b |\n  |-|-|\n  | long | c |", "> | a | b |\n> |-|-|\n> | long | c |"])
def test_tables_in_lists_and_quotes(screen, text):
    editor = opened(screen, 80, 40)
    tell(editor, f"words\n\n{text}\n\nend")
    editor.wait_for("│ long │ c │")
    rows = [row for row in chat_rows(editor) if "│" in row]
    assert rows[0] == ("• │ a    │ b │" if text.startswith("-") else "▎ │ a    │ b │")
    assert is_in_columns(rows)


def test_a_narrow_window_shows_records(screen):
    editor = opened(screen, 44, 60)
    editor.lua("vim.api.nvim_win_set_width(vim.fn.bufwinid(...), 20)", editor.chat_buffer())
    names = [f"column{number}" for number in range(12)]
    cells = [f"value {number} of it" for number in range(12)]
    tell(editor, f"| {' | '.join(names)} |\n|{'---|' * 12}\n| {' | '.join(cells)} |\n\nend")
    editor.wait_for("column0: value 0")
    seen = " ".join(row.strip() for row in chat_rows(editor))
    for name, cell in zip(names, cells, strict=True):
        assert f"{name}: {cell}" in re.sub(r"\s+", " ", seen)


def test_a_table_at_the_end_is_in_view_to_its_last_row_while_it_arrives_and_after(screen):
    editor = opened(screen, 80, 24)
    tell(editor, "words\n\n| a | b |\n|---|---|\n")
    for number in range(12):
        tell(editor, f"| row {number} | ")
        tell(editor, f"{'some words ' * 8}end{number} |{chr(10) if number < 11 else ''}")
        editor.wait_until(lambda: f"end{number}" in " ".join(chat_rows(editor)), what=f"row {number}")  # noqa: B023
    editor.wait_until(lambda: is_in_columns(table_rows(editor)), what="columns to the last row")
    assert "end11" in table_rows(editor)[-1]
    tell(editor, " more |\n\nwords after it")
    editor.wait_for("words after it")
    editor.wait_until(lambda: "more" in " ".join(table_rows(editor)), what="the last cell")


def test_scrolling_by_half_pages_shows_every_row(screen):
    editor = opened(screen, 80, 24)
    body = "".join(f"| row{number} | {'some words ' * 9} | end{number} |\n" for number in range(30))
    padded = "".join(f"| line{number:<40} | {'x':<40} | stop{number} |\n" for number in range(30))
    head = "| a | b | c |\n|---|---|---|\n"
    tell(editor, f"words\n\n{head}{body}\nwords\n\n{head}{padded}\nlast words")
    editor.wait_for("last words")
    editor.lua(CHAT_WINDOW)
    editor.type("gg")
    editor.wait_until(lambda: is_in_columns(table_rows(editor)), what="columns")
    seen, shown = "", None
    while shown != (shown := editor.lua(SCREEN)):
        seen += shown
        editor.keys("\x04")
        editor.lua("vim.cmd.redraw()")  # WinScrolled comes after it
        editor.wait_until(lambda: editor.lua(LAID_OUT), what="the tables that have come near")
    for number in range(30):
        for word in (f"row{number}", f"end{number}", f"line{number}", f"stop{number}"):
            assert re.search(rf"\b{word}\b", seen), word


def test_nothing_is_concealed_when_text_is_replaced_or_shown_as_written(screen):
    editor = opened(screen, 80, 40)
    tell(editor, WIDE)
    editor.wait_until(lambda: is_in_columns(table_rows(editor)), what="columns")
    editor.apply({**call(1, 2), "session": 1})
    tell(editor, "one line", type="replace")
    editor.wait_for("one line")
    assert editor.lua(MARKS) == []
    tell(editor, WIDE, type="replace")
    editor.wait_until(lambda: is_in_columns(table_rows(editor)), what="columns")
    editor.lua(CHAT_WINDOW + " vim.wo.conceallevel = 0")
    editor.wait_for("| `retries` | How often | 3 |")
    assert editor.lua(MARKS) == []
    editor.apply({"type": "reset", "session": 1})
    assert editor.lua(MARKS) == []


COUNT = """
local text = require("acp_nvim.transcript.markdown.table_text")
local cell = text.cell
_G.cells = 0
text.cell = function(...) _G.cells = _G.cells + 1 return cell(...) end
"""


def test_a_growing_table_is_read_once_and_a_huge_one_as_far_as_its_bounds(screen):
    editor = opened(screen, 80, 24)
    editor.lua(COUNT)
    tell(editor, "| a | b |\n|---|---|\n")
    for number in range(150):
        tell(editor, f"| {'word ' * 10}{number} | b |\n")
    editor.wait_until(lambda: "149" in " ".join(table_rows(editor)), what="the last row")
    assert editor.lua("return _G.cells") <= 2 * 150 + 2 * 152, "each row once, and the header each time"
    tell(editor, "".join(f"| {'word ' * 10}{number} | b |\n" for number in range(150, 20000)) + "\nend")
    editor.wait_until(lambda: "19999" in " ".join(chat_rows(editor)), what="the end")
    editor.lua(CHAT_WINDOW)
    editor.type("gg")
    editor.wait_until(lambda: is_in_columns(table_rows(editor)), what="columns at the beginning")
    assert len(editor.lua(MARKS)) <= 200
    assert editor.lua("return _G.cells") <= 2 * 202 + 2 * 160


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One Neovim for all tables."""
    editor = LuaEditor(tmp_path_factory.mktemp("tables"))
    yield editor
    editor.close()


CHARACTERS = st.sampled_from([*"abc de-/.,:", "日", "本", "é", "e\u0301", "😀", "\u200b", "\u202e", "\\|", "\x01"])
CELLS = st.lists(CHARACTERS, max_size=30).map("".join).filter(lambda text: not text.endswith("\\"))


def written(cells):
    return "| " + " | ".join(cells) + " |"


def characters_of(text):
    """The characters that count: each visible one, with what stands for hidden ones."""
    for shown, char in (("<200b>", "\u200b"), ("<202e>", "\u202e"), ("^A", "\x01"), ("|", "\\|")):
        text = text.replace(char, shown)
    return Counter(char for char in text if not char.isspace() and char not in "│─:")


@given(
    table=st.integers(1, 12).flatmap(
        lambda count: st.lists(st.lists(CELLS, min_size=count, max_size=count), min_size=1, max_size=6)
    ),
    width=st.integers(10, 120),
)
@example(table=[["a"] * 12, ["日本" * 10] * 12], width=20)
@example(table=[["a", "b"], ["", ""]], width=39)
def test_every_character_of_every_cell_is_shown_within_the_width(shared, table, width):
    cells = [[cell if cell.strip() else "x" for cell in row] for row in table]
    lines = [written(cells[0]), "|" + "---|" * len(cells[0]), *map(written, cells[1:])]
    made, widths, is_grid = shared.lua(LAY_OUT, lines, width)
    assert len(made) == len(lines)
    assert all(one <= width for shown in widths for one in shown)
    for index, row in enumerate(cells):
        at = index if index == 0 else index + 1
        shown = characters_of("".join(made[at]))
        if is_grid or index > 0:
            assert not characters_of("".join(row)) - shown, (row, made[at])
        if is_grid:
            assert len({one for shown in widths for one in shown}) == 1, "all lines end at the same column"


@pytest.mark.parametrize(
    ("line", "columns", "expected"),
    [
        ("| `a|b` | c |", 2, ["`a|b`", "c"]),
        ("| `a|b` | c |", 3, ["`a", "b`", "c"]),
        ("| ` | ` |", 2, ["`", "`"]),
        ("| ``a`|`b`` | c |", 2, ["``a`|`b``", "c"]),
        (r"| a\|b | c |", 2, [r"a\|b", "c"]),
        (r"| a\\| c |", 2, [r"a\\", "c"]),
        (r"| `a\|b` | c |", 2, [r"`a\|b`", "c"]),
        ("a | b", 2, ["a", "b"]),
        ("| a |  | b |", 3, ["a", "", "b"]),
        ("| a", 1, ["a"]),
    ],
)
def test_which_bars_are_borders(shared, line, columns, expected):
    code = """
    local line, columns = ...
    local cells = require("acp_nvim.transcript.markdown.table_rows").cells(line, 1, columns)
    return vim.tbl_map(function(cell) return vim.trim(line:sub(cell[1], cell[2])) end, cells)
    """
    assert shared.lua(code, line, columns) == expected
