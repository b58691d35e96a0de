"""Following the agent: a window shows where it is, and the user is never moved."""

from __future__ import annotations

import os

import pytest

WHERE = "return { vim.api.nvim_get_current_win(), vim.api.nvim_win_get_cursor(0), vim.api.nvim_get_mode().mode }"
LIT = """local marks = {}
for _, b in ipairs(vim.api.nvim_list_bufs()) do
  local ns = vim.api.nvim_create_namespace("acp_nvim.follow.light")
  for _, m in ipairs(vim.api.nvim_buf_get_extmarks(b, ns, 0, -1, { details = true })) do
    table.insert(marks, { vim.fs.basename(vim.api.nvim_buf_get_name(b)), m[2] + 1, m[4].line_hl_group })
  end
end
return marks"""
JUMPS = """return vim.tbl_map(function(jump)
  return { vim.fs.basename(vim.api.nvim_buf_get_name(jump.bufnr)), jump.lnum }
end, vim.fn.getjumplist(...)[1])"""
PAUSES = """
local function find(of, wanted)
  for index = 1, 60 do
    local name, value = debug.getupvalue(of, index)
    if name == wanted then
      return value
    end
  end
end
local refresh = require("acp_nvim.follow").refresh
local throttle, cooldown = find(refresh, "throttle"), find(find(refresh, "try"), "cooldown")
function _G.pauses()
  return throttle:is_active() or cooldown:is_active()
end"""
RUNTIME = "vim.cmd('filetype plugin on | syntax on')"


@pytest.fixture
def code(editor):
    """Show a file in a window."""
    path = editor.project / "code.txt"
    path.write_text("".join(f"line {n}\n" for n in range(1, 201)))
    (editor.project / "other.txt").write_text("".join(f"other {n}\n" for n in range(1, 101)))
    editor.command("edit code.txt")
    return editor.api("get_current_win")


def location(editor, name="code.txt", line=None, session=1):
    more = {} if line is None else {"line": line}
    return {"type": "location", "session": session, "path": os.path.join(editor.project, name), **more}


def turn_starts(session=1):
    return {"type": "turn_start", "session": session}


def turn_ends(session=1):
    return {"type": "turn_end", "session": session, "stop_reason": "end_turn"}


def shown(editor, win):
    """Name and line of what is shown in a window."""
    name = editor.lua("return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(...))", win)
    return os.path.basename(name), editor.api("win_get_cursor", win)[0]


def wait_shown(editor, win, *place):
    editor.wait_until(lambda: shown(editor, win) == place, what=f"{place} in the window")


def settle(editor):
    """All that was told has been shown, or will not be."""
    editor.lua(PAUSES)
    editor.wait_until("not pauses()", what="the pause after a place to be over")


def tell(editor, *events):
    """Send a location at a moment when it is shown without waiting."""
    settle(editor)
    editor.apply(*events)
    settle(editor)


def state(editor):
    return editor.lua("return require('acp_nvim').status().follow")


@pytest.mark.parametrize("keys", ["", "itext", "itext<Esc>v"])
def test_the_place_is_shown_and_the_focus_stays(editor, code, keys):
    editor.chat()
    editor.keys(keys)
    before = editor.lua(WHERE)
    tell(editor, location(editor, line=30), location(editor, line=150))
    assert editor.lua(WHERE) == before
    assert shown(editor, code) == ("code.txt", 150)
    assert editor.lua("return vim.fn.line('w0', ...) <= 150 and vim.fn.line('w$', ...) >= 150", code) is True
    tell(editor, location(editor, line=9999))
    assert shown(editor, code) == ("code.txt", 200)
    assert editor.lua(JUMPS, code) == [["code.txt", 1]]


def test_the_line_is_lit_for_a_moment(editor, code):
    """It may be dark again before we look, so each place notes what is lit then."""
    editor.chat()
    editor.lua(f"""
      _G.lit = {{}}
      local jump = require("acp_nvim.follow.jump")
      local show = jump.show
      jump.show = function(...)
        show(...)
        _G.lit = (function()
          {LIT}
        end)()
      end""")
    tell(editor, location(editor, line=30), location(editor, "other.txt", 20))
    assert editor.lua("return _G.lit") == [["other.txt", 20, "AcpFollowLine"]]
    tell(editor, location(editor, line=40))
    assert editor.lua("return _G.lit") == [["code.txt", 40, "AcpFollowLine"]]
    editor.wait_until(lambda: editor.lua(LIT) == [], what="the line to be dark")


