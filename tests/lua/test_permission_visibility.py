"""A key allows only what has been on the screen: what was not is shown first. What rejects acts at once."""

from __future__ import annotations

import re

import pytest

from tests.lua.conftest import RECORD
from tests.lua.test_chat import call
from tests.lua.test_permissions import OPTIONS, asked, done
from tests.lua.test_screen import append, apply

SCRIPT = "$ " + "\n".join(f"echo step {number}" for number in range(1, 52)) + "\nrm -rf ~"
REST = "Not all of it has been on the screen"
LATER = """_G.later = false
vim.defer_fn(function() _G.later = true end, require("acp_nvim.limits").seen_ms + 100)"""
PAGE_COUNTS = """local id = require("acp_nvim").permissions()[1].id
return (require("acp_nvim.permission.visibility").first_missing(id, "reader") or math.huge) > vim.fn.line("w$")"""
"""Whether all lines up to the end of the page have been on the screen for long enough."""
SEEN_MS = 'require("acp_nvim.limits").seen_ms = ...'
LINE = 'return { require("acp_nvim.render.reveal").line(...) }'
MARKS = """local marks = vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace("acp_nvim.looks"), 0, -1,
  { details = true })
return vim.iter(marks):filter(function(mark) return mark[4].virt_text_pos == "inline" end)
  :map(function(mark) return mark[2] end):totable()"""


def start(screen, columns=120, rows=40, position="right"):
    """A screen with the focus in a chat, in Normal mode."""
    editor = screen(columns=columns, rows=rows)
    editor.lua(RECORD.replace("vim.o.columns, vim.o.lines = 120, 40", ""))
    editor.lua('require("acp_nvim").setup({ ui = { position = ... } })', position)
    editor.command("AcpChat")
    editor.command("stopinsert")
    editor.lua('vim.api.nvim_set_current_win(vim.fn.win_findbuf(require("acp_nvim.host.sessions").get(1).bufnr)[1])')
    return editor


def large(number=7, **more):
    """A request that is longer than the chat; the end of it is in sight."""
    given = {"content": [{"type": "text", "text": SCRIPT}], "title": "Build it"}
    return asked(1, 1, number, **{**given, **more})


def ask(editor, *events):
    apply(editor, *events)
    editor.wait_for("✓ a Allow once")


def answers(editor):
    sent = editor.lua("return vim.iter(_G.sent):filter(function(m) return m.method == 'answer' end):totable()")
    return [one["params"]["option_id"] for one in sent]


def answered(editor, *options):
    editor.wait_until(lambda: answers(editor) == list(options), what=f"the answer {options}")


def stays(editor):
    """Waits until all that keys have put off is done, and what is on the screen counts as seen."""
    editor.lua(LATER)
    editor.wait_until("_G.later", what="a moment later")


def page_through(editor, key="a"):
    """From the first page on: each press shows the next one, and answers nothing; the last one allows."""
    _, pages = wait_for_page(editor, 1)
    assert pages > 1
    for page in range(2, pages + 1):
        editor.wait_for(f"press {key} again to see the rest ({page}/{pages})")
        assert answers(editor) == []
        stays(editor)
        editor.wait_until(PAGE_COUNTS, what="the page to count as seen")
        editor.type(key)
        wait_for_page(editor, page)
    editor.wait_for(f"press {key} to allow")
    assert answers(editor) == []
    editor.type(key)


def wait_for_page(editor, page):
    """Waits for this page of the reader, or any; which one it is, and of how many."""
    shape = re.compile(rf"demo asks · ({page or r'[0-9]+'})/([0-9]+)")
    found = editor.wait_until(lambda: shape.search(editor.screen_text()), what=f"page {page} of the request")
    return int(found[1]), int(found[2])


# --- what was not seen -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("columns", "rows", "position"), [(120, 40, "right"), (80, 24, "bottom")])
def test_a_long_request_is_shown_page_by_page_before_it_is_allowed(screen, columns, rows, position):
    editor = start(screen, columns, rows, position)
    chat = editor.api("get_current_win")
    ask(editor, large())
    assert not editor.find("Permission needed")
    editor.type("a")
    editor.wait_for("Permission needed  edit  Build it")
    editor.wait_for("$ echo step 1⏎")
    page_through(editor)
    answered(editor, "x1")
    assert editor.api("get_current_win") == chat
    assert editor.messages() == []


