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


def test_who_only_waits_gets_the_list(editor: LuaEditor) -> None:
    answer = reviewed("AcpReview")(editor)
    editor.api("input_mouse", "wheel", "down", "", 0, 0, 0)
    editor.api("input_mouse", "move", "", "", 0, 1, 1)
    editor.apply(answer)
    editor.wait_until("vim.bo.filetype == 'acp_review'", what="the list")
    assert editor.messages() == []
