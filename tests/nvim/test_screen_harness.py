"""The harness with a screen: what is typed and seen is what a person types and sees."""

from __future__ import annotations

import pytest

from tests.support.terminal import Terminal


@pytest.fixture
def plain(screen):
    return screen(plugin=False, columns=80, rows=24)


def test_typing_shows_on_the_screen(plain):
    plain.wait_for("[No Name]")
    plain.type("ihello screen\x1b")
    assert plain.wait_for("hello screen") == (0, 0)
    assert len(plain.rows()) == 24


def test_resize_reaches_neovim(plain):
    plain.resize(60, 20)
    plain.wait_until("return vim.o.columns == 60 and vim.o.lines == 20")
    assert len(plain.rows()) == 20


def test_cells_have_colours(plain):
    plain.wait_for("[No Name]")
    plain.lua("vim.api.nvim_set_hl(0, 'It', { fg = '#ff8000', bold = true, bg = '#001020' })")
    plain.lua("vim.o.termguicolors = true")
    plain.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'plain seen' })")
    plain.lua(
        "vim.api.nvim_buf_set_extmark(0, vim.api.nvim_create_namespace('x'), 0, 6, { end_col = 10, hl_group = 'It' })"
    )
    plain.wait_until(lambda: plain.cell(0, 6).fg == "ff8000", what="the colour")
    assert plain.cell(0, 6).bold
    assert plain.cell(0, 6).bg == "001020"
    assert not plain.cell(0, 0).bold
    assert not plain.cell(0, 0).underscore


def test_the_cursor_is_where_it_is(plain):
    plain.wait_for("[No Name]")
    plain.type("iabc")
    plain.wait_until(lambda: plain.cursor() == (0, 3), what="the cursor after abc")


def test_nothing_is_said_at_start(plain):
    plain.wait_for("[No Name]")
    assert "terminal" not in plain.printed()


def fed(*pieces: bytes) -> str:
    terminal = Terminal(20, 2, lambda _data: None)
    for piece in pieces:
        terminal.feed(piece)
    return terminal.screen.display[0].rstrip()


def test_strings_for_the_terminal_are_not_shown():
    assert fed(b"a\x1bP+q544e\x1b\\b\x1b_Gi=1\x1b\\c\x1b]11;?\x07d\x1b[>4;2me") == "abcde"


def test_an_escape_sequence_in_two_pieces():
    assert fed(b"a\x1b", b"[1", b"mb\x1bP+q", b"54\x1b", b"\\c") == "abc"


def test_an_update_is_shown_when_all_of_it_is_there():
    terminal = Terminal(20, 2, lambda _data: None)
    seen = []
    for piece in (b"old\x1b[?20", b"26h\rnew", b" text\x1b[?2026", b"l and", b" more"):
        terminal.feed(piece)
        seen.append(terminal.screen.display[0].rstrip())
    assert seen == ["old", "old", "old", "new text and", "new text and more"]


def test_neovim_writes_updates(plain):
    fed = []
    feed = plain.terminal._terminal.feed
    plain.terminal._terminal.feed = lambda data: (fed.append(data), feed(data))
    plain.type("ihello screen\x1b")
    plain.wait_for("hello screen")
    assert b"\x1b[?2026h" in b"".join(fed)


def test_colours_with_colons():
    terminal = Terminal(20, 2, lambda _data: None)
    terminal.feed(b"\x1b[38:2::1:2:3;4:3;58:2::9:9:9mx\x1b[4:0my")
    first, second = terminal.screen.buffer[0][0], terminal.screen.buffer[0][1]
    assert (first.fg, first.underscore) == ("010203", True)
    assert (second.data, second.underscore) == ("y", False)


def test_the_terminal_answers():
    said = []
    terminal = Terminal(20, 2, said.append)
    terminal.feed(b"\x1b[5n")
    terminal.feed(b"\x1b[?2026$")
    terminal.feed(b"p")
    assert said == [b"\x1b[0n", b"\x1b[?2026;2$y"]