def test_it_is_read_and_allowed_though_the_screen_is_drawn_while_its_window_opens(screen):
    editor = start(screen)
    ask(editor, large())
    editor.lua("vim.api.nvim_create_autocmd('WinEnter', { command = 'redraw' })")
    editor.type("a")
    page_through(editor)
    answered(editor, "x1")


HALF_SEEN = """
local real, looked = vim.fn.getwininfo, {}
vim.fn.getwininfo = function(win)
  local info = real(win)
  local is_look = win and debug.getinfo(2, "S").source:find("visible_rows", 1, true)
  if is_look and looked[win] ~= info[1].topline then
    looked[win] = info[1].topline
    info[1].botline = info[1].topline
  end
  return info
end
"""
"""While a window is drawn for the first time, or has scrolled, only its first line is known to be in it."""


def test_it_is_read_and_allowed_though_little_is_known_while_windows_are_drawn(screen):
    editor = start(screen)
    editor.lua(HALF_SEEN)
    ask(editor, large())
    editor.type("a")
    page_through(editor)
    answered(editor, "x1")


def test_only_the_title_was_out_of_sight(screen):
    editor = start(screen)
    height = editor.lua("return vim.fn.getwininfo(vim.api.nvim_get_current_win())[1].height")
    lines = "\n".join(f"line {number}" for number in range(height - 3))  # the options take three rows
    ask(editor, asked(1, content=[{"type": "text", "text": lines}]))
    assert editor.find("line 0")
    assert not editor.find("Permission needed")
    editor.type("a")
    editor.wait_for("Permission needed")
    assert answers(editor) == []
    editor.wait_for("All of it has been on the screen: press a to allow")
    editor.type("a")
    answered(editor, "x1")


def test_only_while_a_request_waits_the_screen_is_examined(screen):
    editor = start(screen)
    editor.lua("""_G.schedule, _G.count = vim.schedule, 0
vim.schedule = function(run)
  _G.count = _G.count + (debug.getinfo(2, "S").source:find("visibility", 1, true) and 1 or 0)
  _G.schedule(run)
end""")

    def examined():
        editor.lua("_G.count = 0; vim.cmd.redraw({ bang = true })")
        return editor.lua("return _G.count") > 0

    assert not examined()
    ask(editor, large())
    assert examined()
    apply(editor, done(1, 1, 7))
    editor.wait_until(lambda: not examined(), what="the examination to end")


@pytest.mark.parametrize("key", ["a", "A", "1", "2", "5", "\r"])
def test_no_key_allows_what_was_not_seen(screen, key):
    editor = start(screen)
    ask(editor, large())
    if key == "\r":
        editor.lua("vim.fn.search('Allow once', 'wb')")
    editor.type(key)
    editor.wait_for(REST)
    stays(editor)
    assert answers(editor) == []


@pytest.mark.parametrize(("key", "option"), [("r", "x3"), ("R", "x4"), ("3", "x3"), ("4", "x4"), ("\r", "x3")])
def test_what_rejects_acts_at_once(screen, key, option):
    editor = start(screen)
    ask(editor, large())
    if key == "\r":
        editor.lua("vim.fn.search('Reject once', 'wb')")
    editor.type(key)
    answered(editor, option)


def test_the_only_request_is_rejected_from_anywhere_in_the_chat(screen):
    editor = start(screen)
    ask(editor, large())
    apply(editor, append("words\n" * 100, 2))
    editor.keys("Gr")
    assert answers(editor) == ["x3"]


def test_it_is_rejected_where_it_is_read_and_left_without_an_answer(screen):
    editor = start(screen)
    chat = editor.api("get_current_win")
    ask(editor, large())
    editor.type("a")
    editor.wait_for(REST)
    editor.type("q")
    editor.wait_until(lambda: editor.api("get_current_win") == chat, what="the chat again")
    assert answers(editor) == []
    editor.type("a")
    editor.wait_for(REST)
    editor.type("r")
    answered(editor, "x3")
    assert editor.api("get_current_win") == chat


