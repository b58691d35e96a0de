"""The Lua check can fail, and says where."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.find_nvim import find_nvim

SCRIPT = Path(__file__).with_name("check_lua.lua")


@pytest.fixture
def check(tmp_path):
    """Checks files of Lua; returns the exit code and what was said of them."""

    def run(**files: str) -> tuple[int, list[str]]:
        for name, text in files.items():
            path = tmp_path / "lua" / "acp_nvim" / f"{name}.lua"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        command = [find_nvim(), "--clean", "--headless", "-l", str(SCRIPT), str(tmp_path)]
        answer = subprocess.run(command, capture_output=True, text=True, check=False, env={"HOME": str(tmp_path)})
        return answer.returncode, (answer.stdout + answer.stderr).strip().splitlines()[:-1]

    return run


GOOD = """
local M = {}
local _unused, used = 1, 2

local function twice(value)
  return value * 2
end

function M.go(name)
  local field = { name = name, inner = { used = used } }
  for _, item in ipairs(field.inner) do
    vim.print(twice(item))
  end
  local recursive
  recursive = function()
    return recursive
  end
  return recursive, twice(used)
end

return M
"""


def test_good_code_passes(check):
    assert check(good=GOOD) == (0, [])


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("local x =", "1: unexpected symbol near '<eof>'"),
        ("local M = {}\nfunction M.f()\n  return undefined_thing\nend\nreturn M\n", "3: reads the unknown global"),
        ("local function f()\n  leaked = 1\nend\nreturn f\n", "2: sets the global `leaked`"),
        ("local a, b = 1, 2\nreturn b\n", "1: the local `a` is not used"),
        ("local function f()\n  return f\nend\nreturn 1\n", "1: the local `f` is not used"),
        ("local name = 1\nreturn { name = 2, x = vim.name }\n", "1: the local `name` is not used"),
        ("do\n  local a = 1\nend\nlocal a = 2\nreturn a\n", "2: the local `a` is not used"),
        ("return function()\n" + "  vim.print(1)\n" * 60 + "end\n", "1: the function has 62 lines, more than 60"),
        ("vim.print(1)\n" * 401, "1: the file has 401 lines, more than 400"),
        ("vim.notify('x')\n", "1: `vim.notify`: only message.lua speaks to the user"),
        ("local say = vim.notify\nreturn say\n", "1: `vim.notify`: only message.lua speaks to the user"),
        ("vim.ui.select({}, {}, vim.print)\n", "1: `vim.ui.select`: only dialog.lua asks the user"),
        ("return vim.fn.inputsecret\n", "1: `vim.fn.inputsecret`: only dialog.lua asks the user"),
        ("return vim.fn.confirm('x')\n", "1: `vim.fn.confirm`: only dialog.lua asks the user"),
        ("vim.wait(10)\n", "1: `vim.wait`: the editor never waits"),
        ("return vim.fn.system('x')\n", "1: `vim.fn.system`: the editor never waits"),
        ("return vim.system({ 'x' }):wait()\n", "1: `:wait`: the editor never waits"),
        ("return vim.rpcrequest(1, 'x')\n", "1: `vim.rpcrequest`: the editor never waits for the host"),
        ("vim.fn.bufadd('x')\n", "1: `vim.fn.bufadd`: files are opened by windows/file_buffer.lua"),
        ("return io.open('x')\n", "1: `io.open`: files are opened by windows/file_buffer.lua"),
        ("local uv = vim.uv\nreturn uv.fs_open('x', 'r', 0)\n", "2: `uv.fs_open`: files are opened by"),
        ("vim.cmd('edit ' .. vim.g.x)\n", "1: `edit `: files are opened by windows/file_buffer.lua"),
        ("vim.cmd(('silent keepalt vsplit %s'):format('x'))\n", "1: `silent keepalt vsplit %s`: files are opened"),
        ("pcall(vim.cmd, 'call bufload(3)')\n", "1: `call bufload(3)`: files are opened by windows/file_buffer.lua"),
        ("vim.cmd.edit('x')\n", "1: `vim.cmd.edit`: files are opened by windows/file_buffer.lua"),
        ("vim.cmd.vsplit('x')\n", "1: `vim.cmd.vsplit`: files are opened by windows/file_buffer.lua"),
        ("return vim.fn.rpcrequest(1, 'x')\n", "1: `vim.fn.rpcrequest`: the editor never waits for the host"),
    ],
)
def test_bad_code_is_found(check, code, words):
    status, said = check(bad=code)
    assert status == 1
    assert len(said) == 1
    assert said[0].startswith(f"lua/acp_nvim/bad.lua:{words}")


def test_files_that_may(check):
    assert check(message="vim.notify('x')\n", health="return vim.system({ 'x' }):wait()\n") == (0, [])


def test_a_cycle_is_found_also_when_lazy(check):
    status, said = check(
        a='local b = require("acp_nvim.b")\nreturn b\n',
        b='return function()\n  return require("acp_nvim.c")\nend\n',
        c="return pcall(require, 'acp_nvim.a')\n",
        d='return require("acp_nvim.a")\n',
    )
    assert status == 1
    assert said == [
        "modules require each other: acp_nvim.a -> acp_nvim.b -> acp_nvim.c -> acp_nvim.a",
    ]


def test_nothing_to_check_is_a_failure(tmp_path):
    command = [find_nvim(), "--clean", "--headless", "-l", str(SCRIPT), str(tmp_path)]
    assert subprocess.run(command, capture_output=True, check=False, env={"HOME": str(tmp_path)}).returncode == 1
