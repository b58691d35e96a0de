"""The Lua check can fail, and says where."""

from __future__ import annotations

import re
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
            path = tmp_path / "lua" / "acp_nvim" / (name.replace("__", "/") + ".lua")
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
    assert check(kernel__good=GOOD) == (0, [])


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
        ("vim.notify('x')\n", "1: `vim.notify`: only kernel/message.lua speaks to the user"),
        ("local say = vim.notify\nreturn say\n", "1: `vim.notify`: only kernel/message.lua speaks to the user"),
        ("vim.ui.select({}, {}, vim.print)\n", "1: `vim.ui.select`: only kernel/dialog.lua asks the user"),
        ("return vim.fn.inputsecret\n", "1: `vim.fn.inputsecret`: only kernel/dialog.lua asks the user"),
        ("return vim.fn.confirm('x')\n", "1: `vim.fn.confirm`: only kernel/dialog.lua asks the user"),
        ("vim.wait(10)\n", "1: `vim.wait`: the editor never waits"),
        ("return vim.fn.system('x')\n", "1: `vim.fn.system`: the editor never waits"),
        ("return vim.system({ 'x' }):wait()\n", "1: `:wait`: the editor never waits"),
        ("return vim.rpcrequest(1, 'x')\n", "1: `vim.rpcrequest`: the editor never waits for the host"),
        ("vim.fn.bufadd('x')\n", "1: `vim.fn.bufadd`: files are opened by buffers/file_buffer.lua"),
        ("return io.open('x')\n", "1: `io.open`: files are opened by buffers/file_buffer.lua"),
        ("local uv = vim.uv\nreturn uv.fs_open('x', 'r', 0)\n", "2: `uv.fs_open`: files are opened by"),
        ("vim.cmd('edit ' .. vim.g.x)\n", "1: `edit `: files are opened by buffers/file_buffer.lua"),
        ("vim.cmd(('silent keepalt vsplit %s'):format('x'))\n", "1: `silent keepalt vsplit %s`: files are opened"),
        ("pcall(vim.cmd, 'call bufload(3)')\n", "1: `call bufload(3)`: files are opened by buffers/file_buffer.lua"),
        ("vim.cmd.edit('x')\n", "1: `vim.cmd.edit`: files are opened by buffers/file_buffer.lua"),
        ("vim.cmd.vsplit('x')\n", "1: `vim.cmd.vsplit`: files are opened by buffers/file_buffer.lua"),
        ("return vim.ui.open('x')\n", "1: `vim.ui.open`: only kernel/external.lua starts the system's program"),
        ("return vim.fn.rpcrequest(1, 'x')\n", "1: `vim.fn.rpcrequest`: the editor never waits for the host"),
        ('return vim.fn["confirm"]("x")\n', '1: `vim.fn["confirm"]`: only kernel/dialog.lua asks the user'),
        ("vim.api.nvim_win_set_buf(0, 1)\n", "1: `nvim_win_set_buf`: only windows/switch.lua does this"),
        ("local api = vim.api\npcall(api.nvim_win_set_buf, 0, 1)\n", "2: `nvim_win_set_buf`: only windows/switch.lua"),
        ("return vim.api.nvim_set_current_buf\n", "1: `nvim_set_current_buf`: only windows/switch.lua does this"),
        ("vim.api.nvim_open_win(1, true, {})\n", "1: `nvim_open_win`: only windows/switch.lua does this"),
        ("vim.api.nvim_buf_delete(1, {})\n", "1: `nvim_buf_delete`: only windows/switch.lua does this"),
        ("vim.cmd('noautocmd call nvim_win_set_buf(0, 1)')\n", "1: `nvim_win_set_buf`: only windows/switch.lua"),
        ("vim.cmd(('silent! checktime %d'):format(1))\n", "1: `checktime`: only buffers/file_check.lua does this"),
        ("vim.cmd.checktime()\n", "1: `checktime`: only buffers/file_check.lua does this"),
        ("pcall(vim.cmd, 'keepalt tab sbuffer 1')\n", "1: `sbuffer`: only windows/switch.lua does this"),
        ("vim.cmd.bwipeout()\n", "1: `bwipeout`: only windows/switch.lua does this"),
        ("vim.api.nvim_exec2('redraw | 2bdelete', {})\n", "1: `bdelete`: only windows/switch.lua does this"),
    ],
)
def test_bad_code_is_found(check, code, words):
    status, said = check(kernel__bad=code)
    assert status == 1
    assert len({problem.split(":")[1] for problem in said}) == 1, said
    assert said[0].startswith(f"lua/acp_nvim/kernel/bad.lua:{words}")


