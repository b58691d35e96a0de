"""Previews of what a permission asks to do: seen in the file, answered there, gone when the request is."""

from __future__ import annotations

import pytest

from tests.lua.review_events import COLOURS, STATE, coloured, is_on
from tests.lua.review_files import review
from tests.lua.test_permissions import OPTIONS, asked, done

WAITS = "◌"


class Asked:
    """A session with a request, and a file that it is about, in the current window."""

    def __init__(self, editor, lines=12, name="file.txt", is_open=True):
        self.editor = editor
        self.path = editor.project.resolve() / name
        self.path.write_text("".join(f"line {number}\n" for number in range(1, lines + 1)))
        editor.command("AcpChat")
        editor.command("stopinsert")
        self.key = int(editor.lua("return vim.b.acp_nvim_session"))
        editor.command("wincmd h")
        if is_open:
            editor.command(f"edit {self.path}")
            self.bufnr = editor.api("get_current_buf")
        self.apply(asked(self.key))

    def apply(self, *events):
        """Apply events as one batch, like the host."""
        self.editor.apply(*events)

    def preview(self, *hunks, path=None, number=7, **given):
        """The event; hunks are (first, count, new lines)."""
        path = str(path or self.path)
        told = {"type": "preview", "session": self.key, "request": number, "path": path, "operation": "modify"}
        told["hunks"] = [{"first": first, "count": count, "new": new} for first, count, new in hunks]
        there = given.get("old_path") or path
        is_loaded = self.editor.lua("return vim.fn.bufloaded(...)", there)
        state = self.editor.lua(STATE, there) if is_loaded else None
        return {**told, "exists": True, "state": state, **given}

    def tell(self, *hunks, **given):
        """Send a preview, like the host."""
        self.apply(self.preview(*hunks, **given))

    def sent(self, method):
        """Return the parameters of the messages to the host with this method."""
        return [one["params"] for one in self.editor.lua("return _G.sent") if one["method"] == method]

    def marks(self):
        """All that is drawn in the file."""
        return self.editor.lua(
            """
            local found = 0
            for name, id in pairs(vim.api.nvim_get_namespaces()) do
              if name:match("^acp_nvim.preview") then
                found = found + #vim.api.nvim_buf_get_extmarks(..., id, 0, -1, {})
              end
            end
            return found
            """,
            self.bufnr,
        )

    def leave(self):
        """Goes to another buffer and back: keys that nothing needs any more are removed then."""
        self.editor.command("enew | buffer #")

    def mapped(self):
        """The keys of this buffer that are ours, with what they are for."""
        found = {}
        for mode in "nx":
            for one in self.editor.api("buf_get_keymap", 0, mode):
                if one.get("desc", "").startswith("acp: "):
                    found[one["lhs"]] = one["desc"]
        return found

    def line(self):
        """Return the line of the cursor."""
        return self.editor.lua("return vim.fn.line('.')")

    def chat_lines(self):
        """Return the lines of the chat."""
        bufnr = self.editor.lua("return require('acp_nvim.host.sessions').get(...).bufnr", self.key)
        return self.editor.api("buf_get_lines", bufnr, 0, -1, True)

    def to_chat(self):
        """Go to the window of the chat."""
        self.editor.lua(
            """
            local bufnr = require('acp_nvim.host.sessions').get(...).bufnr
            vim.api.nvim_set_current_win(vim.fn.win_findbuf(bufnr)[1])
            """,
            self.key,
        )


@pytest.fixture
def file(editor):
    """A file in a Neovim without a screen."""
    return Asked(editor)


def seen(screen, columns=110, rows=30, **given):
    return Asked(coloured(screen(columns=columns, rows=rows)), **given)


def order(file, *texts):
    """They stand one below the other, at the left edge, nothing between them."""

    def is_so():
        rows = [row[:60].rstrip(" │") for row in file.editor.rows()]
        return any(
            all(row.startswith(text) for text, row in zip(texts, rows[start:], strict=False))
            for start in range(len(rows) - len(texts) + 1)
        )

    file.editor.wait_until(is_so, what=f"{texts} one below the other")


# --- what is seen ----------------------------------------------------------------------------------------------------


