"""Subagents in the editor: those that the host does not keep any more."""

from __future__ import annotations

from typing import Any

VIEW = {"session": 1_000_001, "session_id": "c0", "title": "The reader", "state": "idle"}


def known(editor: Any) -> list[str]:
    """The titles of the subagents in the status."""
    return [one["title"] for one in editor.lua('return require("acp_nvim").status(1).subagents')]


def test_one_that_is_not_kept_any_more_is_gone_but_for_its_block(editor: Any) -> None:
    key = editor.chat()
    editor.apply({"type": "subagent", "session": key, "block": 1, "subagent": VIEW})
    assert known(editor) == ["The reader"]
    editor.apply({"type": "subagent_forgotten", "session": key, "subagent": VIEW["session"]})
    assert known(editor) == []
    assert any("The reader" in line for line in editor.lines(key))
    editor.lua('require("acp_nvim.events.subagents").open(...)', VIEW["session"])
    assert "the conversation of this subagent was not stored" in editor.message()
    assert editor.sent("redraw") == []


def test_its_chat_is_closed(editor: Any) -> None:
    key = editor.chat()
    editor.apply({"type": "subagent", "session": key, "block": 1, "subagent": VIEW})
    editor.lua('require("acp_nvim.events.subagents").open(...)', VIEW["session"])
    assert editor.lua("return vim.fn.tabpagenr('$')") == 2
    editor.apply({"type": "subagent_forgotten", "session": key, "subagent": VIEW["session"]})
    assert editor.lua("return vim.fn.tabpagenr('$')") == 1
    editor.apply({"type": "subagent_forgotten", "session": key, "subagent": VIEW["session"]})
    assert editor.messages() == []
