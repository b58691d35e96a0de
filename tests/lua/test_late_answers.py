"""What opens a window or a list takes the keys: no late answer does so while the user types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.lua import test_exit as asking
from tests.lua.conftest import LuaEditor
from tests.lua.review_files import review, written

SELECT = "vim.ui.select = function() _G.is_asked = true end"


def reviewed(command: str) -> Callable[[LuaEditor], dict[str, Any]]:
    def answer(editor: LuaEditor) -> dict[str, Any]:
        editor.command(command)
        return review(written(editor.project, "a.py"), added=1, sessions=[])

    return answer


def exported(editor: LuaEditor) -> dict[str, Any]:
    key = editor.chat()
    editor.command("AcpExport")
    return {"type": "exported", "session": key, "text": "# One", "done": True}


def details(editor: LuaEditor) -> dict[str, Any]:
    key = editor.chat()
    editor.focus(editor.session(key, "bufnr"))
    one = {"id": "t1", "title": "One", "kind": "edit", "status": "completed", "locations": [], "content": []}
    editor.apply({"type": "tool_call", "session": key, "block": 1, "call": one})
    editor.keys("GK")
    return {"type": "call_details", "session": key, "block": 1, "name": "Edit", "call": one}


def terminal(editor: LuaEditor) -> dict[str, Any]:
    answer = asking.sign_in(editor)
    editor.lua("vim.ui.select = function(items, _, choose) choose(items[1]) end")
    editor.apply(answer)
    editor.wait_until(lambda: editor.sent("login"), what="the chosen method")
    return {
        "type": "sign_in_terminal",
        "agent": "demo",
        "attempt": 1,
        "name": "A",
        "argv": ["cat"],
        "cwd": "/",
        "env": {},
    }


LOADED = "the files to review are loaded: type :AcpReview again"
CASES = {
    "list": (reviewed("AcpReview"), LOADED),
    "next": (reviewed("AcpReview next"), LOADED),
    "quickfix": (reviewed("AcpReview quickfix"), LOADED),
    "sessions": (asking.sessions, "the sessions are listed: type :AcpSessions again"),
    "actions": (asking.actions, "choose the session again"),
    "worktree": (asking.worktree, "the worktree /p/w stays (git worktree remove)"),
    "export": (exported, "the conversation is exported: type :AcpExport again"),
    "providers": (asking.providers, "demo has sent its providers: type :AcpProviders again"),
    "checkpoints": (asking.checkpoints, "the turns are listed: type :AcpRestore again"),
    "restore": (asking.restore, "the preview is ready: type :AcpRestore again"),
    "rules": (asking.rules, "the rules are listed: type :AcpPermissions again"),
    "sign-in": (asking.sign_in, "demo has sent its sign-in methods: type :AcpLogin again"),
    "details": (details, "the details of the tool call have come: press the key again"),
    "options": (asking.options, "the agent has sent its options: type :AcpConfig again"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_was_asked_for_does_not_open_while_the_user_types(editor: LuaEditor, case: str) -> None:
    ask, words = CASES[case]
    editor.lua(SELECT)
    answer = ask(editor)
    editor.keys("<Esc>:stopinsert | tabnew notes.txt | silent! tabonly<CR>ihe")
    editor.apply(answer)
    editor.wait_until(lambda: any(words in said for said in editor.messages()), what=words)
    editor.keys("llo")
    assert (editor.buffer_text(), editor.api("get_mode")["mode"]) == ("hello", "i")
    assert editor.lua("return { #vim.api.nvim_list_wins(), #vim.api.nvim_list_tabpages() }") == [1, 1]
    assert editor.lua("return _G.is_asked") is None


def test_the_terminal_of_a_sign_in_takes_no_keys_of_who_types(editor: LuaEditor) -> None:
    answer = terminal(editor)
    editor.command("AcpChat demo")
    prompt = editor.api("get_current_buf")
    editor.keys("<Esc>ihe")
    editor.apply(answer)
    assert "sign in to demo in the terminal below" in editor.message()
    editor.keys("llo")
    assert editor.buffer_text(prompt) == "hello"


def test_no_list_comes_in_front_of_who_moves_in_normal_mode(editor: LuaEditor) -> None:
    answer = asking.sign_in(editor)
    editor.lua(SELECT)
    editor.keys("j")
    editor.apply(answer)
    assert "type :AcpLogin again" in editor.message()
    assert editor.lua("return _G.is_asked") is None


def test_who_begins_to_type_is_not_asked_how_to_sign_in(editor: LuaEditor) -> None:
    key = editor.chat()
    editor.lua(SELECT)
    editor.keys("<Esc>i")
    editor.apply_and_type("hello", {**asking.sign_in(editor), "asked": False, "session": key})
    assert editor.prompt_lines(key) == ["hello"]
    assert editor.lua("return _G.is_asked") is None


def test_who_only_waits_gets_the_list(editor: LuaEditor) -> None:
    answer = reviewed("AcpReview")(editor)
    editor.api("input_mouse", "wheel", "down", "", 0, 0, 0)
    editor.api("input_mouse", "move", "", "", 0, 1, 1)
    editor.apply(answer)
    editor.wait_until("vim.bo.filetype == 'acp_review'", what="the list")
    assert editor.messages() == []
