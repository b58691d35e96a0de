"""What a person sees of a file under review."""

from __future__ import annotations

import pytest

from tests.lua.review_events import COLOURS, Reviewed, background, coloured, hunk, is_on, recorded
from tests.lua.test_highlights import READABLE, contrast, luminance

LINES = [f"line {number}" for number in range(1, 13)]


def opened(screen, name="file.txt", lines=LINES, columns=80, rows=24, **given):
    return Reviewed(coloured(screen(columns=columns, rows=rows, **given)), name, lines)


def order(file, *texts):
    """Wait until these rows stand below each other, with nothing between them."""

    def is_so():
        rows = file.editor.rows()
        starts = [number for number, row in enumerate(rows) if texts[0] in row]
        return any(
            all(text in row for text, row in zip(texts, rows[start : start + len(texts)], strict=False))
            and start + len(texts) <= len(rows)
            for start in starts
        )

    file.editor.wait_until(is_so, what=f"{texts} one below the other")


def test_added_lines_are_seen_to_the_edge(screen):
    file = opened(screen)
    file.tell(hunk(1, 2, 2))
    is_on(file, "line 3", "AcpReviewAdd")
    is_on(file, "line 4", "AcpReviewAdd", 60)
    is_on(file, "line 2", None)
    is_on(file, "line 5", None)
    rows = file.editor.rows()
    signs = {row[2:].strip(): row[:2].strip() for row in rows if "line" in row}
    assert [signs[f"line {number}"] for number in (2, 3, 4, 5)] == ["", "+", "+", ""]


def test_deleted_lines_stand_where_they_were(screen):
    file = opened(screen)
    file.tell(hunk(1, 4, 0, ["gone one", "gone two"]))
    order(file, "line 4", "gone one", "gone two", "line 5")
    is_on(file, "gone one", "AcpReviewDelete")
    is_on(file, "gone two", "AcpReviewDelete", 70)
    is_on(file, "line 5", None)


def test_changed_words_inside_lines(screen):
    file = opened(screen, lines=["first", "the quick brown fox jumps", "last"])
    file.tell(hunk(1, 1, 1, ["the quick red fox jumps"]))
    order(file, "first", "the quick red fox", "the quick brown fox", "last")
    for text, whole, words in (
        ("the quick brown fox", "AcpReviewChange", "AcpReviewAddText"),
        ("the quick red fox", "AcpReviewDelete", "AcpReviewDeleteText"),
    ):
        is_on(file, text, whole, 4)
        is_on(file, text, words, 10)
        is_on(file, text, whole, 15 if "red" in text else 17)


def test_new_lines_without_a_counterpart_are_added_ones(screen):
    file = opened(screen, lines=["one", "the same words here", "nothing alike stands above", "two"])
    file.tell(hunk(1, 1, 2, ["the same words there"]))
    is_on(file, "the same words here", "AcpReviewChange")
    is_on(file, "nothing alike", "AcpReviewAdd")
    is_on(file, "nothing alike", "AcpReviewAdd", 60)


def test_lines_deleted_at_the_top_and_the_end(screen):
    file = opened(screen)
    file.tell(hunk(1, 0, 0, ["top one", "top two"]), hunk(2, 12, 0, ["the end"]))
    order(file, "top one", "top two", "line 1")
    order(file, "line 12", "the end")
    is_on(file, "the end", "AcpReviewDelete", 50)


def test_who_scrolls_down_leaves_the_top_and_who_comes_back_sees_it(screen):
    lines = [f"line {number}" for number in range(1, 200)]
    file = opened(screen, lines=lines)
    file.tell(hunk(1, 0, 1, ["top one", "top two"]))
    order(file, "top one", "top two", "line 1")
    file.editor.type("\x05\x05")
    file.editor.wait_until(lambda: not file.editor.find("top two"), what="the top to be scrolled away")
    assert file.editor.find("line 1")
    file.tell(hunk(1, 0, 1, ["top one", "top two"]), added=77)  # the same lines: nobody is scrolled
    file.editor.wait_for("+77")
    assert not file.editor.find("top two")
    file.editor.type("G")
    file.editor.wait_for("line 199")
    assert not file.editor.find("top two")
    file.editor.type("gg")
    order(file, "top one", "top two", "line 1")
    file.editor.type("\x05\x05jjk")
    file.editor.wait_until(lambda: not file.editor.find("top two"), what="the top to be scrolled away")
    file.editor.type("k")
    order(file, "top one", "top two", "line 1")


