"""The list of the files under review, the quickfix list, and how a file is opened from them."""

from __future__ import annotations

import pytest

from tests.lua.review_files import TWO, hunk, review, tell, written


@pytest.fixture
def files(editor):
    """Changed files of each kind; none of them has a buffer."""
    root = editor.project.resolve()
    paths = {name: written(editor.project, name) for name in ("a.py", "b/new.py", "c.png", "e.sh", "f.py", "g.py")}
    paths["d.py"] = root / "d.py"
    tell(
        editor,
        review(paths["a.py"], added=3, removed=1),
        review(paths["b/new.py"], "add", added=20),
        review(paths["c.png"], "binary", note="binary file, 12 kB -> 14 kB"),
        review(paths["d.py"], "delete", removed=2),
        review(paths["e.sh"], "mode", note="executable now"),
        review(paths["f.py"], "rename", old_path=str(root / "old.py"), removed=1),
        review(paths["g.py"], added=1, conflicts=2),
    )
    return paths


def lines(editor):
    return [line.rstrip() for line in editor.buffer_text().split("\n")]


def here(editor):
    return editor.lua("return vim.api.nvim_buf_get_name(0)"), editor.lua("return vim.fn.line('.')")


def test_a_line_for_each_file(editor, files):
    editor.command("AcpReview")
    assert editor.lua("return vim.bo.filetype") == "acp_review"
    assert lines(editor) == [
        "  M a.py           +3 −1",
        "  A b/new.py       +20 −0",
        "  B c.png          binary file, 12 kB -> 14 kB",
        "  D d.py           +0 −2",
        "  T e.sh           executable now",
        "  R old.py → f.py  +0 −1",
        "  C g.py           +1 −0  2 conflicts",
    ]
    assert editor.lua("return vim.bo.modifiable") is False


def test_hunks_are_counted_once_they_are_told(editor, files):
    editor.command("AcpReview")
    tell(editor, review(files["a.py"], hunks=TWO))
    editor.wait_until(lambda: lines(editor)[0] == "  M a.py           +3 −1  2 hunks", what="the hunks")


def test_the_cursor_is_on_the_file_that_one_comes_from(editor, files):
    editor.command(f"edit {files['e.sh']}")
    editor.command("AcpReview")
    assert here(editor)[1] == 5
    assert editor.lua("return vim.api.nvim_win_get_height(0)") == 7


def test_enter_opens_the_first_hunk_in_a_code_window(editor, files):
    editor.command("edit notes.txt")
    code = editor.api("get_current_win")
    editor.chat()
    editor.command("AcpReview")
    editor.keys("<CR>")
    assert editor.api("get_current_win") == code
    tell(editor, review(files["a.py"], hunks=TWO))
    assert here(editor) == (str(files["a.py"]), 2)
    editor.keys("<C-o>")
    assert here(editor)[0].endswith("notes.txt")


def test_where_one_was_is_in_the_jump_list(editor, files):
    editor.command(f"edit {files['a.py']} | 15")
    tell(editor, review(files["a.py"], hunks=TWO))
    editor.command("AcpReview")
    editor.keys("gg<CR>")
    assert here(editor) == (str(files["a.py"]), 2)
    editor.keys("``")
    assert here(editor) == (str(files["a.py"]), 15)


def test_who_has_moved_on_is_left_alone(editor, files):
    editor.command("AcpReview")
    editor.keys("<CR>")
    editor.keys("5G")
    tell(editor, review(files["a.py"], hunks=TWO))
    assert here(editor) == (str(files["a.py"]), 5)


def test_a_modified_buffer_that_cannot_be_hidden_stays(editor, files):
    editor.command("set nohidden | edit notes.txt")
    code = editor.api("get_current_win")
    editor.keys("imine<Esc>")
    editor.command("AcpReview")
    editor.keys("<CR>")
    assert here(editor)[0] == str(files["a.py"])
    assert editor.lua("return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(...))", code).endswith("notes.txt")


