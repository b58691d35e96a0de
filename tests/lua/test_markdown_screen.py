"""Markdown looks like markdown on the screen, in the colours of the user's scheme, at any width."""

from __future__ import annotations

import pytest

from tests.lua.conftest import RECORD

ANSWER = """# Plan

- first `word`
- [x] **second**

```lua
local one = "two"
```

```nosuch
some code
```

> quoted [link](https://example.com/)

| a | b |
|---|---|
| 1 | 2 |
"""
COLOURS = {
    "@markup.heading.1": "#101010",
    "@markup.list": "#202020",
    "@markup.list.checked": "#303030",
    "@markup.raw": "#404040",
    "@markup.raw.block": "#505050",
    "@keyword": "#606060",
    "@string": "#707070",
    "@markup.quote": "#808080",
    "@markup.link.label": "#909090",
    "@markup.heading": "#a0a0a0",
    "AcpThought": "#b0b0b0",
    "@label": "#c0c0c0",
}
SCHEME = """
vim.o.termguicolors = true
for group, colour in pairs(...) do
  vim.api.nvim_set_hl(0, group, { fg = colour })
end
vim.api.nvim_set_hl(0, "Normal", { fg = "#e0e0e0", bg = "#000000" })
vim.api.nvim_set_hl(0, "@markup.strong", { bold = true })
vim.api.nvim_set_hl(0, "AcpCode", { bg = "#d0d0d0" })
"""


def opened(screen, columns=100, rows=40, **config):
    editor = screen(columns=columns, rows=rows, config=config)
    editor.lua(RECORD.replace("vim.o.columns, vim.o.lines = 120, 40", ""))
    editor.lua(SCHEME, COLOURS)
    editor.command("AcpChat")
    return editor


def tell(editor, text, kind="agent", block=1, type="append"):
    event = {"type": type, "session": 1, "block": block, "kind": kind, "text": text}
    editor.apply(event)


def coloured(editor, words, at=0):
    """Waits for these words; their cell at that column, as (foreground, background)."""
    row, column = editor.wait_for(words)
    cell = editor.cell(row, column + at)
    return cell.fg, cell.bg


def wait_for_colour(editor, words, colour, at=0):
    editor.wait_until(lambda: coloured(editor, words, at)[0] == colour, what=f"{words!r} in #{colour}")


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_an_answer_is_shown_as_markdown(screen, columns):
    editor = opened(screen, columns)
    for start in range(0, len(ANSWER), 7):
        tell(editor, ANSWER[start : start + 7])
    wait_for_colour(editor, "# Plan", "101010", 2)
    wait_for_colour(editor, "• first word", "202020")
    wait_for_colour(editor, "first word", "404040", 6)
    wait_for_colour(editor, "☑ second", "303030")
    row, column = editor.wait_for("☑ second")
    assert editor.cell(row, column + 2).bold
    wait_for_colour(editor, "local one =", "606060")
    wait_for_colour(editor, "some code", "505050")
    wait_for_colour(editor, '"two"', "707070")
    row, column = editor.wait_for('"two"')
    assert editor.cell(row, columns - 1).bg == "d0d0d0", "the block goes to the edge of the window"
    assert coloured(editor, "nosuch") == ("c0c0c0", "d0d0d0")
    wait_for_colour(editor, "▎ quoted link", "808080", 2)
    wait_for_colour(editor, "quoted link", "909090", 7)
    wait_for_colour(editor, "│ a │ b │", "a0a0a0", 2)
    editor.wait_for("│───│───│")
    tell(editor, "\n---\n")
    editor.wait_for("────")
    rule = editor.row_with("────")
    assert rule.endswith("─" * 20)
    assert len(rule) == columns, "a rule goes to the edge of the window"


def test_marks_are_shown_where_they_are_wanted(screen):
    editor = opened(screen, ui={"conceal": False})
    tell(editor, ANSWER)
    tell(editor, "\n---\n")
    for words in ("- first `word`", "- [x] **second**", "```lua", "> quoted [link](https://example.com/)", "|---|---|"):
        editor.wait_for(words)
    wait_for_colour(editor, "- first", "202020")
    assert not editor.find("──")


def test_the_line_of_the_cursor_shows_its_marks(screen):
    editor = opened(screen)
    tell(editor, "**one**\n**two**")
    editor.wait_for("one")
    assert not editor.find("**")
    editor.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid(...))", editor.chat_buffer())
    editor.wait_for("**two**")
    assert not editor.find("**one**")


def test_colours_change_with_what_comes_later(screen):
    editor = opened(screen)
    tell(editor, "some **words\nthat are\n")
    editor.wait_for("some **words")
    tell(editor, "strong**\n")
    row, column = editor.wait_for("some words")
    editor.wait_until(lambda: editor.cell(row, column + 6).bold)
    tell(editor, "\n```lua\n")
    tell(editor, "local one = [[\nlocal two\n")
    editor.wait_for("local two")
    tell(editor, "]]\n")
    wait_for_colour(editor, "local two", "707070")
    tell(editor, "local three\n```\nlocal four")
    wait_for_colour(editor, "local three", "606060")
    assert coloured(editor, "local four") == ("e0e0e0", "000000")


