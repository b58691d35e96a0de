"""The host starts while the first command is being typed; nothing else that is typed starts or loads anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

Editors = Callable[..., HeadlessEditor]

COUNTED = """
_G.starts = 0
local jobstart = vim.fn.jobstart
vim.fn.jobstart = function(command, options)
  _G.starts = _G.starts + (options.rpc and 1 or 0)
  return jobstart(command, options)
end
"""
LOADED = 'return vim.tbl_filter(function(n) return n:match("^acp_nvim") end, vim.tbl_keys(package.loaded))'


def starts(nvim: HeadlessEditor) -> int:
    """How many hosts were started since `COUNTED`."""
    return int(nvim.lua("return _G.starts"))


@pytest.mark.parametrize(
    "keys",
    [
        ":Acp",
        ":AcpChat some",
        ":5,10Acp",
        ":%Acp",
        ":vertical Acp",
        ":silent! keepalt Acp",
        ": Acp",
        "Vj:Acp",
    ],
)
def test_a_command_that_is_being_typed_starts_the_host_once(editor: Editors, keys: str) -> None:
    nvim = editor(agents={})
    nvim.lua(COUNTED)
    nvim.lua('vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split(("line\\n"):rep(20), "\\n"))')
    nvim.keys(keys)
    nvim.wait_until("vim.g.acp_nvim_channel ~= nil")
    nvim.keys("x<Esc>:AcpLog<Esc>")
    assert starts(nvim) == 1
    assert nvim.lua("return vim.fn.exists('#acp_nvim.intent#CmdlineChanged')") == 0


OTHER_KEYS = [
    ":Ac",
    ":edit Acp",
    ":echo 'Acp'",
    ":s/Acp/x/",
    ":MyAcpThing",
    ":w | Acp",
    "/AcpChat",
    "?Acp",
    ":call input('')<CR>AcpChat",
    "iAcpChat",
]


def test_other_keys_start_and_load_nothing(editor: Editors) -> None:
    nvim = editor(agents={})
    nvim.lua(COUNTED)
    for keys in OTHER_KEYS:
        nvim.keys(keys)
        assert nvim.lua(LOADED) == [], keys
        assert starts(nvim) == 0, keys
        nvim.keys("<Esc><Esc>")
        assert nvim.api("get_mode")["mode"] == "n", keys


def test_the_first_command_uses_the_host_that_is_there(editor: Editors, tmp_path: Path) -> None:
    script = agent_script(tmp_path, "")
    nvim = editor(agents={"some": {"command": script.argv}})
    nvim.lua(COUNTED)
    nvim.keys(":AcpChat some")
    nvim.wait_until("vim.g.acp_nvim_channel ~= nil")
    channel = nvim.lua("return vim.g.acp_nvim_channel")
    nvim.keys("<CR>")
    nvim.wait_until(lambda: nvim.events("AcpSessionReady"))
    assert starts(nvim) == 1
    assert nvim.lua("return vim.g.acp_nvim_channel") == channel


def test_options_that_are_set_later_reach_the_host(editor: Editors, tmp_path: Path) -> None:
    script = agent_script(tmp_path, "")
    nvim = editor(agents={})
    nvim.lua(COUNTED)
    nvim.keys(":Acp")
    nvim.wait_until("vim.g.acp_nvim_channel ~= nil")
    nvim.keys("<Esc>")
    nvim.lua(
        'require("acp_nvim").setup({ python = "/no/such/python", agents = { late = { command = ... } } })', script.argv
    )
    nvim.command("AcpChat late")
    nvim.wait_until(lambda: nvim.events("AcpSessionReady"))
    assert script.received("initialize")
    assert starts(nvim) == 1


def test_without_a_python_it_is_said_once_and_by_the_command(editor: Editors) -> None:
    nvim = editor(agents={}, config={"python": "/no/such/python"})
    nvim.keys(":AcpChat demo")
    nvim.api("eval", "1")
    assert nvim.messages() == []
    nvim.keys("<CR>")
    nvim.wait_until(nvim.messages)
    nvim.api("eval", "1")
    (message,) = nvim.messages()
    assert '"/no/such/python", which cannot be run' in message
    nvim.command("AcpChat demo")
    nvim.wait_until(lambda: len(nvim.messages()) == 2)


def test_options_that_are_ignored_are_said_after_the_command_line(editor: Editors) -> None:
    nvim = editor(agents={}, config={"bogus": 1})
    nvim.keys(":Acp")
    nvim.wait_until("vim.g.acp_nvim_channel ~= nil")
    nvim.keys("Log")
    assert nvim.messages() == []
    nvim.keys("<Esc>")
    nvim.wait_until(nvim.messages)
    assert nvim.messages() == ["acp_nvim: vim.g.acp_nvim, ignored: bogus: no such option"]


def test_a_host_that_ends_before_it_is_used_is_reported_by_the_command(editor: Editors) -> None:
    nvim = editor(agents={}, config={"python": "/bin/false"})
    nvim.keys(":Acp")
    nvim.wait_until('return require("acp_nvim.host").channel() == nil')
    nvim.keys("<Esc>")
    assert nvim.messages() == []
    nvim.command("AcpChat demo")
    nvim.wait_until(nvim.messages)
    (message,) = nvim.messages()
    assert "the host ended unexpectedly" in message


def test_a_host_that_is_never_used_leaves_with_neovim(editor: Editors) -> None:
    nvim = editor(agents={})
    nvim.keys(":Acp")
    nvim.wait_until(nvim.host)
    nvim.keys("<Esc>")
    nvim.wait_until('package.loaded["acp_nvim.sessions.ended"] ~= nil', what="the last module to be loaded")
    nvim.close()  # fails when a process stays behind


def test_what_is_loaded_before_the_host_starts(editor: Editors) -> None:
    nvim = editor(agents={})
    nvim.lua(
        """
        local jobstart = vim.fn.jobstart
        vim.fn.jobstart = function(...)
          _G.loaded = _G.loaded or vim.tbl_filter(function(n)
            return n:match("^acp_nvim")
          end, vim.tbl_keys(package.loaded))
          return jobstart(...)
        end
        vim.cmd("AcpChat demo")
        """
    )
    assert sorted(nvim.lua("return _G.loaded")) == [
        "acp_nvim.config",
        "acp_nvim.config.check_agents",
        "acp_nvim.config.checks",
        "acp_nvim.config.schema",
        "acp_nvim.early",
        "acp_nvim.host",
        "acp_nvim.host.environment",
        "acp_nvim.host.python",
        "acp_nvim.host.version",
        "acp_nvim.kernel.hint",
        "acp_nvim.kernel.idle",
        "acp_nvim.kernel.log",
        "acp_nvim.kernel.state_files",
        "acp_nvim.lazy",
        "acp_nvim.names",
        "acp_nvim.render.icons",
    ]


def test_the_rest_is_loaded_in_small_steps(editor: Editors) -> None:
    nvim = editor(agents={})
    steps, missing = nvim.lua(
        """
        local function loaded()
          local names = {}
          for name, value in pairs(package.loaded) do
            names[#names + 1] = name:match("^acp_nvim%.") and value and name or nil
          end
          return names
        end
        local early = require("acp_nvim.early")
        local steps, before = {}, #loaded()
        for _, name in ipairs(early.MODULES) do
          require(name)
          local now = #loaded()
          steps[name], before = name:match("^acp_nvim") and now - before or nil, now
        end
        require("acp_nvim.commands")
        require("acp_nvim.events")
        require("acp_nvim.buffers")
        return { steps, #loaded() - before }
        """
    )
    assert missing == 0
    assert min(steps.values()) >= 1, "a module that another one loads needs no step of its own"
    assert max(steps.values()) <= 8
