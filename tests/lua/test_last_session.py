"""The empty chat says what can be continued; one key, `:AcpContinue` and `:AcpChat ++last` do it."""

from __future__ import annotations

import time
from typing import Any

import pytest

WORDS = """
local namespace = vim.api.nvim_create_namespace("acp_nvim.welcome")
local marks = vim.api.nvim_buf_get_extmarks(..., namespace, 0, -1, { details = true })
local rows = vim.tbl_map(function(row) return row[1][1] end, marks[1] and marks[1][4].virt_lines or {})
return table.concat(rows, " ")
"""
HOUR = 3600.0
KEPT = {"id": "t", "agent": "demo", "cwd": "/p", "started": 1, "updated": 2}


def entry(editor: Any, **more: Any) -> dict[str, Any]:
    given = {"agent": "demo", "cwd": str(editor.project), "session_id": "s", "title": "fix the parser"}
    given |= {"updated": time.time() - 2.5 * HOUR, "kept": []}
    return {**given, **more}


def tell(editor: Any, *entries: dict[str, Any]) -> None:
    """Answers the list that was asked for last."""
    editor.wait_until(lambda: editor.sent("sessions_list"), what="the question for the list")
    number = editor.sent("sessions_list")[-1]["id"]
    known = {"asked": [], "more": [], "waits": [], "problems": {}}
    editor.apply({"type": "sessions_listed", "id": number, "entries": list(entries), **known})


def offers(editor: Any, *what: str) -> None:
    number = editor.sent("agents_known")[-1]["id"]
    agents = [{"agent": "demo", "running": True, "offers": list(what)}]
    editor.apply({"type": "agents_known", "id": number, "agents": agents})


def ready(editor: Any, agent: str = "demo") -> int:
    editor.command("AcpChat")
    key = int(editor.lua("return require('acp_nvim.host.sessions').current().key"))
    editor.apply({"type": "session_ready", "session": key, "session_id": "new", "agent": agent})
    return key


def words(editor: Any, key: int) -> str:
    return str(editor.lua(WORDS, editor.session(key, "bufnr")))


def test_an_empty_chat_offers_what_was_used_last_in_this_directory(editor):
    key = ready(editor, "claude")
    open_one = entry(editor, session=key, title="this one", updated=time.time())
    other = entry(editor, cwd="/elsewhere", title="elsewhere", updated=time.time())
    gone = entry(editor, agent="nobody", title="of an agent that is gone", updated=time.time())
    tell(editor, open_one, other, gone, entry(editor), entry(editor, title="older"))
    assert words(editor, key) == "g. continues “fix the parser” with demo (2 hours ago)"
    editor.keys("ihello<Esc><CR>")
    assert words(editor, key) == ""


def test_without_an_earlier_conversation_nothing_is_offered(editor):
    key = ready(editor, "claude")
    tell(editor)
    assert words(editor, key) == ""
    editor.keys("g.")
    tell(editor)
    assert "no earlier conversation is stored for" in editor.message()


def test_the_demo_says_what_to_try(editor):
    key = ready(editor)
    editor.wait_until(lambda: "Ask it `What is wrong?`" in words(editor, key), what="what to try")
    tell(editor, entry(editor))
    assert words(editor, key).endswith("g. continues “fix the parser” (2 hours ago)")


@pytest.mark.parametrize("way", ["key", "AcpContinue", "AcpContinue demo", "AcpChat ++last", "AcpChat ++last demo"])
@pytest.mark.parametrize(
    ("kept", "offered", "how"),
    [([], ["load"], "load"), ([], ["resume"], "go_on"), ([KEPT], ["load"], "go_on"), ([KEPT], [], None)],
)
def test_one_key_and_two_commands_continue_it(editor, way, kept, offered, how):
    key = ready(editor)
    tell(editor)
    if way == "key":
        editor.keys("g.")
    else:
        editor.command(way)
    tell(editor, entry(editor, kept=kept))
    offers(editor, *offered)
    [sent] = editor.sent("resume")
    assert (sent["agent"], sent.get("how")) == ("demo", how)
    assert sent.get("session_id") == ("s" if how else None)
    assert sent.get("transcript") == ("t" if kept else None)
    assert [one["session"] for one in editor.sent("session_close")] == [key]  # the empty chat is not left behind
    assert editor.lua("return require('acp_nvim.host.sessions').get(...) == nil", key)
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"


def test_a_chat_with_a_draft_stays(editor):
    key = ready(editor)
    tell(editor)
    editor.keys("imine<Esc>g.")
    tell(editor, entry(editor))
    offers(editor, "load")
    assert len(editor.sent("resume")) == 1
    assert editor.sent("session_close") == []
    assert editor.session(key, "key") == key


def test_a_session_that_is_at_work_is_not_closed(editor):
    key = editor.chat()
    editor.apply({"type": "turn_start", "session": key, "background": True, "of_checks": False})
    editor.command("AcpContinue")
    tell(editor, entry(editor))
    offers(editor, "load")
    assert editor.sent("session_close") == []
    assert editor.session(key, "key") == key


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("AcpContinue gemni", 'did you mean "gemini"?'),
        ("AcpChat ++last ++worktree", "leave out ++dir and ++worktree"),
        ("AcpChat ++late", "takes an agent, ++last, ++dir"),
    ],
)
def test_what_it_does_not_take_is_said(editor, line, problem):
    editor.command(line)
    assert problem in editor.message()
    assert editor.sent("sessions_list") == []


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(5, "just now"), (70, "1 minute ago"), (7300, "2 hours ago"), (200000, "2 days ago"), (-50, "just now")],
)
def test_times_are_said_in_words(editor, seconds, expected):
    assert editor.lua("return require('acp_nvim.host.question').ago(os.time() - ...)", seconds) == expected
