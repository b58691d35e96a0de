"""What a person sees."""

from __future__ import annotations

from tests.lua.conftest import RECORD


def append(text, block=1, kind="agent"):
    return {"type": "append", "session": 1, "block": block, "kind": kind, "text": text}


def opened(screen, columns=100, rows=24):
    editor = screen(columns=columns, rows=rows)
    editor.lua(RECORD.replace("vim.o.columns, vim.o.lines = 120, 40", ""))
    editor.command("AcpChat")
    return editor


def apply(editor, *events):
    editor.apply(*events)


def test_chat_names_who_speaks_and_prompt_says_how_to_send(screen):
    editor = opened(screen)
    apply(editor, append("hello there", 1, "user"), append("well met", 2))
    for words in ("You", "hello there", "demo", "well met", "Ask demo … (i: type, g?: keys)"):
        editor.wait_for(words)
    assert editor.find("You")[0] + 1 == editor.find("hello there")[0]


def test_text_is_seen_while_a_command_is_typed(screen):
    editor = opened(screen)
    editor.type(":echo 'half")
    editor.wait_for(":echo 'half")
    apply(editor, append("news"))
    editor.wait_for("news")
    assert editor.find(":echo 'half")
    editor.type("\x1b")


def test_news_on_a_narrow_screen_ask_for_no_key(screen):
    editor = opened(screen, 60)
    apply(editor, {"type": "error", "text": "something broke. " * 40, "code": "x", "session": 1})
    editor.wait_for("something broke.")
    assert editor.api("get_mode")["blocking"] is False
    assert not editor.find("Press ENTER")


def test_the_menu_is_gone_with_the_prompt_that_was_sent(screen):
    editor = opened(screen)
    editor.lua("require('acp_nvim.host.sessions').current().commands = { { name = 'slow', description = 'streams' } }")
    editor.type("i/sl")
    editor.wait_until("vim.fn.pumvisible() == 1", what="the menu")
    editor.type("\x13")
    editor.wait_until("vim.fn.pumvisible() == 0", what="the menu to be gone")
    editor.type("next")
    prompt = "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '|')"
    editor.wait_until(f"{prompt} == 'next'", what="what is typed then")