@pytest.mark.parametrize("position", ["right", "left", "bottom", "tab"])
def test_a_chat_alone_gets_a_code_window_beside_it(editor, position):
    editor.lua('require("acp_nvim").setup({ ui = { position = ... } })', position)
    path = written(editor.project, "a.py")
    key = editor.chat()
    editor.focus(editor.session(key, "bufnr"))
    editor.lua(
        """
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
          if vim.bo[vim.api.nvim_win_get_buf(win)].buftype == "" then vim.api.nvim_win_close(win, true) end
        end
        """
    )
    tell(editor, review(path, hunks=TWO))
    editor.command("AcpReview next")
    assert here(editor)[0] == str(path)
    (chat,) = editor.lua("return vim.fn.win_findbuf(...)", editor.session(key, "bufnr"))
    code_row, code_column = editor.lua("return vim.fn.win_screenpos(0)")
    row, column = editor.lua("return vim.fn.win_screenpos(...)", chat)
    beside = {"right": code_column < column, "left": code_column > column, "bottom": code_row < row, "tab": True}
    assert beside[position]
    assert editor.lua("return vim.wo.winfixwidth or vim.wo.winfixheight") is False


def test_the_keys_act_on_the_files_of_the_lines(editor, files):
    editor.command("AcpReview")
    editor.keys("2Gghk")
    editor.keys("6GVGghr")
    editor.keys("4GghR")
    editor.command("1AcpReview keep")
    assert [(one["action"], one["path"].rsplit("/", 1)[1]) for one in editor.sent("review")] == [
        ("keep", "new.py"), ("reject", "f.py"), ("reject", "g.py"), ("reject", "d.py"), ("keep", "a.py"),
    ]  # fmt: skip
    assert not any("hunks" in one for one in editor.sent("review"))


def test_all_from_the_list_is_all_of_the_session(editor, files):
    editor.command("AcpReview")
    tell(editor, *[review(path, sessions=[]) for path in files.values()])
    editor.command("AcpReview keepall")
    assert editor.sent("review") == [{"action": "keep"}]


def test_it_follows_and_the_cursor_stays_on_its_file(editor, files):
    editor.command("AcpReview")
    editor.keys("3G")
    tell(editor, review(files["a.py"], "none"))
    editor.wait_until(lambda: len(lines(editor)) == 6, what="the list to be shorter")
    assert here(editor)[1] == 2
    tell(editor, review(files["c.png"], "none"))
    editor.wait_until(lambda: len(lines(editor)) == 5, what="the list to be shorter")
    assert here(editor)[1] == 2


def test_it_closes_itself_when_nothing_is_left(editor, files):
    editor.command("AcpReview")
    tell(editor, *[review(path, "none") for path in files.values()])
    assert "nothing is left to review" in editor.message()
    editor.wait_until("#vim.api.nvim_list_wins() == 1", what="the end of the list")
    assert editor.lua("return vim.bo.filetype") == ""


@pytest.mark.parametrize("batches", [1, 2], ids=["in one batch", "in two"])
def test_the_words_about_an_undo_stay_the_last_when_all_is_rejected(editor, files, batches):
    tell(editor, *[review(path, sessions=[]) for path in files.values()])
    editor.command("AcpReview")
    editor.command("AcpReview rejectall")
    gone = [review(path, "none") for path in files.values()]
    judged = {"type": "judged", "action": "reject", "files": [str(files["a.py"])], "left": [], "undo_id": "1"}
    for events in ([*gone, judged],) if batches == 1 else (gone, [judged]):
        tell(editor, *events)
    editor.wait_until("#vim.api.nvim_list_wins() == 1", what="the end of the list")
    assert editor.messages() == ["acp_nvim: rejected: 1 file; undo it with :AcpRestore undo"]
    tell(editor, review(files["a.py"]))  # the undo brings it back
    editor.command("AcpReview")
    tell(editor, review(files["a.py"], "none"))
    editor.wait_until(lambda: "nothing is left" in editor.messages()[-1], what="the words of the list")


