"""The float with permissions that no chat shows: what a person sees of it, and that it disturbs nobody who types."""

from __future__ import annotations

import pytest

from tests.lua.test_permissions import OPTIONS, asked, done
from tests.lua.test_screen import append, apply, opened

FLOATS = """return vim.iter(vim.api.nvim_list_wins()):filter(function(win)
  return vim.api.nvim_win_get_config(win).relative ~= ""
end):totable()"""
WHERE = """local c = vim.api.nvim_win_get_position(...)
local border = vim.api.nvim_win_get_config(...).border
border = border and border ~= "none" and 1 or 0
local w, h = vim.api.nvim_win_get_width(...), vim.api.nvim_win_get_height(...)
return { c[1], c[2], c[1] + h + 2 * border, c[2] + w + 2 * border }"""
STATE = """return { vim.api.nvim_get_mode().mode, vim.api.nvim_get_current_win(), vim.api.nvim_get_current_tabpage(),
  vim.api.nvim_win_get_cursor(0), vim.fn.getcmdtype(), vim.fn.getcmdline() }"""
NEWS = """_G.news = {}
for _, name in ipairs({ "WinNew", "WinEnter", "WinLeave", "BufNew", "BufEnter", "BufAdd", "FileType", "OptionSet",
  "ModeChanged", "BufWinEnter", "WinClosed", "BufHidden" }) do
  vim.api.nvim_create_autocmd(name, { callback = function(ev)
    if ev.match ~= "modifiable" then -- of the chat, when it gets text
      table.insert(_G.news, name .. " " .. ev.match)
    end
  end })
end"""


def hidden(screen, columns=100, rows=24):
    """A screen without the chat of its session."""
    editor = opened(screen, columns, rows)
    editor.lua('require("acp_nvim.limits").answer_pause_ms = 0')
    editor.command("tabonly | tabnew")
    return editor


def floats(editor):
    return editor.lua(FLOATS)


def shown(editor, text="Permission needed"):
    editor.wait_until(lambda: floats(editor), what="the float")
    return editor.wait_for(text)


def gone(editor):
    editor.wait_until(lambda: not floats(editor), what="no float")


def within(editor):
    (win,) = floats(editor)
    top, left, bottom, right = editor.lua(WHERE, win)
    assert min(top, left) >= 0, (top, left)
    assert bottom <= editor.lua("return vim.o.lines - vim.o.cmdheight"), (bottom, editor.screen_text())
    assert right <= editor.lua("return vim.o.columns"), (right, editor.screen_text())


def test_it_shows_the_oldest_in_full_and_counts_the_others(screen):
    editor = hidden(screen)
    apply(editor, asked(1, 1, 7, title="Run the build", command="rm -rf build\nmake"), asked(1, 2, 8), asked(1, 3, 9))
    shown(editor)
    for words in ("demo asks · 2 more wait", "edit  Run the build", "$ rm -rf build", "make", "✓ Allow once",
                  "? Ask", ":AcpPermissions"):  # fmt: skip
        editor.wait_for(words)
    within(editor)
    assert editor.messages() == []


def test_it_follows_what_waits(screen):
    editor = hidden(screen)
    apply(editor, asked(1, 1, 7, title="first"), asked(1, 2, 8, title="second"))
    shown(editor, "edit  first")
    editor.wait_for("demo asks · 1 more waits")
    apply(editor, done(1, 1, 7))
    shown(editor, "edit  second")
    editor.wait_until(lambda: not editor.find("more wait"), what="only one")
    apply(editor, done(1, 2, 8, None))
    gone(editor)


def test_it_is_there_where_the_chat_is_not(screen):
    editor = opened(screen)
    apply(editor, asked(1))
    editor.wait_for("Permission needed")
    assert floats(editor) == []
    editor.command("tabnew")
    shown(editor)
    (win,) = floats(editor)
    assert editor.lua("return vim.api.nvim_win_get_tabpage(...) == vim.api.nvim_get_current_tabpage()", win)
    editor.command("tabnew")
    editor.wait_until(lambda: floats(editor) and floats(editor) != [win], what="the float in the new tab")
    assert len(floats(editor)) == 1
    editor.command("tabfirst")
    gone(editor)
    editor.lua('local w = require("acp_nvim.chat.windows") w.close(require("acp_nvim.host.sessions").get(1))')
    shown(editor)
    editor.command("AcpChat")
    gone(editor)