def test_a_text_that_is_replaced_has_the_colours_of_the_new_one(screen):
    editor = opened(screen)
    tell(editor, "one\n\nlocal two\n\nthree")
    editor.wait_for("three")
    tell(editor, "```lua\n\nlocal two\n\nthree", type="replace")
    wait_for_colour(editor, "local two", "606060")
    tell(editor, "one\n\nlocal two\n\nthree", type="replace")
    wait_for_colour(editor, "local two", "e0e0e0")


def test_a_thought_is_dimmed_as_far_as_it_goes(screen):
    editor = opened(screen)
    tell(editor, "# deep ", "thought")
    tell(editor, "**thought**\nand `more`", "thought")
    tell(editor, "plain", block=2)
    wait_for_colour(editor, "# deep thought", "b0b0b0")
    wait_for_colour(editor, "and more", "b0b0b0", 4)
    row, column = editor.wait_for("# deep thought")
    assert editor.cell(row, column + 8).bold
    wait_for_colour(editor, "plain", "e0e0e0")
    tell(editor, "x\ny", "thought", type="replace")
    wait_for_colour(editor, "y", "b0b0b0")


def test_a_long_fence_keeps_its_language(screen):
    editor = opened(screen)
    tell(editor, "```lua\n" + "".join(f"local value_{number} = {number}\n" for number in range(300)))
    tell(editor, "local last")
    wait_for_colour(editor, "local last", "606060")
    editor.lua("vim.api.nvim_win_set_cursor(vim.fn.bufwinid(...), { 150, 0 })", editor.chat_buffer())
    wait_for_colour(editor, "local value_140", "606060")


LOOK_AT = """
local win = vim.fn.win_findbuf(vim.fn.bufnr("acp://demo chat"))[1]
vim.api.nvim_win_set_cursor(win, { ..., 0 })
vim.cmd.redraw()
"""


def test_pages_have_their_colours_when_they_are_seen_again(screen):
    editor = opened(screen, rows=30)
    code = "".join(f'local n{row} = "word"\n' for row in range(50))
    tell(editor, f"# Begin\n\n```lua\n{code}```\n\n" + ANSWER * 100)
    lines = editor.lua('return vim.api.nvim_buf_line_count(vim.fn.bufnr("acp://demo chat"))')
    for _ in range(2):
        editor.lua(LOOK_AT, 1)
        wait_for_colour(editor, "# Begin", "101010", 2)
        wait_for_colour(editor, "local n3 =", "606060")
        editor.lua(LOOK_AT, 50)
        wait_for_colour(editor, "local n45 =", "606060")
        wait_for_colour(editor, '"word"', "707070")
        for row in range(60, lines, 20):
            editor.lua(LOOK_AT, row)


GIVES_UP = """
local create = vim._create_ts_parser
vim._create_ts_parser = function(language)
  local parser, left = create(language), ...
  local slow = { reset = function() end }
  function slow:parse(...)
    left = left - 1
    _G.parsed = (_G.parsed or 0) + 1
    return left < 0 and parser:parse(...) or nil
  end
  return slow
end
"""


def test_code_is_parsed_again_when_the_machine_was_busy(screen):
    editor = opened(screen)
    editor.lua(GIVES_UP.replace("...", "2", 1))
    tell(editor, '```lua\nlocal one = "word"\n```\n')
    wait_for_colour(editor, '"word"', "707070")


def test_code_that_takes_too_long_is_not_parsed_for_ever(screen):
    editor = opened(screen)
    editor.lua(GIVES_UP.replace("...", "1000", 1))
    tell(editor, '```lua\nlocal one = "word"\n```\n')
    editor.wait_until("(_G.parsed or 0) >= 5", what="five tries")
    editor.lua("vim.defer_fn(function() _G.later = true end, 200)")
    editor.wait_until("_G.later", what="the time of another try")
    assert editor.lua("return _G.parsed") == 5


SLOW_CAPTURES = """
local get, left = vim.treesitter.query.get, ...
vim.treesitter.query.get = function(...)
  local query = get(...)
  return setmetatable({
    iter_captures = function(_, ...)
      left = left - 1
      local stop = os.clock() + (left >= 0 and 0.01 or 0)
      repeat until os.clock() >= stop
      return query:iter_captures(...)
    end,
  }, { __index = query })
end
"""


def test_code_has_its_colours_to_the_end_when_there_was_no_time_at_first(screen):
    editor = opened(screen)
    editor.lua(SLOW_CAPTURES, 2)
    code = "".join(f'local n{row} = "word"\n' for row in range(18))
    tell(editor, f"```lua\n{code}```\n")
    wait_for_colour(editor, "local n17 =", "606060")
    wait_for_colour(editor, "local n0 =", "606060")
