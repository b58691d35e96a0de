"""A user who types in one window, and everything that could show that something else happened meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.support.editor import Editor

Keys = list[str]

CHUNKS: dict[str, list[Keys]] = {
    "insert": [
        ["i", "foo", "<Esc>"],
        ["A", " bar", " baz", "<CR>", "qux", "<Esc>"],
        ["o", "lin", "<C-n>", "<C-n>", "<C-y>", "!", "<Esc>"],
        ["o", "lin", "<C-x>", "<C-n>", "<Esc>"],
        ["i", "one", "<C-o>", "D", "two", "<Esc>"],
        ["A", "<C-r>", "a", "<Esc>"],
        ["i", "<C-v>", "065", "<Esc>"],
        ["i", "<C-k>", "a", ":", "<Esc>"],
        ["3", "i", "ab", "<Esc>"],
        ["i", "a", "<C-g>", "u", "b", "<Left>", "c", "<Esc>"],
        ["A", " teh", " ", "<Esc>"],
        ["R", "xyz", "<BS>", "<BS>", "Z", "<Esc>"],
        ["g", "i", "t", "<Esc>"],
    ],
    "visual": [
        ["v", "l", "l", "d"],
        ["V", "j", "y"],
        ["v", "i", "w", "c", "word", "<Esc>"],
        ["<C-v>", "j", "j", "I", "x", "y", "<Esc>"],
        ["<C-v>", "j", "$", "A", "!", "<Esc>"],
        ["v", "e", "<C-g>", "sel", "<Esc>"],
        ["g", "v", "<Esc>"],
        ["V", "j", ":", "s/e/E/", "<CR>"],
        ["v", "o", "k", "r", "X"],
        ["v", "2", "l", "o", "h", "~"],
    ],
    "operators": [
        ["d", "w"],
        ["2", "d", "3", "w"],
        ["c", "i", "w", "new", "<Esc>"],
        ['"', "a", "y", "y"],
        ['"', "a", "p"],
        ['"', "A", "d", "d"],
        ["g", "U", "w"],
        ["d", "/", "li", "ne", "<CR>"],
        ["d", "<Esc>"],
        ["y", "a", "p"],
        [">", "j"],
        ["z", "f", "j"],
        ["d", "v", "j"],
        ["g", "q", "j"],
        ["r", "Y"],
        ["3", "~"],
    ],
    "command line": [
        [":", "s/l/L/g", "<CR>"],
        [":", "%s/e/E/gc", "<CR>", "y", "n", "l"],
        ["/", "lin", "e", "<CR>"],
        ["?", "o", "<CR>"],
        [":", "normal! ", "Axx", "<CR>"],
        [":", "2", ",3", "move 0", "<CR>"],
        [":", "<C-r>", "a", "<Esc>"],
        ["q", ":", "ihi", "<Esc>", ":quit<CR>"],
        [":", "g/line/", "normal x", "<CR>"],
        [":", "<Up>", "<Esc>"],
        ["@", ":"],
        [":", "call setline(1, input('? '))", "<CR>", "yes", "<CR>"],
        [":", "delete | put", "<CR>"],
    ],
    "macros": [
        ["q", "a", "x", "j", "q"],
        ["@", "a"],
        ["3", "@", "a"],
        ["@", "@"],
        ["q", "b", "I", "m", "<Esc>", "j", "q"],
        ["2", "@", "b"],
        ["."],
        ["3", "."],
        ["u"],
        ["<C-r>"],
        ["U"],
        ["g", "&"],
    ],
    "mappings": [["g", "z", "z"], ["g", "z", "x"], ["Q", "k"], ["g", "s", "l"], ["g", "s", "2", "l"]],
    "moves": [
        ["5", "G"],
        ["f", "e"],
        [";"],
        ["m", "a"],
        ["'", "a"],
        ["<C-o>"],
        ["<Tab>"],
        ["*"],
        ["n"],
        ["z", "t"],
        ["<C-e>"],
        ["$"],
        ["g", "g"],
    ],
}

# `user.begin`: as if nothing had ever been typed; `user.look`: all that can be compared.
LUA = """
local M = {}
_G.user = M
local api = vim.api
vim.o.complete, vim.o.timeoutlen, vim.o.more, vim.o.shada = ".", 60000, false, ""
vim.keymap.set("n", "gz", "ihello<Esc>")
vim.keymap.set("n", "gzz", "iworld<Esc>")
vim.keymap.set("n", "Q", function() api.nvim_buf_set_lines(0, 0, 0, true, { vim.fn.getcharstr() }) end)
function M.operator()
  api.nvim_buf_set_lines(0, 0, 0, true, { vim.fn.getcharstr() })