EXPANDS = "a name would be expanded, or taken for a pattern; names.lua has what is safe"
COMMAND = "text from outside would be a command"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("return vim.fn.glob(vim.g.x)\n", f"1: `vim.fn.glob`: {EXPANDS}"),
        ('return vim.fn["glob"](vim.g.x)\n', f'1: `vim.fn["glob"]`: {EXPANDS}'),
        ("return pcall(vim.fn.globpath, '.', vim.g.x)\n", f"1: `vim.fn.globpath`: {EXPANDS}"),
        ("return vim.fn.fnamemodify(vim.g.x, ':~:.')\n", f"1: `vim.fn.fnamemodify`: {EXPANDS}"),
        ("return vim.fn.bufnr(vim.g.x)\n", f"1: `vim.fn.bufnr`: {EXPANDS}"),
        ("return vim.fn.bufwinid(vim.g.name)\n", f"1: `vim.fn.bufwinid`: {EXPANDS}"),
        ("return vim.tbl_map(vim.fn.getbufinfo, {})\n", f"1: `vim.fn.getbufinfo`: {EXPANDS}"),
        ("return vim.fs.normalize(vim.g.x)\n", f"1: `vim.fs.normalize`: {EXPANDS}"),
        ("return vim.fn.call('glob', {})\n", f"1: `vim.fn.call`: {COMMAND}"),
        ("local api = vim.api\nreturn api.nvim_cmd({}, {})\n", f"2: `api.nvim_cmd`: {COMMAND}"),
        ("return vim.api.nvim_exec2(vim.g.x, {})\n", f"1: `vim.api.nvim_exec2`: {COMMAND}"),
        ("return vim.api.nvim_get_runtime_file(vim.g.x, true)\n", "1: `vim.api.nvim_get_runtime_file`: runs commands"),
        (
            "return vim.api.nvim_feedkeys(vim.g.x, 'n', false)\n",
            "1: `vim.api.nvim_feedkeys`: text from outside would be",
        ),
        ("return vim.regex(vim.g.x)\n", "1: `vim.regex`: text from outside would be a pattern"),
        ("vim.cmd.tcd(vim.g.x)\n", f"1: `vim.cmd.tcd`: {COMMAND}"),
        ("pcall(vim.cmd.help, vim.g.x)\n", f"1: `vim.cmd.help`: {COMMAND}"),
        ("local cmd = vim.cmd\ncmd.lcd(vim.g.x)\n", f"2: `cmd.lcd`: {COMMAND}"),
        ("vim.cmd('normal! ' .. vim.g.x)\n", f"1: `vim.cmd`: {COMMAND}"),
        ("local cmd = vim.cmd\ncmd('normal! ' .. vim.g.x)\n", f"2: `cmd`: {COMMAND}"),
        ("vim.cmd(('silent help %s'):format(vim.g.x))\n", f"1: `vim.cmd`: {COMMAND}"),
        ("vim.cmd({ cmd = 'help' })\n", f"1: `vim.cmd`: {COMMAND}"),
        ("pcall(vim.cmd, vim.g.x)\n", f"1: `vim.cmd`: {COMMAND}"),
        ("vim.schedule_wrap(vim.cmd)(vim.g.x)\n", f"1: `vim.cmd`: {COMMAND}"),
        ("vim.cmd('let g:x = glob(g:y)')\n", f"1: `'let g:x = glob(g:y)'`: {EXPANDS}"),
        ("vim.wo.winbar = vim.g.x\n", f"1: `vim.wo.winbar = vim.g.x`: {COMMAND}"),
        ("vim.wo[0][0].statusline = ' ' .. vim.g.x\n", f"1: `vim.wo[0][0].statusline = ' ' .. vim.g.x`: {COMMAND}"),
        (
            "vim.api.nvim_create_autocmd('User', { pattern = vim.g.x, command = '' })\n",
            "1: `vim.api.nvim_create_autocmd('User', { pattern = vim.g.x, command = '' })`: text from outside would be",
        ),
    ],
)
def test_names_that_would_be_expanded_are_found(check, code, words):
    status, said = check(kernel__bad=code)
    assert (status, len(said)) == (1, 1), said
    assert said[0].startswith(f"lua/acp_nvim/kernel/bad.lua:{words}")


