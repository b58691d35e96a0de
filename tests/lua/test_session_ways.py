"""Renaming and archiving sessions, from the list and from a chat."""

from __future__ import annotations

import pytest

from tests.lua.test_winbar import status

CHOOSE = """
_G.ways, _G.typed = {}, ...
vim.ui.select = function(items, opts, choose)
  _G.ways = vim.tbl_map(function(item) return item.id or item.words end, items)
  local wanted = vim.iter(items):find(function(item) return item.id == _G.way or item.words == _G.way end)
  choose(wanted)
end
vim.ui.input = function(opts, on_input) _G.default = opts.default or "" on_input(_G.typed) end
"""
SEE_LIST = """
vim.ui.select = function(items, opts) _G.seen = vim.tbl_map(opts.format_item, items) end
"""
ENTRY = {"agent": "demo", "cwd": "/p", "session_id": "s", "title": "Old\ntitle", "kept": [], "updated": 0}
KEPT = {"id": "t", "agent": "demo", "cwd": "/p", "started": 1, "updated": 2}


def choose(editor, entry, way, typed="New title ", offers=("list", "load", "rename", "archive", "delete")):
    """Chooses that action for an entry; returns the ids of all actions."""
    editor.lua(CHOOSE, typed)
    editor.lua("_G.way = ...", way)
    editor.lua("require('acp_nvim.sessions.ways').choose(...)", entry)
    [asked] = editor.sent("agents_known")[-1:]
    known = [{"agent": "demo", "running": True, "offers": list(offers)}]
    editor.apply({"type": "agents_known", "id": asked["id"], "agents": known})
    return editor.lua("return _G.ways")


@pytest.mark.parametrize(
    ("state", "more", "words"),
    [
        ("starting", {}, "starting"),
        ("idle", {}, "ready"),
        ("idle", {"stop_reason": "end_turn"}, "done"),
        ("idle", {"stop_reason": "max_tokens"}, "done"),
        ("idle", {"stop_reason": "cancelled"}, "cancelled"),
        ("idle", {"stop_reason": "refusal"}, "refused"),
        ("running", {"stop_reason": "end_turn"}, "working"),
        ("background", {}, "working"),
        ("waiting", {"pending_permissions": 1}, "asks you"),
        ("waiting", {"pending_elicitations": 1}, "asks you"),
        ("running", {"pending_permissions": 1}, "asks you"),
        ("starting", {"sign_in": "needed"}, "asks you to sign in"),
        ("starting", {"sign_in": "running"}, "signing in"),
        ("stopped", {}, "stopped"),
        ("stopped", {"asleep": True}, "asleep"),
        ("failed", {}, "failed"),
        ("idle", {"stop_reason": "end_turn", "review": {"files": 3, "added": 4, "removed": 0}}, "done, to review: 3"),
        ("running", {"queue": 2, "review": {"files": 1, "added": 0, "removed": 1}}, "working, 2 queued, to review: 1"),
    ],
)
def test_the_list_of_sessions_names_the_state_of_each_open_one(editor, state, more, words):
    key = editor.chat()
    editor.apply(status(key, state, **more))
    editor.lua(SEE_LIST)
    editor.command("AcpSessions")
    [asked] = editor.sent("sessions_list")
    entry = {"session": key, "agent": "demo", "cwd": "/p", "title": "Title", "kept": [], "updated": 0}
    other = {**ENTRY, "title": "Other"}
    listed = {"entries": [entry, other], "asked": [], "more": [], "waits": [], "problems": {}}
    editor.apply({"type": "sessions_listed", "id": asked["id"], **listed})
    editor.wait_until("_G.seen ~= nil", what="the list")
    assert editor.lua("return _G.seen")[:2] == [
        f"open · demo · {words} · /p · Title", "undated · demo · /p · Other · at the agent",
    ]  # fmt: skip


def test_a_session_is_renamed(editor):
    assert "rename" in choose(editor, ENTRY, "rename")
    assert editor.lua("return _G.default") == "Old title"
    [sent] = editor.sent("session_rename")
    assert {**sent, "id": 0} == {"id": 0, "agent": "demo", "cwd": "/p", "session_id": "s", "title": "New title"}
    editor.apply({"type": "session_done", "id": sent["id"], "words": "renamed to 'New title'"})
    assert "renamed to 'New title'" in editor.message()


@pytest.mark.parametrize("typed", [None, "", "  "])
def test_without_a_title_nothing_is_sent(editor, typed):
    choose(editor, ENTRY, "rename", typed)
    assert editor.sent("session_rename") == []


def test_a_session_is_archived_and_comes_back(editor):
    assert "archive" in choose(editor, ENTRY, "archive")
    ways = choose(editor, {**ENTRY, "archived": True, "kept": [KEPT]}, "unarchive")
    assert ways == ["unarchive", "look", "new", "rename", "delete"]
    assert [one["archived"] for one in editor.sent("session_archive")] == [True, False]


def test_what_the_agent_cannot_do_is_not_offered(editor):
    ways = choose(editor, ENTRY, None, offers=("list", "load"))
    assert ways == ["load"]


def test_the_chat_of_an_archived_session_is_closed(editor):
    key = editor.chat()
    editor.lua(
        "local s = require('acp_nvim.host.sessions').get(...) s.status.state = 'idle' s.status.session_id = 's'", key
    )
    editor.lua(CHOOSE, "x")
    editor.lua("_G.way = 'archive'")
    editor.lua(
        """local session = require('acp_nvim.host.sessions').get(...)
        require('acp_nvim.sessions.ways').choose(
          { agent = "demo", cwd = "/p", session_id = "s", session = session, kept = {}, updated = 0 })""",
        key,
    )
    [asked] = editor.sent("agents_known")
    known = [{"agent": "demo", "running": True, "offers": ["archive"]}]
    editor.apply({"type": "agents_known", "id": asked["id"], "agents": known})
    [sent] = editor.sent("session_archive")
    assert (sent["session"], sent["archived"]) == (key, True)
    assert editor.lua("return require('acp_nvim.host.sessions').get(...) == nil", key)


@pytest.mark.parametrize(
    ("words", "query", "agents", "archived"),
    [
        ("++archived", "", None, True),
        ("++archived agent:x two  words", "two words", ["x"], True),
        ("two  words", "two  words", None, False),
    ],
)
def test_the_command_lists_the_archived_ones(editor, words, query, agents, archived):
    editor.lua("require('acp_nvim.config.agents').problem = function() end")
    editor.command(f"AcpSessions {words}")
    [sent] = editor.sent("sessions_list")
    assert (sent["query"], sent.get("agents"), sent["archived"]) == (query, agents, archived)
