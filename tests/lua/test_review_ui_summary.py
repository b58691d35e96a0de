"""The summary of a turn in the chat, what Enter does there, and what else is told of changed files."""

from __future__ import annotations

import time

import pytest

from tests.lua.conftest import STATUS
from tests.lua.review_files import TWO, review, tell, written

TIME = 1_700_000_000


def summary(editor, key, block=1, **more):
    root = editor.project.resolve()
    files = [
        {"path": f"{root}/src/a.py", "operation": "modify", "added": 10, "removed": 4},
        {"path": f"{root}/new.py", "operation": "add", "added": 2, "removed": 0},
        {"path": f"{root}/c.png", "operation": "binary", "added": 0, "removed": 0, "note": "binary file"},
    ]
    return {
        "type": "summary", "session": key, "block": block, "id": "id1", "files": files, "time": TIME + 0.5,
        **more,
    }  # fmt: skip


def test_it_says_what_changed_and_how_to_go_back(editor, key):
    editor.apply(summary(editor, key))
    assert editor.lines(key)[1:] == [
        "Changed 3 files  +12 −4",
        "  M src/a.py  +10 −4",
        "  A new.py  +2 −0",
        "  B c.png  binary file",
        f"  ⟲ {time.strftime('%H:%M', time.localtime(TIME))}  :AcpRestore goes back to before this turn",
    ]
    editor.apply(summary(editor, key, 2, files=[{"path": "/q/a", "operation": "delete", "removed": 1}]))
    assert editor.lines(key)[7:9] == ["Changed 1 file  +0 −1", "  D /q/a  +0 −1"]


def test_who_changed_the_files(editor, key):
    root = editor.project.resolve()
    files = [
        {"path": f"{root}/z.txt", "operation": "modify", "added": 1, "by": "unknown", "why": "no command\nran"},
        {"path": f"{root}/a.py", "operation": "modify", "added": 2, "removed": 1, "by": "agent", "why": "by `make`"},
        {"path": f"{root}/.agent/1", "operation": "add", "added": 100, "by": "state", "why": "its records"},
        {"path": f"{root}/b.txt", "operation": "delete", "removed": 4, "by": "unknown", "why": ""},
    ]
    editor.apply(summary(editor, key, files=files))
    assert editor.lines(key)[1:-1] == [
        "Changed 3 files  +3 −5",
        "  M a.py  +2 −1",
        "  Not sure who:",
        "  M z.txt  +1 −0  no command",
        "  D b.txt  +0 −4",
        "  and 1 file of the agent's own records",
    ]
    editor.lua("vim.fn.search('z.txt', 'w')")
    (root / "z.txt").write_text("z\n")
    editor.keys("gf")
    assert editor.lua("return vim.api.nvim_buf_get_name(0)") == f"{root}/z.txt"


def test_nothing_but_the_agents_own_records(editor, key):
    files = [{"path": f"/p/.agent/{number}", "operation": "add", "added": 9, "by": "state"} for number in range(6)]
    editor.apply(summary(editor, key, files=files))
    assert editor.lines(key)[1:] == ["Changed 6 files of the agent's own records"]


def test_colours(editor, key):
    editor.apply(summary(editor, key))
    marks = editor.lua(
        """
        local bufnr = ...
        return vim.tbl_map(function(mark)
          local text = vim.api.nvim_buf_get_text(bufnr, mark[2], mark[3], mark[4].end_row, mark[4].end_col, {})[1]
          return { text, mark[4].hl_group }
        end, vim.api.nvim_buf_get_extmarks(bufnr, -1, { 2, 0 }, { 2, -1 }, { details = true, type = "highlight" }))
        """,
        editor.session(key, "bufnr"),
    )
    assert marks == [
        ["M", "AcpToolKind"], ["src/a.py", "AcpDiffHeader"], ["+10", "AcpDiffAdded"], ["−4", "AcpDiffRemoved"],
    ]  # fmt: skip


