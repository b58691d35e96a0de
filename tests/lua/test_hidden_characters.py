"""No name of an agent or a project hides characters, or changes the order of others, wherever it is shown."""

from __future__ import annotations

import unicodedata

import pytest

from tests.lua import test_exit as asking
from tests.lua.conftest import STATUS
from tests.lua.prompt_lsp import PromptServer
from tests.lua.test_forms import asked as form
from tests.lua.test_permissions import asked as permission
from tests.lua.test_winbar import SHOWN
from tests.support.cases import case

ODD = "x\u202ey\u200bz\x1b[7m\x9b\u2066\n\u00adw"
TEXTS = frozenset({"title", "name", "description", "label", "prompt", "snippet", "words", "note", "path", "branch",
                   "base_url", "api_type", "current", "value"})  # fmt: skip
"""The members of events whose texts agents and projects choose."""

RECORD = """
_G.shown = {}
local function record(items, opts, choose)
  table.insert(_G.shown, opts.prompt)
  vim.list_extend(_G.shown, vim.tbl_map(opts.format_item or tostring, items))
  vim.list_extend(_G.shown, vim.api.nvim_buf_get_lines(0, 0, -1, true)) -- the preview of a restore
  choose(_G.choice and items[_G.choice])
end
vim.ui.select = record
vim.ui.input = function(opts, choose) table.insert(_G.shown, opts.prompt) choose(nil) end
vim.fn.input = function(opts) table.insert(_G.shown, opts.prompt) return opts.cancelreturn end
"""
FLOATS = """
local out = {}
for _, win in ipairs(vim.api.nvim_list_wins()) do
  local bufnr, config = vim.api.nvim_win_get_buf(win), vim.api.nvim_win_get_config(win)
  vim.list_extend(out, vim.api.nvim_buf_get_lines(bufnr, 0, -1, true))
  table.insert(out, vim.api.nvim_buf_get_name(bufnr))
  for _, chunks in ipairs({ config.title or {}, config.footer or {} }) do
    for _, chunk in ipairs(chunks) do table.insert(out, chunk[1]) end
  end
end
return out
"""


def odd(value, member=""):
    """An event whose texts are odd."""
    if isinstance(value, dict):
        return {name: odd(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [odd(one, member) for one in value]
    return f"{value}{ODD}" if isinstance(value, str) and member in TEXTS else value


def assert_visible(*lines):
    """Every character of each line can be seen, and something odd was among them."""
    for line in lines:
        hidden = [one for one in line if unicodedata.category(one) in ("Cc", "Cf") and one != "\n"]
        assert not hidden, repr(line)
    assert any("<202e>" in line for line in lines), lines


@pytest.fixture
def recording(editor):
    editor.lua(RECORD)
    return editor


@pytest.mark.parametrize("ask", asking.CASES, ids=lambda one: one.__name__)
def test_dialogs(recording, ask, monkeypatch):
    monkeypatch.setattr(asking, "ENTRY", odd(asking.ENTRY))
    monkeypatch.setattr(asking, "PROVIDER", {**asking.PROVIDER, "base_url": "https://a", "api_type": "b"})
    recording.apply(odd(ask(recording)))
    recording.wait_until("#_G.shown > 0", what="the question")
    assert_visible(*recording.lua("return _G.shown"))


def test_choices_of_options_and_what_is_said(recording):
    key = recording.chat()
    option = {**odd(asking.OPTION), "description": ODD, "id": "mode"}
    recording.apply({"type": "config", "session": key, "options": [option, {**option, "id": ODD}]})
    recording.command("AcpConfig mode")
    recording.wait_until("#_G.shown > 0", what="the question")
    assert_visible(*recording.lua("return _G.shown"))
    words = recording.lua("return vim.fn.getcompletion('AcpConfig ', 'cmdline')")
    assert words == ["mode"]
    recording.lua("require('acp_nvim.kernel.message').info(...)", ODD)
    recording.lua("require('acp_nvim.kernel.message').news(...)", ODD)
    recording.wait_until(lambda: len(recording.messages()) >= 2, what="the messages")
    assert_visible(*recording.messages()[-2:])


def test_windows_lines_and_menus(recording):
    key = recording.chat()
    names = ("agent_title", "activity", "title", "mode_name", "model_name")
    status = {**STATUS, "state": "running", "mode": "m", "model": "m", **dict.fromkeys(names, ODD)}
    status["worktree"] = f"/p/{ODD}"
    steps = [{"content": ODD, "status": "in_progress", "priority": "low"}]
    recording.apply({"type": "status", "session": key, "status": status})
    with case("the winbar"):
        assert_visible(recording.lua(SHOWN, key, 400)[0])
    with case("the status line"):
        recording.lua("local s = require('acp_nvim.host.sessions').get(...) s.status.state = 'background'", key)
        words = "return require('acp_nvim.statusline').text(require('acp_nvim.host.sessions').get(...))"
        assert_visible(recording.lua(words, key))
    with case("plans"):
        recording.apply({"type": "turn_start", "session": key},
                        {"type": "plan", "session": key, "block": 1, "entries": steps, "title": ODD})  # fmt: skip
        recording.lua('require("acp_nvim.chat.windows.fit").now()')
        assert_visible(*recording.lua(FLOATS))
    with case("a request"):
        options = [{"option_id": "a", "name": ODD, "kind": "allow_once"}]
        recording.apply(permission(key, block=2, options=options, title=ODD))
        recording.command("AcpPermissions")
        recording.wait_until("#_G.shown > 0", what="the question")
        assert_visible(*recording.lua("return _G.shown"), *recording.lua(FLOATS))
    with case("the name of a subagent"):
        name = "return require('acp_nvim.host.sessions').name({ parent = 1, agent = 'demo', status = { title = ... } })"
        assert_visible(recording.lua(name, ODD))


def test_commands_and_suggestions_in_the_prompt(recording):
    key = recording.chat()
    name = ODD.replace("\n", "")
    command = {"name": name, "description": ODD, "hint": ODD}
    recording.apply({"type": "commands", "session": key, "commands": [command]},
                    {"type": "prompt_suggestion", "session": key, "text": name})  # fmt: skip
    recording.focus(recording.session(key, "prompt_bufnr"))
    chunks = """local bufnr, out = ..., {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, -1, 0, -1, { details = true })) do
      for _, chunk in ipairs(mark[4].virt_text or {}) do table.insert(out, chunk[1]) end
    end
    return out"""
    recording.apply({"type": "status", "session": key, "status": {**STATUS, "state": "idle"}})
    assert_visible(*recording.lua(chunks, recording.session(key, "prompt_bufnr")))
    [item] = PromptServer(recording).complete("/")["items"]
    assert_visible(item["label"])
    assert_visible(item["detail"])
    assert_visible(item["documentation"])


def test_forms(recording):
    key = recording.chat()
    recording.focus(recording.session(key, "bufnr"))
    choice = {"value": ODD, "title": ODD, "description": ODD}
    field = {"name": ODD, "kind": "choice", "title": ODD, "hint": ODD, "choices": [choice], "description": ODD}
    recording.apply(form(key, field, message=ODD, title=ODD))
    recording.wait_until("vim.bo.filetype == 'acp_form'", what="the form")
    recording.keys("<CR>")
    assert_visible(*recording.lua("return _G.shown"), *recording.lua(FLOATS))