def test_its_last_keys_do_not_reach_another_window(editor, files):
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'one' })")
    file = editor.api("get_current_buf")
    editor.command("AcpReview")
    editor.lua("_G.defer, _G.due = vim.defer_fn, {} vim.defer_fn = function(run) table.insert(_G.due, run) end")
    tell(editor, *[review(path, "none") for path in files.values()])
    editor.wait_until(lambda: "acp_nvim: nothing is left to review" in editor.messages(), what="the empty list")
    editor.keys("<CR>ghkdd")  # before a pause is over
    assert editor.buffer_text(file) == "one"
    editor.lua("vim.defer_fn = _G.defer vim.iter(_G.due):each(function(run) run() end)")
    editor.wait_until("vim.bo.filetype == ''", what="the end of the list, in the next pause")


def test_it_closes_in_the_last_window_too(editor, files):
    editor.command("AcpReview")
    editor.command("only")
    tell(editor, *[review(path, "none") for path in files.values()])
    editor.wait_until("vim.bo.filetype == ''", what="another buffer")


def test_q_closes_and_the_command_goes_to_it(editor, files):
    editor.command("AcpReview")
    window = editor.api("get_current_win")
    editor.command("wincmd p | AcpReview")
    assert editor.api("get_current_win") == window
    editor.keys("q")
    assert editor.lua("return #vim.api.nvim_list_wins()") == 1
    editor.command("AcpReview")
    assert len(lines(editor)) == 7


def test_the_text_of_a_deleted_file(editor, files):
    editor.command("AcpReview")
    editor.keys("4G<CR>")
    path = str(files["d.py"])
    assert editor.sent("review_open")[-1] == {"path": path}
    tell(editor, review(path, "delete", hunks=[hunk(1, 0, 0, ["def f():", "    return 1"])], state="x"))
    assert lines(editor) == ["def f():", "    return 1"]
    assert editor.lua("return { vim.bo.modifiable, vim.bo.buftype }") == [False, "nofile"]
    editor.keys("ghr")
    editor.command("AcpReview keepall")
    assert editor.sent("review") == [{"action": "reject", "path": path}, {"action": "keep", "path": path}]


@pytest.mark.parametrize("back", [True, False])
def test_the_text_of_a_deleted_file_gives_way(editor, files, back):
    editor.command("edit notes.txt")
    editor.command("AcpReview")
    editor.keys("4G<CR>")
    if back:
        written(editor.project, "d.py")
    tell(editor, review(files["d.py"], "none"))
    assert here(editor)[0].endswith("d.py" if back else "notes.txt")
    assert not here(editor)[0].startswith("acp:")


def test_what_has_no_text_says_so(editor, files):
    editor.command("AcpReview")
    editor.keys("3G<CR>")
    assert "c.png: binary file, 12 kB -> 14 kB" in editor.message()
    files["a.py"].unlink()
    editor.keys("gg<CR>")
    editor.wait_until(lambda: len(editor.messages()) == 2, what="the second message")
    assert "a.py is not there any more" in editor.messages()[-1]


QUICKFIX = """
return vim.tbl_map(function(item)
  return { vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)), item.lnum, item.text }
end, vim.fn.getqflist())
"""