def test_the_reader_goes_when_the_request_is_over(screen):
    editor = start(screen)
    ask(editor, large())
    editor.type("a")
    editor.wait_for(REST)
    editor.command("wincmd p")
    apply(editor, done(1, option_id=None))
    editor.wait_until(lambda: not editor.find("demo asks"), what="no reader")


def test_the_reader_keeps_the_keys_of_its_user_when_the_request_is_over(screen):
    editor = start(screen)
    chat = editor.api("get_current_win")
    ask(editor, large(), asked(1, 2, 8))
    editor.lua("vim.api.nvim_win_set_cursor(0, { 3, 0 })")
    stays(editor)
    editor.type("a")
    editor.wait_for(REST)
    apply(editor, done(1, option_id=None))
    editor.keys("r")  # not the next request
    assert answers(editor) == []
    editor.wait_for("demo asked · q back")
    editor.wait_for("This request is over")
    editor.type("q")
    editor.wait_until(lambda: editor.api("get_current_win") == chat, what="the chat again")
    editor.wait_until(lambda: not editor.find("demo asked"), what="no reader")


# --- keys that nobody looks at ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["aa", "a" * 30, "a1a1", "2" * 9])
def test_keys_that_are_typed_ahead_neither_page_nor_answer(screen, keys):
    editor = start(screen, 120, 24)
    ask(editor, asked(1, content=[{"type": "text", "text": "\n".join(map(str, range(16)))}]))
    editor.keys(keys)
    stays(editor)
    assert editor.find("demo asks · 1/1")
    assert answers(editor) == []


@pytest.mark.parametrize("ways", ["nmap x aaaa", "let @q = 'aaaa' | nmap x @q", "nmap x :normal aaaa<CR>"])
def test_neither_do_mappings_and_macros(screen, ways):
    editor = start(screen, 120, 24)
    editor.command(ways)
    ask(editor, asked(1, content=[{"type": "text", "text": "\n".join(map(str, range(16)))}]))
    editor.type("x")
    editor.wait_for("demo asks · 1/1")
    stays(editor)
    assert answers(editor) == []


def test_a_key_that_is_held_down_does_not_answer(screen):
    editor = start(screen, 120, 24)
    editor.lua('require("acp_nvim.limits").seen_ms = 2000')  # longer than the pauses between these presses
    ask(editor, asked(1, content=[{"type": "text", "text": "\n".join(map(str, range(16)))}]))
    for _ in range(30):
        editor.keys("a")  # each is worked off, and its effect is drawn
    stays(editor)
    assert answers(editor) == []
    editor.type("a")
    answered(editor, "x1")


def test_the_key_that_went_to_a_request_does_not_allow_it_when_it_was_pressed_twice_at_once(screen):
    editor = start(screen)
    ask(editor, asked(1))
    apply(editor, append("words\n" * 100, 2))
    editor.keys("G")
    editor.keys("aa")
    assert answers(editor) == []
    editor.keys("a")
    assert answers(editor) == ["x1"]


def test_the_next_request_takes_one_press_to_go_there_and_one_to_allow(screen):
    editor = start(screen)
    ask(editor, asked(1, 1, 7), asked(1, 2, 8), asked(1, 3, 9))
    stays(editor)
    editor.keys("G")
    for number in range(1, 6):  # each second press only goes to the next one, which is in sight already
        editor.keys("a")
        stays(editor)
        assert len(answers(editor)) == (number + 1) // 2


# --- what was seen ---------------------------------------------------------------------------------------------------


def test_what_was_scrolled_through_is_allowed_at_once(screen):
    editor = start(screen)
    ask(editor, large())
    for key in ("\x02", "\x02"):
        stays(editor)
        editor.type(key)
    editor.wait_for("Permission needed")
    stays(editor)
    editor.type("a")
    answered(editor, "x1")