def test_names_that_are_data_pass(check):
    code = """
local cmd, win, bufnr = vim.cmd, vim.g.win, vim.g.bufnr
vim.cmd("normal! zz")
cmd("redrawstatus!")
vim.cmd(("%dwincmd w"):format(bufnr))
pcall(vim.cmd, ("silent! %dfoldopen!"):format(3))
vim.cmd("normal! zv" .. (win and "" or "zz"))
pcall(vim.cmd.redraw)
vim.wo[win].winbar = "%{%v:lua.x()%}"
vim.api.nvim_create_autocmd({ "BufEnter" }, { pattern = { "*.py", "*.lua" }, command = "redraw" })
return vim.fn.bufwinid(bufnr), vim.fn.getbufinfo(vim.g.prompt_bufnr), { glob = 1, cmd = 2 }
"""
    assert check(kernel__good=code) == (0, [])


def test_only_names_expands(check):
    code = "return vim.fn.expand(vim.g.x), vim.fs.normalize(vim.g.x), vim.api.nvim_cmd({}, {})\n"
    assert check(names=code) == (0, [])
    assert len(check(kernel__others=code)[1]) == 3


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("vim.lsp.util.locations_to_items({}, 'utf-8')", "vim.lsp.util.locations_to_items"),
        ("vim.lsp.util.apply_workspace_edit({}, 'utf-8')", "vim.lsp.util.apply_workspace_edit"),
        ("vim.lsp.util.rename('a', 'b')", "vim.lsp.util.rename"),
        ("vim.lsp.util['show_document']({}, 'utf-8')", "vim.lsp.util['show_document']"),
        ("local util = vim.lsp.util\nreturn util", "vim.lsp.util"),
        ("local lsp = vim.lsp\nreturn lsp", "vim.lsp"),
        ("vim.lsp.buf.definition()", "vim.lsp.buf.definition"),
        ("require('vim.lsp.util').preview_location({})", "require('vim.lsp.util').preview_location"),
        ("return vim.uri_to_bufnr('file:///x')", "vim.uri_to_bufnr"),
        ("return vim.secure.read('x')", "vim.secure.read"),
        ("return vim.fn.readfile('x')", "vim.fn.readfile"),
        ("return vim.fn['readfile']('x')", "vim.fn['readfile']"),
        ("return vim.fn[vim.g.x]('x')", "vim.fn[vim.g.x]"),
        ("local fn = vim.fn\nreturn fn", "vim.fn"),
        ("return vim.call(vim.g.x, 'x')", "vim.call"),
        ("local api = vim.api\nreturn api.nvim_call_function(vim.g.x, {})", "api.nvim_call_function"),
        ("return pcall(vim.g.call, 'readblob', 'x')", "'readblob'"),
        ("local io_ = io\nreturn io_", "io"),
        ("return _G.io.open('x')", "_G.io.open"),
        ("return _G['io']['open']('x')", "_G['io']['open']"),
        ("return io.lines('x')", "io.lines"),
        ("return dofile('x')", "dofile"),
        ("return vim.uv['fs_open']('x', 'r', 0)", "vim.uv['fs_open']"),
        ("return vim.loop.fs_open('x', 'r', 0)", "vim.loop.fs_open"),
        ("vim.cmd.source('x')", "vim.cmd.source"),
        ("vim.cmd['read']('x')", "vim.cmd['read']"),
        ("return vim.fn.swapinfo('x')", "vim.fn.swapinfo"),
    ],
)
def test_what_reads_files_is_found_by_any_name(check, code, found):
    status, (said,) = check(kernel__bad=f"{code}\n")
    assert status == 1
    assert said.partition(": ")[2].startswith(f"`{found}`: files are opened by buffers/file_buffer.lua, which refuses")