def test_quickfix_has_every_hunk(editor):
    paths = [written(editor.project, name) for name in ("a.py", "b.py", "c.py")]
    editor.command(f"edit {paths[0]}")
    theirs = hunk(4, 12, 1, [], by="conflict", theirs=["x"])
    tell(
        editor, review(paths[0], hunks=[*TWO, theirs, hunk(3, 20, 0, ["  gone", "too"])]), review(paths[1], added=1),
        review(paths[2], added=2, removed=1),
    )  # fmt: skip
    editor.command("AcpReview quickfix")
    assert editor.lua("return vim.bo.buftype") == "quickfix"
    first = [
        ["a.py", 2, "+1 −1 line 2"], ["a.py", 10, "+2 −0 line 10"], ["a.py", 13, "conflict line 13"],
        ["a.py", 20, "+0 −2 gone"],
    ]  # fmt: skip
    assert editor.lua(QUICKFIX) == [*first, ["b.py", 1, "M  +1 −0"], ["c.py", 1, "M  +2 −1"]]
    assert sorted(one["path"] for one in editor.sent("review_open")) == [str(path) for path in paths[1:]]
    editor.lua("vim.fn.setqflist({}, 'a', { idx = 6 })")
    tell(editor, review(paths[1], hunks=[hunk(1, 3, 1, []), hunk(2, 5, 0, ["was"])]))
    second = [["b.py", 4, "+1 −0"], ["b.py", 6, "+0 −1 was"]]
    assert editor.lua(QUICKFIX) == [*first, *second, ["c.py", 1, "M  +2 −1"]]
    assert editor.lua("return vim.fn.getqflist({ idx = 0 }).idx") == 7


def test_quickfix_from_the_list(editor, files):
    editor.command("AcpReview")
    editor.keys("Q")
    assert editor.lua("return vim.bo.buftype") == "quickfix"
    items = editor.lua("return vim.fn.getqflist()")
    assert len(items) == 7
    assert [item["text"] for item in items if not item["valid"]] == ["D  +0 −2  d.py"]
    assert editor.lua("return #vim.api.nvim_list_wins()") == 2


@pytest.fixture
def mixed(editor):
    """Files of all groups; none of them has a buffer."""
    editor.command("set columns=80")
    paths = {name: written(editor.project, name) for name in ("a.py", "b.py", "x.txt", "y.txt", "mine.c")}
    paths |= {name: written(editor.project, f".agent/{name}") for name in ("s1", "s2")}
    reason = "no command of the agent was running when this file changed on disk"
    tell(
        editor,
        review(paths["s1"], "add", added=100, by="state", why="its own"),
        review(paths["s2"], "add", added=183, by="state", why="its own"),
        review(paths["a.py"], added=3, removed=1, why="by `npm test`", tool_call="call_1", sessions=[2, 3]),
        review(paths["b.py"], added=1, why="by `" + "long " * 20 + "`"),
        review(paths["x.txt"], added=1, by="unknown", why="a save elsewhere", sessions=[]),
        review(paths["y.txt"], removed=2, by="unknown", why=reason),
        review(paths["mine.c"], added=1, by="user", conflicts=1),
    )
    return paths


def test_groups_by_who_changed_the_files(editor, mixed):
    editor.command("AcpReview")
    assert lines(editor) == [
        "By the agent",
        "  M a.py    +3 −1  by `npm test`",
        "  M b.py    +1 −0  by `" + "long " * 11 + "l…",
        "Not sure who",
        "  M x.txt   +1 −0  a save elsewhere",
        "  M y.txt   +0 −2",
        "    no command of the agent was running when this file changed on disk",
        "The agent's own records: 2 files  <CR> opens",
        "By you",
        "  C mine.c  +1 −0  1 conflict",
    ]
    assert editor.lua("return vim.fn.line('.')") == 2
    editor.command("vertical new | vertical resize 39")
    editor.wait_until(lambda: max(map(len, lines_of_list(editor))) <= 40, what="the list to be narrow")
    assert lines_of_list(editor)[1:8] == [
        "  M a.py    +3 −1  by `npm test`",
        "  M b.py    +1 −0  by `long long long l…",
        "Not sure who",
        "  M x.txt   +1 −0  a save elsewhere",
        "  M y.txt   +0 −2",
        "    no command of the agent was running…",
        "The agent's own records: 2 files",
    ]


def lines_of_list(editor):
    return editor.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('acp://review'), 0, -1, true)")