@pytest.mark.parametrize("old", ["", "old\n"])
def test_the_lines_of_a_change_need_not_all_have_been_seen_but_its_file(screen, old):
    editor = start(screen, 80, 24, "bottom")
    lines = "".join(f"line {number}\n" for number in range(58))
    ask(editor, asked(1, content=[{"type": "diff", "path": "/p/main.py", "old_text": old, "new_text": lines}]))
    assert not editor.find("Permission needed")
    editor.type("a")
    editor.wait_for(REST)
    editor.type("q")
    editor.wait_until(lambda: not editor.find("demo asks"), what="the end of the reader")
    assert answers(editor) == []
    for keys in ("gg", "G"):
        stays(editor)
        editor.type(keys)
        editor.wait_for("Permission needed" if keys == "gg" else "✓ a Allow once")
    assert not editor.find("line 20")
    stays(editor)
    editor.type("a")
    answered(editor, "x1")


def test_what_flew_past_was_not_seen(screen):
    editor = start(screen)
    editor.lua('require("acp_nvim.limits").seen_ms = 3600 * 1000')
    ask(editor, large())
    for keys in ("gg", "<C-d>", "<C-d>", "<C-d>", "G"):
        editor.keys(keys)
    editor.type("a")
    editor.wait_for(REST)
    assert answers(editor) == []


def test_a_larger_screen_shows_it_at_once(screen):
    editor = start(screen, 80, 24, "bottom")
    ask(editor, large(content=[{"type": "text", "text": SCRIPT[:200]}]))
    assert not editor.find("Permission needed")
    editor.resize(120, 70)
    editor.wait_until("vim.o.lines == 70", what="the new size")
    editor.command("resize 40")
    editor.keys("zb")
    editor.wait_for("Permission needed")
    editor.type("a")
    answered(editor, "x1")


def test_a_smaller_screen_while_it_is_read_begins_again(screen):
    editor = start(screen)
    ask(editor, large())
    counts = editor.lua("return require('acp_nvim.limits').seen_ms")
    editor.lua(SEEN_MS, 1_000_000)  # a slow editor would count the first page as seen before it is smaller
    editor.type("a")
    before = wait_for_page(editor, 1)
    editor.resize(60, 20)
    editor.wait_until(lambda: wait_for_page(editor, None) > before, what="more pages")
    editor.lua(SEEN_MS, counts)
    page_through(editor)
    answered(editor, "x1")


@pytest.mark.parametrize("what", ["command", "options"])
def test_another_request_under_the_same_number_was_not_seen(screen, what):
    editor = start(screen, 120, 80)
    ask(editor, large())
    editor.wait_for("Permission needed")
    stays(editor)
    changed = {"content": [{"type": "text", "text": SCRIPT.replace("step 3", "step 3; rm x")}]}
    if what == "options":
        changed = {"options": [{**OPTIONS[0], "option_id": "x9"}, *OPTIONS[1:]]}
    editor.resize(120, 30)
    editor.wait_until("vim.o.lines == 30", what="the new size")
    apply(editor, large(**changed))
    editor.keys("G")
    editor.type("a")
    editor.wait_for(REST)
    assert answers(editor) == []


def test_a_request_that_is_told_again_is_still_seen(screen):
    editor = start(screen, 120, 80)
    ask(editor, large())
    editor.wait_for("Permission needed")
    stays(editor)
    editor.resize(120, 30)
    editor.wait_until("vim.o.lines == 30", what="the new size")
    apply(editor, {"type": "reset", "session": 1}, large())
    editor.keys("G")
    editor.type("a")
    answered(editor, "x1")


# --- what hides a row ------------------------------------------------------------------------------------------------


HIDE = {
    "a fold": "vim.cmd('2,3fold') vim.cmd('normal! G')",
    "a float": """vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false,
      { relative = "win", win = 0, row = 0, col = 0, width = 30, height = 3, style = "minimal" })""",
    "the edge": "vim.wo.wrap = false",
    "scrolling to the right": "vim.wo.wrap = false vim.fn.winrestview({ leftcol = 10 })",
}


