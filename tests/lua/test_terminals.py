"""Terminal buffers: all that a command printed, as a terminal shows it, and nothing that it could do to the user."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lua.test_chat import call
from tests.support.examples import examples

FEED = """
local pieces = ...
local safe, out = require("acp_nvim.terminals.safe_output").new(), {}
for _, piece in ipairs(pieces) do table.insert(out, safe:feed(piece)) end
return table.concat(out)
"""
SEND = """
_G.fed = {}
local send = vim.api.nvim_chan_send
vim.api.nvim_chan_send = function(channel, data) table.insert(_G.fed, data) return send(channel, data) end
"""
# What a terminal without any protection would do: the clipboard, and answers.
WATCH = """
_G.copied, _G.requests, _G.answers = {}, 0, 0
local function copy(lines) table.insert(_G.copied, lines) end
local function paste() table.insert(_G.copied, "asked") return { { "secret" }, "v" } end
vim.g.clipboard = { name = "test", copy = { ["+"] = copy, ["*"] = copy }, paste = { ["+"] = paste, ["*"] = paste } }
vim.api.nvim_create_autocmd("TermRequest", { callback = function() _G.requests = _G.requests + 1 end })
"""
OPEN_PLAIN = "local b = vim.api.nvim_create_buf(false, true) return { vim.api.nvim_open_term(b, {}), b }"
STRINGS = [
    b"\x1b]52;c;c3RvbGVu\x07",
    b"\x1b]52;c;c3RvbGVu\x1b\\",
    b"\x1b\n]52;c;c3RvbGVu\x07",
    b"\x1b\x1b]52;c;c3RvbGVu\x07",
    b"\x1b\x00]52;p;?\x07",
    b"\x1b]11;?\x07",
    b"\x1b]10;?\x1b\\",
    b"\x1b]0;title\x07",
    b"\x1b]7;file:///etc\x07",
    b"\x1bP+q544e\x1b\\",
    b"\x1bP$qm\x1b\\",
    b"\x1b_Gi=1;AAAA\x1b\\",
    b"\x1b^private\x1b\\",
    b"\x1bXstart\x1b\\",
]
QUESTIONS = [b"\x1b[c", b"\x1b[>c", b"\x1b[5n", b"\x1b[6n", b"\x1b[?2026$p", b"\x1b[>q", b"\x1b[18t", b"\x1b[21t"]


def shown(editor, key, block=1, number=1, command="make all", **more):
    """A tool call with a terminal stands in the chat."""
    item = {"type": "terminal", "terminal_id": "t", "number": number, "command": command, "output": "one\ntwo", **more}
    editor.apply(call(key, block, content=[item]))


def opened(editor, number=1, command="make all"):
    """The terminal buffer, which has the focus."""
    key = editor.chat()
    shown(editor, key, number=number, command=command)
    editor.focus(editor.session(key, "bufnr"))
    editor.api("win_set_cursor", 0, [4, 0])
    editor.keys("<CR>")
    assert editor.lua("return vim.bo.buftype") == "terminal"
    return key, editor.api("get_current_buf")


def output(key, data=b"", number=1, **more):
    return {"type": "terminal_output", "session": key, "terminal": number, "data": data, **more}


def text(editor, buffer):
    """What the terminal shows, without the rest of the screen."""
    return [line.rstrip() for line in editor.buffer_text(buffer).rstrip("\n ").split("\n")]


def until_text(editor, buffer, lines):
    editor.wait_until(lambda: text(editor, buffer) == lines, what=f"{lines} in the terminal")


def safe(editor, *pieces):
    """What is left of these bytes, which may be no text."""
    got = editor.lua(FEED, list(pieces))
    return got.encode("utf-8", "surrogateescape") if isinstance(got, str) else got


# --- the buffer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [3, 4, 5])
@pytest.mark.parametrize("keys", ["<CR>", "gf"])
def test_a_key_on_any_line_of_it_opens_the_whole(editor, line, keys):
    key = editor.chat()
    shown(editor, key)
    chat = editor.focus(editor.session(key, "bufnr"))
    editor.api("win_set_cursor", 0, [line, 0])
    editor.keys(keys)
    assert editor.sent("terminal_open") == [{"session": key, "terminal": 1}]
    assert editor.lua("return vim.api.nvim_get_current_win()") != chat
    assert editor.lua("return vim.fn.bufname()") == f"acp://terminal {key}-1 make all"
    assert editor.lua("return { vim.bo.filetype, vim.bo.scrollback, vim.bo.modifiable }") == [
        "acp_terminal", 10000, False,
    ]  # fmt: skip
    editor.apply(output(key, b"\x1b[31mone\x1b[0m\ntwo\n", whole=True))
    until_text(editor, editor.api("get_current_buf"), ["one", "two"])


def test_a_terminal_that_the_host_gave_no_number_leads_nowhere(editor):
    key = editor.chat()
    editor.apply(call(key, 1, content=[{"type": "terminal", "terminal_id": "t", "output": "x"}]))
    editor.focus(editor.session(key, "bufnr"))
    editor.api("win_set_cursor", 0, [3, 0])
    editor.keys("<CR>")
    assert editor.sent("terminal_open") == []


def test_it_is_opened_once_and_shown_again(editor):
    key, buffer = opened(editor)
    window = editor.api("get_current_win")
    editor.focus(editor.session(key, "bufnr"))
    editor.keys("<CR>")
    assert (editor.api("get_current_buf"), editor.api("get_current_win")) == (buffer, window)
    assert len(editor.sent("terminal_open")) == 1


def test_a_key_closes_it_and_the_host_hears_of_it(editor):
    key, buffer = opened(editor)
    editor.keys("q")
    assert not editor.api("buf_is_valid", buffer)
    assert editor.sent("terminal_close") == [{"session": key, "terminal": 1}]
    editor.apply(output(key, b"late"))
    editor.focus(editor.session(key, "bufnr"))
    editor.keys("<CR>")
    assert len(editor.sent("terminal_open")) == 2


def test_it_can_be_closed_when_it_is_the_last_window_and_left_with_neovim(editor):
    _, buffer = opened(editor)
    editor.command("only")
    editor.keys("q")
    assert not editor.api("buf_is_valid", buffer)


def test_nobody_types_there(editor):
    editor.command("autocmd TermOpen * let g:opened = 1 | startinsert")
    key, buffer = opened(editor)
    assert editor.lua("return { vim.g.opened or 0, vim.o.eventignore }") == [0, ""]
    assert editor.lua("return vim.api.nvim_get_mode().mode") == "nt"
    editor.apply(output(key, b"one\n"))
    editor.keys("iabc<Esc>")
    editor.wait_until('vim.api.nvim_get_mode().mode == "nt"')
    editor.lua('vim.fn.setreg(\'"\', "pasted")')
    editor.keys("p")
    until_text(editor, buffer, ["one"])


@pytest.mark.parametrize(
    ("how", "words"),
    [({"exit_code": 0}, "[exit 0]"), ({"exit_code": 3}, "[exit 3]"), ({"signal": "SIGTERM"}, "[killed by SIGTERM]")],
)
def test_how_it_ended_stands_there_once(editor, how, words):
    key, buffer = opened(editor)
    editor.apply(output(key, b"one\n"), output(key, b"two\n", **how))
    editor.apply(output(key, b"late\n", **how))
    until_text(editor, buffer, ["one", "two", words, "late"])


def test_what_was_not_kept_is_told_and_colours_of_it_do_not_go_on(editor):
    key, buffer = opened(editor)
    editor.apply(output(key, b"one\n\x1b]0;ti"), output(key, b"two\n", dropped=2_345_678))
    until_text(editor, buffer, ["one", "[2.3 MB before this are not kept]", "two"])
    editor.apply(output(key, b"three\n", dropped=700))
    until_text(editor, buffer, ["one", "[2.3 MB before this are not kept]", "two", "[700 bytes before this are not kept]", "three"])  # fmt: skip # noqa: E501


def test_a_snapshot_takes_the_place_of_what_was_shown(editor):
    key, buffer = opened(editor)
    editor.apply(output(key, b"line\n" * 200, whole=True, exit_code=1))
    editor.wait_until(lambda: len(text(editor, buffer)) > 190)
    name, window = editor.lua("return { vim.fn.bufname(), vim.api.nvim_get_current_win() }")
    editor.apply(output(key, b"new\n", whole=True, exit_code=2))
    until_text(editor, 0, ["new", "[exit 2]"])
    assert editor.lua("return { vim.fn.bufname(), vim.api.nvim_get_current_win() }") == [name, window]
    assert not editor.api("buf_is_valid", buffer)
    assert editor.sent("terminal_close") == []
    editor.keys("q")
    assert len(editor.sent("terminal_close")) == 1


def test_the_end_is_in_sight_until_one_looks_elsewhere(editor):
    key, buffer = opened(editor)
    last_seen = "return vim.api.nvim_buf_get_lines(0, vim.fn.line('w$') - 1, vim.fn.line('w$'), true)[1]"
    for number in range(3):
        editor.apply(output(key, b"".join(b"%d %d\n" % (number, line) for line in range(100))))
        until_end = f"{number} 99"
        editor.wait_until(lambda end=until_end: end in [text(editor, buffer)[-1]])
        editor.wait_until("vim.fn.line('.') == vim.fn.line('$')")
    assert editor.lua(last_seen).strip() in ("2 99", "")
    editor.keys("gg")
    editor.apply(output(key, b"more\n" * 50))
    editor.wait_until(lambda: text(editor, buffer)[-1] == "more")
    assert editor.lua("return vim.fn.line('.')") == 1


def test_it_has_all_of_what_comes_at_once(editor):
    key, buffer = opened(editor)
    lines = [f"test {number}" for number in range(50)]
    editor.apply(output(key, "".join(f"{line}\r\n" for line in lines).encode(), whole=True))
    until_text(editor, buffer, lines)


def test_what_came_while_the_size_changed_is_asked_for_again(editor):
    key, buffer = opened(editor)
    data = "".join(f"test {number}\r\n" for number in range(200)).encode()
    apply = 'require("acp_nvim.events").apply({ ... }) vim.api.nvim_win_set_height(0, 5)'
    editor.lua(apply, output(key, data, whole=True))
    editor.wait_until(lambda: len(editor.sent("terminal_open")) == 2, what="the question")
    editor.apply(output(key, data, whole=True))
    until_text(editor, 0, [f"test {number}" for number in range(200)])
    assert not editor.api("buf_is_valid", buffer)


def test_of_very_many_lines_the_last_are_there_and_the_first_says_so(editor):
    key, buffer = opened(editor)
    lines = b"".join(b"%d\n" % number for number in range(11_000))
    editor.apply(output(key, lines, whole=True))
    editor.wait_until(lambda: text(editor, buffer)[-1] == "10999")
    editor.apply(output(key, b"end\n"))
    editor.wait_until(lambda: text(editor, buffer)[-1] == "end")
    assert editor.lua("return vim.api.nvim_buf_line_count(...)", buffer) <= 10_100
    marks = "return vim.api.nvim_buf_get_extmarks(..., vim.api.nvim_get_namespaces()['acp_nvim.terminals.gone'], 0, -1, {details = true})"  # noqa: E501
    [[_, row, _, details]] = editor.lua(marks, buffer)
    assert (row, details["virt_text"][0][0].strip()) == (0, "older lines are not kept")


def test_wide_characters_progress_bars_and_cut_pieces_are_as_on_a_terminal(editor):
    key, buffer = opened(editor)
    data = "語語\r\n 10 %\r 55 %\r100 %\x1b[1;32m ok\x1b[0m\n🙂é\n".encode()
    editor.apply(*[output(key, data[at : at + 1]) for at in range(len(data))])
    until_text(editor, buffer, ["語語", "100 % ok", "🙂é"])


def test_all_bytes_arrive_as_they_were_printed(editor):
    key, _ = opened(editor)
    editor.lua(SEND)
    data = bytes(byte for byte in range(256) if byte != 0x1B) * 3 + b"\xff\xfe\xc3\x28\xe2\x82\x00\xf0\x9f"
    editor.apply(output(key, data[:301]), output(key, data[301:]))
    sent = editor.lua("return vim.tbl_map(function(s) return vim.text.hexencode(s) end, _G.fed)")
    assert bytes.fromhex("".join(sent)) == data


def test_when_the_host_is_gone_a_message_says_so(editor):
    key = editor.chat()
    shown(editor, key)
    editor.focus(editor.session(key, "bufnr"))
    editor.api("win_set_cursor", 0, [4, 0])
    editor.lua("_G.channel = 99")
    editor.keys("<CR>")
    assert "gone" in editor.message()


# --- what it must not do ---------------------------------------------------------------------------------------------


def test_a_terminal_without_protection_would_do_it(editor):
    """The tests below would see it."""
    editor.lua(WATCH)
    channel, _ = editor.lua(OPEN_PLAIN)
    editor.lua("vim.api.nvim_chan_send(...)", channel, "\x1b]52;c;c3RvbGVu\x07\x1b]11;?\x07")
    editor.wait_until("#_G.copied > 0 and _G.requests > 0")


@pytest.mark.parametrize("data", STRINGS + QUESTIONS, ids=repr)
@pytest.mark.parametrize("cut", [False, True])
def test_what_is_printed_touches_no_clipboard_and_is_answered_nowhere(editor, data, cut):
    editor.lua(WATCH)
    key, buffer = opened(editor)
    pieces = [data[at : at + 1] for at in range(len(data))] if cut else [data]
    editor.apply(*[output(key, piece) for piece in pieces], output(key, b"\nend\n"))
    editor.wait_until(lambda: text(editor, buffer)[-1] == "end")
    assert editor.lua("return { _G.copied, _G.requests }") == [[], 0]
    assert set(text(editor, buffer)) <= {"", "end"}


@pytest.mark.parametrize("data", [b"\x9d52;c;c3RvbGVu\x07", b"\xc2\x9d52;c;c3RvbGVu\xc2\x9c", b"\x90+q544e\x9c"])
def test_the_short_forms_of_such_strings_are_none_to_neovim(editor, data):
    editor.lua(WATCH)
    key, buffer = opened(editor)
    editor.apply(output(key, data), output(key, b"\nend\n"))
    editor.wait_until(lambda: text(editor, buffer)[-1] == "end")
    assert editor.lua("return { _G.copied, _G.requests }") == [[], 0]


ANY = st.lists(st.sampled_from([*STRINGS, b"\x1b[31m", b"a", b"\n", "é".encode(), b"\xff", b"\x1b[2K"]), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(150))
@given(parts=ANY, cuts=st.lists(st.integers(0, 200), max_size=6))
def test_strings_are_left_out_and_nothing_else_however_it_is_cut(editor, parts, cuts):
    data = b"".join(parts)
    ends = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    pieces = [data[start:end] for start, end in pairwise(ends)]
    left = [
        part if part not in STRINGS else {b"\x1b\n": b"\x18", b"\x1b\x1b": b"\x1b\x18"}.get(part[:2], b"\x18")
        for part in parts
    ]
    assert safe(editor, *pieces) == b"".join(left)


@pytest.mark.parametrize(
    ("pieces", "left"),
    [
        ([b"a\x1b", b"b"], b"a\x1bb"),
        ([b"\x1b]0;x", b"\x18shown"], b"\x18shown"),
        ([b"\x1b]0;x\x1b", b"[31mred"], b"\x18\x1b[31mred"),
        ([b"\x1b\x18]52;c;x"], b"\x1b\x18]52;c;x"),
        ([b"\x1b]0;" + b"x" * 5000 + b"end"], b"\x180;" + b"x" * 5000 + b"end"),
        ([b"\x1b]0;", *[b"x" * 1000] * 4, b"y" * 1000, b"end"], b"\x18" + b"y" * 1000 + b"end"),
        ([b"\x1b" + b"\n" * 5000], b"\n" * 5000),
        ([b"\x1b" * 3000 + b"]0;x\x07y"], b"\x1b" * 2999 + b"\x18y"),
    ],
)
def test_what_is_no_string_is_passed_on(editor, pieces, left):
    assert safe(editor, *pieces) == left
