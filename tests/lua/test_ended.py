"""The host has ended: nothing turns any more, the queue stays a queue, and the next prompt goes on with the session."""

from __future__ import annotations

from tests.lua.test_sessions import host_ends, status

WAITING = """
local queue = require("acp_nvim.host.sessions").get(...).queue or {}
return vim.tbl_map(function(one) return one.text end, queue.prompts or {})
"""
VIRTUAL = """
local session, words = require("acp_nvim.host.sessions").get(...), {}
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(session.bufnr, -1, 0, -1, { details = true })) do
  for _, chunk in ipairs(mark[4].virt_text or {}) do
    table.insert(words, chunk[1])
  end
end
return table.concat(words, "|")
"""


def works(editor, taken=(1, 2, 3)):
    """A session whose agent works, with two prompts that wait; the host has `taken` those. Its key."""
    key = editor.chat()
    for text in ("one", "two", "three"):
        editor.lua("require('acp_nvim').prompt(...)", text)
    queue = [{"id": number, "text": text, "context_names": []} for number, text in ((2, "two"), (3, "three"))]
    editor.apply(
        status(key, "idle", session_id="s-1"),
        {"type": "append", "session": key, "block": 1, "kind": "user", "text": "one"},
        {"type": "prompts_taken", "session": key, "ids": taken},
        {"type": "turn_start", "session": key},
        {"type": "queue", "session": key, "held": False, "prompts": queue},
        status(key, "running", session_id="s-1", queue=2, activity="writing", turn_started=1.0),
        {"type": "append", "session": key, "block": 2, "kind": "agent", "text": "so far"},
    )
    return key


def test_the_queue_stays_and_goes_out_with_the_next_prompt_in_the_same_session(editor):
    key = works(editor)
    host_ends(editor)
    now = editor.lua('return require("acp_nvim").status()')
    assert (now["state"], now["queue"]) == ("failed", 2)
    assert "activity" not in now
    assert "turn_started" not in now
    assert editor.lua(WAITING, key) == ["two", "three"]
    assert editor.prompt_lines(key) == [""]
    assert "are sent with your next prompt" in "\n".join(editor.lines(key))
    editor.lua("require('acp_nvim').prompt('four')")
    [taken] = editor.sent("resume")
    assert (taken["session"], taken["session_id"], taken["how"], taken["shown"]) == (key, "s-1", "go_on", True)
    assert editor.sent("prompt")[-1]["text"] == "four"
    order = [one for one in editor.lua("return vim.tbl_map(function(one) return one.method end, sent)")]
    assert order[-4:] == ["resume", "queue_set", "prompt", "remember_prompt"]
    [queue] = editor.sent("queue_set")  # in case that the journal is lost
    assert ([one["text"] for one in queue["prompts"]], queue["known"]) == (["two", "three"], [2, 3])


def test_what_waits_and_was_not_taken_is_handed_to_the_next_host_before_the_next_prompt(editor):
    key = works(editor, taken=[1, 2])
    host_ends(editor)
    assert editor.lua(WAITING, key) == ["two", "three"]
    editor.lua("require('acp_nvim').prompt('four')")
    handed_over = editor.sent("queue_set")[-1]
    assert handed_over.pop("revision") > 0
    assert handed_over == {
        "session": key,
        "prompts": [{"id": 2, "text": "two"}, {"id": 3, "text": "three", "context": []}],
        "known": [2],
        "held": True,
    }
    order = [one for one in editor.lua("return vim.tbl_map(function(one) return one.method end, sent)")]
    assert order[-4:] == ["resume", "queue_set", "prompt", "remember_prompt"]


def test_what_comes_along_with_what_waits_is_kept_too(editor):
    key = editor.chat()
    items = [{"type": "text", "name": "a note", "text": "of mine"}]
    editor.lua(
        "require('acp_nvim.prompt.sending').prompt(require('acp_nvim.host.sessions').get(...), 'two', select(2, ...))",
        key,
        items,
    )
    editor.apply(
        {
            "type": "queue",
            "session": key,
            "held": False,
            "prompts": [{"id": 1, "text": "two", "context_names": ["a note"]}],
        }
    )
    host_ends(editor)
    editor.lua("require('acp_nvim').prompt('four')")
    [one] = editor.sent("queue_set")[-1]["prompts"]
    assert one["context"] == items