def test_of_many_places_the_first_comes_at_once_and_then_the_last(editor, code):
    editor.chat()
    editor.lua("""
      _G.jumps = {}
      local jump = require("acp_nvim.follow.jump")
      local show = jump.show
      jump.show = function(win, bufnr, line)
        table.insert(_G.jumps, line)
        return show(win, bufnr, line)
      end""")
    settle(editor)
    editor.lua(
        """local path, apply = ..., require("acp_nvim.events").apply
        _G.began = vim.uv.hrtime()
        for line = 2, 199 do
          apply({ { type = "location", session = 1, path = path, line = line } })
        end""",
        str(editor.project / "code.txt"),
    )
    wait_shown(editor, code, "code.txt", 199)
    jumps = editor.lua("return _G.jumps")
    assert (jumps[0], jumps[-1]) == (2, 199)
    pauses = editor.lua('return (vim.uv.hrtime() - _G.began) / 1e6 / require("acp_nvim.limits").follow_pause_ms')
    assert len(jumps) <= 2 + pauses  # two, unless the machine was busy for as long as a pause takes


def test_a_file_is_opened_beside_the_chat_with_its_colours(editor, code):
    editor.lua(RUNTIME)
    (editor.project / "new.lua").write_text("local a = 1\nreturn a\n")
    editor.chat()
    tell(editor, location(editor, "new.lua", 2))
    assert shown(editor, code) == ("new.lua", 2)
    bufnr = editor.api("win_get_buf", code)
    assert editor.lua("return vim.bo[...].filetype", bufnr) == "lua"
    assert editor.lua("return vim.bo[...].syntax ~= '' or vim.treesitter.highlighter.active[...] ~= nil", bufnr) is True


def test_a_file_is_listed_when_the_user_comes_to_it(editor, code):
    editor.chat()
    tell(editor, location(editor, "other.txt", 2))
    bufnr = editor.api("win_get_buf", code)
    assert editor.lua("return vim.bo[...].buflisted", bufnr) is False
    editor.api("set_current_win", code)
    assert editor.lua("return vim.bo[...].buflisted", bufnr) is True


def test_files_that_nobody_looked_into_do_not_pile_up(editor, code):
    editor.chat()
    for number in range(30):
        (editor.project / f"f{number}.txt").write_text("x\n")
        tell(editor, location(editor, f"f{number}.txt", 1))
        assert shown(editor, code) == (f"f{number}.txt", 1)
    loaded = editor.lua("return #vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs())")
    assert loaded <= 25


def test_ctrl_o_leads_back_to_where_the_user_was(editor, code):
    editor.keys("77G")
    editor.chat()
    for name, line in [("code.txt", 10), ("other.txt", 20), ("code.txt", 90), ("other.txt", 60)]:
        tell(editor, location(editor, name, line))
    assert shown(editor, code) == ("other.txt", 60)
    editor.api("set_current_win", code)
    editor.keys("<C-o>")
    assert shown(editor, code) == ("code.txt", 77)
    editor.keys("<C-i>")
    assert shown(editor, code) == ("other.txt", 60)


def test_the_alternate_file_stays(editor, code):
    editor.command("edit other.txt")
    editor.command("edit code.txt")
    (editor.project / "third.txt").write_text("x\n")
    editor.chat()
    tell(editor, location(editor, "third.txt", 1))
    assert shown(editor, code) == ("third.txt", 1)
    editor.api("set_current_win", code)
    assert os.path.basename(editor.lua("return vim.fn.expand('#')")) == "other.txt"


ODD = ["missing.txt", "", "directory", "fifo", "/proc/kmsg", "/dev/zero", "binary", "huge", "new\nline"]
READ_BY_OTHERS = ["text.zip", "text.tar", "text.txt.gz", "text.own"]


@pytest.mark.parametrize("name", ODD + READ_BY_OTHERS)
def test_what_cannot_be_looked_at_is_not_opened(editor, code, name):
    (editor.project / "directory").mkdir()
    os.mkfifo(editor.project / "fifo")
    (editor.project / "binary").write_bytes(b"\x7fELF\0\0")
    (editor.project / "huge").write_bytes(b"x\n" * 130 * 1024)
    for other in READ_BY_OTHERS:
        (editor.project / other).write_text("one\ntwo\nthree\n")
    editor.command("autocmd BufReadCmd *.own call writefile([], 'ran')")
    editor.command("runtime plugin/zipPlugin.vim plugin/tarPlugin.vim plugin/gzip.vim")
    editor.chat()
    buffers = len(editor.api("list_bufs"))
    tell(editor, location(editor, name, 3))
    assert shown(editor, code) == ("code.txt", 1)
    assert len(editor.api("list_bufs")) == buffers
    assert editor.messages() == []
    assert not (editor.project / "ran").exists()