def test_lines_that_would_go_and_lines_that_would_come(screen):
    file = seen(screen)
    file.tell((1, 2, ["line zwei", "new"]), (6, 0, ["between"]))
    order(file, "line 1", "demo asks · ghk Allow once", "line 2", "line 3", "line zwei", "new", "line 4")
    order(file, "line 6", "between", "line 7")
    is_on(file, "line 3", "AcpPreviewDelete")
    is_on(file, "line 3", "AcpPreviewDelete", 40)
    is_on(file, "between", "AcpPreviewAdd")
    is_on(file, "between", "AcpPreviewAdd", 40)
    is_on(file, "line 4", None)
    assert file.editor.buffer_text(file.bufnr) == "\n".join(f"line {number}" for number in range(1, 13))


def test_changed_words(screen):
    file = seen(screen)
    file.tell((1, 1, ["line zwei"]))
    is_on(file, "line zwei", "AcpPreviewAddText", 5)
    is_on(file, "line zwei", "AcpPreviewAdd")
    is_on(file, "line 2", "AcpPreviewDeleteText", 5)
    is_on(file, "line 2", "AcpPreviewDelete")


def test_new_lines_have_the_colours_of_the_file(screen):
    file = seen(screen, name="file.lua")
    file.editor.command("syntax on | highlight String guifg=#00ff01 | highlight Statement guifg=#ff0001")
    file.editor.lua("vim.treesitter.stop() vim.bo.syntax = 'lua'")
    file.editor.lua("vim.api.nvim_set_hl(0, '@string.lua', { fg = '#00ff01' })")
    file.tell((1, 0, ['print("new")']))
    row, column = file.editor.wait_for('print("new")')
    file.editor.wait_until(lambda: file.editor.cell(row, column + 7).fg == "00ff01", what="the string's colour")
    assert file.editor.cell(row, column + 7).bg == COLOURS["AcpPreviewAdd"]


@pytest.mark.parametrize(
    ("hunk", "shown"),
    [
        ((0, 0, ["zero"]), ["demo asks", "zero", "line 1"]),
        ((0, 1, ["eins"]), ["demo asks", "line 1", "eins", "line 2"]),
        ((12, 0, ["end"]), ["line 12", "demo asks", "end", "~"]),
        ((11, 1, []), ["line 11", "demo asks", "line 12", "~"]),
    ],
    ids=["above the first", "the first", "after the last", "the last"],
)
def test_at_the_edges_of_the_file(screen, hunk, shown):
    file = seen(screen)
    file.tell(hunk)
    order(file, *shown)


@pytest.mark.parametrize("first", [0, 4], ids=["first line", "first visible line"])
def test_no_empty_rows_are_left_above_the_window_when_it_is_answered(screen, first):
    file = seen(screen, lines=50)
    file.editor.type("\x05" * first)
    file.editor.wait_until(lambda: file.editor.rows()[0].startswith(f"line {first + 1} "), what="the file")
    file.tell((first, 1, ["new"]))
    file.editor.type("\x19" if first else "")
    file.editor.wait_until(lambda: file.editor.rows()[0].startswith("demo asks"), what="the preview above the line")
    file.to_chat()  # Neovim itself adjusts only the current window
    file.apply(done(file.key, option_id="x3", name="Reject once"))
    file.editor.wait_until(lambda: not file.editor.find("new"), what="the preview to be gone")
    assert file.editor.rows()[0].startswith(f"line {first + 1} ")


def test_new_lines_follow_the_tabstop(screen):
    file = seen(screen)
    file.editor.command("setlocal tabstop=8")
    file.tell((1, 0, ["\tnew"]))
    order(file, "        new", "line 2")
    file.editor.command("setlocal tabstop=2")
    order(file, "  new", "line 2")


def test_many_new_lines_are_counted(screen):
    file = seen(screen)
    file.tell((0, 0, [f"new {number}" for number in range(500)]))
    file.editor.wait_for("more new lines")
    assert file.editor.find("demo asks")
    assert file.editor.find("line 1")


def test_of_thousands_of_hunks_those_in_sight_get_their_words(screen):
    file = seen(screen, lines=9000)
    file.tell(*((row, 1, [f"line {row + 1} new"]) for row in range(0, 9000, 3)))
    file.editor.type("4500G")
    is_on(file, "line 4501 new", "AcpPreviewAddText", 10)
    is_on(file, "line 4501 new", "AcpPreviewAdd")


def test_the_line_above_says_which_file_of_several_it_is(screen):
    file = seen(screen)
    file.tell((1, 1, ["zwei"]))
    file.editor.wait_for("demo asks · ghk")
    file.tell((0, 0, ["a"]), path=file.path.with_name("new"), operation="add", exists=False)
    file.editor.wait_for("demo asks (file 1 of 2) · ghk")