def test_long_deletions_at_the_top_fit_the_window(screen):
    file = opened(screen, rows=16)
    file.tell(hunk(1, 0, 0, [f"gone {number}" for number in range(40)]))
    order(file, "gone 0", "gone 1")
    order(file, "more deleted lines", "line 1")
    file.editor.resize(80, 60)
    order(file, "gone 38", "gone 39", "line 1")
    assert file.editor.find("gone 0")


def test_a_thousand_deleted_lines_are_shown_shortened(screen):
    file = opened(screen, rows=90)
    file.tell(hunk(1, 3, 0, [f"gone {number}" for number in range(1000)]))
    order(file, "line 3", "gone 0")
    order(file, "gone 58", "… 941 more deleted lines", "line 4")


@pytest.mark.parametrize(("name", "started"), [("file.py", "syntax"), ("file.lua", "treesitter")])
def test_deleted_lines_have_the_colours_of_the_file(screen, name, started):
    code = 'local x = "text" -- why' if name == "file.lua" else 'def x(): return "text" # why'
    file = opened(screen, name, ["", code, ""])
    file.editor.wait_until(lambda: file.editor.cell(*file.editor.wait_for("text")).fg != "e0e0e0", what="the syntax")
    is_tree = "return vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()] ~= nil"
    assert file.editor.lua(is_tree) == (started == "treesitter")
    file.tell(hunk(1, 2, 0, ["\t" + code]))

    def colours():
        places = [(row, text.index(code)) for row, text in enumerate(file.editor.rows()) if code in text]
        return [tuple(file.editor.cell(row, at + n).fg for n in range(len(code))) for row, at in places]

    def the_same():
        return len(colours()) == 2 and len(set(colours())) == 1 and len(set(colours()[0])) >= 4

    file.editor.wait_until(the_same, what="the deleted line, in the colours of the other one")
    row, column = max((row, text.index(code)) for row, text in enumerate(file.editor.rows()) if code in text)
    assert {file.editor.cell(row, at).bg for at in range(2, 80)} == {COLOURS["AcpReviewDelete"]}
    assert column == 2 + file.editor.lua("return vim.bo.tabstop")  # behind the signs


def test_control_characters_and_wide_ones(screen):
    file = opened(screen)
    file.tell(hunk(1, 1, 0, ["a\x1b[31mb\rc", "日本\tend"]))
    order(file, "line 1", "a^[[31mb^Mc", "end", "line 2")
    row, _ = file.editor.wait_for("end")
    assert file.editor.cell(row, 2 + 8).data == "e"


def test_both_sides_of_a_conflict(screen):
    file = opened(screen)
    file.tell(hunk(1, 3, 2, theirs=["theirs one", "theirs two", "theirs three"]), hunk(2, 9, 0, theirs=["all theirs"]))
    order(file, "line 4", "line 5", "theirs one", "theirs two", "theirs three", "line 6")
    order(file, "line 9", "all theirs", "line 10")
    is_on(file, "line 4", "AcpConflictMine")
    is_on(file, "line 5", "AcpConflictMine", 70)
    is_on(file, "theirs two", "AcpConflictTheirs", 70)
    file.editor.type("4G")
    file.editor.wait_for("hunk 1/2 · gho mine · ght theirs · ghb both")


def test_the_hint_is_beside_the_hunk_under_the_cursor_in_this_window(screen):
    file = opened(screen, columns=100)
    file.tell(hunk(1, 2, 2), hunk(2, 6, 0, ["gone"]))
    assert not file.editor.find("hunk 1/2")
    file.editor.type("4G")
    hint = "hunk 1/2 · ghk keep · ghr reject · ghn next"
    file.editor.wait_until(lambda: "line 3" in file.editor.row_with(hint), what="the hint at the hunk")
    file.editor.type("7G")
    file.editor.wait_until(lambda: "line 7" in file.editor.row_with("hunk 2/2"), what="the hint at the other hunk")
    file.editor.wait_until(lambda: not file.editor.find("hunk 1/2"), what="one hint")
    file.editor.command("split")
    file.editor.wait_until(lambda: file.editor.screen_text().count("line 7") == 2, what="two windows")
    assert file.editor.screen_text().count("hunk 2/2") == 1
    file.editor.type("i")
    file.editor.wait_until(lambda: not file.editor.find("hunk 2/2"), what="no hint while one types")
    file.editor.type("\x1b")
    file.editor.wait_for("hunk 2/2")
    file.tell(hunk(1, 2, 2))
    file.editor.wait_until(lambda: not file.editor.find("hunk 1/"), what="no hint")


