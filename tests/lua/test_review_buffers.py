"""Files under review in buffers: where hunks are, going from one to the next, the user's own 'winbar'."""

from __future__ import annotations

import pytest

from tests.lua.review_events import Reviewed, hunk

LINES = [f"line {number}" for number in range(1, 31)]
FILES = "return require('acp_nvim.review.files')"


@pytest.fixture
def file(editor):
    editor.command("set hidden noswapfile")
    return Reviewed(editor, "b.txt", LINES)


def hunk_at(file, row):
    found = file.editor.lua(f"{FILES}.hunks(...)", file.bufnr, row, row)
    return found[0]["id"] if found else None


def after(file, row, backwards=False):
    found = file.editor.lua("return require('acp_nvim.review.files.view'):next(...)", file.bufnr, row, backwards)
    return found and found["mark"]["hunk"]["id"]


def line(file):
    return file.editor.lua("return vim.fn.line('.')")


def test_hunks_move_with_the_text(file):
    file.tell(hunk(1, 2, 2), hunk(2, 10, 0, ["gone"]), hunk(3, 20, 1, ["was"]), hunk(4, 30, 0, ["the end"]))
    assert file.hunks() == [(1, 2, 2), (2, 10, 0), (3, 20, 1), (4, 29, 0)]
    file.editor.api("buf_set_lines", 0, 0, 0, True, ["new", "new"])
    file.editor.api("buf_set_lines", 0, 17, 19, True, [])
    assert file.hunks() == [(1, 4, 2), (2, 12, 0), (3, 20, 1), (4, 29, 0)]
    file.editor.command("undo | undo")
    assert file.hunks()[0] == (1, 2, 2)


def test_the_hunk_of_a_row_and_those_beside_it(file):
    file.tell(hunk(1, 0, 0, ["top"]), hunk(2, 4, 3), hunk(3, 7, 0, ["x"]), hunk(4, 30, 0, ["end"]))
    assert [hunk_at(file, row) for row in (0, 1, 3, 4, 6, 7, 8, 28, 29)] == [1, None, None, 2, 2, 3, None, None, 4]
    assert [after(file, row) for row in (0, 3, 4, 6, 7, 28, 29)] == [2, 2, 3, 3, 4, 4, None]
    assert [after(file, row, True) for row in (0, 1, 4, 5, 7, 29)] == [None, 1, 1, 2, 2, 3]


def test_ids_that_are_known_stay_where_their_text_is(file):
    file.tell(hunk(1, 2, 2), hunk(2, 10, 1))
    state = file.state
    file.editor.api("buf_set_lines", 0, 0, 0, True, ["new"])
    file.tell(hunk(1, 2, 2), hunk(3, 20, 2), state=state)  # of a state that is over
    assert file.hunks() == [(1, 3, 2), (3, 21, 2)]


def test_rows_of_a_state_that_nobody_knows_are_asked_for_once(file):
    file.tell(hunk(1, 2, 2))
    for _ in range(3):
        file.tell(hunk(1, 2, 2), hunk(5, 9, 2), state="another one")
    assert file.hunks() == [(1, 2, 2)]
    assert file.sent("review_open") == [{"path": str(file.path)}]
    file.tell(hunk(1, 2, 2), hunk(5, 9, 2))
    assert file.hunks() == [(1, 2, 2), (5, 9, 2)]


def test_a_deletion_at_the_end_stays_when_the_last_lines_go(file):
    file.tell(hunk(1, 30, 0, ["end"]), hunk(2, 29, 0, ["before the last"]))
    file.editor.api("buf_set_lines", 0, 20, 30, True, [])
    seen = """
    local namespace = vim.api.nvim_get_namespaces()["acp_nvim.review.lines"]
    return vim.tbl_map(function(mark) return mark[2] end, vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, {}))
    """
    file.editor.wait_until(lambda: file.editor.lua(seen) == [19, 19], what="both below the last line")


