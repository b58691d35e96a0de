"""What the chat buffer shows."""

from __future__ import annotations

import random

import pytest

PIECES = [
    "# title\n",
    "\n",
    "a",
    "```lua\n",
    "x = 1\n",
    "\r",
    "\r\n",
    "\0",
    "🙂",
    "  indented ",
    "é",
    "\x1b[31m",
    "| t |\n",
    "日本\n",
    "",
]


def append(key, block, text, kind="agent"):
    return {"type": "append", "session": key, "block": block, "kind": kind, "text": text}


def call(key, block, status="pending", title="Edit main.py", content=(), **more):
    view = {"id": "t1", "title": title, "kind": "edit", "status": status, "content": list(content), "locations": []}
    return {"type": "tool_call", "session": key, "block": block, "call": {**view, **more}}


def text_of(lines):
    """The buffer's lines as the text they stand for."""
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(20))
def test_agent_text_is_exact(editor, seed):
    rng = random.Random(seed)
    key = editor.chat()
    pieces = [rng.choice(PIECES) for _ in range(rng.randint(1, 60))]
    cut = rng.randint(0, len(pieces))
    editor.apply(*[append(key, 1, piece) for piece in pieces[:cut]])
    editor.apply(*[append(key, 1, piece) for piece in pieces[cut:]])
    assert text_of(editor.lines(key)[1:]) == "".join(pieces)


def test_blocks_are_separated_by_one_empty_line_and_headers_are_not_text(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "hi", "user"), append(key, 2, "well", "thought"), append(key, 3, "hello\n"))
    editor.apply(append(key, 2, ", hm"), append(key, 3, "there"))
    assert editor.lines(key) == ["", "hi", "", "well, hm", "", "hello", "there"]
    marks = editor.lua(
        """local out = {}
        for _, m in ipairs(vim.api.nvim_buf_get_extmarks(..., -1, 0, -1, { details = true })) do
          if m[4].virt_text then table.insert(out, { m[2], m[4].virt_text[1][1] }) end
        end
        table.sort(out, function(a, b) return a[1] < b[1] end)
        return out""",
        editor.session(key, "bufnr"),
    )
    assert marks == [[0, "You"], [2, "Thought"], [4, "demo"]]


def test_tool_call_in_the_middle_changes_in_place(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "before"), call(key, 2), append(key, 3, "after"))
    editor.apply(call(key, 2, "completed", content=[{"type": "text", "text": "one\ntwo\n"}]))
    editor.apply(append(key, 1, "\nmore"), append(key, 3, "!"))
    assert editor.lines(key) == [
        "", "before", "more", "", "Edit main.py", "  one", "  two", "", "after!",
    ]  # fmt: skip
    assert editor.seen(key)[4] == "● ± Edit main.py"
    editor.apply(call(key, 2, "failed"))
    assert editor.seen(key)[4:] == ["✗ ± Edit main.py  failed", "", "after!"]


def test_tool_call_shows_diffs_terminals_and_whatever_else(editor):
    key = editor.chat()
    content = [
        {"type": "diff", "path": "/p/a.py", "old_text": "a\nb\nc\n", "new_text": "a\nB\nc\n"},
        {"type": "diff", "path": "/p/new.py", "new_text": "x\n"},
        {"type": "terminal", "terminal_id": "term-1"},
        {"type": "other", "label": "image (image/png, 12 kB)"},
    ]
    editor.apply(call(key, 1, "strange\nword", "run\nthis\r\nand that\0", content))
    shown = editor.lines(key)
    assert editor.seen(key)[1] == "◐ ± run  strange"
    assert shown[2:4] == ["  this", "  and that^@"]
    for line in ["  /p/a.py", "  -b", "  +B", "  /p/new.py (new file)", "  +x", "  terminal",
                 "  image (image/png, 12 kB)"]:  # fmt: skip
        assert line in shown


def test_long_output_is_cut_and_counted(editor):
    key = editor.chat()
    output = "\n".join(f"line {n}" for n in range(500))
    editor.apply(call(key, 1, content=[{"type": "text", "text": output}, {"type": "text", "text": "y" * 9000}]))
    shown = editor.lines(key)
    assert shown[shown.index("… 480 lines … (K: all of it)") - 1 :][:3:2] == ["  line 7", "  line 488"]
    assert len(shown) < 30
    assert max(map(len, shown)) < 2100


def test_plan(editor):
    key = editor.chat()
    steps = [("done", "completed"), ("now\nand more", "in_progress"), ("later", "pending"), ("odd", "dreamt")]
    entries = [{"content": text, "status": status, "priority": "high"} for text, status in steps]
    editor.apply({"type": "plan", "session": key, "block": 1, "entries": entries})
    assert editor.lines(key)[1:] == ["Plan (1/4)", "  ✓ done", "  ▸ now", "  ○ later", "  ○ odd [dreamt]"]


def test_reset_begins_anew(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "one"), call(key, 2))
    editor.apply({"type": "reset", "session": key}, append(key, 1, "uno"), append(key, 2, "due", "user"))
    assert editor.lines(key) == ["", "uno", "", "due"]


