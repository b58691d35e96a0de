"""Sessions: which one is meant, status, events, a host that ends, Lua that is loaded again."""

from __future__ import annotations

import pytest

from acp_nvim import __version__
from tests.lua.conftest import STATUS

RELOAD = """for name in pairs(package.loaded) do
  if name:match("^acp_nvim") then package.loaded[name] = nil end
end"""


def status(key, state="idle", **more):
    view = {**STATUS, "state": state, **more}
    return {"type": "status", "session": key, "status": view}


def host_ends(editor):
    editor.lua('local h = require("acp_nvim.host") _G.channel = 2 h.on_end("python", 3)')


def test_status_without_a_session(editor):
    assert editor.lua('return require("acp_nvim").status()') == {
        "state": "stopped",
        "pending_permissions": 0,
        "queue": 0,
        "unread": 0,
        "subagents": [],
    }


def test_status_is_of_the_focused_session_else_of_the_last_used(editor):
    first, second = editor.chat(), editor.chat()
    editor.apply(status(first, "running", queue=2), status(second, "waiting"))
    state = 'return require("acp_nvim").status(...).state'
    assert editor.lua(state) == "waiting"
    assert editor.lua(state, first) == "running"
    editor.command("tabnew")
    assert editor.lua(state) == "waiting"
    editor.command(f"buffer {editor.session(first, 'bufnr')}")
    assert editor.lua(state) == "running"


def test_winbar_says_how_it_stands(editor):
    key = editor.chat()
    plan = [{"content": "a", "status": "completed", "priority": "low"}] * 2
    editor.apply({"type": "plan", "session": key, "block": 1, "entries": plan})
    editor.apply(
        status(
            key,
            "waiting",
            queue=2,
            pending_permissions=1,
            mode="100%",
            usage={"used": 53000, "size": 200000},
        )
    )
    win = editor.focus(editor.session(key, "bufnr"))
    bar = editor.lua(
        "return vim.api.nvim_eval_statusline(vim.wo[...].winbar, { winid = ..., maxwidth = 200 }).str", win
    )
    assert bar.strip() == "? demo waiting · 2/2 · ?1 · +2 · 100% · 27%"


def test_chat_is_reused_unless_a_new_one_is_asked_for(editor):
    first = editor.chat()
    editor.apply(status(first))
    editor.command("AcpChat")
    editor.command("AcpChat demo")
    assert len(editor.sent("open")) == 1
    assert editor.chat() == first + 1


def test_unknown_agent_is_refused_in_words(editor):
    editor.command("AcpChat demmo")
    assert 'no agent is called "demmo"; did you mean "demo"? (known agents: demo, ' in editor.message()
    assert editor.sent("open") == []


def test_default_agent(editor):
    editor.lua('require("acp_nvim").setup({ agents = { zeta = { command = { "z" } }, beta = { command = { "b" } } } })')
    editor.command("AcpChat")
    assert editor.sent("open")[0]["agent"] == "beta"
    editor.lua('require("acp_nvim").setup({ default_agent = "zeta", agents = { zeta = { command = { "z" } } } })')
    editor.command("AcpChat!")
    assert editor.sent("open")[1]["agent"] == "zeta"


def test_demo_by_default_is_left_to_the_host_to_explain(editor):
    editor.command("AcpChat")
    assert "agent" not in editor.sent("open")[0]
    assert editor.session(1, "agent") == "demo"


def test_events_are_told_with_their_data(editor):
    key = editor.chat()
    call = {"id": "t", "title": "T", "kind": "edit", "status": "pending", "content": [], "locations": []}
    changed = {"session": key, "path": "/p", "by": "agent", "operation": "add", "added": 2, "removed": 0, "why": "seen"}
    editor.apply(
        {"type": "session_ready", "session": key, "session_id": "s-1", "agent": "demo"},
        {"type": "turn_start", "session": key},
        {"type": "tool_call", "session": key, "block": 1, "call": call},
        {"type": "file_changed", **changed},
        {"type": "error", "session": key, "text": "broken", "code": "turn_failed", "agent": "demo"},
        {"type": "review_progress", "what": "keeping"},
        {"type": "turn_end", "session": key, "stop_reason": "end_turn"},
        {"type": "review_progress", "what": "keeping", "is_over": True},
        {"type": "turn_start", "session": key, "background": True},
        {"type": "review_progress", "session": key, "what": "collecting"},
        {"type": "turn_end", "session": key, "stop_reason": "cancelled", "background": True},
        {"type": "review_progress", "session": key, "what": "collecting", "is_over": True},
    )
    assert [(record["name"], record["data"]) for record in editor.events()] == [
        ("AcpSessionReady", {"session": key, "session_id": "s-1", "agent": "demo"}),
        ("AcpTurnStart", {"session": key, "background": False}),
        ("AcpToolCall", {"session": key, "call": call}),
        ("AcpFileChanged", changed),
        ("AcpError", {"session": key, "text": "broken", "code": "turn_failed", "agent": "demo"}),
        ("AcpTurnEnd", {"session": key, "stop_reason": "end_turn", "background": False, "collecting": False}),
        ("AcpTurnStart", {"session": key, "background": True}),
        ("AcpTurnEnd", {"session": key, "stop_reason": "cancelled", "background": True, "collecting": True}),
        ("AcpTurnChanges", {"session": key}),
    ]
    assert "broken" in editor.message()


