"""Neovim, its status line and the terminal are told that work goes on, and of each end of it; nothing is drawn."""

from __future__ import annotations

import pytest

from tests.lua.conftest import STATUS, LuaEditor

HEAR = """
_G.told, _G.hearers = {}, {}
local function hear(data)
  table.insert(_G.told, vim.deepcopy(data))
end
if vim.fn.exists("##Progress") == 1 then
  vim.api.nvim_create_autocmd("Progress", { callback = function(event) hear(event.data) end })
  return
end
-- Neovim 0.11 has no such event
local real = { exists = vim.fn.exists }
for _, name in ipairs({ "nvim_create_autocmd", "nvim_exec_autocmds", "nvim_get_autocmds" }) do
  real[name] = vim.api[name]
end
function vim.fn.exists(what)
  return what == "##Progress" and 1 or real.exists(what)
end
function vim.api.nvim_create_autocmd(event, opts)
  if event ~= "Progress" then
    return real.nvim_create_autocmd(event, opts)
  end
  table.insert(_G.hearers, opts.callback)
end
function vim.api.nvim_get_autocmds(wanted)
  return wanted.event == "Progress" and { {} } or real.nvim_get_autocmds(wanted)
end
function vim.api.nvim_exec_autocmds(event, opts)
  if event ~= "Progress" then
    return real.nvim_exec_autocmds(event, opts)
  end
  hear(opts.data)
  for _, hearer in ipairs(_G.hearers) do
    hearer({ data = opts.data, match = opts.pattern })
  end
end
"""
BUSY = "return vim.fn.exists('&busy') == 1 and vim.bo[...].busy or nil"


@pytest.fixture
def editor(tmp_path):
    editor = LuaEditor(tmp_path)
    editor.lua(HEAR)
    yield editor
    editor.close()


def told(editor, *fields):
    """What was told since the last time."""
    return [tuple(one[field] for field in fields) for one in editor.lua("local t = _G.told _G.told = {} return t")]


def status(key, state, **more):
    return {"type": "status", "session": key, "status": {**STATUS, "state": state, **more}}


def begins(key):
    return {"type": "turn_start", "session": key}


def ends(key, reason="end_turn"):
    return {"type": "turn_end", "session": key, "stop_reason": reason}


def plan(key, *states):
    entries = [{"content": "step", "priority": "low", "status": state} for state in states]
    return {"type": "plan", "session": key, "block": 1, "entries": entries}


def is_busy(editor, key):
    """The value of 'busy'; where Neovim does not have the option, what it should be is not asked."""
    return editor.lua(BUSY, editor.session(key, "bufnr"))


def busy(editor, value):
    return value if editor.lua("return vim.fn.exists('&busy')") else None


def test_a_turn_is_told_from_its_beginning_to_its_end(editor):
    key = editor.chat()
    assert is_busy(editor, key) == busy(editor, 0)
    editor.apply(begins(key), status(key, "running", activity="thinking"))
    assert told(editor, "id", "title", "status", "percent", "text", "data") == [
        (f"acp_nvim.turn.{key}", "demo", "running", 0, [text], {"session": key}) for text in ("working", "thinking")
    ]
    assert is_busy(editor, key) == busy(editor, 1)
    editor.apply(status(key, "running", activity="thinking"))
    assert told(editor, "status") == []
    editor.apply(plan(key, "completed", "pending", "pending"), status(key, "waiting"))
    assert told(editor, "percent", "text") == [(33, ["thinking"]), (33, ["waiting for you"])]
    editor.apply(plan(key, "completed", "completed", "completed"))
    assert told(editor, "percent", "status") == [(99, "running")]  # not over: 100 would be taken for the end
    editor.apply(ends(key), status(key, "idle"))
    assert told(editor, "id", "status", "percent") == [(f"acp_nvim.turn.{key}", "success", 100)]
    assert is_busy(editor, key) == busy(editor, 0)
    editor.apply(status(key, "idle", title="other"))
    assert told(editor, "status") == []


REASONS = {
    "end_turn": "success",
    "cancelled": "cancel",
    "error": "failed",
    "refusal": "failed",
    "max_tokens": "failed",
    "_odd": "failed",
}


def test_every_end_is_told(editor):
    key = editor.chat()
    for reason, word in REASONS.items():
        editor.apply(begins(key), status(key, "running"), ends(key, reason), status(key, "idle"))
        assert told(editor, "status")[-1] == (word,), reason
        assert editor.lua("return _G.told") == []