def test_what_only_looks_like_it_passes(check):
    code = """
    local M = { io = 1, lines = {} }
    function M.open(name)
      return M.lines[name] or M.io
    end
    M.rename = vim.lsp.get_clients
    return M.open(vim.fn.line(".")), vim.lsp.util.convert_input_to_markdown_lines("x"), ("x"):lines()
    """
    assert check(kernel__good=code) == (0, [])


def test_files_that_may(check):
    told, waited = "vim.notify('x')\n", "return vim.system({ 'x' }):wait()\n"
    assert check(kernel__message=told, health__init=waited) == (0, [])
    switches = "vim.api.nvim_win_set_buf(0, 1)\nvim.cmd(('tab sbuffer %d'):format(1))\n"
    assert check(windows__switch=switches, buffers__file_check="vim.cmd('checktime 1')\n") == (0, [])
    assert check(kernel__words="vim.print(('buffer:%d, edit'):format(1))\nreturn { kind = 'buffer' }\n") == (0, [])


def test_a_cycle_is_found_also_when_lazy(check):
    ours = "acp_nvim.kernel"
    status, said = check(
        kernel__a='local b = require("acp_nvim.kernel.b")\nreturn b\n',
        kernel__b='return function()\n  return require("acp_nvim.kernel.c")\nend\n',
        kernel__c="return pcall(require, 'acp_nvim.kernel.a')\n",
        host__d='return require("acp_nvim.kernel.a")\n',
    )
    assert status == 1
    assert said == [
        f"modules require each other: {ours}.a -> {ours}.b -> {ours}.c -> {ours}.a",
    ]


def test_nothing_to_check_is_a_failure(tmp_path):
    command = [find_nvim(), "--clean", "--headless", "-l", str(SCRIPT), str(tmp_path)]
    assert subprocess.run(command, capture_output=True, check=False, env={"HOME": str(tmp_path)}).returncode == 1


def test_a_cycle_of_folders_is_found_though_no_module_has_one(check):
    inner = "lua/acp_nvim/kernel"
    assert check(
        kernel__a='return require("acp_nvim.kernel.deep.b")\n',
        kernel__deep__b="return 1\n",
        kernel__deep__c='return require("acp_nvim.kernel.d")\n',
        kernel__d="return 2\n",
    ) == (1, [f"folders require each other: {inner} -> {inner}/deep -> {inner}"])


@pytest.mark.parametrize(
    ("name", "required", "words"),
    [
        ("kernel__a", "host.b", "kernel/a.lua:1: requires acp_nvim.host.b, and host is no layer below kernel"),
        ("follow__a", "login.b", "follow/a.lua:1: requires acp_nvim.login.b, and login is no layer below follow"),
        ("new__a", "host.b", "new/a.lua:1: new is in no layer"),
        ("new", "host.b", "new.lua:1: new is in no layer"),
    ],
)
def test_a_module_requires_only_layers_below(check, name: str, required: str, words: str):
    other = required.replace(".", "__")
    assert check(**{name: f'return require("acp_nvim.{required}")\n', other: "return 1\n"}) == (
        1,
        [f"lua/acp_nvim/{words}"],
    )


def test_every_layer_exists():
    table = (SCRIPT.parent / "check_lua" / "layers.lua").read_text(encoding="utf-8").partition("local height")[0]
    root = SCRIPT.parents[2] / "lua" / "acp_nvim"
    layers = set(re.findall(r'"(\w+)"', table)) - {"acp_nvim"}
    assert layers == {path.stem for path in root.iterdir()} - {"init"}
    assert len(list(root.glob("*.lua"))) <= 12
