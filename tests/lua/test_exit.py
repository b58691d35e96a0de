"""Dialogs: none is opened while Neovim exits, which would then never end, nor within a batch: the host would wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lua.conftest import LuaEditor
from tests.support.contract import as_sent

LATE = """
local event = ...
vim.api.nvim_create_autocmd("VimLeavePre", {
  callback = function()
    vim.schedule(function()
      io.open(vim.g.reached, "w"):close()
      require("acp_nvim.events").apply({ event })
    end)
  end,
})
"""
DIRECT = """
local dialog, way = require("acp_nvim.kernel.dialog"), ...
vim.api.nvim_create_autocmd("VimLeavePre", {
  callback = function()
    vim.schedule(function()
      io.open(vim.g.reached, "w"):close()
      if way == "select" then
        dialog.select({ "a" }, { prompt = "" }, error)
      elseif way == "input" then
        dialog.input({ prompt = "" }, error)
      else
        assert(dialog.read("", way == "secret") == nil)
      end
    end)
  end,
})
"""
RECORD = """
_G.opened = {}
local events, is_batch = require("acp_nvim.events"), false
vim.ui.select = function(items, opts) table.insert(_G.opened, is_batch) end
_G.apply = function(event)
  is_batch = true
  events.apply({ event })
  is_batch = false
end
"""

ENTRY = {"agent": "demo", "cwd": "/p", "session_id": "s", "title": "One", "kept": [], "updated": 0}
WORKTREE = {"type": "worktree_seen", "path": "/p/w", "branch": "b", "changed": 1, "commits": 0}
PROVIDER = {"id": "main", "supported": ["openai"], "required": False}
METHODS = [{"id": "a", "name": "A", "kind": "agent"}, {"id": "b", "name": "B", "kind": "agent"}]
CHANGED = {"path": "/p/a.py", "operation": "modify", "added": 1, "removed": 1}
CHECKPOINT = {
    "id": "c",
    "kind": "turn",
    "agent": "demo",
    "prompt": "p",
    "time": 1_700_000_000,
    "files": 1,
    "added": 1,
    "removed": 0,
}
RULE = {"id": "r", "source": "stored", "action": "allow", "words": "allow command ls", "time": 1_700_000_000}
OPTION = {
    "id": "mode",
    "name": "Mode",
    "kind": "select",
    "current": "a",
    "values": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
}

Answer = dict[str, Any]


def answer_to(editor: LuaEditor, method: str, answer: Answer) -> Answer:
    """The answer to the last request of that method."""
    return {"id": editor.sent(method)[-1]["id"], **answer}


def sessions(editor: LuaEditor) -> Answer:
    editor.command("AcpSessions")
    listed = {"entries": [ENTRY], "asked": [], "more": [], "waits": [], "problems": {}}
    return answer_to(editor, "sessions_list", {"type": "sessions_listed", **listed})


def actions(editor: LuaEditor) -> Answer:
    editor.lua("require('acp_nvim.sessions.ways').choose(...)", ENTRY)
    known = {"agent": "demo", "running": True, "offers": ["list", "load"]}
    return answer_to(editor, "agents_known", {"type": "agents_known", "agents": [known]})


def worktree(editor: LuaEditor) -> Answer:
    key = editor.chat()
    editor.lua("require('acp_nvim.sessions.closing').close(require('acp_nvim.host.sessions').get(...))", key)
    editor.apply(answer_to(editor, "session_close", {"type": "session_done"}))
    return answer_to(editor, "worktree_look", WORKTREE)


def providers(editor: LuaEditor) -> Answer:
    editor.command("AcpProviders demo")
    return answer_to(editor, "providers_list", {"type": "providers_listed", "providers": [PROVIDER]})


def checkpoints(editor: LuaEditor) -> Answer:
    editor.command("AcpRestore")
    return {"type": "checkpoints", "cwd": str(editor.project), "checkpoints": [CHECKPOINT]}


def restore(editor: LuaEditor) -> Answer:
    editor.lua("require('acp_nvim.review.files.restore').to('c', ..., 'the turn')", str(editor.project))
    return {"type": "restore_plan", "id": "c", "files": [CHANGED], "patch": "", "left": []}


def rules(editor: LuaEditor) -> Answer:
    editor.command("AcpPermissions rules")
    return {"type": "permission_rules", "cwd": editor.sent("permission_rules")[-1]["cwd"], "rules": [RULE]}


def sign_in(editor: LuaEditor) -> Answer:
    editor.command("AcpLogin demo")
    return {"type": "sign_in", "agent": "demo", "cwd": "/p", "methods": METHODS, "asked": True}


def options(editor: LuaEditor) -> Answer:
    key = editor.chat()
    editor.keys("<Esc>")
    editor.command("AcpConfig")
    return {"type": "config", "session": key, "options": [OPTION]}


CASES = [sessions, actions, worktree, providers, checkpoints, restore, rules, sign_in, options]


@contextmanager
def leaving(directory: Path) -> Iterator[LuaEditor]:
    """A Neovim that has to say while it exits that it has reached the place, and has to exit."""
    reached = directory / "reached"
    with closing(LuaEditor(directory)) as editor:
        editor.lua("vim.g.reached = ...", str(reached))
        yield editor
    assert reached.exists()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_an_answer_that_comes_while_neovim_exits_opens_no_dialog(
    tmp_path: Path, case: Callable[[LuaEditor], Answer]
) -> None:
    with leaving(tmp_path) as editor:
        editor.lua(LATE, as_sent(case(editor)))


@pytest.mark.parametrize("way", ["select", "input", "read", "secret"])
def test_no_dialog_is_opened_while_neovim_exits(tmp_path: Path, way: str) -> None:
    with leaving(tmp_path) as editor:
        editor.lua(DIRECT, way)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_dialog_is_opened_after_the_batch(editor: LuaEditor, case: Callable[[LuaEditor], Answer]) -> None:
    event = as_sent(case(editor))
    editor.lua(RECORD)
    editor.lua("_G.apply(...)", event)
    assert editor.wait_until("return _G.opened[1] ~= nil and _G.opened", what="the dialog") == [False]


def test_a_dialog_that_fails_is_answered_with_nothing(editor: LuaEditor) -> None:
    """A picker of a plugin may raise an error; CTRL-C in Neovim's own does."""
    chunk = """
    local problem = ...
    vim.ui.select = function() error(problem, 0) end
    local answers = {}
    local ok, raised = pcall(require("acp_nvim.kernel.dialog").select, { "a" }, { prompt = "" }, function(item)
      table.insert(answers, item == nil)
    end)
    return { ok, raised or "", answers }
    """
    assert editor.lua(chunk, "Keyboard interrupt") == [True, "", [True]]
    assert editor.lua(chunk, "broken") == [False, "broken", [True]]
