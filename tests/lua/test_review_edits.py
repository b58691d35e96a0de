"""What the host hears of the user's edits in files under review."""

from __future__ import annotations

import random

import pytest

from tests.lua.review_events import STATE, Reviewed, hunk
from tests.lua.test_tracking import buffers, by_others, follow

LINES = ["one", "two", "three", "four", "five"]


@pytest.fixture
def file(editor):
    editor.command("set noswapfile")
    file = Reviewed(editor, "file.txt", LINES)
    file.tell(hunk(1, 3, 1))
    return file


def flush(file):
    file.editor.lua("require('acp_nvim.buffers.edits').flush(...)", file.bufnr)


def lines_of(edit, lines):
    """Return the lines after an edit."""
    first, count = edit["first"], edit["count"]
    return lines[:first] + edit["lines"] + lines[first + count :]


def test_one_message_for_all_changes_of_a_moment(file):
    before = file.state
    file.editor.lua("vim.api.nvim_buf_set_lines(0, 1, 2, true, { 'TWO', 'TWO AND A HALF' })")
    file.editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'zero' })")
    file.editor.lua("vim.api.nvim_buf_set_lines(0, 4, 5, true, {})")
    file.editor.wait_until(file.edited, what="the host to be told")
    (edit,) = file.edited()
    assert edit == {
        "path": str(file.path),
        "from": before,
        "state": file.state,
        "first": 0,
        "count": 3,
        "lines": ["zero", "one", "TWO", "TWO AND A HALF"],
    }


def test_it_waits_while_one_types_and_not_longer_than_insert_mode(file):
    file.editor.lua("require('acp_nvim.limits').edit_pause_ms = 1e6")
    file.editor.keys("ix y z")
    assert file.edited() == []
    file.editor.keys("<Esc>")
    assert [edit["lines"] for edit in file.edited()] == [["x y zone"]]


@pytest.mark.parametrize("leave", ["enew!", "split | enew"])
def test_it_does_not_outlast_leaving_the_buffer(file, leave):
    file.editor.lua("require('acp_nvim.limits').edit_pause_ms = 1e6")
    file.editor.command("set hidden")
    file.editor.command("normal! x")
    file.editor.command(leave)
    assert [edit["lines"] for edit in file.edited()] == [["ne"]]


def test_nothing_is_said_when_nothing_changed(file):
    flush(file)
    file.editor.keys("jj")
    flush(file)
    assert file.edited() == []


def test_the_agents_changes_are_not_the_users(file):
    editor = file.editor
    editor.command("normal! x")
    state = file.state
    done = buffers(editor, "write", str(file.path), {"text": "agent\ntwo\n"}, state, False)
    assert [edit["lines"] for edit in file.edited()] == [["ne"]], "what was typed before, and nothing else"
    assert file.edited()[0]["state"] == state
    editor.command("normal! Gx")
    flush(file)
    assert file.edited()[1] == {
        "path": str(file.path),
        "from": done["state"],
        "state": file.state,
        "first": 1,
        "count": 1,
        "lines": ["wo"],
    }


def test_what_comes_from_the_disk_is_not_the_users(file):
    buffers(file.editor, "set_roots", 1, [str(file.editor.project)])
    file.editor.command("normal! x")
    state = file.state
    by_others(file.path, "agent\n")
    assert follow(file.editor, file.path, change="ne\nagent\n", text="agent\n").keys() == {"state"}
    flush(file)
    assert [(edit["state"], edit["lines"]) for edit in file.edited()] == [(state, ["ne"])]


def test_rows_in_lines_that_were_replaced(file):
    file.editor.lua("vim.api.nvim_buf_set_lines(0, 1, 4, true, { 'x', 'y' })")
    rows = "return vim.tbl_map(require('acp_nvim.buffers.edits').rows_since(...), vim.fn.range(6))"
    state = file.editor.lua(STATE, str(file.path))
    flush(file)
    (edit,) = file.edited()
    assert file.editor.lua(rows, file.bufnr, edit["from"]) == [0, 1, 2, 3, 3, 4]
    assert file.editor.lua(rows, file.bufnr, state) == list(range(6))


def test_a_formatter_belongs_to_who_has_saved(file):
    editor = file.editor
    buffers(editor, "set_roots", 1, [str(editor.project)])
    editor.lua("""
    vim.api.nvim_create_autocmd("BufWritePre", { callback = function()
      local last = vim.fn.getline("$")
      vim.fn.setline("$", last .. "!")
    end })
    """)
    done = buffers(editor, "write", str(file.path), {"text": "agent\n"}, file.state, True)
    assert done["text"] == "agent!\n"
    flush(file)
    assert file.edited() == []
    editor.keys(":write<CR>")
    assert [(edit["from"], edit["lines"]) for edit in file.edited()] == [(done["state"], ["agent!!"])]
    assert [one["path"] for one in file.sent("saved")] == [str(file.path)]
    said = [one["method"] for one in editor.lua("return _G.sent") if one["method"] in ("edited", "saved")]
    assert said == ["edited", "saved"]