def test_a_buffer_that_takes_the_place_of_the_chat_brings_it(screen):
    editor = opened(screen)
    apply(editor, asked(1))
    win = editor.lua('return vim.fn.win_findbuf(require("acp_nvim.host.sessions").get(1).bufnr)[1]')
    other = editor.lua("return vim.api.nvim_create_buf(true, false)")
    editor.lua("local win = ... vim.wo[win].winfixbuf = false vim.api.nvim_win_set_buf(...)", win, other)
    shown(editor)


def test_it_goes_with_the_agent_and_with_the_host(screen):
    editor = hidden(screen)
    apply(editor, asked(1))
    shown(editor)
    editor.lua("""local p, s = require("acp_nvim.permission"), require("acp_nvim.host.sessions")
      p.forget() p.abandon(s.get(1))""")
    gone(editor)
    apply(editor, asked(1, 2, 7, title="of the next host"))
    shown(editor, "of the next host")


def test_twenty_of_two_sessions_leave_in_any_order(screen):
    editor = hidden(screen)
    editor.command("AcpChat! demo")
    editor.command("tabonly | tabnew")
    numbers = list(range(1, 21))
    apply(editor, *(asked(1 + n % 2, n, n, title=f"number {n}.") for n in numbers))
    shown(editor, "number 1.")
    editor.wait_for("19 more wait")
    for number in [2, 1, 20, 3, 11, *[n for n in numbers if n not in (1, 2, 3, 11, 20)]]:
        numbers.remove(number)
        assert editor.lua('return require("acp_nvim").answer(...)', number, "x1") is True
        assert editor.lua('return require("acp_nvim").answer(...)', number, "x1") is False
        if numbers:
            shown(editor, f"number {numbers[0]}.")
    gone(editor)
    sent = editor.lua("return vim.iter(_G.sent):filter(function(m) return m.method == 'answer' end):totable()")
    assert sorted(one["params"]["id"] for one in sent) == list(range(1, 21))


@pytest.mark.parametrize(
    ("keys", "mode", "seen"),
    [
        ("ihello wor", "i", "hello wor"),
        ("ione\x1bvhh", "v", "one"),
        ("ione\x1b0d", "no", "one"),
        (':echo "hel', "c", ':echo "hel'),
        ("/sear", "c", "/sear"),
        ("q:ihel", "i", ":hel"),
        ("Rabc", "R", "abc"),
        ("ix\x0f", "niI", "x"),
        ("ione\x1bgh", "s", "one"),
        (":terminal cat\rihalf", "t", "half"),
    ],
)
def test_whoever_types_goes_on_as_if_nothing_was(screen, keys, mode, seen):
    editor = hidden(screen)
    editor.command("set showcmd")
    editor.type(keys)
    editor.wait_until(lambda: editor.api("get_mode")["mode"] == mode, what=f"mode {mode}")
    editor.wait_for(seen)
    before = editor.lua(STATE)
    text = editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
    editor.lua(NEWS)
    apply(editor, asked(1, 1, 7), asked(1, 2, 8))
    shown(editor)
    assert editor.lua(STATE) == before
    apply(editor, done(1, 1, 7))
    apply(editor, done(1, 2, 8))
    gone(editor)
    assert editor.lua(STATE) == before
    assert editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == text
    assert editor.lua("return _G.news") == []


def test_the_keys_of_a_typist_arrive_while_requests_come_and_go(screen):
    editor = hidden(screen)
    words = "The quick brown fox jumps over a lazy dog. " * 3
    editor.type("i")
    for number, char in enumerate(words, 1):
        editor.type(char)
        apply(editor, asked(1, number, number) if number % 2 else done(1, number - 1, number - 1))
    editor.type("\x1b")  # alone: with a key behind it a terminal may mean Alt and that key
    editor.wait_until(lambda: editor.api("get_mode")["mode"] == "n", what="Normal mode")
    editor.type("db")
    expected = words[:-5].rstrip() + " "
    editor.wait_until(lambda: editor.api("get_current_line")[:40] == words[:40], what="the words")
    editor.wait_until(lambda: len(editor.api("get_current_line")) < len(words), what="the last command")
    assert editor.api("get_current_line").startswith(expected[:-6])


