"""Windows that :mksession restores: those of code stay, and there is none for the plugin's buffers."""

from __future__ import annotations

import pytest

from tests.lua.conftest import RECORD
from tests.lua.test_last_session import words
from tests.lua.test_pinned_plan import pinned, plan
from tests.lua.test_winbar import status
from tests.lua.test_window_buffers import WINDOWS
from tests.lua.test_window_sizes import resized, size
from tests.support.screen import ScreenEditor


@pytest.fixture
def saved(editor):
    """Writes a session with two files and a chat with its plan, at a position of the chat."""

    def save(position: str, options: str = "") -> str:
        for name in ("one.txt", "two.txt"):
            (editor.project / name).write_text("text\n")
        editor.lua('require("acp_nvim").setup({ ui = { position = ... } })', position)
        editor.command("edit one.txt | split two.txt | resize 5")
        key = editor.chat()
        editor.apply(status(key), plan(key, 1, "ci"))
        assert pinned(editor)
        if options:
            editor.command(f"set sessionoptions={options}")
        path = str(editor.project / "Session.vim")
        editor.command(f"mksession {path}")
        return path

    return save


@pytest.mark.parametrize(
    ("position", "options"), [("right", ""), ("tab", ""), ("bottom", "blank,buffers,globals,localoptions")]
)
def test_only_code_windows_come_back_without_a_prompt_to_press_enter(saved, tmp_path, position, options):
    path = saved(position, options)
    (tmp_path / "next").mkdir()
    restored = ScreenEditor(tmp_path / "next", columns=120, rows=40, arguments=["-S", path])
    try:
        restored.wait_until(lambda: "acp://" not in restored.lua("return vim.fn.execute('ls!')"), what="no ghosts")
        assert restored.lua(WINDOWS) == ["two.txt", "one.txt"]
        assert restored.lua("return vim.fn.tabpagenr('$')") == 1
        assert position != "right" or restored.lua("return vim.fn.winheight(1)") == 5
        restored.lua(RECORD)
        restored.command("AcpChat! demo")
        assert sorted(restored.lua(WINDOWS)) == ["acp_chat", "acp_prompt", "one.txt", "two.txt"]
    finally:
        restored.close()


def test_typed_text_is_no_reason_to_close_a_window(editor):
    editor.command("new | file acp://demo prompt 1 | call setline(1, 'text')")
    editor.command("doautoall SessionLoadPost")
    editor.lua('require("acp_nvim.windows.restored").close()')
    key = editor.chat()
    assert editor.prompt_lines(key) == ["text"]


def test_a_layout_of_nothing_else_is_an_empty_window(editor):
    editor.command("file acp://demo chat 1 | split | enew | file acp://demo prompt 1 | doautoall SessionLoadPost")
    editor.wait_until(lambda: editor.lua(WINDOWS) == [""], what="one empty window")


@pytest.fixture
def beside(editor):
    """Two files side by side, a chat that is open, and a session file of that."""
    for name in ("one.txt", "two.txt"):
        (editor.project / name).write_text("text\n")
    editor.command("edit one.txt | vsplit two.txt")
    key = editor.chat()
    editor.command(f"mksession {editor.project}/Session.vim")
    return editor, key


@pytest.mark.parametrize("before", ["", "only", "wincmd T", "tab split", "1wincmd w"])
def test_a_session_is_read_while_the_chat_is_open(beside, before):
    editor, key = beside
    name = editor.api("buf_get_name", editor.session(key, "bufnr"))
    editor.focus(editor.session(key, "bufnr"))
    editor.command(f"silent! {before}")
    editor.command("source Session.vim")
    editor.wait_until(lambda: sorted(editor.lua(WINDOWS)) == ["one.txt", "two.txt"], what="the windows of the session")
    editor.command("AcpChat")
    assert sorted(editor.lua(WINDOWS)) == ["acp_chat", "acp_prompt", "one.txt", "two.txt"]
    assert editor.api("buf_get_name", editor.session(key, "bufnr")) == name
    assert editor.lua("return vim.wo.winfixbuf")
    assert "acp://" not in editor.lua("return vim.fn.execute('ls')")


@pytest.mark.parametrize("focus", ["bufnr", "prompt_bufnr", None])
def test_a_manager_of_sessions_wipes_all_buffers_before_it_reads_one(beside, focus):
    editor, key = beside
    editor.apply({"type": "session_ready", "session": key, "session_id": "s-1", "agent": "demo"})
    editor.keys("ia draft<Esc>")
    if focus:
        editor.focus(editor.session(key, focus))
    else:
        editor.command("1wincmd w")
    width = size(editor, key)[0]
    resized(editor, "silent %bwipeout! | silent clearjumps | silent source Session.vim")
    editor.wait_until(lambda: sorted(editor.lua(WINDOWS)) == ["one.txt", "two.txt"], what="the windows of the session")
    editor.command("AcpChat")
    assert size(editor, key)[0] == width
    assert editor.prompt_lines(key) == ["a draft"]
    editor.apply({"type": "reset", "session": key})
    editor.wait_until(lambda: "What is wrong?" in words(editor, key), what="what the demo says in an empty chat")


def test_any_buffer_may_be_shown_while_a_session_is_read(beside):
    editor, key = beside
    chat = editor.focus(editor.session(key, "bufnr"))
    editor.command("let SessionLoad = 1 | edit one.txt | unlet SessionLoad")
    assert editor.api("buf_get_name", editor.api("win_get_buf", chat)).endswith("one.txt")
    prompt = editor.focus(editor.session(key, "prompt_bufnr"))
    editor.wait_until(lambda: editor.lua("return vim.wo[...].winfixbuf", prompt), what="the prompt to be fixed again")


@pytest.mark.parametrize("part", ["bufnr", "prompt_bufnr"])
@pytest.mark.parametrize("command", ["edit one.txt", "bnext", "buffer two.txt", "enew", "find two.txt"])
@pytest.mark.parametrize("alone", ["only", "wincmd T", "tab split", "noautocmd only | doautocmd WinEnter"])
def test_the_only_window_takes_any_buffer(beside, part, command, alone):
    editor, key = beside
    editor.focus(editor.session(key, part))
    editor.command(alone)
    editor.command(command)
    assert editor.lua("return { vim.wo.winfixbuf, vim.wo.winfixwidth, vim.bo.buftype }") == [False, False, ""]
    editor.command("AcpChat")
    assert editor.lua("return { vim.bo.filetype, vim.wo.winfixbuf }") == ["acp_prompt", True]


def test_it_keeps_its_buffer_again_once_another_window_is_there(beside):
    editor, key = beside
    chat = editor.focus(editor.session(key, "bufnr"))
    editor.command("only | vnew one.txt")
    assert editor.lua("return vim.wo[...].winfixbuf", chat)
    editor.api("set_current_win", chat)
    assert "E1513" in editor.lua("local ok, err = pcall(vim.cmd, 'edit two.txt') return ok and '' or err")