def test_the_hint_has_the_users_keys_and_is_short_where_there_is_no_room(screen):
    config = {"keymaps": {"review_keep": "<C-y>", "review_reject": False, "review_next": ["gn", "]c"]}}
    file = opened(screen, lines=["short", "x" * 60], columns=78, config=config)
    file.editor.command("set nowrap")
    file.tell(hunk(1, 0, 1), hunk(2, 1, 1))
    file.editor.wait_for("hunk 1/2 · <C-y> keep · gn next")
    file.editor.type("j")
    file.editor.wait_until(lambda: file.editor.row_with("hunk 2/2").endswith("hunk 2/2"), what="the short hint")
    file.editor.command("set wrap")
    file.editor.lua("vim.fn.setline(2, ('x'):rep(90))")
    file.editor.wait_for("hunk 2/2 · <C-y> keep · gn next")


def test_the_hint_and_the_bar_say_where_nobody_knows_who(screen):
    file = opened(screen, columns=100)
    file.tell(hunk(1, 1, 1), by="unknown")
    file.editor.type("2G")
    file.editor.wait_for("hunk 1/1 · not sure who · ghk keep · ghr reject · ghn next")
    file.editor.wait_until(
        lambda: "acp: 1 of 1 hunk  +1 −2  not sure who" in file.editor.rows()[0], what="the same in the winbar"
    )
    file.editor.command("vsplit | wincmd l | vertical resize 40")
    file.editor.wait_until(lambda: not file.editor.find("ghk keep"), what="the short hint")
    file.editor.wait_for("hunk 1/1 · not sure who")
    file.tell(hunk(1, 1, 1), by="state")
    file.editor.wait_for("hunk 1/1 · agent's own record")


def test_nothing_of_it_when_it_is_switched_off(screen):
    file = opened(screen, config={"review": {"signs": False, "hint": False, "winbar": False}})
    file.tell(hunk(1, 0, 1), hunk(2, 3, 0, ["gone"]))
    order(file, "line 3", "gone", "line 4")
    text = file.editor.screen_text()
    assert "hunk" not in text
    assert file.editor.rows()[0] == "line 1"


def test_it_is_drawn_anew_for_another_width(screen):
    file = opened(screen, columns=60)
    file.tell(hunk(1, 4, 0, ["gone one"]), hunk(2, 6, 1))
    is_on(file, "gone one", "AcpReviewDelete", 50)
    file.editor.resize(100, 30)
    is_on(file, "gone one", "AcpReviewDelete", 90)
    is_on(file, "line 7", "AcpReviewAdd", 90)
    file.editor.resize(40, 20)
    order(file, "line 4", "gone one", "line 5")


def test_long_old_lines_are_cut_at_the_window_and_scroll_with_it(screen):
    file = opened(screen, lines=["0123456789" * 20, "b"])
    file.editor.command("set nowrap sidescroll=1")
    file.tell(hunk(1, 0, 1, ["".join(f"{number:04d}" for number in range(700))]))
    order(file, "000000010002", "0123456789", "b")
    file.editor.type("20zl")
    file.editor.wait_until(lambda: "000500060007" in file.editor.rows()[1][:16], what="the old line to be scrolled")
    assert file.editor.rows()[2].startswith("~ 0123456789")


def test_it_comes_back_with_the_buffer(screen):
    file = opened(screen)
    file.tell(hunk(1, 2, 1), hunk(2, 5, 0, ["gone"]))
    is_on(file, "gone", "AcpReviewDelete")
    file.editor.command("enew")
    file.editor.command(f"bdelete {file.bufnr}")
    assert file.sent("review_open") == []
    file.editor.command(f"edit {file.path}")
    file.editor.wait_until(lambda: file.sent("review_open") == [{"path": str(file.path)}], what="the host to be asked")
    file.editor.wait_until(lambda: not file.editor.find("gone"), what="the old line to be gone from the screen")
    file.tell(hunk(1, 2, 1), hunk(2, 5, 0, ["gone"]))
    order(file, "line 5", "gone", "line 6")
    is_on(file, "line 3", "AcpReviewAdd")