def test_what_is_looked_at_meanwhile_starts_nothing_of_the_queue_and_it_can_be_edited(editor):
    key = works(editor)
    host_ends(editor)
    editor.command("AcpChat")
    queue = [{"id": number, "text": text, "context_names": []} for number, text in ((2, "two"), (3, "three"))]
    editor.apply(
        status(key, "idle", session_id="s-1", queue=2),
        {"type": "queue", "session": key, "held": True, "prompts": queue},
    )
    assert editor.lua('return require("acp_nvim").status().queue') == 2
    assert [one["held"] for one in editor.sent("queue_set")] == [True]  # in case that the journal is lost
    editor.command("AcpQueue")
    editor.api("buf_set_lines", 0, 0, -1, True, ["three, then"])
    editor.command("write")
    assert editor.lua(WAITING, key) == ["three, then"]
    wanted = editor.sent("queue_set")[-1]
    assert (wanted["prompts"], wanted["known"]) == ([{"id": 4, "text": "three, then"}], [2, 3])
    order = [one for one in editor.lua("return vim.tbl_map(function(one) return one.method end, sent)")]
    assert order.index("resume") < order.index("queue_set")


def test_a_prompt_that_was_shown_but_not_sent_is_back(editor):
    key = editor.chat()
    editor.lua("require('acp_nvim').prompt('one')")
    editor.apply(status(key, "starting"), {"type": "append", "session": key, "block": 1, "kind": "user", "text": "one"})
    host_ends(editor)
    assert editor.prompt_lines(key) == ["one"]


def test_open_tool_calls_are_over(editor):
    key = works(editor)
    call = {"id": "c", "title": "Build", "kind": "execute", "status": "in_progress", "content": [], "locations": []}
    editor.apply({"type": "tool_call", "session": key, "block": 3, "call": call})
    assert "◐" in editor.lua(VIRTUAL, key)
    host_ends(editor)
    assert "◐" not in editor.lua(VIRTUAL, key)
    assert "–" in editor.lua(VIRTUAL, key)


def test_a_session_of_which_no_agent_knows_begins_anew(editor):
    key = editor.chat()
    host_ends(editor)
    editor.lua("require('acp_nvim').prompt('one')")
    assert editor.sent("resume") == []
    assert [one["session"] for one in editor.sent("open")] == [key, key]


def test_a_session_that_sleeps_is_the_one_to_go_on_with(editor):
    key = editor.chat()
    editor.apply(status(key, "stopped", asleep=True))
    editor.command("wincmd p")
    editor.lua("require('acp_nvim').prompt('one')")
    assert editor.sent("prompt")[-1]["session"] == key


def test_what_comes_along_stays_with_a_text_that_was_changed(editor):
    key = editor.chat()
    items = [{"type": "text", "name": "a note", "text": "of mine"}]
    lua = (
        "require('acp_nvim.prompt.sending')[select(2, ...)](require('acp_nvim.host.sessions').get(...), select(3, ...))"
    )
    editor.lua(lua, key, "prompt", "two", items)
    two = {"id": 1, "text": "two", "context_names": ["a note"]}
    editor.apply({"type": "queue", "session": key, "held": False, "prompts": [two]})
    editor.lua(lua, key, "queue_set", [{"id": 1, "text": "two, then"}], [1])
    editor.apply({"type": "queue", "session": key, "held": False, "prompts": [{**two, "text": "two, then"}]})
    host_ends(editor)
    editor.lua("require('acp_nvim').prompt('four')")
    [one] = editor.sent("queue_set")[-1]["prompts"]
    assert (one["text"], one["context"]) == ("two, then", items)


def test_a_chat_that_is_wiped_gets_what_the_host_before_had_told(editor):
    key = works(editor)
    host_ends(editor)
    editor.lua("require('acp_nvim').prompt('four')")
    editor.lua(
        "local one = require('acp_nvim.host.sessions').get(...) vim.api.nvim_buf_delete(one.bufnr, { force = true })",
        key,
    )
    editor.lua("require('acp_nvim.sessions.client').show(require('acp_nvim.host.sessions').get(...))", key)
    assert editor.sent("redraw")[-1] == {"session": key, "after": True}
    editor.apply(
        {"type": "reset", "session": key, "after": True},
        {"type": "append", "session": key, "block": 1, "kind": "user", "text": "four"},
    )
    shown = [line for line in editor.lines(key) if line]
    assert (shown[0], shown[1], shown[-1]) == ("one", "so far", "four")
    editor.apply({"type": "reset", "session": key, "after": False})
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "user", "text": "from the agent"})
    assert [line for line in editor.lines(key) if line] == ["from the agent"]


def test_who_is_told_of_the_end_finds_nothing_left_of_the_host(editor):
    editor.chat()
    editor.lua(
        """
        _G.order = {}
        vim.api.nvim_create_autocmd("User", { pattern = "AcpError", callback = function()
          table.insert(_G.order, "told")
        end })
        require("acp_nvim.host").on_exit(function() -- of a module that is loaded after the first command
          table.insert(_G.order, "dropped")
        end)
        """
    )
    host_ends(editor)
    assert editor.lua("return _G.order") == ["dropped", "told"]
