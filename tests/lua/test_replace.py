"""Texts that are replaced as a whole: exact, where they were, and without moving the reader."""

from __future__ import annotations

import random

import pytest

from tests.lua.test_chat import PIECES, append, call, text_of


def replace(key, block, text, kind="agent"):
    return {"type": "replace", "session": key, "block": block, "kind": kind, "text": text}


def numbered(count, mark=""):
    return [f"line {number}{mark}" for number in range(count)]


def view(editor, window):
    """Line and column of the cursor, first line seen, and the text of both lines."""
    return editor.lua(
        """return vim.api.nvim_win_call(..., function()
          local at = vim.fn.winsaveview()
          return { at.col, at.lnum - at.topline, vim.fn.getline(at.topline), vim.fn.getline(at.lnum) }
        end)""",
        window,
    )


def other_window(editor, key, line):
    """A second window on the chat, with its cursor on a line."""
    editor.command("wincmd p | split")
    return editor.lua(
        """local w, buffer, line = vim.api.nvim_get_current_win(), ...
        vim.api.nvim_win_set_buf(w, buffer)
        vim.api.nvim_win_set_cursor(w, { line, 3 })
        vim.cmd("normal! zz")
        vim.cmd("redraw")
        return w""",
        editor.session(key, "bufnr"),
        line,
    )


def looks(editor, key):
    """Row, column and end of every coloured text and header of the chat."""
    return editor.lua(
        """local out = {}
        for _, m in ipairs(vim.api.nvim_buf_get_extmarks(..., -1, 0, -1, { details = true })) do
          local d = m[4]
          if d.virt_text or d.hl_group then
            table.insert(out, { m[2], m[3], d.virt_text and d.virt_text[1][1] or d.hl_group, d.end_row, d.end_col })
          end
        end
        table.sort(out, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[3] < b[3] end)
        return out""",
        editor.session(key, "bufnr"),
    )


@pytest.mark.parametrize("seed", range(20))
def test_any_text_becomes_any_other(editor, seed):
    rng = random.Random(seed)
    key = editor.chat()
    expected = {}
    events = []
    for number in (1, 2, 3):
        expected[number] = rng.choice(PIECES)
        events.append(rng.choice([append, replace])(key, number, expected[number]))
    for _ in range(rng.randint(1, 40)):
        number = rng.randint(1, 3)
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 8)))
        if rng.random() < 0.5:
            expected[number] += text
            events.append(append(key, number, text))
        else:
            expected[number] = text
            events.append(replace(key, number, text))
        if rng.random() < 0.2:
            editor.apply(*events)
            events.clear()
    editor.apply(*events)
    # each block has a line for its header, which separates it from the one above
    assert text_of(editor.lines(key)[1:]) == "\n\n".join(expected[number] for number in (1, 2, 3))


def test_it_stays_where_it_was_between_the_others(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "hi", "user"), append(key, 2, "well"), call(key, 3), append(key, 4, "end"))
    editor.apply(replace(key, 2, "one\ntwo\nthree"), replace(key, 1, "", "user"), append(key, 2, "!"))
    assert editor.lines(key) == [
        "", "", "", "one", "two", "three!", "", "Edit main.py", "", "end",
    ]  # fmt: skip
    headers = [(mark[0], mark[2]) for mark in looks(editor, key) if mark[2] in ("You", "demo")]
    assert headers == [(0, "You"), (2, "demo"), (8, "demo")]
    editor.apply(call(key, 3, "completed"), replace(key, 2, ""))
    assert editor.lines(key) == ["", "", "", "", "", "Edit main.py", "", "end"]