def test_nothing_is_left_when_nothing_is_to_review(screen):
    file = opened(screen)
    file.editor.wait_for("line 12")
    before = file.editor.rows()[:20]
    file.tell(hunk(1, 0, 0, ["top"]), hunk(2, 2, 1), hunk(3, 5, 0, ["gone"]))
    is_on(file, "gone", "AcpReviewDelete")
    file.tell(operation="none")
    file.editor.wait_until(lambda: file.editor.rows()[:20] == before, what="the screen as it was")
    is_on(file, "line 3", None)
    assert file.editor.lua("return #vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, {})") == 0


def test_no_empty_rows_are_left_in_a_window_without_the_focus(screen):
    file = opened(screen, config={"review": {"winbar": False}})
    file.tell(hunk(1, 0, 0, ["top"]))
    order(file, "top", "line 1")
    file.editor.command("botright new")
    file.editor.wait_until(lambda: file.editor.rows()[0].strip() == "top", what="the old line at the top")
    file.tell(operation="none")
    file.editor.wait_until(lambda: not file.editor.find("top"), what="the old line to be gone")
    file.editor.wait_until(lambda: file.editor.rows()[0].strip() == "line 1", what="the first line at the top")


def test_windows_that_compare_show_no_old_lines(screen):
    file = opened(screen)
    file.tell(hunk(1, 2, 1, ["line before"]), hunk(2, 5, 0, ["gone"]))
    is_on(file, "gone", "AcpReviewDelete")
    file.editor.command("diffthis")
    file.editor.wait_until(lambda: not file.editor.find("gone"), what="no old lines")
    file.editor.command("diffoff")
    order(file, "line 5", "gone", "line 6")


def test_a_fold_hides_and_wrapped_lines_stay_in_order(screen):
    file = opened(screen, lines=["a" * 100, "second", "third", "fourth", "fifth"])
    file.tell(hunk(1, 1, 1, ["old second"]), hunk(2, 3, 0, ["gone"]))
    order(file, "old second", "second", "third", "gone", "fourth")
    file.editor.command("set list conceallevel=2")
    file.editor.command("3,5fold")
    file.editor.wait_until(lambda: not file.editor.find("fourth"), what="the fold")
    order(file, "old second", "second")


def test_a_colour_scheme_brings_its_own_colours(screen):
    editor = recorded(screen(columns=80, rows=24))
    editor.lua("vim.o.termguicolors = true")
    file = Reviewed(editor, "file.txt", LINES)
    file.tell(hunk(1, 2, 1), hunk(2, 5, 0, ["gone"]))

    def colours():
        normal = editor.cell(*editor.wait_for("line 2")).bg
        return normal, background(file, "line 3"), background(file, "gone")

    for scheme in ("default", "blue", "habamax", "lunaperche"):
        editor.command(f"colorscheme {scheme}")
        editor.wait_until(lambda: len(set(colours())) == 3, what=f"three colours with {scheme}")
    editor.command("colorscheme default")
    editor.wait_until(lambda: len(set(colours())) == 3, what="those of the default scheme")
    dark = colours()
    editor.command("set background=light")
    editor.wait_until(lambda: len({*colours(), *dark}) == 6, what="light ones")


@pytest.mark.parametrize("is_light", [True, False], ids=["light", "dark"])
def test_deleted_code_can_be_read_in_neovims_own_colours(screen, is_light):
    editor = recorded(screen(columns=80, rows=24))
    editor.lua("vim.o.termguicolors = true vim.cmd('syntax on | filetype on')")
    file = Reviewed(editor, "file.lua", ["local one = 1", "-- end"])
    gone = ["local function gone(text) -- why", '  return text:rep(2) .. "gone" .. nil', "end"]
    file.tell(hunk(1, 1, 0, gone))
    row, _ = editor.wait_for("local function gone")
    editor.lua("vim.o.background = ...", "light" if is_light else "dark")  # as terminals report it, late

    def cells():
        return [
            (int(cell.fg, 16), int(cell.bg, 16))
            for line in (row, row + 1)
            for cell in (editor.cell(line, column) for column in range(2, 40))
            if cell.data.strip()
        ]

    editor.wait_until(
        lambda: {(luminance(bg) > 0.5) for _, bg in cells()} == {is_light} and len({fg for fg, _ in cells()}) > 3,
        what="the colours of the code on those of the background",
    )
    assert min(contrast(fg, bg) for fg, bg in cells()) >= READABLE