def test_what_no_line_shows_is_said_above_the_file(screen):
    file = seen(screen)
    file.tell(note="what the agent shows of it cannot be found in the file")
    order(file, "demo asks (what the agent shows of it cannot be found", "line 1")


def test_deletion_and_renaming_are_said(screen):
    file = seen(screen)
    file.tell((0, 12, []), operation="delete")
    order(file, "demo asks (would be deleted)", "line 1")
    is_on(file, "line 12", "AcpPreviewDelete")
    file.tell(operation="none")
    file.tell(operation="move", path=file.path.with_name("new.txt"), old_path=str(file.path))
    order(file, "demo asks (would be moved to new.txt)", "line 1")
    is_on(file, "line 12", None)


def test_it_goes_from_the_screen_with_the_request(screen):
    file = seen(screen)
    file.tell((1, 1, ["line zwei"]))
    file.editor.wait_for("line zwei")
    file.apply(done(file.key, option_id=None))
    order(file, "line 1", "line 2", "line 3")
    is_on(file, "line 2", None)
    assert not file.editor.find("zwei")
    assert not file.editor.find("asks")


def test_a_narrow_window_shows_the_keys_before_the_title(screen):
    file = seen(screen, columns=90)
    file.tell((1, 1, ["line zwei"]))
    order(file, "line 1", "demo asks · ghk Allow once · ghr Reject once")


# --- where it belongs ------------------------------------------------------------------------------------------------


def test_it_moves_with_the_user_s_edits(file):
    file.tell((4, 1, ["fünf"]))
    file.editor.api("buf_set_lines", file.bufnr, 0, 0, True, ["a", "b"])
    file.editor.keys("gg]h")
    assert file.line() == 7


def test_rows_of_another_text_are_not_drawn_but_asked_for_once(file):
    old = file.preview((4, 1, ["fünf"]))
    file.editor.api("buf_set_lines", file.bufnr, 0, 0, True, ["a"])
    file.apply(old, old)
    assert file.marks() == 0
    assert file.sent("preview_open") == [{"path": str(file.path)}]
    file.tell((5, 1, ["fünf"]))
    file.editor.keys("gg]h")
    assert file.line() == 6


def test_a_file_that_is_opened_later_is_asked_for(editor):
    file = Asked(editor, is_open=False)
    file.tell((4, 1, ["fünf"]))
    assert file.sent("preview_open") == []
    editor.command(f"edit {file.path}")
    file.bufnr = editor.api("get_current_buf")
    editor.wait_until(lambda: file.sent("preview_open"), what="the question to the host")
    assert file.sent("preview_open") == [{"path": str(file.path)}]
    file.tell((4, 1, ["fünf"]))
    assert file.marks() > 0
    assert "ghk" in file.mapped()


def test_a_large_change_is_asked_for_when_somebody_wants_to_see_it(file):
    file.apply({**file.preview(), "hunks": [], "large": True})
    assert (file.sent("preview_open"), file.marks()) == ([], 0), "its file is open, that is all"
    file.editor.lua('require("acp_nvim.review.previews.view").open(7)')
    assert file.sent("preview_open") == [{"path": str(file.path)}]
    file.tell((4, 1, ["fünf"]))
    assert (file.line(), file.marks() > 0) == (5, True)


def test_reading_the_file_again_asks_again(file):
    file.tell((4, 1, ["fünf"]))
    file.editor.command("edit!")
    file.editor.wait_until(lambda: file.sent("preview_open"), what="the question to the host")
    assert file.sent("preview_open") == [{"path": str(file.path)}]
    assert file.marks() == 0
    file.tell((4, 1, ["fünf"]))
    assert file.marks() > 0
    assert "ghk" in file.mapped()


def test_what_is_told_again_takes_the_place_of_what_was(file):
    file.tell((4, 1, ["fünf"]))
    before = file.marks()
    file.tell((4, 1, ["fünf"]), (6, 1, ["sieben"]))
    assert file.marks() > before
    file.tell((4, 1, ["fünf"]))
    assert file.marks() == before
    file.tell(operation="none")
    assert file.marks() == 0