end
vim.keymap.set("n", "gs", function()
  vim.o.operatorfunc = "v:lua.user.operator"
  return "g@"
end, { expr = true })
vim.cmd("iabbrev teh the")
local REGISTERS = 'abcdefghijklmnopqrstuvwxyz"-0123456789/'
function M.begin(lines)
  M.count = (M.count or 0) + 1
  vim.cmd(("silent edit! user%d.txt | setlocal undolevels=-1"):format(M.count))
  M.bufnr, M.win = api.nvim_get_current_buf(), api.nvim_get_current_win()
  api.nvim_buf_set_lines(0, 0, -1, true, lines)
  vim.cmd("setlocal undolevels=1000 | set nomodified | normal! gg0")
  vim.cmd("normal! ixx\\27u")
  for register in REGISTERS:gmatch(".") do
    vim.fn.setreg(register, register == "a" and { "reg" } or {})
  end
  vim.cmd("silent! normal! @z")
  vim.cmd("silent! 1s/none/none/e | normal! fe0")
  vim.fn.visualmode(1)
  vim.fn.histdel(":")
  vim.fn.histdel("/")
  vim.cmd("delmarks! | clearjumps | normal! gg0")
end
function M.look()
  local registers = {}
  for register in (REGISTERS .. ".:"):gmatch(".") do
    registers[register] = { vim.fn.getreg(register), vim.fn.getregtype(register) }
  end
  local marks = {}
  for _, mark in ipairs(vim.fn.getmarklist(M.bufnr)) do
    marks[mark.mark] = { mark.pos[2], mark.pos[3] }
  end
  local jumps = vim.fn.getjumplist(M.win)
  return {
    lines = api.nvim_buf_get_lines(M.bufnr, 0, -1, true),
    win = api.nvim_get_current_win() == M.win,
    view = vim.fn.winsaveview(),
    registers = registers,
    marks = marks,
    visual = { vim.fn.getpos("v"), vim.fn.visualmode() },
    jumps = { vim.tbl_map(function(jump) return { jump.lnum, jump.col } end, jumps[1]), jumps[2] },
    changes = #vim.fn.getchangelist(M.bufnr)[1],
    undo = { vim.fn.undotree().seq_cur, vim.fn.undotree().seq_last },
    alternate = (vim.fn.expand("#:t"):gsub("%d", "")),
    recording = vim.fn.reg_recording(),
    commands = { vim.fn.histget(":", -1), vim.fn.histget("/", -1), vim.v.hlsearch },
    options = { vim.o.shortmess, vim.o.eventignore, vim.o.hidden },
  }
end
"""

LINES = [
    "line one of the text",
    "the line two",
    "",
    "and line three, here",
    "  four lines  ",
    "five",
    "line six e e e",
    "the end",
]


def typed(editor: Editor, chunks: Iterable[Keys], meanwhile: Callable[[], None]) -> list[Any]:
    """All that can be seen after each of the chunks, and once more after a repetition of the last change."""
    editor.lua("user.begin(...)", LINES)
    editor.keys(":let g:begun = 1<CR>")
    seen: list[Any] = []
    for keys in (*chunks, ["."]):
        for key in keys:
            editor.api("input", key)
            meanwhile()
        seen.append(dict(editor.api("get_mode")))
        editor.keys("<Esc><Esc>")  # no <C-c>: that throws away what was typed before
        seen += [dict(editor.api("get_mode")), editor.lua("return user.look()")]
    editor.keys("<C-\\><C-n>q<Esc>" if seen[-1]["recording"] else "<C-\\><C-n>")
    return seen


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Describe the differences of two values."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = sorted(one.keys() | other.keys())
        return [words for name in names for words in differences(one.get(name), other.get(name), f"{where}.{name}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [words for number, pair in pairs for words in differences(*pair, f"{where}[{number}]")]
    return [] if one == other else [f"{where}: {one!r} is not {other!r}"]