def test_a_text_lock_is_waited_for(screen):
    editor = hidden(screen)
    editor.lua('require("acp_nvim").setup({ permissions = { float = false } })')
    apply(editor, asked(1))
    editor.lua("""vim.keymap.set("i", "<F2>", function()
      require("acp_nvim").setup({ permissions = { float = true } })
      vim.wait(50, function() return false end) -- what is scheduled runs now, under the lock
      return "x"
    end, { expr = true })""")
    editor.type("i\x1bOQ")
    shown(editor)
    assert editor.api("get_current_line") == "x"
    assert editor.api("get_mode")["mode"] == "i"


@pytest.mark.parametrize(("columns", "rows"), [(20, 6), (12, 4), (24, 9), (40, 10), (200, 60)])
def test_it_is_within_the_screen_at_any_size(screen, columns, rows):
    editor = hidden(screen)
    editor.command("tabonly")  # one window alone may be as small as that
    apply(editor, asked(1, title="漢字" * 60), asked(1, 2, 8))
    shown(editor, "漢")
    editor.resize(columns, rows)
    size = "return { vim.o.columns, vim.o.lines }"
    editor.wait_until(lambda: editor.lua(size) == [columns, rows], what="the new size")
    editor.wait_until(lambda: len(floats(editor)) == 1, what="the float")
    editor.wait_until(lambda: fits(editor), what="the float within the screen")
    editor.wait_for("demo asks" if columns > 24 else ":AcpPermis")
    assert editor.api("get_mode")["blocking"] is False
    apply(editor, done(1), done(1, 2, 8))
    gone(editor)


def fits(editor):
    try:
        within(editor)
    except AssertionError:
        return False
    return True


def test_it_goes_out_of_the_way_of_the_cursor(screen):
    editor = hidden(screen)
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.fn['repeat']({ ('x'):rep(95) }, 40))")
    editor.type("$")
    apply(editor, asked(1, options=OPTIONS[:1]))
    editor.wait_until(lambda: shown(editor)[0] > 12, what="the float below the cursor")
    editor.type("L")
    editor.wait_until(lambda: (editor.find("Permission needed") or (99, 0))[0] < 6, what="the float at the top")
    editor.type("gg$")
    editor.wait_until(lambda: (editor.find("Permission needed") or (0, 0))[0] > 12, what="the float at the bottom")


def test_plug_maps_answer_what_is_shown_from_any_mode(screen):
    editor = hidden(screen)
    editor.command("map! <F3> <Plug>(AcpAllow)")
    editor.command("nmap <F3> <Plug>(AcpAllow)")
    editor.command("nmap <Space>n <Plug>(AcpReject)")
    options = [{**OPTIONS[0], "option_id": "no", "kind": "reject_once"}, {**OPTIONS[0], "option_id": "yes"}]
    apply(editor, *(asked(1, n, n, options=options, title=f"number {n}.") for n in (1, 2, 3)))
    shown(editor, "<F3> allow · <Space>n reject · :AcpPermissions")
    shown(editor, "number 1.")
    editor.type("ihel\x1bOR")
    shown(editor, "number 2.")
    editor.type("lo")
    editor.wait_until(lambda: editor.api("get_current_line") == "hello", what="the text")
    editor.type("\x1b n")
    shown(editor, "number 3.")
    editor.type("\x1bOR")
    gone(editor)
    sent = editor.lua("return vim.iter(_G.sent):filter(function(m) return m.method == 'answer' end):totable()")
    assert [(one["params"]["id"], one["params"]["option_id"]) for one in sent] == [(1, "yes"), (2, "no"), (3, "yes")]
    editor.type("\x1bOR")
    editor.wait_until(
        lambda: any("no permission request is waiting" in text for text in editor.messages()), what="a message"
    )


def answers(editor):
    sent = editor.lua("return vim.iter(_G.sent):filter(function(m) return m.method == 'answer' end):totable()")
    return [one["params"]["id"] for one in sent]


def said(editor, words):
    editor.wait_until(lambda: any(words in text for text in editor.messages()), what=f"the message {words!r}")