# --- keys ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pressed", "chosen"), [("ghk", "x1"), ("ghr", "x3")])
def test_it_is_answered_in_the_file(file, pressed, chosen):
    file.tell((1, 1, ["zwei"]))
    file.editor.keys(pressed)
    assert file.sent("answer") == [{"id": 7, "option_id": chosen}]
    assert file.marks() == 0
    before = file.editor.buffer_text()
    file.editor.keys(pressed)  # once more: without its mapping it replaces a character
    assert len(file.sent("answer")) == 1
    assert (file.editor.buffer_text(), file.editor.api("get_mode")["mode"]) == (before, "n")
    assert "nothing is asked about this file any more" in file.editor.message()
    file.leave()
    assert file.mapped() == {}


def test_all_options_can_be_chosen(file):
    file.editor.lua("vim.ui.select = function(items, opts, on) _G.asked = { items, opts.prompt } on(items[5]) end")
    file.tell((1, 1, ["zwei"]))
    file.editor.keys("gho")
    items, title = file.editor.lua("return _G.asked")
    assert ([one["option_id"] for one in items], title) == (["x1", "x2", "x3", "x4", "x5"], "Edit main.py")
    assert file.sent("answer") == [{"id": 7, "option_id": "x5"}]


def test_a_key_without_its_option_asks_which(editor):
    file = Asked(editor)
    file.apply(asked(file.key, options=OPTIONS[1:2]))
    editor.lua("vim.ui.select = function(items) _G.asked = #items end")
    file.tell((1, 1, ["zwei"]))
    editor.keys("ghk")
    assert editor.lua("return _G.asked") == 1
    assert file.sent("answer") == []


def test_nobody_answers_what_is_out_of_sight(editor):
    file = Asked(editor, lines=300)
    file.tell((250, 1, ["x"]))
    editor.keys("ghk")
    assert (file.sent("answer"), file.line()) == ([], 251)
    editor.keys("ghk")
    assert file.sent("answer") == [{"id": 7, "option_id": "x1"}]


def test_the_key_is_about_the_request_under_the_cursor(file):
    file.apply(asked(file.key, 2, 8))
    file.tell((1, 1, ["zwei"]))
    file.tell((5, 1, ["sechs"]), number=8)
    file.editor.keys("6Gghr")
    assert file.sent("answer") == [{"id": 8, "option_id": "x3"}]
    file.editor.keys("ghk")
    assert file.sent("answer")[1:] == [{"id": 7, "option_id": "x1"}]


def test_from_hunk_to_hunk(file):
    file.tell((1, 1, ["zwei"]), (5, 0, ["new"]), (8, 1, []))
    lines = []
    for keys in ("gg]h", "]h", "]h", "[h", "gg2]h", "]h]h"):
        file.editor.keys(keys)
        lines.append(file.line())
    assert lines == [2, 6, 9, 6, 6, 2]
    assert "last change" in file.editor.message()


def test_a_hunk_behind_the_last_line_is_not_the_next_one_for_ever(file):
    file.tell((1, 1, ["zwei"]), (12, 0, ["end"]))
    lines = []
    for keys in ("gg]h", "]h", "]h"):
        file.editor.keys(keys)
        lines.append(file.line())
    assert lines == [2, 12, 2]
    assert "last change" in file.editor.message()


def test_from_file_to_file(file):
    other = file.path.with_name("other.txt")
    other.write_text("a\nb\nc\n")
    file.editor.command(f"badd {other}")
    file.tell((1, 1, ["zwei"]))
    file.tell((2, 1, ["d"]), path=other)
    file.editor.keys("gg]h]h")
    assert file.editor.lua("return vim.fn.expand('%:t')") == "other.txt"
    assert file.sent("preview_open") == [{"path": str(other)}]
    file.tell((2, 1, ["d"]), path=other)
    assert file.line() == 3
    file.editor.keys("[h")
    assert (file.editor.lua("return vim.fn.expand('%:t')"), file.line()) == ("file.txt", 2)


def test_the_user_s_own_keys_come_back(file):
    file.editor.command("nnoremap <buffer> ghk :let g:mine = 1<CR>")
    file.tell((1, 1, ["zwei"]))
    assert set(file.mapped()) == {"ghk", "ghr", "gho", "ghn", "]h", "ghp", "[h", "g?"}
    file.apply({"type": "preview_done", "session": file.key, "request": 7})
    file.leave()
    file.editor.keys("ghk")
    assert file.editor.lua("return vim.g.mine") == 1
    assert file.mapped() == {}