def test_very_many_files_are_counted(editor, key):
    files = [{"path": f"/p/{number}", "operation": "add", "added": 1} for number in range(1000)]
    editor.apply(summary(editor, key, files=files))
    assert editor.lines(key)[1] == "Changed 1000 files  +1000 −0"
    assert editor.lines(key)[-2] == "  … 800 more (:AcpReview)"


@pytest.mark.parametrize("pressed", ["<CR>", "gf"])
def test_enter_on_a_file_opens_its_first_hunk(editor, key, pressed):
    path = written(editor.project, "src/a.py")
    editor.apply(summary(editor, key))
    tell(editor, review(path, added=10, removed=4))
    editor.lua("vim.fn.search('src/a.py', 'w')")
    editor.keys(pressed)
    tell(editor, review(path, hunks=TWO))
    assert editor.lua("return { vim.api.nvim_buf_get_name(0), vim.fn.line('.') }") == [str(path), 2]
    assert editor.lua("return vim.api.nvim_win_get_buf(vim.fn.win_findbuf(...)[1])", editor.session(key, "bufnr"))


def test_enter_opens_what_is_no_longer_under_review(editor, key):
    path = written(editor.project, "src/a.py")
    editor.apply(summary(editor, key))
    editor.lua("vim.fn.search('src/a.py', 'w')")
    editor.keys("<CR>")
    assert editor.lua("return vim.api.nvim_buf_get_name(0)") == str(path)


def test_enter_on_the_last_line_goes_back(editor, key):
    editor.apply(summary(editor, key))
    editor.keys("G<CR>")
    assert editor.sent("restore_plan") == [{"id": "id1", "cwd": str(editor.project)}]


def test_enter_elsewhere_is_plain(editor, key):
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "agent", "text": "one\n  two\nthree"})
    editor.apply(summary(editor, key, 2))
    editor.keys("2G<CR>")
    assert editor.lua("return vim.api.nvim_win_get_cursor(0)") == [3, 2]


def test_enter_answers_a_permission_and_still_opens_files(editor, key):
    path = written(editor.project, "src/a.py")
    option = {"option_id": "yes", "name": "Allow", "kind": "allow_once"}
    request = {
        "id": 7, "tool_call_id": "", "title": "do it", "kind": "edit", "options": [option], "content": [],
        "locations": [],
    }  # fmt: skip
    editor.apply(summary(editor, key), {"type": "permission", "session": key, "block": 2, "request": request})
    editor.lua("vim.fn.search('] a  Allow', 'w')")
    editor.keys("<CR>")
    assert editor.sent("answer") == [{"id": 7, "option_id": "yes"}]
    editor.apply({"type": "permission", "session": key, "block": 3, "request": {**request, "id": 8}})
    editor.lua("vim.fn.search('src/a.py', 'w')")
    editor.keys("<CR>")
    assert editor.lua("return vim.api.nvim_buf_get_name(0)") == str(path)


def test_the_line_above_the_chat_counts_what_is_left(editor, key):
    status = {**STATUS, "state": "idle"}
    left = {"files": 3, "added": 12, "removed": 4}
    editor.apply({"type": "status", "session": key, "status": {**status, "review": left}})
    bar = """local win = vim.fn.win_findbuf(...)[1]
    return vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win, maxwidth = 200 }).str"""
    assert " · 3 to review" in editor.lua(bar, editor.session(key, "bufnr"))
    assert editor.lua('return require("acp_nvim").status().review') == left
    editor.apply({"type": "status", "session": key, "status": status})
    assert "to review" not in editor.lua(bar, editor.session(key, "bufnr"))


def test_who_listens_hears_what_happened_to_a_file(editor, key):
    changed = {"path": "/p/a.py", "by": "agent", "operation": "modify", "added": 3, "removed": 1}
    known = {"why": "by `npm test`", "tool_call": "call_1"}
    unknown = {"by": "unknown", "why": "no command ran"}
    editor.apply(
        {"type": "file_changed", "session": key, **changed, **known},
        {"type": "file_changed", "session": key, **changed, **unknown, "tool_call": None},
    )
    assert editor.events("AcpFileChanged") == [
        {"session": key, **changed, **known}, {"session": key, **changed, **unknown},
    ]  # fmt: skip
