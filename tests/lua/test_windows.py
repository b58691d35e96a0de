"""Windows of chats: nothing moves the user."""

from __future__ import annotations

import pytest

LAYOUT = """local out = {}
for _, w in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local b = vim.api.nvim_win_get_buf(w)
  table.insert(out, { vim.bo[b].filetype, vim.api.nvim_win_get_width(w), vim.api.nvim_win_get_height(w) })
end
return out"""
WHERE = "return { vim.api.nvim_get_current_win(), vim.api.nvim_win_get_cursor(0), vim.api.nvim_get_mode().mode }"


@pytest.fixture
def code(editor):
    """Show a file in a window."""
    path = editor.project / "code.txt"
    path.write_text("".join(f"line {n}\n" for n in range(1, 201)))
    editor.command("edit code.txt")
    return editor.api("get_current_win")


@pytest.mark.parametrize(("columns", "width"), [(60, 40), (80, 40), (120, 48), (200, 80)])
def test_right_beside_the_code(editor, columns, width):
    editor.lua("vim.o.columns = ...", columns)
    editor.chat()
    assert editor.lua(LAYOUT) == [["", columns - width - 1, 38], ["acp_chat", width, 31], ["acp_prompt", width, 6]]


@pytest.mark.parametrize(
    ("position", "order"),
    [
        ("left", ["acp_chat", "acp_prompt", ""]),
        ("bottom", ["", "acp_chat", "acp_prompt"]),
        ("tab", ["acp_chat", "acp_prompt"]),
    ],
)
def test_positions(editor, position, order):
    editor.lua('require("acp_nvim").setup({ ui = { position = ... } })', position)
    editor.chat()
    assert [one[0] for one in editor.lua(LAYOUT)] == order
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"


def test_a_tiny_screen_still_has_a_chat(editor):
    editor.lua("vim.o.columns, vim.o.lines = 20, 8")
    editor.chat()
    assert "acp_prompt" in [one[0] for one in editor.lua(LAYOUT)]


def test_another_session_takes_the_same_windows(editor):
    first = editor.chat()
    second = editor.chat()
    assert len(editor.lua(LAYOUT)) == 3
    assert editor.lua("return vim.b.acp_nvim_session") == second == first + 1


def test_closing_the_chat_closes_its_prompt_and_the_session_goes_on(editor):
    key = editor.chat()
    editor.focus(editor.session(key, "bufnr"))
    editor.keys("q")
    editor.wait_until(lambda: len(editor.lua(LAYOUT)) == 1)
    editor.command("AcpChat")
    editor.focus(editor.session(key, "bufnr"))
    editor.command("close")
    editor.wait_until(lambda: len(editor.lua(LAYOUT)) == 1)
    assert editor.sent("stop") == []


def test_the_last_window_can_be_closed_too(editor):
    key = editor.chat()
    editor.command("only")
    editor.focus(editor.session(key, "prompt_bufnr"))
    editor.command("AcpChat")
    editor.focus(editor.session(key, "bufnr"))
    editor.keys("q")
    assert editor.lua("return vim.bo.filetype") == ""


def test_options_do_not_leak_into_code(editor, code):
    editor.command("set number")
    key = editor.chat()
    win = editor.focus(editor.session(key, "bufnr"))
    editor.command("edit! code.txt")
    state = editor.lua("local w = vim.wo[...] return { w.number, w.winbar, w.foldenable }", win)
    assert state == [True, "", True]


def test_keys_of_the_chat(editor):
    key = editor.chat()
    said = [("user", "one\nmore"), ("agent", "answer"), ("user", "two"), ("agent", "answer")]
    for number, (kind, text) in enumerate(said, 1):
        editor.apply({"type": "append", "session": key, "block": number, "kind": kind, "text": text})
    editor.focus(editor.session(key, "bufnr"))
    lines = []
    for keys in ["gg", "]]", "]]", "G[[", "[[", "[[", "2]]"]:
        editor.keys(keys)
        lines.append(editor.api("win_get_cursor", 0)[0])
    assert lines == [1, 2, 7, 7, 2, 2, 7]
    editor.keys("i")
    assert editor.lua("return { vim.bo.filetype, vim.api.nvim_get_mode().mode }") == ["acp_prompt", "i"]


@pytest.mark.parametrize("keys", ["", "itext", "v", ":echo 1", "/x"])
def test_text_that_streams_in_moves_nothing(editor, code, keys):
    key = editor.chat()
    editor.command("tabnew")
    editor.keys(keys)
    before = editor.lua(WHERE)
    for part in range(5):
        editor.apply({"type": "append", "session": key, "block": part + 1, "kind": "agent", "text": "a\nb\n"})
    assert editor.lua(WHERE) == before