@pytest.mark.parametrize(("pattern", "heard"), [("AcpTurnEnd", 1), ("Acp*", 2), ("*", 2), ("Acp{TurnEnd,Error}", 1)])
def test_who_begins_to_listen_while_events_come_in_hears_the_rest(editor, pattern, heard):
    key = editor.chat()
    editor.lua('vim.api.nvim_clear_autocmds({ event = "User", pattern = "Acp*" })')
    start, end = {"type": "turn_start", "session": key}, {"type": "turn_end", "session": key, "stop_reason": "x"}
    editor.apply(start, end)
    editor.command(f"autocmd User AcpTurnStart ++once autocmd User {pattern} let g:heard = get(g:, 'heard', 0) + 1")
    editor.apply(end, start, end)
    assert editor.lua("return vim.g.heard") == 1
    editor.apply(start, end)
    assert editor.lua("return vim.g.heard") == 1 + heard


def test_a_faulty_autocommand_breaks_nothing(editor):
    key = editor.chat()
    editor.command("autocmd User AcpTurnStart throw 'mine'")
    editor.apply({"type": "turn_start", "session": key}, {"type": "turn_end", "session": key, "stop_reason": "x"})
    assert editor.events("AcpTurnEnd")
    assert "AcpTurnStart" in editor.message()


def test_cancel_and_stop(editor):
    key = editor.chat()
    editor.command("AcpCancel")
    editor.command("AcpCancel!")
    editor.command("AcpStop")
    editor.interrupt(lambda: len(editor.sent("cancel")) == 3)
    assert editor.sent("cancel") == [{"session": key, "force": force} for force in (False, True, False)]
    assert editor.sent("stop") == [{"session": key}]


def test_without_a_session_nothing_is_cancelled(editor):
    editor.command("AcpCancel")
    assert "no agent is running here (:AcpChat starts one)" in editor.message()


def test_a_host_that_ends_is_told_and_takes_nothing_along(editor):
    key = editor.chat()
    editor.apply(status(key, "running", pending_permissions=1, queue=1))
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "agent", "text": "so far"})
    editor.lua('require("acp_nvim").prompt("not yet\\nseen")')
    host_ends(editor)
    now = editor.lua('return require("acp_nvim").status()')
    assert (now["state"], now["pending_permissions"], now["queue"]) == ("failed", 0, 0)
    assert editor.lines(key)[1] == "so far"
    assert "the host ended unexpectedly (exit code 3)" in "\n".join(editor.lines(key))
    assert editor.prompt_lines(key) == ["not yet", "seen"]
    assert editor.events("AcpError")[0]["code"] == 3


def test_after_the_host_ended_a_session_goes_on_as_a_new_one(editor):
    key = editor.chat()
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "agent", "text": "so far"})
    host_ends(editor)
    editor.keys("igo on<C-s>")
    assert [one["session"] for one in editor.sent("open")] == [key, key]
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "user", "text": "go on"})
    shown = editor.lines(key)
    assert (shown[1], shown[-1]) == ("so far", "go on")
    assert any("does not know what is above" in line for line in shown)


def test_lua_that_is_loaded_again_takes_its_sessions_up(editor):
    key = editor.chat()
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "agent", "text": "old"})
    chat, prompt = editor.session(key, "bufnr"), editor.session(key, "prompt_bufnr")
    record = """_G.sent = {}
      local host = require("acp_nvim.host")
      host.send = function(m, p) table.insert(_G.sent, { method = m, params = p }) return true end
      host.channel = function() return 1 end
      host.ensure = function() return true end"""
    editor.lua(RELOAD + "\n" + record)
    alive = [{"session": key, "agent": "demo", "cwd": str(editor.project)}]
    editor.apply({"type": "ready", "version": __version__, "pid": 1, "sessions": alive})
    assert editor.sent("redraw") == [{"session": key}]
    assert (editor.session(key, "bufnr"), editor.session(key, "prompt_bufnr")) == (chat, prompt)
    editor.apply(
        {"type": "reset", "session": key},
        {"type": "append", "session": key, "block": 1, "kind": "agent", "text": "new"},
    )
    assert editor.lines(key) == ["", "new"]
    editor.keys("ihi<C-s>")
    assert editor.sent("prompt")[0]["session"] == key
    assert editor.chat() > key


def test_another_version_of_the_host_is_said(editor):
    editor.apply({"type": "ready", "version": "9.9.9", "pid": 1, "sessions": []})
    assert "its host has version 9.9.9" in editor.message()


@pytest.mark.parametrize("command", ["AcpLog", "AcpFollow maybe"])
def test_commands_that_cannot_do_it_say_so(editor, command):
    editor.command(command)
    assert editor.message()


def test_log_opens_at_its_end(editor):
    editor.lua('require("acp_nvim.kernel.log").write("one") require("acp_nvim.kernel.log").write("two")')
    editor.command("AcpLog")
    assert editor.lua("return { vim.bo.readonly, vim.fn.line('.'), vim.fn.getline('.'):match('two') }") == [
        True,
        2,
        "two",
    ]


def test_checkhealth(editor):
    editor.lua('require("acp_nvim").setup({ agents = { nope = { command = { "no-such-program" } } } })')
    editor.command("checkhealth acp_nvim")
    report = editor.buffer_text()
    for words in ("Python host", "pynvim", 'nope: the command "no-such-program" was not found'):
        assert words in report