@pytest.mark.parametrize("way", HIDE)
def test_a_row_that_is_hidden_was_not_seen(screen, way):
    editor = start(screen)
    title = "x" * (10 if way != "the edge" else 70)
    editor.lua(f"require('acp_nvim.events').apply(...) {HIDE[way]}", [asked(1, title=title)])  # before it is drawn
    editor.wait_until(lambda: editor.find("Reject") or editor.find("ct once"), what="the request")
    editor.type("a")
    editor.wait_until(lambda: editor.find("demo asks · 1/1"), what="the reader")
    assert answers(editor) == []


def test_what_covers_no_text_hides_nothing(screen):
    editor = start(screen)
    editor.lua(
        """require('acp_nvim.events').apply(...)
      vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false,
        { relative = "editor", row = 0, col = 118, width = 2, height = 9, style = "minimal" })""",
        [asked(1)],
    )
    editor.wait_for("Reject")
    editor.type("a")
    answered(editor, "x1")


def test_a_last_line_that_is_cut_was_not_seen(screen):
    editor = start(screen, 80, 24, "bottom")
    editor.lua('require("acp_nvim.limits").seen_ms = 3600 * 1000')  # only what is there at once
    editor.command("resize 10")
    apply(editor, asked(1, options=[*OPTIONS[:4], {**OPTIONS[4], "name": "x" * 1400}]))
    editor.wait_for("xxx")
    editor.keys("gg")
    editor.wait_for("Permission needed")
    assert editor.find("@@@")
    editor.type("a")
    wait_for_page(editor, 1)
    assert answers(editor) == []


def test_a_timer_that_is_early_does_not_leave_old_words(screen):
    """Neovim counts the time of a timer from when its loop last looked at the clock, on a busy machine long ago."""
    editor = start(screen)
    editor.lua("""
      local later = vim.defer_fn
      vim.defer_fn = function(act, ms)
        return later(act, math.max(1, ms - 100))
      end""")
    ask(editor, large())
    editor.type("a")
    page_through(editor)
    answered(editor, "x1")


def test_in_a_chat_of_three_rows(screen):
    editor = start(screen, 80, 24, "bottom")
    editor.command("resize 3")
    apply(editor, asked(1, content=[{"type": "text", "text": "\n".join("abcdefg")}]))
    editor.wait_for("Ask")
    editor.type("a")
    editor.wait_for("All of it has been on the screen: press a to allow")
    assert answers(editor) == []
    editor.type("a")
    answered(editor, "x1")


@pytest.mark.parametrize(("columns", "rows"), [(30, 9), (30, 14), (200, 60)])
def test_it_can_be_read_and_allowed_on_any_screen(screen, columns, rows):
    editor = start(screen, 100, 30, "tab")
    ask(editor, large(content=[{"type": "text", "text": "$ " + "echo\n" * 30 + "漢字" * 40 + "\tx" * 30}]))
    editor.resize(columns, rows)
    editor.wait_until(f"vim.o.lines == {rows}", what="the new size")
    for _ in range(60):
        stays(editor)
        editor.type("a")
        stays(editor)
        if answers(editor):
            break
    assert answers(editor) == ["x1"]
    assert editor.printed() == ""


# --- other ways to allow ---------------------------------------------------------------------------------------------


def test_a_list_of_options_does_not_allow_what_was_not_seen(screen):
    editor = start(screen)
    editor.lua("vim.ui.select = function(items, _, on) on(items[_G.pick]) end _G.pick = 1")
    ask(editor, large())
    editor.command("AcpPermissions")
    editor.wait_for(REST)
    page_through(editor)
    answered(editor, "x1")
    apply(editor, done(1), large(8))
    editor.lua("_G.pick = 3")
    editor.command("AcpPermissions")
    answered(editor, "x1", "x3")


def test_the_keys_in_the_float_show_the_rest(screen):
    editor = start(screen, 100, 24)
    editor.lua('require("acp_nvim.limits").answer_pause_ms = 0')
    editor.command("tabnew")
    apply(editor, large())
    editor.wait_for("more rows")
    editor.lua('require("acp_nvim.commands.permission").focus()')
    editor.wait_for("demo asks")
    editor.type("a")
    page_through(editor)
    answered(editor, "x1")