@pytest.mark.parametrize("current", [True, False])
@pytest.mark.parametrize(
    "changed",
    [
        ["begin", *numbered(50)],
        ["much", "more", "before", *numbered(50), "and after"],
        numbered(50)[3:],
        [*numbered(4), "another", *numbered(50)[5:], "end"],
        [],
    ],
)
def test_the_reader_of_another_block_stays_where_they_are(editor, current, changed):
    key = editor.chat()
    editor.apply(append(key, 1, "\n".join(numbered(50))), append(key, 2, "\n".join(numbered(200, " of the answer"))))
    editor.apply(append(key, 3, "\n".join(numbered(50))))
    window = other_window(editor, key, 150)
    if not current:
        editor.command("wincmd p")
    before = view(editor, window)
    assert before[3] == "line 97 of the answer"
    editor.apply(replace(key, 1, "\n".join(changed)))
    assert view(editor, window) == before
    editor.apply(replace(key, 3, "\n".join(changed)))
    editor.command("redraw")
    assert view(editor, window) == before


def test_the_reader_of_the_block_itself_stays_on_their_line(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "\n".join(numbered(100))))
    window = other_window(editor, key, 50)
    before = view(editor, window)
    editor.apply(replace(key, 1, "\n".join(["first", "second", *numbered(100)[1:], "last"])))
    assert view(editor, window) == before
    editor.apply(replace(key, 1, "all of it is different"))
    assert editor.lua("return vim.api.nvim_win_get_cursor(...)", window)[0] <= 2


def test_a_window_at_the_end_follows(editor):
    key = editor.chat()
    window = editor.lua("return vim.fn.win_findbuf(...)[1]", editor.session(key, "bufnr"))
    for count in (1, 100, 3, 60, 0, 80):
        editor.apply(replace(key, 1, "\n".join(numbered(count))))
        assert editor.api("win_get_cursor", window)[0] == len(editor.lines(key))
    editor.apply(append(key, 2, "and\nmore"))
    assert editor.api("win_get_cursor", window)[0] == len(editor.lines(key))


def test_only_what_differs_is_touched(editor):
    key = editor.chat()
    text = numbered(50)
    editor.apply(append(key, 1, "\n".join(text)), append(key, 2, "after"))
    touched = editor.lua(
        """local events, key, buffer, text = require("acp_nvim.events"), ...
        local touched = {}
        vim.api.nvim_buf_attach(buffer, false, {
          on_lines = function(_, _, _, first, last, new) table.insert(touched, { first, last, new }) end,
        })
        local function say(lines)
          local whole = table.concat(lines, "\\n")
          events.apply({ { type = "replace", session = key, block = 1, kind = "agent", text = whole } })
        end
        say(text)
        text[20] = "changed"
        say(text)
        table.insert(text, "added")
        say(text)
        return touched""",
        key,
        editor.session(key, "bufnr"),
        text,
    )
    assert touched == [[20, 21, 21], [51, 51, 52]]


def test_thousands_of_replaces_between_appends_keep_the_text(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "question", "user"), replace(key, 2, ""), append(key, 3, "thought", "thought"))
    exact = editor.lua(
        """local events, key, buffer = require("acp_nvim.events"), ...
        local lines, rest = {}, ""
        for n = 1, 50 do lines[n] = "line " .. n end
        for n = 1, 2000 do
          lines[n % 50 + 1] = ("line %d\\r, for the %d. time"):format(n % 50 + 1, n)
          local whole = table.concat(lines, "\\n", 1, 50 - n % 7)
          local piece, more = ("+%d\\n"):format(n), ("%d "):format(n)
          rest = rest .. more
          events.apply({
            { type = "replace", session = key, block = 2, kind = "agent", text = whole },
            { type = "append", session = key, block = 3, kind = "thought", text = more },
            { type = "append", session = key, block = 2, kind = "agent", text = piece },
          })
          local shown = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\\n")
          local wanted = "\\nquestion\\n\\n" .. whole .. piece .. "\\n\\nthought" .. rest
          if shown ~= wanted then return { n, shown, wanted } end
        end
        return true""",
        key,
        editor.session(key, "bufnr"),
    )
    assert exact is True