def test_a_session_that_is_closed_and_a_host_that_dies_end_it(editor):
    first, second = editor.chat(), editor.chat()
    for key in (first, second):
        editor.apply(begins(key), status(key, "running"))
    told(editor, "status")
    editor.lua(
        "local c = require('acp_nvim.sessions.client') c.forget(require('acp_nvim.host.sessions').get(...))", first
    )
    assert told(editor, "id", "status") == [
        (f"acp_nvim.turn.{first}", "cancel"),
        (f"acp_nvim.turn.{second}", "running"),  # the terminal has one bar for all
    ]
    editor.lua("require('acp_nvim.host.sessions').get(...).host = 1", second)
    editor.lua("require('acp_nvim.sessions.ended').fail_sessions('it ended', 1, {})")
    assert told(editor, "id", "status") == [(f"acp_nvim.turn.{second}", "failed")]
    assert is_busy(editor, second) == busy(editor, 0)


def test_leaving_neovim_ends_it(editor):
    key = editor.chat()
    editor.apply(begins(key))
    told(editor, "status")
    editor.command("doautocmd <nomodeline> VimLeavePre")
    assert told(editor, "status") == [("cancel",)]


def test_a_chat_that_is_made_again_is_busy(editor):
    key = editor.chat()
    editor.apply(begins(key), status(key, "running"))
    editor.command(f"bwipeout! {editor.session(key, 'bufnr')}")
    editor.command("AcpChat")
    assert is_busy(editor, key) == busy(editor, 1)


def test_the_work_of_a_subagent_is_its_parents(editor):
    key = editor.chat()
    editor.lua("local s = require('acp_nvim.host.sessions') s.add_child(1000001, s.get(...))", key)
    editor.apply(begins(1000001), status(1000001, "running"), ends(1000001))
    assert told(editor, "status") == []


def test_who_asks_by_the_event_cancels_the_turn(editor):
    key = editor.chat()
    editor.apply(begins(key), status(key, "running"))
    ask = """vim.api.nvim_exec_autocmds("Progress", {
      pattern = "acp_nvim", modeline = false, data = { id = ..., status = "cancel", percent = 0, text = { "" } } })"""
    editor.lua(ask, "acp_nvim.turn.77")
    assert editor.sent("cancel") == []
    editor.lua(ask, f"acp_nvim.turn.{key}")
    assert editor.sent("cancel") == [{"session": key}]
    editor.apply(ends(key, "cancelled"))
    assert len(editor.sent("cancel")) == 1


def test_an_error_of_a_listener_is_told_and_stops_nothing(editor):
    key = editor.chat()
    editor.lua("""
      local heard = vim.api.nvim_exec_autocmds
      function vim.api.nvim_exec_autocmds(event, ...)
        heard(event, ...)
        if event == "Progress" then error("a listener's own") end
      end""")
    editor.apply(begins(key), status(key, "running"), ends(key))
    assert told(editor, "status")[-1] == ("success",)
    assert "an autocommand for Progress acp_nvim failed" in editor.message()
    assert editor.session(key, "status")["state"] == "running"


def test_long_work_on_files_is_told(editor):
    key = editor.chat()
    work = {"type": "review_progress", "what": "collecting", "done": 5, "total": 10, "seconds": 2.0, "session": key}
    editor.apply(work | {"seconds": 0.1})
    assert told(editor, "status") == []
    editor.apply(work, work | {"done": 6}, work | {"is_over": True})
    words = ["collecting changes"]
    assert told(editor, "id", "text", "percent", "status") == [
        (f"acp_nvim.review.{key}", words, 50, "running"),
        (f"acp_nvim.review.{key}", words, 60, "running"),
        (f"acp_nvim.review.{key}", words, 100, "success"),
    ]
    editor.apply(work)
    editor.lua("require('acp_nvim.progress.review').reset()")
    assert told(editor, "status") == [("running",), ("failed",)]


def test_nothing_is_drawn(screen):
    editor = screen(rows=12)
    editor.command("AcpChat demo")
    editor.type("\x1b:echo 'what the user reads'\r")
    before = "what the user reads"
    editor.wait_until(lambda: editor.rows()[-1] == before, what="the command to be gone from the screen")
    key = editor.lua("return vim.b.acp_nvim_session")
    for one in (begins(key), status(key, "running", activity="thinking"), plan(key, "completed", "pending"), ends(key)):
        editor.apply(one)
        editor.command("redraw")
        assert editor.rows()[-1] == before
    assert "thinking" not in editor.printed()