@pytest.mark.parametrize("before", [(), (asked(1, 1, 7), done(1, option_id=None))], ids=["new", "in its place"])
def test_a_request_that_has_only_just_come_is_not_allowed(screen, before):
    """Whoever presses a key at that moment meant another one, or something else."""
    editor = start(screen)
    apply(editor, *before)
    editor.lua('require("acp_nvim.limits").answer_pause_ms = 3600 * 1000')
    ask(editor, asked(1, 2, 8, title="rm -rf ~"))
    editor.type("a1")
    editor.wait_for("press the key again")
    assert answers(editor) == []
    editor.lua('require("acp_nvim.limits").answer_pause_ms = 0')
    editor.type("a")
    answered(editor, "x1")


def test_one_that_takes_the_place_of_another_is_not_allowed(screen):
    editor = start(screen)
    apply(editor, asked(1, 1, 7), asked(1, 2, 8, title="rm -rf ~"))
    editor.wait_for("rm -rf ~")
    editor.lua('require("acp_nvim.limits").answer_pause_ms = 3600 * 1000')
    editor.lua("local now = vim.uv.hrtime vim.uv.hrtime = function() return now() + 7200 * 1e9 end")  # both are old
    apply(editor, done(1, option_id=None))
    editor.type("ggaa")
    editor.wait_for("press the key again")
    editor.type("r")
    answered(editor, "x3")


def test_a_request_with_a_preview_is_seen_at_once(screen):
    editor = start(screen)
    editor.lua('require("acp_nvim.limits").seen_ms = 3600 * 1000')
    path = editor.project.resolve() / "file.txt"
    path.write_text("one\ntwo\n")
    told = {"type": "preview", "session": 1, "request": 7, "path": str(path), "operation": "modify", "exists": True}
    apply(editor, asked(1), {**told, "hunks": [{"first": 0, "count": 1, "new": ["ONE"]}]})
    editor.wait_for("p preview")
    editor.type("a")
    answered(editor, "x1")


def test_the_keys_of_a_preview_do_not_allow_what_was_not_seen(screen):
    editor = start(screen)
    editor.lua('require("acp_nvim").setup({ permissions = { float = false } })')
    path = editor.project.resolve() / "file.txt"
    path.write_text("one\ntwo\n")
    editor.command(f"tabedit {path}")
    state = editor.lua("return require('acp_nvim.buffers.text').state(vim.fn.bufnr())")
    hunks = [{"first": 0, "count": 1, "new": ["ONE"]}]
    told = {"type": "preview", "session": 1, "request": 7, "path": str(path), "operation": "modify", "exists": True}
    apply(editor, large(), {**told, "hunks": hunks, "state": state})
    editor.wait_for("ghk Allow once")
    editor.type("ghk")
    editor.wait_for(REST)
    page_through(editor)
    answered(editor, "x1")


def test_scripts_answer_as_they_like(screen):
    editor = start(screen)
    ask(editor, large())
    assert editor.lua('return require("acp_nvim").answer(7, "x1")') is True
    assert answers(editor) == ["x1"]


# --- what belongs to it in the tool call above -----------------------------------------------------------------------


def test_what_the_tool_call_above_shows_belongs_to_the_request(screen):
    editor = start(screen, 120, 24)
    text = {"type": "text", "text": "\n".join(f"line {number}" for number in range(15))}
    ask(editor, call(1, 1, content=[text]), asked(1, 2, content=[text]))
    assert editor.find("Permission needed")
    assert not editor.find("line 0")
    editor.type("a")
    editor.wait_for("line 0")
    wait_for_page(editor, 1)
    assert answers(editor) == []


def test_what_the_tool_call_above_shows_no_more_is_shown_below(editor):
    key = editor.chat()
    text = {"type": "text", "text": "rm -rf ~"}
    editor.apply(call(key, 1, content=[text]), asked(key, 2, content=[text]))
    assert editor.lines(key).count("  rm -rf ~") == 1
    editor.apply(call(key, 1, content=[{"type": "text", "text": "ls"}]))
    editor.wait_until(lambda: "  rm -rf ~" in editor.lines(key), what="the command in the request")
    below = editor.lines(key)
    assert below.index("  rm -rf ~") > below.index("Permission needed  edit")