def test_a_copy_under_another_name_was_not_saved(file):
    buffers(file.editor, "set_roots", 1, [str(file.editor.project)])
    file.editor.keys(":write copy.txt<CR>")
    assert file.sent("saved") == []


def test_the_state_after_a_write_is_told(file):
    buffers(file.editor, "set_roots", 1, [str(file.editor.project)])
    before = file.state
    file.editor.command("set fileformat=dos")
    flush(file)
    assert [(edit["from"], edit["state"]) for edit in file.edited()] == [(before, file.state)]
    assert (file.edited()[0]["count"], file.edited()[0]["lines"]) == (0, [])


def test_a_file_without_a_line_is_no_empty_line(file):
    file.editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, {})")
    flush(file)
    file.editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'new' })")
    file.editor.lua("vim.api.nvim_buf_set_lines(0, 1, 2, true, {})")
    flush(file)
    told = [(edit["first"], edit["count"], edit["lines"]) for edit in file.edited()]
    assert told == [(0, 5, []), (0, 0, ["new"])]


def test_what_a_command_shows_before_it_is_run_is_no_edit(file):
    file.editor.command("set inccommand=split")
    file.editor.api("input", ":%s/o/0")
    file.editor.wait_until("vim.fn.getcmdline() == '%s/o/0'")
    file.editor.api("input", "<Esc>")
    file.editor.wait_until("vim.api.nvim_get_mode().mode == 'n'")
    flush(file)
    assert [edit["lines"] for edit in file.edited() if edit["lines"]] == []


def test_who_may_undo_what_has_ended_the_review_is_listened_to(file):
    file.tell(operation="none", added=0)
    assert file.hunks() == []
    assert file.editor.lua("return require('acp_nvim.review.files').of_buffer(...)", file.bufnr) is None
    file.editor.command("normal! x")
    flush(file)
    assert [edit["lines"] for edit in file.edited()] == [["ne"]]
    file.tell(hunk(1, 0, 1, ["one"]))
    assert file.hunks() == [(1, 0, 1)]


def test_nobody_listens_when_nothing_is_left(file):
    file.tell(operation="none", hunks=None)
    file.editor.command("normal! x")
    flush(file)
    assert file.edited() == []


EDIT = """
local seed, count, undo = ...
math.randomseed(seed)
for _ = 1, count do
  local all = vim.api.nvim_buf_line_count(0)
  local first = math.random(0, all)
  local last = math.min(first + math.random(0, 3), all)
  local lines = {}
  for index = 1, math.random(0, 3) do
    lines[index] = ("%d of %d"):format(math.random(100), seed)
  end
  vim.api.nvim_buf_set_lines(0, first, last, true, lines)
  if undo and math.random(5) == 1 then
    vim.cmd("silent! undo")
  end
end
"""


@pytest.mark.parametrize("seed", range(20))
def test_the_host_can_follow(file, seed):
    """The reported edits make the text of the buffer, in an unbroken row of states."""
    chance = random.Random(seed)
    lines, state, read = LINES, file.state, 0
    for turn in range(12):
        file.editor.lua(EDIT, seed * 100 + turn, chance.randint(1, 5), True)
        if chance.random() < 0.5:
            flush(file)
        agents = f"the agent {turn}\n" * chance.randint(0, 3) if chance.random() < 0.3 else None
        done = (
            None
            if agents is None
            else buffers(file.editor, "write", str(file.path), {"text": agents}, file.state, False)
        )
        for edit in file.edited()[read:]:
            assert edit["from"] == state
            lines, state, read = lines_of(edit, lines), edit["state"], read + 1
        if done is not None:
            lines, state = agents.splitlines(), done["state"]
    flush(file)
    for edit in file.edited()[read:]:
        assert edit["from"] == state
        lines, state = lines_of(edit, lines), edit["state"]
    assert state == file.state
    assert lines == file.editor.lua("return require('acp_nvim.buffers.text').lines(...)", file.bufnr)


@pytest.mark.parametrize("seed", range(10))
def test_rows_of_an_earlier_state_are_found_again(file, seed):
    """Lines that nobody has touched since are where the rows say."""
    file.editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.fn.map(vim.fn.range(200), '\"line \" .. v:val'))")
    flush(file)
    state = file.state
    for turn in range(5):
        file.editor.lua(EDIT, seed * 100 + turn, 2, False)
        flush(file)
    rows = "local now = require('acp_nvim.buffers.edits').rows_since(...) return vim.tbl_map(now, vim.fn.range(200))"
    now = file.editor.lua(rows, file.bufnr, state)
    lines = file.editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")
    left = {line: row for row, line in enumerate(lines) if line.startswith("line ")}
    assert len(left) > 100
    wrong = [row for row in range(200) if f"line {row}" in left and now[row] != left[f"line {row}"]]
    assert wrong == []
