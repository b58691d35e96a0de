"""What happens while the chat is not seen: it is counted, and told."""

from __future__ import annotations

import pytest

from tests.lua.test_winbar import SHOWN, bar, status

UNREAD = 'return require("acp_nvim").status(...).unread'
REQUEST = {
    "id": 7, "tool_call_id": "", "title": "Run make\nnow", "kind": "execute", "content": [], "locations": [],
    "options": [{"option_id": "yes", "name": "Yes", "kind": "allow_once"}],
}  # fmt: skip


def say(key, block, text="words", kind="agent"):
    return {"type": "append", "session": key, "block": block, "kind": kind, "text": text}


def end(key, stop_reason="end_turn", **more):
    return {"type": "turn_end", "session": key, "stop_reason": stop_reason, **more}


@pytest.fixture
def hidden(editor):
    """A chat in another tab page."""
    editor.lua('require("acp_nvim").setup({ permissions = { float = false } })')
    key = editor.chat()
    editor.apply(status(key))
    editor.command("tabnew")
    return key


def test_messages_count_until_the_chat_is_seen(editor, hidden):
    key = hidden
    editor.apply(say(key, 1, kind="user"), say(key, 2, kind="thought"), say(key, 3), say(key, 3, "more"), say(key, 5))
    editor.apply(say(key, 3, "and more"), {**say(key, 5, "another"), "type": "replace"})
    assert editor.lua(UNREAD, key) == 2
    editor.command("tabprevious")
    assert editor.lua(UNREAD, key) == 0
    editor.apply(say(key, 6))
    assert editor.lua(UNREAD, key) == 0


def test_a_turn_without_a_word_counts_and_what_is_told_again_does_not(editor, hidden):
    key = hidden
    editor.apply(end(key))
    assert editor.lua(UNREAD, key) == 1
    editor.apply(say(key, 1), end(key))
    assert editor.lua(UNREAD, key) == 2
    editor.command("tabprevious | tabnext")
    editor.apply({"type": "reset", "session": key}, say(key, 1))
    assert editor.lua(UNREAD, key) == 0


def test_a_turn_that_has_brought_nothing_is_no_news(editor, hidden):
    key = hidden
    editor.apply(end(key, empty=True))
    assert editor.lua(UNREAD, key) == 0
    assert editor.messages() == []
    editor.apply(say(key, 1))
    assert editor.lua(UNREAD, key) == 1


def test_a_neovim_without_the_focus_is_not_seen(editor):
    key = editor.chat()
    editor.apply(status(key))
    editor.command("doautocmd FocusLost")
    editor.apply(say(key, 1))
    assert editor.lua(UNREAD, key) == 1
    assert "other" not in bar(editor, key)
    editor.command("doautocmd FocusGained")
    assert editor.lua(UNREAD, key) == 0


def test_other_chats_say_that_there_is_news(editor):
    first = editor.chat()
    second = editor.chat()
    editor.apply(status(first), status(second, "idle"), say(first, 1), say(first, 2))
    editor.lua("vim.o.columns = 300")
    assert "1 other chat has news" in bar(editor, second)
    assert editor.lua(SHOWN, second, 34)[0].rstrip() == " ● demo idle · 1 chat has news"  # words in place of a sign
    assert editor.lua('return require("acp_nvim").statusline(...)', first).endswith("2 unread")
    editor.command(f"buffer! {editor.session(first, 'bufnr')}")
    assert editor.lua(UNREAD, first) == 0


@pytest.mark.parametrize(
    ("stop_reason", "more", "words"),
    [
        ("end_turn", {}, "demo is done (:AcpChat)"),
        ("end_turn", {"title": "Fix\nit 100%"}, "demo is done (:AcpChat): Fix it 100%"),
        ("refusal", {}, "demo has refused to continue (:AcpChat)"),
        ("_odd\n", {}, "demo stopped: _odd (:AcpChat)"),
    ],
)
def test_the_end_of_a_turn_that_nobody_sees_is_told(editor, hidden, stop_reason, more, words):
    editor.apply(status(hidden, **more), end(hidden, stop_reason))
    assert editor.message() == f"acp_nvim: {words}"


def test_a_permission_that_nobody_sees_is_told(editor, hidden):
    editor.apply({"type": "permission", "session": hidden, "block": 1, "request": REQUEST})
    assert editor.message() == "acp_nvim: demo asks you (:AcpChat): Run make"


def silent(editor):
    """No message has come, although one that was said later has."""
    editor.lua('require("acp_nvim.kernel.message").info("the last")')
    editor.wait_until(lambda: "acp_nvim: the last" in editor.messages(), what="the last message")
    return editor.messages() == ["acp_nvim: the last"]


@pytest.mark.parametrize("stop_reason", ["cancelled", "error"])
def test_ends_that_the_user_knows_of_are_not(editor, hidden, stop_reason):
    editor.apply(end(hidden, stop_reason))
    assert silent(editor)


def test_what_goes_on_with_the_next_prompt_is_not(editor, hidden):
    editor.apply(status(hidden, queue=1), end(hidden))
    assert silent(editor)


def test_what_is_seen_is_not(editor):
    key = editor.chat()
    editor.apply(status(key), end(key), {"type": "permission", "session": key, "block": 1, "request": REQUEST})
    assert silent(editor)


def test_options_silence_it(editor, hidden):
    off = {"turn_end": False, "permission": False}
    editor.lua('require("acp_nvim").setup({ notify = ..., permissions = { float = false } })', off)
    editor.apply(end(hidden), {"type": "permission", "session": hidden, "block": 1, "request": REQUEST})
    assert silent(editor)


def test_a_float_tells_it_but_not_to_somebody_who_looks_elsewhere(editor, hidden):
    editor.lua('require("acp_nvim").setup({})')
    editor.apply({"type": "permission", "session": hidden, "block": 1, "request": REQUEST})
    assert silent(editor)
    editor.command("doautocmd FocusLost")
    editor.apply({"type": "permission", "session": hidden, "block": 2, "request": {**REQUEST, "id": 8}})
    editor.wait_until(lambda: any("asks you" in text for text in editor.messages()), what="the message")


@pytest.mark.parametrize("bell", [True, False])
def test_the_bell_of_a_terminal_rings(editor, hidden, bell):
    editor.lua(
        """_G.rung = 0
        vim.api.nvim_list_uis = function() return { { stdout_tty = true } } end
        vim.api.nvim_ui_send = nil
        vim.api.nvim_chan_send = function(channel, text)
          _G.rung = _G.rung + (channel == 2 and text == "\\a" and 1 or 9)
        end
        require("acp_nvim").setup({ notify = { bell = ... } })""",
        bell,
    )
    editor.apply(end(hidden))
    editor.message()
    assert editor.lua("return _G.rung") == (1 if bell else 0)