def test_the_review_has_its_keys_again_afterwards(file):
    review = {
        "type": "review", "path": str(file.path), "operation": "modify", "sessions": [1], "added": 1, "removed": 0,
        "state": file.editor.lua(STATE, str(file.path)), "hunks": [{"id": 1, "first": 9, "count": 1, "old": []}],
    }  # fmt: skip
    file.apply(review)
    file.editor.wait_until(lambda: file.mapped().get("ghk") == "acp: review keep", what="the review's keys")
    file.tell((1, 1, ["zwei"]))
    assert file.mapped()["ghk"] == "acp: preview allow"
    assert "ghK" not in file.mapped()
    file.apply({**review, "added": 2})
    assert file.mapped()["ghk"] == "acp: preview allow"
    file.editor.keys("ghk")
    assert (len(file.sent("answer")), file.sent("review")) == (1, [])
    assert file.mapped()["ghk"] == "acp: review keep"


def test_a_review_that_ends_meanwhile_takes_no_key_away(file):
    review = {
        "type": "review",
        "path": str(file.path),
        "operation": "modify",
        "sessions": [1],
        "added": 1,
        "removed": 0,
    }
    file.apply(review)
    file.tell((1, 1, ["zwei"]))
    file.apply({**review, "operation": "none"})
    file.editor.keys("ghr")
    assert file.sent("answer") == [{"id": 7, "option_id": "x3"}]
    file.leave()
    assert file.mapped() == {}


def test_the_help_lists_the_keys_of_the_preview(screen):
    file = seen(screen)
    file.tell((1, 1, ["zwei"]))
    file.editor.type("g?")
    file.editor.wait_for("Keys of the preview")
    assert file.editor.find("ghr     Files with a preview: reject once")
    assert not file.editor.find("Files under review")
    file.editor.type("\r")


def test_other_keys_and_no_key(editor):
    editor.lua(
        'require("acp_nvim").setup({ keymaps = { preview_allow = "gy", preview_reject = false, preview = "P" } })'
    )
    file = Asked(editor)
    file.tell((1, 1, ["zwei"]))
    assert set(file.mapped()) == {"gy", "gho", "ghn", "]h", "ghp", "[h", "g?"}
    assert "Permission needed  edit  Edit main.py  P preview" in file.chat_lines()
    editor.keys("gy")
    assert file.sent("answer") == [{"id": 7, "option_id": "x1"}]


# --- from the chat ---------------------------------------------------------------------------------------------------


def test_the_chat_leads_to_it(file):
    file.editor.command("enew")
    file.tell((4, 1, ["fünf"]))
    assert "Permission needed  edit  Edit main.py  p preview" in file.chat_lines()
    file.to_chat()
    file.editor.keys("p")
    assert (file.editor.api("get_current_buf"), file.line()) == (file.bufnr, 5)


def test_a_file_that_was_not_open_is_shown_at_its_first_hunk(editor):
    file = Asked(editor, lines=300, is_open=False)
    file.tell((250, 1, ["x"]))
    file.to_chat()
    editor.keys("p")
    assert editor.lua("return vim.fn.expand('%:t')") == "file.txt"
    file.tell((250, 1, ["x"]))
    assert file.line() == 251


def test_each_press_opens_the_next_file(file):
    other = file.path.with_name("other.txt")
    other.write_text("a\nb\nc\n")
    file.tell((1, 1, ["zwei"]))
    file.tell((2, 1, ["d"]), path=other)
    assert any(line.endswith("  p preview in 2 files") for line in file.chat_lines())
    names = []
    for _ in range(3):
        file.to_chat()
        file.editor.keys("p")
        names.append(file.editor.lua("return vim.fn.expand('%:t')"))
    assert names == ["file.txt", "other.txt", "file.txt"]


def test_without_a_preview_the_key_is_the_user_s(file):
    file.to_chat()
    assert "p" not in file.mapped()
    file.tell((1, 1, ["zwei"]))
    assert file.mapped()["p"] == "acp: preview"
    file.apply({"type": "preview_done", "session": file.key, "request": 7})
    assert "p" not in file.mapped()
    assert not any("preview" in line for line in file.chat_lines())


def test_the_command_goes_there_when_there_is_nothing_to_review(file):
    file.editor.command("enew")
    file.tell((4, 1, ["fünf"]))
    file.editor.command("AcpReview")
    assert (file.editor.api("get_current_buf"), file.line()) == (file.bufnr, 5)


