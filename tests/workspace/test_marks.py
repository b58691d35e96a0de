"""A write touches what it changes and nothing else: extmarks, folds, and who listens to the buffer's changes."""

from __future__ import annotations

import random

FOLDS = """
local firsts = ...
vim.wo.foldmethod = "manual"
for _, first in ipairs(firsts) do
  vim.cmd(("%d,%dfold"):format(first, first + 5))
end
"""
MARKS = """
_G.marks = vim.api.nvim_create_namespace("test marks")
for _, at in ipairs(...) do
  vim.api.nvim_buf_set_extmark(0, _G.marks, at[1], at[2], {})
end
"""
FIND_MARKS = """
return vim.tbl_map(function(mark)
  return { vim.api.nvim_buf_get_lines(0, mark[2], mark[2] + 1, true)[1], mark[3] }
end, vim.api.nvim_buf_get_extmarks(0, _G.marks, 0, -1, {}))
"""
FIND_FOLDS = """
local found, line = {}, 1
while line <= vim.fn.line("$") do
  local last = vim.fn.foldclosedend(line)
  if last > 0 then
    table.insert(found, { vim.fn.getline(line), vim.fn.getline(last) })
    line = last
  end
  line = line + 1
end
return found
"""
LISTEN = """
_G.changes = { lines = {}, bytes = {} }
vim.api.nvim_buf_attach(0, false, {
  on_lines = function(_, _, _, first, last, new_last)
    table.insert(_G.changes.lines, { first, last, new_last })
  end,
  on_bytes = function(_, _, _, row, column, _, _, _, old, _, _, new)
    table.insert(_G.changes.bytes, { row, column, old, new })
  end,
})
"""


def test_extmarks_and_folds_are_where_they_were(scenery):
    rng = random.Random(4)
    place = scenery(10_000)
    nvim = place.stage.nvim
    nvim.lua(FOLDS, [500 * n + 100 for n in range(20)])
    marked = sorted(rng.sample(range(10_000), 100))
    nvim.lua(MARKS, [[row, rng.randint(0, 12)] for row in marked])
    marks, folds = nvim.lua(FIND_MARKS), nvim.lua(FIND_FOLDS)
    assert (len(marks), len(folds)) == (100, 20)
    free = sorted(set(range(10_000)) - set(marked))
    lines = list(place.lines)
    for turn in range(200):
        lines[rng.choice(free)] = f"changed in turn {turn}"
        place.agent_writes(lines)
    assert place.buffer.lines == lines
    in_folds = {f"line {500 * n + 100 + k} of the file" for n in range(20) for k in (0, 5)}
    assert nvim.lua(FIND_MARKS) == marks
    assert len(nvim.lua(FIND_FOLDS)) == 20
    for turn in range(10):
        at = rng.choice([0, 50, 4_000])
        lines[at:at] = [f"added in turn {turn}"] * rng.randint(1, 3)
        place.agent_writes(lines)
    assert nvim.lua(FIND_MARKS) == marks
    found = nvim.lua(FIND_FOLDS)
    untouched = [fold for fold in folds if set(fold) <= in_folds & set(lines)]
    assert len(untouched) >= 15
    assert [fold for fold in found if fold in untouched] == untouched


def test_one_line_of_twenty_thousand_is_one_change(scenery):
    place = scenery(20_000)
    place.stage.nvim.lua(LISTEN)
    lines = list(place.lines)
    lines[14_999] = "line 15000 of this file"
    place.agent_writes(lines)
    assert place.buffer.lines == lines
    assert place.lua("_G.changes.lines") == [[14_999, 15_000, 15_000]]
    assert place.lua("_G.changes.bytes") == [[14_999, 16, 1, 2]]  # "e" has become "is"


def test_what_lies_between_two_changes_is_not_touched(scenery):
    place = scenery(20_000)
    nvim = place.stage.nvim
    nvim.lua(MARKS, [[row, 3] for row in range(1_000, 19_000, 1_000)])
    marks = nvim.lua(FIND_MARKS)
    nvim.lua(LISTEN)
    lines = list(place.lines)
    lines[19_500:19_501] = ["another line", "and one more"]
    lines[10] = "another line"
    place.agent_writes(lines)
    assert place.buffer.lines == lines
    assert sorted(place.lua("_G.changes.lines")) == [[10, 11, 11], [19_500, 19_501, 19_502]]
    assert nvim.lua(FIND_MARKS) == marks