def test_a_file_that_comes_to_be_and_one_that_goes(editor, code):
    editor.chat()
    tell(editor, location(editor, "late.txt", 2))
    (editor.project / "late.txt").write_text("a\nb\n")
    tell(editor, location(editor, "late.txt", 2))
    assert shown(editor, code) == ("late.txt", 2)
    (editor.project / "late.txt").unlink()
    tell(editor, location(editor, "late.txt", 1))
    assert shown(editor, code) == ("late.txt", 1)
    assert editor.messages() == []


@pytest.mark.parametrize("keys", [":echo 1", "d", "ix<C-x><C-n>", "q:", "i<C-o>", "v<C-g>", "/x", ":s/x/y/gc<CR>"])
def test_it_waits_while_something_is_half_typed(editor, code, keys):
    key = editor.chat()
    editor.api("buf_set_lines", editor.session(key, "prompt_bufnr"), 0, -1, True, ["xx xx"])
    editor.api("ui_attach", 100, 30, {})
    settle(editor)
    editor.api("input", keys)
    wanted = {":echo 1": "c", "d": "no", "ix<C-x><C-n>": "ic", "i<C-o>": "niI", "v<C-g>": "s", "/x": "c"}.get(keys)
    editor.wait_until(lambda: keys == "q:" or editor.api("get_mode")["mode"] in (wanted, "r?"), what=f"mode {wanted}")
    editor.apply(location(editor, line=40), location(editor, line=50))
    settle(editor)
    assert shown(editor, code) == ("code.txt", 1)
    editor.api("input", ":q<CR>" if keys == "q:" else "<Esc><Esc>")
    wait_shown(editor, code, "code.txt", 50)


def test_it_waits_while_a_plugin_asks_for_a_key(editor, code):
    editor.chat()
    editor.lua("vim.keymap.set('n', 'Q', function() _G.got = vim.fn.getcharstr() end)")
    settle(editor)
    editor.api("input", "Q")
    editor.wait_until("vim.fn.state('S') ~= ''", what="the plugin to ask")
    editor.apply(location(editor, line=50))
    settle(editor)
    assert shown(editor, code) == ("code.txt", 1)
    editor.api("input", "k")
    wait_shown(editor, code, "code.txt", 50)
    assert editor.lua("return _G.got") == "k"


def test_a_user_who_types_in_a_terminal_goes_on(editor, code):
    editor.api("ui_attach", 100, 30, {})
    editor.chat()
    editor.command("AcpFollow on")
    editor.command("botright new | terminal cat")
    editor.keys("i")
    editor.wait_until(lambda: editor.api("get_mode")["mode"] == "t")
    win = editor.api("get_current_win")
    tell(editor, location(editor, line=50), location(editor, "other.txt", 60))
    assert shown(editor, code) == ("other.txt", 60)
    assert (editor.api("get_mode")["mode"], editor.api("get_current_win")) == ("t", win)


def test_what_fails_is_logged_and_the_next_place_is_shown(editor, code):
    editor.chat()
    editor.lua("""
      local jump = require("acp_nvim.follow.jump")
      local show = jump.show
      jump.show = function()
        jump.show = show
        error("no way")
      end""")
    tell(editor, location(editor, line=50))
    tell(editor, location(editor, line=60))
    assert shown(editor, code) == ("code.txt", 60)
    assert "no way" in editor.lua("return table.concat(vim.fn.readfile(require('acp_nvim.kernel.log').path()), '\\n')")
    assert editor.messages() == []