# --- a file that is not there ----------------------------------------------------------------------------------------


def test_a_new_file_is_shown_in_a_buffer_of_its_own(screen):
    file = seen(screen)
    new = file.path.with_name("new.lua")
    file.tell((0, 0, ["return {", "}"]), path=new, operation="add", exists=False)
    file.to_chat()
    file.editor.type("p")
    order(file, "demo asks · ghk Allow once", "return {", "}", "~")
    is_on(file, "return {", "AcpPreviewAdd")
    is_on(file, "}", "AcpPreviewAdd")
    bufnr = file.editor.api("get_current_buf")
    assert file.editor.lua("return vim.fn.bufname()") == f"acp://preview{new}"
    assert file.editor.lua("return { vim.bo.buftype, vim.bo.modifiable, vim.bo.modified }") == ["nofile", False, False]
    assert not new.exists()
    file.editor.type("ghk")
    file.editor.wait_until(lambda: file.sent("answer") == [{"id": 7, "option_id": "x1"}], what="the answer")
    order(file, "return {", "}", "~")  # until the agent has made the file
    new.write_text("return {\n}\n")
    file.apply(done(file.key), review(new, "add"))
    file.editor.wait_until(lambda: file.editor.lua("return vim.fn.expand('%:p')") == str(new), what="the file")
    assert not file.editor.lua("return vim.api.nvim_buf_is_valid(...)", bufnr)


def test_what_is_told_again_of_a_new_file_is_shown(file):
    new = file.path.with_name("new.txt")
    told = {"path": new, "operation": "add", "exists": False}
    file.tell((0, 0, ["a"]), **told)
    file.to_chat()
    file.editor.keys("p")
    bufnr = file.editor.api("get_current_buf")
    file.tell((0, 0, ["b", "c"]), **told)
    assert file.editor.buffer_text(bufnr) == "b\nc"
    assert file.mapped()["ghk"] == "acp: preview allow"
    file.apply(done(file.key, option_id=None))
    assert not file.editor.lua("return vim.api.nvim_buf_is_valid(...)", bufnr)
    assert file.editor.api("get_current_buf") == file.bufnr


def test_new_files_share_a_window_and_it_goes_with_them(editor):
    editor.command("AcpChat")
    file = Asked(editor)
    file.to_chat()
    editor.command("only")
    for name in ("a", "b"):
        file.tell((0, 0, [name]), path=file.path.with_name(name), operation="add", exists=False)
    editor.keys("p")
    count = editor.lua("return #vim.api.nvim_tabpage_list_wins(0)")
    assert count == 2
    file.to_chat()
    editor.keys("p")
    assert editor.buffer_text(editor.api("get_current_buf")) == "b"
    assert editor.lua("return #vim.api.nvim_tabpage_list_wins(0)") == 2
    editor.keys("ghr")
    assert editor.lua("return #vim.api.nvim_tabpage_list_wins(0)") == 1
    names = editor.lua("return vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())")
    assert not any("acp://preview" in name for name in names)


def test_a_new_file_without_lines_is_told_of(file):
    file.tell(path=file.path.with_name("new"), operation="add", exists=False, note="there is no such file")
    file.to_chat()
    file.editor.keys("p")
    assert "new: there is no such file" in file.editor.message()


# --- the end ---------------------------------------------------------------------------------------------------------


def test_news_of_what_is_over_are_passed_over(file):
    file.editor.keys(":lua require('acp_nvim').answer(7, 'x1')<CR>")
    file.tell((1, 1, ["zwei"]))
    assert file.marks() == 0
    file.apply(done(file.key))
    file.tell((1, 1, ["zwei"]))
    file.leave()
    assert (file.marks(), file.mapped()) == (0, {})
    assert file.editor.messages() == []


def test_a_request_that_nobody_waits_for_any_more_has_none(file):
    file.tell((1, 1, ["zwei"]))
    file.editor.lua("require('acp_nvim.permission').abandon(require('acp_nvim.host.sessions').get(...))", file.key)
    file.leave()
    assert (file.marks(), file.mapped()) == (0, {})


def test_after_all_of_it_nothing_listens(file):
    file.tell((1, 1, ["zwei"]))
    listening = "return #vim.api.nvim_get_autocmds({ group = 'acp_nvim.preview' })"
    assert file.editor.lua(listening) > 0
    file.apply(done(file.key))
    assert file.editor.lua(listening) == 0