def test_nobody_answers_what_has_just_come_into_the_float(screen):
    editor = hidden(screen)
    apply(editor, asked(1, 1, 7), asked(1, 2, 8, title="rm -rf ~"))
    shown(editor)
    editor.lua('require("acp_nvim.commands.permission").allow()')
    editor.lua('require("acp_nvim.limits").answer_pause_ms = 3600 * 1000')
    shown(editor, "rm -rf ~")
    editor.lua('require("acp_nvim.commands.permission").allow()')
    said(editor, "the float shows another permission now")
    editor.lua('require("acp_nvim.commands.permission").focus()')
    editor.type("a1")
    editor.wait_until(lambda: editor.lua("return vim.fn.getchar(1)") == 0, what="all keys")
    assert answers(editor) == [7]


def test_what_the_float_cannot_show_whole_is_not_allowed_by_one_key(screen):
    editor = hidden(screen)
    apply(editor, asked(1, command="echo\n" * 50 + "rm -rf ~"))
    shown(editor)
    editor.wait_for("more rows")
    editor.lua('require("acp_nvim.commands.permission").allow()')
    said(editor, "the float cannot show all of it")
    assert answers(editor) == []
    editor.lua('require("acp_nvim.commands.permission").reject()')
    gone(editor)
    assert answers(editor) == [7]


def test_a_way_that_is_not_offered(screen):
    editor = hidden(screen)
    apply(editor, asked(1, options=OPTIONS[1:2]))
    shown(editor)
    editor.lua('require("acp_nvim.commands.permission").reject()')
    said(editor, "the agent offers no way to reject it once: :AcpPermissions")
    assert answers(editor) == []


@pytest.mark.parametrize(("keys", "option"), [("R", "x4"), ("5", "x5"), ("/Reject once\r\r", "x3")])
def test_the_keys_of_the_chat_answer_in_the_float(screen, keys, option):
    editor = hidden(screen)
    before = editor.api("get_current_win")
    editor.command("nmap <F3> <Plug>(AcpPermissionsFocus)")
    apply(editor, asked(1))
    shown(editor)
    editor.type("\x1bOR")
    editor.wait_until(lambda: editor.api("get_current_win") != before, what="the float in focus")
    editor.wait_for("? 5 Ask^Jmy boss (boss)")
    editor.type("q")
    editor.wait_until(lambda: editor.api("get_current_win") == before, what="back")
    editor.wait_for("? Ask")  # here the keys do something else
    editor.type("\x1bOR")
    editor.type(keys)
    gone(editor)
    assert editor.api("get_current_win") == before
    sent = editor.lua("return vim.iter(_G.sent):filter(function(m) return m.method == 'answer' end):totable()")
    assert [one["params"]["option_id"] for one in sent] == [option]


def test_the_float_keeps_the_keys_of_its_user_when_the_request_is_withdrawn(screen):
    editor = hidden(screen)
    file = editor.api("get_current_win")
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'one', 'two' })")
    apply(editor, asked(1))
    shown(editor)
    editor.lua('require("acp_nvim.commands.permission").focus()')
    apply(editor, done(1, option_id=None))
    editor.wait_for("This request is over")
    editor.keys("arxdd1")
    assert editor.lua("return vim.api.nvim_buf_get_lines(vim.fn.winbufnr(...), 0, -1, true)", file) == ["one", "two"]
    assert answers(editor) == []
    editor.type("q")
    gone(editor)
    assert editor.api("get_current_win") == file


def test_a_float_that_the_user_closed_comes_back_with_the_next_request(screen):
    editor = hidden(screen)
    editor.command("split")
    apply(editor, asked(1, 1, 7, title="first"))
    shown(editor)
    editor.command("only")
    gone(editor)
    editor.command("split")
    apply(editor, append("news", 9))
    assert editor.lua('return require("acp_nvim.permission.float").shown() == nil')
    apply(editor, asked(1, 2, 8, title="second"))
    shown(editor, "edit  first")


def test_the_last_window_can_be_closed(screen):
    editor = hidden(screen)
    apply(editor, asked(1))
    shown(editor)
    editor.command("quit")
    editor.wait_until(lambda: editor.lua("return #vim.api.nvim_list_tabpages()") == 1, what="the other tab")
    assert editor.find("Permission needed")


def test_it_can_be_switched_off(screen):
    editor = hidden(screen)
    apply(editor, asked(1))
    shown(editor)
    editor.lua('require("acp_nvim").setup({ permissions = { float = false } })')
    gone(editor)
