"""What is cancelled with the cursor in a chat: the turn, or what stands there."""

from __future__ import annotations

import pytest

from tests.lua.test_chat import append, call
from tests.lua.test_content import terminal


@pytest.fixture
def chat(editor):
    """A chat with a message, and a tool call that shows a command below its title; the focus is in it."""
    key = editor.chat()
    editor.focus(editor.session(key, "bufnr"))
    editor.lua("require('acp_nvim.host.sessions').get(...).host = 1", key)
    shown = terminal(number=3, command="make", output="one\ntwo")
    editor.apply(append(key, 1, "hello\n"), call(key, 2, "in_progress", title="Build", content=[shown]))
    return key


def at(editor, key, words):
    """Puts the cursor on the line with these words."""
    [row] = [row for row, line in enumerate(editor.lines(key), 1) if words in line]
    editor.lua("vim.fn.cursor(...)", row, 1)


@pytest.mark.parametrize(
    ("words", "block", "number"), [("hello", 1, None), ("Build", 2, None), ("make", 2, 3), ("two", 2, 3)]
)
def test_the_key_and_the_command_name_what_is_under_the_cursor(editor, chat, words, block, number):
    at(editor, chat, words)
    editor.keys("gc")
    editor.command("AcpCancel")
    by_key, by_command = editor.sent("cancel_block")
    assert (by_key["session"], by_key["block"], by_key.get("terminal")) == (chat, block, number)
    assert (by_key.get("or_turn"), by_command["or_turn"]) == (None, True)
    assert by_command["block"] == block
    assert by_command["id"] != by_key["id"]
    assert editor.sent("cancel") == []


def test_elsewhere_the_turn_is_cancelled(editor, chat):
    at(editor, chat, "Build")
    editor.command("AcpCancel!")
    editor.interrupt(lambda: len(editor.sent("cancel")) == 2)
    editor.focus(editor.session(chat, "prompt_bufnr"))
    editor.command("AcpCancel")
    assert [one["force"] for one in editor.sent("cancel")] == [True, False, False]
    assert editor.sent("cancel_block") == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"problem": "It cannot."}, ["It cannot."]),
        ({"words": "Cancelling only it."}, ["Cancelling only it."]),
        ({}, []),
    ],
)
def test_the_answer_is_a_message(editor, chat, answer, said):
    at(editor, chat, "Build")
    editor.keys("gc")
    [sent] = editor.sent("cancel_block")
    before = len(editor.messages())
    editor.apply({"type": "session_done", "id": sent["id"], **answer})
    editor.lua("vim.wait(50)")
    assert [one for one in editor.messages()[before:] if one] == [f"acp_nvim: {one}" for one in said]


def test_blocks_of_an_earlier_host_are_not_named(editor, chat):
    editor.lua("require('acp_nvim.transcript').forget_blocks(require('acp_nvim.host.sessions').get(...))", chat)
    at(editor, chat, "Build")
    editor.keys("gc")
    assert [one["block"] for one in editor.sent("cancel_block")] == [0]


def test_without_a_host_nothing_is_sent(editor, chat):
    editor.lua("_G.channel = 2")
    editor.keys("gc")
    assert "no agent is running here (:AcpChat starts one)" in editor.message()
    editor.command("AcpCancel")
    assert editor.sent("cancel_block") == []


def test_in_a_narrow_window(editor, chat):
    editor.lua("vim.cmd('vertical resize 20')")
    at(editor, chat, "Build")
    editor.keys("gc")
    assert [one["block"] for one in editor.sent("cancel_block")] == [2]
