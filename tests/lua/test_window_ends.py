"""Windows of a chat that are closed in any way: the rest goes, the session goes on, and it can be opened again."""

from __future__ import annotations

import pytest

from tests.lua.test_pinned_plan import HEIGHTS, pinned, plan
from tests.lua.test_winbar import status

TYPES = """local out = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  table.insert(out, vim.bo[vim.api.nvim_win_get_buf(win)].filetype)
end
return out"""
OPEN = ["", "acp_chat", "acp_prompt"]


def types(editor, wanted, what="these windows"):
    editor.wait_until(lambda: editor.lua(TYPES) == wanted, what=f"{what}: {wanted}")


@pytest.mark.parametrize(
    ("where", "command", "left"),
    [
        ("bufnr", "quit", [""]),
        ("bufnr", "close", [""]),
        ("bufnr", "wincmd o", ["acp_chat"]),
        ("prompt_bufnr", "quit", ["", "acp_chat"]),
        ("prompt_bufnr", "wincmd o", ["acp_prompt"]),
        (None, "wincmd o", [""]),
        (None, "only", [""]),
        (None, "quit", ["acp_chat", "acp_prompt"]),
        (None, "AcpToggle", [""]),
        ("prompt_bufnr", "AcpToggle", [""]),
    ],
)
@pytest.mark.parametrize("with_plan", [True, False])
def test_any_way_to_close(editor, where, command, left, with_plan):
    key = editor.chat()
    if with_plan:
        editor.apply(status(key), plan(key, 1, "ci"))
        assert pinned(editor)
    if where:
        editor.focus(editor.session(key, where))
    else:
        editor.command("wincmd t")
    editor.command(command)
    stays = ["acp_chat", "acp_plan", "acp_prompt"] if with_plan and command == "quit" and not where else left
    types(editor, stays)
    assert editor.sent("stop") == []
    editor.command("AcpChat")
    editor.lua('require("acp_nvim.chat.windows.fit").now()')
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"
    assert sorted(set(editor.lua(TYPES)) - {"", "acp_plan"}) == ["acp_chat", "acp_prompt"]
    assert editor.lua("return vim.b.acp_nvim_session") == key


def test_a_tab_of_its_own_goes_with_the_chat_and_not_with_its_other_windows(editor):
    editor.lua('require("acp_nvim").setup({ ui = { position = "tab" } })')
    key = editor.chat()
    editor.command("wincmd k | quit")
    editor.wait_until(lambda: editor.lua("return vim.fn.tabpagenr('$')") == 1, what="the tab page to go")
    editor.command("AcpChat")
    editor.command("only")
    types(editor, ["acp_prompt"], "the prompt, which the user wants to see alone")
    assert editor.lua("return vim.fn.tabpagenr('$')") == 2
    editor.command("tabclose | AcpChat")
    assert editor.lua("return vim.b.acp_nvim_session") == key


def test_the_tab_of_a_chat_can_be_closed(editor):
    key = editor.chat()
    editor.apply(status(key), plan(key, 1, "ci"))
    pinned(editor)
    editor.command("tabnew | tabprevious | tabclose")
    types(editor, [""])
    editor.command("AcpChat")
    assert pinned(editor) == [" ✓ step 1", " ▸ step 2"]


def test_toggle_opens_closes_and_opens(editor):
    editor.command("AcpToggle")
    types(editor, OPEN)
    editor.command("wincmd t | AcpToggle")
    types(editor, [""])
    editor.command("AcpToggle demo")
    types(editor, OPEN)
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"
    assert len(editor.sent("open")) == 1


def test_a_chat_without_a_prompt_can_be_closed(editor):
    key = editor.chat()
    editor.command(f"bwipeout! {editor.session(key, 'prompt_bufnr')}")
    editor.focus(editor.session(key, "bufnr"))
    editor.keys("q")
    types(editor, [""])


def test_the_map_of_it(editor):
    editor.command("nmap gz <Plug>(AcpToggle)")
    for windows in (OPEN, [""], OPEN):
        editor.keys("gz")
        types(editor, windows)


@pytest.mark.parametrize("position", ["right", "left", "bottom", "tab", "float"])
@pytest.mark.parametrize(("columns", "lines"), [(20, 6), (30, 10), (80, 24), (200, 60)])
def test_every_position_on_any_screen_again_and_again(editor, position, columns, lines):
    editor.lua("vim.o.columns, vim.o.lines = ...", columns, lines)
    editor.lua('require("acp_nvim").setup({ ui = { position = ... } })', position)
    for _ in range(2):
        editor.command("AcpToggle")
        assert {"acp_chat", "acp_prompt"} <= set(editor.lua(TYPES))
        assert all(height >= 1 for _, height in editor.lua(HEIGHTS))
        editor.command("AcpToggle")
        editor.wait_until(lambda: "acp_chat" not in editor.lua(TYPES), what="the chat to go")
    assert editor.messages() == []
    assert editor.printed() == ""


def test_in_the_command_line_window_nothing_is_torn(editor):
    key = editor.chat()
    editor.keys("q:")
    editor.apply(status(key), plan(key, 1, "ci"))
    editor.command("AcpToggle")
    assert "command-line window" in editor.message()
    editor.keys(":q<CR>")
    assert pinned(editor) == [" ✓ step 1", " ▸ step 2"]