def test_what_is_told_of_files_without_a_buffer(file):
    other = str(file.editor.project / "a.txt")
    file.editor.lua(
        "_G.changes = {} require('acp_nvim.review.files').on_change(function(p) table.insert(changes, p) end)"
    )
    file.tell(path=other, operation="delete", hunks=[hunk(1, 0, 0, ["all"])], state=None)
    file.tell(hunk(1, 2, 1))
    told = file.editor.lua(f"{FILES}.all()")
    assert [one["path"] for one in told] == [other, str(file.path)]
    assert file.editor.lua(f"{FILES}.get(...).hunks[1].old", other) == ["all"]
    assert file.editor.lua(f"{FILES}.of_buffer(...).path", file.bufnr) == str(file.path)
    file.tell(path=other, operation="none")
    assert file.editor.lua(f"{FILES}.get(...)", other) is None
    assert file.editor.lua("return changes") == [other, str(file.path), other]


def test_an_event_without_hunks_leaves_those_that_are_drawn(file):
    file.tell(hunk(1, 2, 1))
    event = file.event(added=7)
    del event["hunks"], event["state"]
    file.editor.apply(event)
    assert file.hunks() == [(1, 2, 1)]
    assert file.editor.lua(f"{FILES}.get(...).added", str(file.path)) == 7
    assert len(file.editor.lua(f"{FILES}.get(...).hunks", str(file.path))) == 1


def test_a_loaded_buffer_whose_hunks_are_not_told_asks_for_them(file):
    event = file.event()
    del event["hunks"]
    file.editor.apply(event)
    assert file.sent("review_open") == [{"path": str(file.path)}]


@pytest.mark.parametrize("command", ["edit!", "file {other}", "bwipeout | edit {path}"])
def test_buffers_that_are_read_again_or_renamed(file, command):
    file.tell(hunk(1, 2, 1))
    file.editor.command(command.format(other=file.editor.project / "other.txt", path=file.path))
    is_gone = "file" in command
    file.editor.wait_until(lambda: file.hunks() == [], what="the hunks to be away")
    if is_gone:
        assert file.editor.lua("return vim.wo.winbar") == ""
        file.editor.command(f"file {file.path}")
    file.editor.wait_until(lambda: file.sent("review_open") == [{"path": str(file.path)}], what="the host to be asked")


def test_all_is_away_with_the_host(file):
    file.tell(hunk(1, 2, 1))
    file.editor.lua("require('acp_nvim.host').on_end('python', 1)")
    assert file.hunks() == []
    assert file.editor.lua(f"{FILES}.all()") == []
    assert file.editor.lua("return vim.wo.winbar") == ""


def jump(file, count="", backwards=False):
    keys = "Z[" if backwards else "Z]"  # the user's own mapping
    file.editor.command(
        f"nnoremap {keys} <Cmd>lua require('acp_nvim.review.files.open').step({'true' if backwards else 'false'})<CR>"
    )
    file.editor.keys(f"{count}{keys}")
    return line(file)


def test_from_hunk_to_hunk_and_around(file):
    file.tell(hunk(1, 2, 2), hunk(2, 10, 0, ["gone"]), hunk(3, 20, 1), hunk(4, 30, 0, ["end"]))
    assert [jump(file) for _ in range(4)] == [3, 11, 21, 30]
    assert file.editor.messages() == []
    assert jump(file) == 3
    file.editor.wait_until(lambda: "that was the last hunk" in file.editor.message(), what="word of the wrap")
    assert jump(file, backwards=True) == 30
    assert jump(file, 3, backwards=True) == 3
    assert jump(file, 2) == 21
    file.editor.keys("<C-o>")
    assert line(file) == 3


def test_inside_a_hunk_backwards_is_its_beginning_and_folds_open(file):
    file.tell(hunk(1, 2, 1), hunk(2, 10, 5))
    file.editor.command("13")
    assert jump(file, backwards=True) == 11
    file.editor.command("2,5fold")
    assert jump(file, backwards=True) == 3
    assert file.editor.lua("return vim.fn.foldclosed(3)") == -1


def test_only_what_is_out_of_sight_is_scrolled_to(editor):
    file = Reviewed(editor, "long.txt", [f"line {number}" for number in range(300)])
    file.tell(hunk(1, 30, 1), hunk(2, 32, 1), hunk(3, 200, 1))
    assert [jump(file), jump(file)] == [31, 33]
    assert editor.lua("return vim.fn.line('w0')") == 1
    jump(file)
    assert editor.lua("return vim.fn.winline()") in range(15, 25)