def test_the_same_lines_in_another_order_are_another_command(editor):
    key = editor.chat()
    editor.apply(
        call(key, 1, content=[{"type": "text", "text": "cd /tmp/x\nrm -rf *"}]),
        asked(key, 2, content=[{"type": "text", "text": "rm -rf *\ncd /tmp/x"}]),
    )
    lines = editor.lines(key)
    assert lines[lines.index("Permission needed  edit") + 1 :][:2] == ["  rm -rf *", "  cd /tmp/x"]


# --- how it looks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("npm test" + " " * 400 + "; rm -rf X", "npm test ··· 400 spaces ··· ; rm -rf X"),
        ("a" + "\t" * 12 + "b", "a ··· 12 tabs ··· b"),
        ("a" + " \t" * 3 + "b", "a ··· 3 spaces and 3 tabs ··· b"),
        ("a\tb   c", "a\tb   c"),
        ("    if x:", "    if x:"),
        (" " * 60 + "x", " ··· 60 spaces ··· x"),
        ("x" + " " * 30, "x ··· 30 spaces ··· "),
        ("a ··· 400 spaces ··· b", "a <00b7><00b7><00b7> 400 spaces <00b7><00b7><00b7> b"),
        ("a⏎", "a<23ce>"),
        ("a\u00a0b\u2003c\u3000d\u202fe", "a<00a0>b<2003>c<3000>d<202f>e"),
        ("a\u200bb\u202ec\rd\x1be", "a<200b>b<202e>c^Md^[e"),
        ("\x01<200b>\x02", "^A<200b>^B"),
    ],
)
def test_nothing_hides_in_a_line(editor, text, shown):
    line, spans = editor.lua(LINE, text)
    assert line == shown
    ours = [line.encode()[first:last].decode() for first, last in spans]
    assert all(one[:3] == "···" or one[0] in "<^" for one in ours)
    assert bool(ours) == (text.strip(" ") != shown.strip(" "))


def test_an_agent_cannot_write_our_words(editor):
    _, spans = editor.lua(LINE, "<200b> ^[ ... 400 spaces ...")
    assert spans == []
    line, spans = editor.lua(LINE, "<200b>\u200b")
    assert (line, spans) == ("<200b><200b>", [[6, 12]])


def test_a_command_shows_its_line_breaks_and_its_end(editor):
    key = editor.chat()
    editor.focus(editor.session(key, "bufnr"))
    long = "echo " + "x" * 300_000 + "; rm -rf ~"
    command = "ls\n\n\n\n\n" + long
    request = asked(key, title="make\nmake install")
    request["request"].update(command=command, cwd="/tmp")
    editor.apply(request)
    lines = editor.lines(key)[1:]
    assert lines[:4] == ["Permission needed  edit  make", "  make install", "┃ $ ls", "┃ ··· 4 empty lines ···"]
    assert lines[4].endswith("; rm -rf ~")
    assert "more bytes" in lines[4]
    assert lines[5] == "┃ in /tmp"
    assert editor.lua(MARKS) == [1, 3, 4]


def test_of_too_many_lines_the_middle_is_left_out(editor):
    key = editor.chat()
    editor.lua('require("acp_nvim.limits").request_lines = 20')
    text = "$ " + "\n".join(f"echo {number}" for number in range(60)) + "\nrm -rf ~"
    editor.apply(asked(key, content=[{"type": "text", "text": text}]))
    lines = editor.lines(key)
    assert "  … 41 more lines" in [f"  {line}" for line in lines]
    assert lines[lines.index("… 41 more lines") + 10] == "  rm -rf ~"


def test_every_path_is_listed_whatever_the_title_says(editor):
    key = editor.chat()
    request = asked(key, title="Edit main.py and /p/a")
    request["request"]["locations"] = [{"path": path} for path in ("/etc/main.py", "/p/a", "/p/ab")] + [
        {"path": f"/many/{number}"} for number in range(22)
    ]
    editor.apply(request)
    lines = editor.lines(key)[2:26]
    assert lines == ["  /etc/main.py", "  /p/ab", *(f"  /many/{number}" for number in range(22))]