def test_unsaved_text_is_not_hidden_unless_it_may_be(editor, code):
    editor.chat()
    editor.lua("vim.api.nvim_buf_set_lines(vim.api.nvim_win_get_buf(...), 0, 1, true, { 'mine' })", code)
    editor.command("set nohidden")
    tell(editor, location(editor, "other.txt", 3))
    assert shown(editor, code) == ("code.txt", 1)
    other = editor.lua(
        "return vim.api.nvim_open_win(vim.api.nvim_create_buf(true, false), false, { split = 'above', win = ... })",
        code,
    )
    tell(editor, location(editor, "other.txt", 3))
    assert (shown(editor, code), shown(editor, other)) == (("code.txt", 1), ("other.txt", 3))
    editor.command("set hidden")
    editor.api("win_close", other, True)
    tell(editor, location(editor, "other.txt", 4))
    assert shown(editor, code) == ("other.txt", 4)
    text = editor.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('code.txt'), 0, 1, true)[1]")
    assert text == "mine"


@pytest.mark.parametrize("option", ["winfixbuf", "scrollbind", "cursorbind", "diff", "previewwindow"])
def test_windows_that_are_for_something_else_are_left_alone(editor, code, option):
    editor.chat()
    editor.lua("local win, option = ... vim.wo[win][option] = true", code, option)
    tell(editor, location(editor, "other.txt", 5))
    assert shown(editor, code) == ("code.txt", 1)
    editor.lua("local win, option = ... vim.wo[win][option] = false", code, option)
    tell(editor, location(editor, "other.txt", 5))
    assert shown(editor, code) == ("other.txt", 5)


@pytest.mark.parametrize(
    "make",
    [
        "vim.cmd('copen') return vim.api.nvim_get_current_win()",
        "vim.cmd('split | terminal') return vim.api.nvim_get_current_win()",
        "return vim.api.nvim_open_win(vim.api.nvim_create_buf(true, false), true, "
        "{ relative = 'editor', row = 1, col = 1, width = 20, height = 3 })",
        "vim.cmd('new') vim.bo.bufhidden = 'wipe' return vim.api.nvim_get_current_win()",
        "vim.cmd('new') vim.bo.buftype = 'nofile' return vim.api.nvim_get_current_win()",
    ],
    ids=["quickfix", "terminal", "floating", "wiped when hidden", "no file"],
)
def test_other_kinds_of_windows_are_passed_over(editor, code, make):
    win = editor.lua(make)
    before = editor.api("win_get_buf", win)
    key = editor.chat()
    tell(editor, location(editor, "other.txt", 5))
    assert editor.api("win_get_buf", win) == before
    assert shown(editor, code) == ("other.txt", 5)
    assert editor.api("get_current_buf") == editor.session(key, "prompt_bufnr")


def test_the_current_window_is_never_the_one(editor, code):
    editor.chat()
    editor.command("AcpFollow on")
    editor.api("set_current_win", code)
    tell(editor, location(editor, line=50))
    assert shown(editor, code) == ("code.txt", 1)
    editor.command("AcpFollow here")
    editor.command("split")
    editor.keys("5G")
    split = editor.api("get_current_win")
    tell(editor, location(editor, line=60))
    assert (shown(editor, code), shown(editor, split)) == (("code.txt", 60), ("code.txt", 5))
    editor.api("set_current_win", code)
    tell(editor, location(editor, line=70))
    assert (shown(editor, code), shown(editor, split)) == (("code.txt", 60), ("code.txt", 5))


def test_auto_follows_only_from_the_chat(editor, code):
    key = editor.chat()
    editor.command("wincmd k")
    assert editor.api("get_current_buf") == editor.session(key, "bufnr")
    tell(editor, location(editor, line=50))
    assert shown(editor, code) == ("code.txt", 50)
    editor.api("set_current_win", code)
    editor.command("split")
    tell(editor, location(editor, line=60))
    assert shown(editor, code) == ("code.txt", 50)


def test_it_can_be_told(editor, code):
    editor.chat()
    assert state(editor) == "on"
    editor.command("AcpFollow off")
    assert state(editor) == "off"
    tell(editor, location(editor, line=50))
    assert shown(editor, code) == ("code.txt", 1)
    editor.command("AcpFollow on")
    editor.api("set_current_win", code)
    editor.command("split")
    tell(editor, location(editor, line=60))
    assert shown(editor, code) == ("code.txt", 60)
    editor.command("AcpFollow")
    tell(editor, location(editor, line=70))
    assert (state(editor), shown(editor, code)) == ("off", ("code.txt", 60))
    editor.command("AcpFollow")
    assert state(editor) == "on"
    editor.command("AcpFollow maybe")
    editor.wait_until(lambda: 'takes on, off or here, not "maybe"' in editor.message())
    assert editor.lua("return vim.fn.getcompletion('AcpFollow ', 'cmdline')") == ["here", "off", "on"]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_option_says_from_the_start(editor, code, enabled):
    editor.lua("require('acp_nvim').setup({ follow = { enabled = ... } })", enabled)
    editor.chat()
    editor.api("set_current_win", code)
    editor.command("split")
    tell(editor, location(editor, line=60))
    assert shown(editor, code) == ("code.txt", 60 if enabled else 1)