@pytest.mark.parametrize("key", ["<CR>", "za"])
def test_the_agents_own_records_are_folded(editor, mixed, key):
    editor.command("AcpReview")
    editor.lua("vim.fn.search('own records')")
    at = editor.lua("return vim.fn.line('.')")
    editor.keys(key)
    assert lines(editor)[at - 1 : at + 3] == [
        "The agent's own records: 2 files",
        "  A .agent/s1  +100 −0  its own",
        "  A .agent/s2  +183 −0  its own",
        "By you",
    ]
    assert editor.lua("return vim.fn.line('.')") == at
    editor.keys("2jghr")
    assert editor.sent("review") == [{"action": "reject", "path": str(mixed["s2"])}]
    editor.keys("za")
    assert editor.lua("return vim.fn.line('.')") == at
    editor.keys("ggghk<CR>")
    assert here(editor)[0] == "acp://review"
    assert "there is no file on this line" in editor.message()
    assert len(editor.sent("review")) == 1


def test_keys_in_the_list_act_on_each_file_once(editor, mixed):
    editor.command("AcpReview")
    editor.keys("ggVGghr")
    assert [one["path"].rsplit("/", 1)[1] for one in editor.sent("review")] == [
        "a.py", "b.py", "x.txt", "y.txt", "mine.c",
    ]  # fmt: skip


def test_what_is_under_review_for_other_code(editor, mixed):
    found = {one.pop("path"): one for one in editor.lua('return require("acp_nvim").review()')}
    assert list(found) == sorted(str(path) for path in mixed.values())
    assert found[str(mixed["a.py"])] == {
        "by": "agent", "why": "by `npm test`", "added": 3, "removed": 1, "session": 3, "tool_call": "call_1",
    }  # fmt: skip
    assert found[str(mixed["x.txt"])] == {
        "by": "unknown", "why": "a save elsewhere", "added": 1, "removed": 0,
    }  # fmt: skip
    assert found[str(mixed["s1"])]["by"] == "state"


def test_nothing_is_under_review_for_other_code(editor):
    assert editor.lua('return require("acp_nvim").review()') in ([], {})


def test_quickfix_says_where_nobody_knows_who(editor, mixed):
    tell(editor, review(mixed["x.txt"], by="unknown", hunks=TWO))
    editor.command("AcpReview quickfix")
    assert editor.lua(QUICKFIX) == [
        ["a.py", 1, "M  +3 −1"], ["b.py", 1, "M  +1 −0"], ["mine.c", 1, "by you: C  +1 −0"],
        ["x.txt", 2, "not sure who: +1 −1 old 2"], ["x.txt", 10, "not sure who: +2 −0"],
        ["y.txt", 1, "not sure who: M  +0 −2"],
    ]  # fmt: skip


def test_next_does_not_go_to_the_agents_own_records(editor, mixed):
    editor.command("AcpReview next")
    assert here(editor)[0] == str(mixed["a.py"])
    names = [name for name in mixed if not name.startswith("s")]
    tell(editor, *[review(mixed[name], "none") for name in names])
    for word in ("next", "prev", "quickfix"):
        editor.command(f"enew | AcpReview {word}")
        assert here(editor)[0] == ""
    editor.wait_until(lambda: len(editor.messages()) == 3, what="three messages")
    assert all("nothing to review but the agent's own records (:AcpReview)" in text for text in editor.messages())
    editor.command("AcpReview")
    assert lines(editor) == ["The agent's own records: 2 files  <CR> opens"]


def test_from_the_agents_own_records_next_goes_to_other_files(editor, mixed):
    editor.command(f"edit {mixed['s1']}")
    tell(editor, review(mixed["s1"], by="state", hunks=[hunk(1, 0, 1, [])]), review(mixed["a.py"], hunks=TWO))
    editor.keys("]h")
    assert here(editor)[0] == str(mixed["a.py"])