def test_user_cannot_type_there_and_nothing_parses_it(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "```lua\nx\n```"))
    buffer = editor.session(key, "bufnr")
    state = editor.lua(
        """local b = vim.bo[...]
        local parsed = vim.treesitter.highlighter.active[...] ~= nil
        return { b.modifiable, b.undolevels, b.syntax, b.filetype, b.buftype, parsed }""",
        buffer,
    )
    assert state == [False, -1, "", "acp_chat", "nofile", False]


def test_windows_at_the_end_follow_and_others_stay(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "\n".join(map(str, range(100)))))
    first = editor.lua("return vim.fn.win_findbuf(...)[1]", editor.session(key, "bufnr"))
    editor.command("wincmd p | split")
    second = editor.lua(
        """local w = vim.api.nvim_get_current_win()
        vim.api.nvim_win_set_buf(w, ...)
        vim.api.nvim_win_set_cursor(w, { 5, 0 })
        return w""",
        editor.session(key, "bufnr"),
    )
    editor.apply(append(key, 1, "\nmore\nlines"))
    assert editor.api("win_get_cursor", first)[0] == 103
    assert editor.api("win_get_cursor", second)[0] == 5


def test_selecting_is_not_disturbed_and_the_end_is_found_again(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "one\ntwo"))
    editor.focus(editor.session(key, "bufnr"))
    editor.keys("v")
    editor.apply(append(key, 1, "\nthree\nfour"))
    assert editor.api("get_mode")["mode"] == "v"
    assert editor.api("win_get_cursor", 0)[0] == 3
    editor.keys("<Esc>")
    editor.apply(append(key, 1, "\nfive"))
    assert editor.api("win_get_cursor", 0)[0] == 6


def test_wiped_chat_comes_back_by_redraw(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "gone"))
    editor.command(f"bwipeout! {editor.session(key, 'bufnr')}")
    editor.apply(append(key, 1, "more"), call(key, 2), {"type": "reset", "session": key})
    editor.command("AcpChat")
    assert editor.sent("redraw") == [{"session": key}]
    editor.apply({"type": "reset", "session": key}, append(key, 1, "gonemore"))
    assert editor.lines(key) == ["", "gonemore"]


def test_one_bad_event_does_not_hide_the_others(editor):
    key = editor.chat()
    editor.apply_unchecked(
        append(key, 1, "a"),
        {"type": "tool_call", "session": key, "block": 2},
        {"type": "nobody knows this"},
        {"type": "append", "session": 99, "block": 1, "kind": "agent", "text": "x"},
        append(key, 3, "b"),
    )
    assert editor.lines(key)[-1] == "b"
    assert "could not be shown" in editor.message()


def test_types_of_events_that_nobody_knows_are_logged_once(editor):
    key = editor.chat()
    for _ in range(3):
        unknown = {"type": "hologram", "session": key, "block": 1}, {"type": "hologram"}
        editor.apply_unchecked(*unknown, append(key, 1, "a"))
    editor.apply_unchecked(*[{"type": f"word {n}"} for n in range(100)], {"session": key})
    log = editor.lua('return vim.fn.readfile(require("acp_nvim.kernel.log").path())')
    assert sum("hologram" in line for line in log) == 1
    assert len(log) < 50
    assert editor.lines(key)[1:] == ["aaa"]
    assert editor.messages() == []


def test_text_that_meets_a_text_lock_is_shown_afterwards(editor):
    key = editor.chat()
    editor.lua(
        "_G.apply = function(e) require('acp_nvim.events').apply(e) return '' end _G.event = ...",
        [append(key, 1, "late")],
    )
    editor.command("nnoremap <expr> Q v:lua.apply(g:event)")
    editor.lua("vim.g.event = _G.event")
    editor.keys("Q")
    editor.wait_until(lambda: editor.lines(key) == ["", "late"])


def test_in_a_long_chat_a_change_touches_what_it_changes(editor):
    key = editor.chat()
    editor.apply(call(key, 1))
    for _ in range(20):
        editor.apply(append(key, 2, "some words in a line\n" * 5000))
    touched = editor.lua(
        """local events, key, buffer = require("acp_nvim.events"), ...
        local touched = {}
        vim.api.nvim_buf_attach(buffer, false, {
          on_bytes = function(_, _, _, _, _, _, _, _, old, _, _, new) table.insert(touched, math.max(old, new)) end,
        })
        for n = 1, 20 do
          events.apply({ { type = "append", session = key, block = 2, kind = "agent", text = "word\\n" },
            { type = "tool_call", session = key, block = 1, call = { id = "t", title = "T" .. n, kind = "edit",
              status = "pending", content = {}, locations = {} } } })
        end
        return touched""",
        key,
        editor.chat_buffer(),
    )
    assert len(editor.lines(key)) > 100_000
    assert len(touched) == 40
    assert max(touched) < 100, "bytes in one change"