MOVES = {
    "the cursor": "5j",
    "a column": "l",
    "an edit": "dd",
    "text": "ix<Esc>",
    "another file": ":edit other.txt<CR>",
    "scrolling": "<C-e><C-e>",
}


@pytest.mark.parametrize("resume", ["turn", "command"])
@pytest.mark.parametrize("move", MOVES)
def test_it_pauses_when_the_user_moves_there(editor, code, move, resume):
    editor.api("ui_attach", 120, 40, {})
    editor.lua("require('acp_nvim').setup({ follow = { resume = ... } })", resume)
    editor.chat()
    prompt = editor.api("get_current_win")
    tell(editor, turn_starts(), location(editor, line=100))
    editor.api("set_current_win", code)
    editor.keys(MOVES[move])
    editor.wait_until(lambda: state(editor) == "paused", what="following to pause")
    editor.api("set_current_win", prompt)
    place = shown(editor, code)
    tell(editor, location(editor, line=150))
    assert shown(editor, code) == place
    tell(editor, turn_ends(), turn_starts(), location(editor, line=170))
    assert (shown(editor, code) == ("code.txt", 170)) is (resume == "turn")
    editor.command("AcpFollow")
    assert shown(editor, code) == ("code.txt", 170)
    assert editor.lua(JUMPS, code)[-1] == list(place)


def test_who_only_looks_in_does_not_pause_it(editor, code):
    editor.chat()
    prompt = editor.api("get_current_win")
    tell(editor, location(editor, line=100))
    editor.api("set_current_win", code)
    editor.keys("")
    editor.api("set_current_win", prompt)
    tell(editor, location(editor, line=120))
    assert (state(editor), shown(editor, code)) == ("on", ("code.txt", 120))
    assert editor.lua(JUMPS, code) == [["code.txt", 1]]


def test_the_mouse_wheel_pauses_it_and_the_agents_edits_do_not(editor, code):
    editor.api("ui_attach", 120, 40, {})
    editor.command("set mouse=a")
    editor.chat()
    tell(editor, location(editor, line=100))
    path = str(editor.project / "code.txt")
    change = {"first": 0, "count": 0, "lines": [f"new {n}" for n in range(9)]}
    editor.lua(
        """local path, change = ...
        local buffers = require("acp_nvim.buffers")
        return buffers.write(path, change, buffers.read(path, "").state, false)""",
        path,
        change,
    )
    editor.lua("vim.cmd.redraw()")
    assert (state(editor), shown(editor, code)) == ("on", ("code.txt", 109))
    tell(editor, location(editor, line=120))
    assert editor.lua(JUMPS, code)[-1] == ["code.txt", 10]
    editor.lua("vim.cmd.redraw()")
    editor.api("input_mouse", "wheel", "down", "", 0, 5, 5)
    editor.wait_until(lambda: state(editor) == "paused", what="following to pause")


def test_the_window_that_was_chosen(editor, code):
    editor.command("split")
    chosen = editor.api("get_current_win")
    editor.command("AcpFollow here")
    editor.api("set_current_win", code)
    editor.keys("3G")
    editor.chat()
    tell(editor, location(editor, line=50))
    assert (shown(editor, chosen), shown(editor, code)) == (("code.txt", 50), ("code.txt", 3))
    editor.command("tabnew")
    editor.chat()
    tell(editor, location(editor, line=60, session=2))
    assert shown(editor, chosen) == ("code.txt", 60)
    editor.api("set_current_win", chosen)
    editor.command("AcpFollow here")
    editor.command("AcpFollow on")
    editor.wait_until(lambda: "the last code window shows where it works" in editor.message())


def test_only_a_window_for_files_can_be_chosen(editor, code):
    editor.chat()
    editor.command("AcpFollow here")
    editor.wait_until(lambda: "this window cannot show a file" in editor.message())


def look(editor, win):
    return editor.lua("return { vim.wo[...].winhighlight, vim.w[...].acp_nvim_follow or '' }", win)