def test_on_to_the_next_file(file):
    others = {}
    for name in ("a.txt", "c.txt", "d.txt"):
        path = file.editor.project / name
        path.write_text("\n".join(LINES) + "\n")
        others[name] = path
    (file.editor.project / "d.txt").unlink()
    file.tell(hunk(1, 2, 1))
    for name, operation in (("a.txt", "modify"), ("c.txt", "modify"), ("d.txt", "delete")):
        event = file.event(path=str(others[name]), operation=operation)
        del event["hunks"], event["state"]
        file.editor.apply(event)
    name = "return vim.fs.basename(vim.api.nvim_buf_get_name(0))"
    assert jump(file) == 3
    jump(file)
    assert file.editor.lua(name) == "c.txt"
    assert file.editor.messages() == []
    file.editor.wait_until(lambda: {"path": str(others["c.txt"])} in file.sent("review_open"), what="to ask")
    told = {
        "path": str(others["c.txt"]),
        "state": file.editor.lua("return require('acp_nvim.buffers.text').state(vim.api.nvim_get_current_buf())"),
    }
    file.tell(hunk(1, 7, 1), hunk(2, 9, 1), **told)
    assert line(file) == 8
    file.editor.command("30")
    jump(file)
    assert file.editor.lua(name) == "a.txt"
    file.editor.wait_until(lambda: "that was the last hunk" in file.editor.message(), what="word of the wrap")


def test_there_is_nothing_to_go_to(file):
    assert jump(file) == 1
    assert "there is no hunk" in file.editor.message()


def winbar(file, win=0):
    return file.editor.api("get_option_value", "winbar", {"win": win, "scope": "local"})


def bar_text(file, win=0):
    own = file.editor.lua(
        "return vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true, winid = ... }).str", win
    )
    return own.rstrip()


def test_the_winbar_counts(file):
    file.tell(hunk(1, 2, 1), hunk(2, 9, 0, ["x"]), added=12, removed=3)
    assert bar_text(file) == " acp: 2 hunks  +12 −3"
    file.editor.command("10")
    assert bar_text(file) == " acp: 2 of 2 hunks  +12 −3"
    file.tell(operation="none")
    assert winbar(file) == ""


def test_the_users_own_winbar_is_put_back(file):
    file.editor.command("setglobal winbar=all")
    file.editor.command("setlocal winbar=mine%m")
    file.tell(hunk(1, 2, 1))
    assert bar_text(file) == "mine acp: 1 hunk  +1 −2"
    file.editor.command("split")
    other = file.editor.api("get_current_win")
    file.editor.command("vnew")
    assert "acp:" not in bar_text(file)
    file.editor.api("set_current_win", other)
    file.editor.command("setlocal winbar=other")
    file.editor.wait_until(lambda: bar_text(file, other) == "other acp: 1 hunk  +1 −2", what="the new one")
    file.editor.command("wincmd n | wincmd p")
    file.tell(operation="none")
    wins = file.editor.lua("return vim.fn.win_findbuf(...)", file.bufnr)
    values = sorted(winbar(file, win) for win in wins)
    assert values == ["mine%m", "other"]


def test_a_window_without_an_own_winbar_has_none_afterwards(file):
    file.editor.command("setglobal winbar=all")
    file.tell(hunk(1, 2, 1))
    assert bar_text(file) == "all acp: 1 hunk  +1 −2"
    file.editor.command("split")
    file.tell(operation="none")
    wins = file.editor.lua("return vim.fn.win_findbuf(...)", file.bufnr)
    assert [winbar(file, win) for win in wins] == ["", ""]
    assert file.editor.lua("return vim.wo.winbar") == "all"


def test_another_buffer_in_the_window_has_none(file):
    file.tell(hunk(1, 2, 1))
    file.editor.command("edit other.txt")
    assert winbar(file) == ""
    file.editor.command("buffer #")
    assert "acp: 1 of 1 hunks" not in bar_text(file)
    assert bar_text(file) == " acp: 1 hunk  +1 −2"
