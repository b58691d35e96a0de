"""What a person sees of tool calls that run, fail or belong to others, and of folds, on screens of any width."""

from __future__ import annotations

import pytest

from tests.lua.test_chat import call
from tests.lua.test_content import diff, terminal
from tests.lua.test_screen import append, apply, opened

THOUGHT = "\n".join(f"I wonder about the {n}th reason" for n in range(12))
RUNNING = call(
    1, 3, "in_progress", title="make test", kind="execute", started=1_700_000_000.0,
    content=[terminal(command="make test", output="12 passed", number=1)],
)  # fmt: skip
FAILED = call(
    1, 4, "failed", title="Edit main.py", started=1_700_000_000.0, ended=1_700_000_003.2, id="t2",
    content=[diff("/p/main.py", "a\nb\n", "a\nc\n")],
)  # fmt: skip
PART = call(1, 5, "completed", title="Read a.py", kind="read", id="t3", depth=1, parent="t0", under="Explore")
LONG = call(
    1, 6, "completed", title="grep -r word", kind="search", id="t4",
    content=[{"type": "text", "text": "\n".join(f"hit {n}" for n in range(20))}] * 2,
)  # fmt: skip
EVENTS = [append("do it", 1, "user"), append(THOUGHT, 2, "thought"), RUNNING, FAILED, PART, LONG, append("Done.", 7)]


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_calls_and_folds_can_be_read(screen, columns):
    editor = opened(screen, columns, 46)
    apply(editor, *EVENTS)
    editor.wait_for("Done.")
    seen = [
        "do it", "▸ I wonder about", "12 lines", "◐ $ make test", "12 passed", "✗ ± Edit main.py", "failed", "3.2 s",
        "-b", "+c", "↳ ● ≡ Read a.py", "of Explore", "● ? grep -r word", "41 lines", "Done.",
    ]  # fmt: skip
    rows = [editor.wait_for(words)[0] for words in seen]
    assert rows == sorted(rows), "one below the other"
    assert not editor.find("hit 3")
    assert not editor.find("2th reason")


def test_a_fold_is_opened_and_closed_with_the_keys_of_neovim(screen):
    editor = opened(screen, 100, 46)
    apply(editor, *EVENTS)
    row, _ = editor.wait_for("▸ I wonder")
    editor.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(vim.fn.bufnr('acp://demo chat'))[1])")
    editor.type("gg3jzo")
    editor.wait_for("I wonder about the 11th reason")
    assert editor.find("I wonder about the 0th")[0] == row
    editor.type("zc")
    editor.wait_until(lambda: not editor.find("11th reason"), what="the closed fold")
    editor.type("zM")
    editor.wait_until(lambda: not editor.find("12 passed"), what="a closed tool call")
    assert editor.find("◐ $ make test")
    editor.type("zR")
    editor.wait_for("11th reason")


def test_colours_tell_how_a_call_ended(screen):
    editor = opened(screen, 120, 46)
    apply(editor, *EVENTS)
    editor.wait_for("Done.")
    running, failed, well = (editor.cell(*editor.wait_for(mark)).fg for mark in ("◐", "✗", "● ?"))
    assert len({running, failed, well}) == 3
    assert editor.cell(*editor.wait_for("failed")).fg == failed
    row, column = editor.wait_for("▸ I wonder")
    plain = editor.cell(*editor.wait_for("Done."))
    for at in (column, column + 4, 119):
        assert editor.cell(row, at).bg == plain.bg, "a fold is no bar across the chat"


def test_a_fold_is_no_bar_where_the_scheme_makes_bars_of_them(screen):
    editor = opened(screen, 120, 46)
    editor.lua("""
      vim.o.termguicolors = true
      vim.api.nvim_set_hl(0, "Normal", { fg = "#e0e0e0", bg = "#102030" })
      vim.api.nvim_set_hl(0, "Folded", { fg = "#ffffff", bg = "#ff0000" })
    """)
    apply(editor, *EVENTS)
    row, column = editor.wait_for("▸ I wonder")
    editor.wait_until(lambda: {editor.cell(row, at).bg for at in (column, column + 4, 119)} == {"102030"})


def test_a_call_that_goes_on_says_so_in_place(screen):
    editor = opened(screen, 100, 30)
    apply(editor, RUNNING, append("Meanwhile.", 7))
    row, _ = editor.wait_for("◐ $ make test  since")
    apply(editor, {**RUNNING, "call": {**RUNNING["call"], "status": "completed", "ended": 1_700_000_130.0}})
    editor.wait_for("● $ make test  2 min 10 s")
    assert editor.find("● $ make test")[0] == row
    assert editor.find("Meanwhile.")


def test_a_picture_and_a_link_say_what_they_are(screen):
    editor = opened(screen, 200, 60)
    content = [
        {"type": "media", "kind": "image", "mime_type": "image/png", "size": 2_400_000, "place": 0},
        {"type": "resource", "uri": "https://example.org/x", "name": "Docs", "mime_type": "text/html"},
        {"type": "text", "text": "y" * 2500, "lines": 1, "chars": 900_000},
    ]
    apply(editor, call(1, 1, "completed", kind="fetch", content=content))
    for words in ("● ↓ Edit main.py", "image (image/png, 2.4 MB)", "Docs  https://example.org/x  (text/html)",
                  "900 kB more (K: all of it)"):  # fmt: skip
        editor.wait_for(words)


def test_own_icons(screen):
    editor = opened(screen, 100, 30)
    editor.lua('require("acp_nvim").setup({ ui = { icons = { edit = "E", failed = "X", other = "O" } } })')
    apply(editor, FAILED, call(1, 8, "completed", kind="_odd", id="t9"))
    editor.wait_for("X E Edit main.py  failed")
    editor.wait_for("● O _odd  Edit main.py")