def test_the_window_is_seen_to_be_the_one_and_no_other_is(editor, code):
    editor.lua("vim.wo[...].winhighlight = 'Normal:NormalFloat'", code)
    editor.chat()
    prompt = editor.api("get_current_win")
    tell(editor, turn_starts(), location(editor, "other.txt", 50))
    highlights, word = look(editor, code)
    assert ("StatusLine:AcpFollowWindow" in highlights, word) == (True, "on")
    editor.api("set_current_win", code)
    editor.command("split")
    split = editor.api("get_current_win")
    assert "AcpFollow" not in look(editor, split)[0]
    editor.api("set_current_win", prompt)
    tell(editor, turn_ends())
    assert look(editor, code)[1] == ""
    for win in editor.api("list_wins"):
        assert "AcpFollow" not in look(editor, win)[0]
    editor.api("set_current_win", split)
    editor.command("edit code.txt | AcpFollow here")
    assert look(editor, split)[1] == "on"
    editor.command("AcpFollow here")
    assert (look(editor, split)[1], "AcpFollow" in look(editor, split)[0]) == ("", False)


def test_autocommands_of_windows_do_not_run_and_those_of_files_cannot_disturb(editor, code):
    editor.command("set number")
    editor.lua("""
      _G.seen = {}
      for _, event in ipairs({ "WinEnter", "WinLeave", "BufEnter", "BufLeave", "ModeChanged", "InsertLeave" }) do
        vim.api.nvim_create_autocmd(event, { callback = function() table.insert(_G.seen, event) end })
      end
      vim.api.nvim_create_autocmd("BufReadPost", { callback = function()
        vim.cmd("normal! 7G")
        error("a faulty one")
      end })""")
    editor.chat()
    editor.keys("iabc")
    before = editor.lua(WHERE)
    editor.lua("_G.seen = {}")
    tell(editor, location(editor, "other.txt", 40), location(editor, line=3), location(editor, "other.txt", 50))
    tell(editor, location(editor, line=3))
    tell(editor, location(editor, "other.txt", 60))
    assert editor.lua("return _G.seen") == []
    assert editor.lua(WHERE) == before
    assert shown(editor, code) == ("other.txt", 60)


def test_nothing_is_asked_or_said_about_swap_files(editor, code):
    editor.api("ui_attach", 100, 30, {})
    editor.command("set updatecount=200 directory=. cmdheight=1")
    (editor.project / ".other.txt.swp").write_bytes(b"b0VIM 9.0" + b"\0" * 4096)
    editor.chat()
    editor.command("messages clear")
    tell(editor, location(editor, "other.txt", 4))
    assert shown(editor, code) == ("other.txt", 4)
    assert editor.api("get_mode") == {"mode": "n", "blocking": False}
    assert editor.printed() == ""
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"
    assert "A" not in editor.lua("return vim.o.shortmess")


def test_what_takes_long_to_draw_is_shown_less_often(editor, code):
    editor.api("ui_attach", 120, 40, {})
    editor.chat()
    settle(editor)
    editor.lua(
        """
      local ns = vim.api.nvim_create_namespace("slow")
      vim.api.nvim_set_decoration_provider(ns, { on_win = function(_, win)
        local till = vim.uv.hrtime() + 5e6
        while win == code and vim.uv.hrtime() < till do end
      end })
      code = ...
      require("acp_nvim.limits").follow_share = 0.005 -- a pause of a second, that a busy machine does not miss""",
        code,
    )
    editor.apply(location(editor, line=50))
    editor.lua("vim.cmd.redraw()")
    editor.apply(location(editor, line=60))
    editor.wait_until("pauses() and vim.api.nvim_win_get_cursor(code)[1] == 50", what="a pause at the first place")
    wait_shown(editor, code, "code.txt", 60)


def test_folds_are_opened_where_the_agent_is(editor, code):
    editor.command("set foldmethod=manual | 40,60fold")
    editor.chat()
    tell(editor, location(editor, line=50))
    assert editor.lua("return vim.api.nvim_win_call(..., function() return vim.fn.foldclosed(50) end)", code) == -1


def test_of_two_agents_the_one_that_the_user_talks_to_is_followed(editor, code):
    first, second = editor.chat(), editor.chat()
    tell(editor, location(editor, line=50, session=second), location(editor, line=20, session=first))
    assert shown(editor, code) == ("code.txt", 50)
