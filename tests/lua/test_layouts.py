"""Any layout of the user's windows at any size: nothing of the user's is replaced, and all stays readable."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from tests.lua.review_files import TWO, review, tell, written
from tests.lua.test_follow import location, turn_ends, turn_starts
from tests.lua.test_permissions import asked, done
from tests.support.waiting import LIMIT

LAYOUTS = {
    "one code window": "edit a.txt",
    "two side by side": "edit a.txt | vsplit b.txt",
    "three side by side": "edit a.txt | vsplit b.txt | vsplit c.txt",
    "two, one of them narrow": "edit a.txt | vsplit b.txt | vertical resize 15",
    "one above the other": "edit a.txt | split b.txt",
    "a grid": "edit a.txt | vsplit b.txt | split c.txt | wincmd l | split d.txt",
    "netrw as a side bar": "edit a.txt | Lexplore | wincmd p",
    "a side bar of a plugin": "edit a.txt | topleft 30vnew | setlocal bt=nofile noma winfixwidth nobl | wincmd p",
    "a side bar whose size is fixed": "edit a.txt | topleft 30vnew | setlocal bt=nofile noma wfw wfh nobl | wincmd p",
    "a dashboard": "enew | setlocal buftype=nofile bufhidden=wipe nobuflisted nomodifiable",
    "a list of files that is written": "enew | file oil:///project/ | setlocal buftype=acwrite nobuflisted",
    "a directory": "edit .",
    "a comparison": "edit a.txt | vertical diffsplit b.txt",
    "a comparison and code": "edit a.txt | vertical diffsplit b.txt | botright new c.txt",
    "the quickfix list below": "edit a.txt | call setqflist([{'filename': 'b.txt', 'lnum': 1}]) | copen | wincmd p",
    "a terminal beside": "edit a.txt | vnew | call nvim_open_term(0, {}) | wincmd p",
    "help beside": "edit a.txt | vertical help | wincmd p",
    "a float on top": "edit a.txt | call nvim_open_win(nvim_create_buf(0, 1), 0, #{relative: 'editor', row: 2, col: 2,"
    " width: 9, height: 2})",
    "two tab pages": "edit a.txt | tabedit b.txt | vsplit c.txt",
    "a window that keeps its buffer": "edit a.txt | vsplit b.txt | setlocal winfixbuf",
}
WITHOUT_CODE = {"a dashboard", "a list of files that is written", "a directory", "a comparison"}
SIZES = [(80, 24), (120, 40), (200, 50)]
LOOK = """
local out = {}
for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
    local bufnr = vim.api.nvim_win_get_buf(win)
    local name = vim.api.nvim_buf_get_name(bufnr)
    if vim.api.nvim_win_get_config(win).relative == "" then
      out[#out + 1] = {
        win = win,
        tab = tab,
        shows = vim.fn.isdirectory(name) == 1 and name or bufnr, -- netrw lists a directory in a new buffer
        kind = vim.bo[bufnr].filetype:match("^acp_.*") or "",
        columns = vim.api.nvim_win_get_width(win),
        lines = vim.api.nvim_win_get_height(win),
        is_free = vim.bo[bufnr].buftype == "" and vim.bo[bufnr].modifiable and not vim.wo[win].diff
          and not vim.wo[win].winfixbuf,
      }
    end
  end
end
return out
"""
SMALL = {"acp_prompt": 1, "acp_plan": 1, "acp_review": 3}
"""Lines of windows that are small by design."""
RESET = """
local api, size, code = vim.api, ...
local session = require("acp_nvim.host.sessions").all()[1]
vim.o.columns, vim.o.lines = size[1], size[2]
vim.cmd("silent! tabonly! | silent! only! | set nodiff noscrollbind nocursorbind nowinfixbuf | silent! enew!")
for _, bufnr in ipairs(api.nvim_list_bufs()) do
  local name = api.nvim_buf_get_name(bufnr)
  local is_ours = name:find("^acp://.* chat %d") or name:find("^acp://.* prompt %d")
  if bufnr ~= api.nvim_get_current_buf() and not is_ours then
    pcall(api.nvim_buf_delete, bufnr, { force = true })
  end
end
vim.cmd("unlet! t:netrw_lexbufnr t:netrw_lexposn")
vim.cmd("silent " .. code)
"""
SHOWN = """local name = ...
return vim.iter(vim.api.nvim_tabpage_list_wins(0)):any(function(win)
  return vim.fs.basename(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))) == name
end)"""
WINDOW = "return { vim.fn.expand('%:t'), vim.fn.line('.'), vim.bo.filetype }"


class Stage:
    """One Neovim with one session, in which one layout after the other is made."""

    def __init__(self, editor) -> None:
        self.editor = editor
        for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
            written(editor.project, name, 60)
        self.files = [written(editor.project, f"agent/{number}.py", 60) for number in range(20)]
        self.key = editor.chat()
        self.chat_buffer = editor.session(self.key, "bufnr")
        self.blocks = itertools.count(1)
        self.requests = itertools.count(1)
        self.before: dict[int, dict] = {}
        editor.lua("vim.o.hidden = true vim.ui.select = function(_, _, choose) choose(nil) end")
        editor.lua('require("acp_nvim.limits").seen_ms = 0')
        tell(editor, *(review(path, hunks=TWO) for path in self.files))

    def make(self, layout: str, size: tuple[int, int]) -> None:
        self.editor.lua(RESET, list(size), LAYOUTS[layout])
        self.before = {one["win"]: one for one in self.editor.lua(LOOK)}

    def chat(self) -> None:
        """Opens it, and goes to it."""
        self.editor.command("AcpChat")
        self.editor.command("stopinsert")
        self.editor.focus(self.chat_buffer)

    def say(self, text: str) -> None:
        block = next(self.blocks)
        self.editor.apply({"type": "append", "session": self.key, "block": block, "kind": "agent", "text": text})

    def ask(self, path, is_new: bool = False) -> int:
        """A request with a preview of a file."""
        number = next(self.requests)
        told = {"type": "preview", "session": self.key, "request": number, "path": str(path), "exists": not is_new}
        told |= {"operation": "add" if is_new else "modify", "hunks": [{"first": 0, "count": 0, "new": ["new"]}]}
        self.editor.apply(asked(self.key, next(self.blocks), number), told | {"state": None})
        return number

    def is_beside(self) -> bool:
        """The chat is in the tab page of the user's windows."""
        return len(self.editor.api("list_tabpages")) == len({one["tab"] for one in self.before.values()})

    def here(self) -> list:
        return list(self.editor.lua(WINDOW))

    def check(self, words: str, most: int = 1) -> None:
        """Nothing of the user's was replaced but one code window, and nothing is too small."""
        after = {one["win"]: one for one in self.editor.lua(LOOK)}
        assert set(self.before) <= set(after), f"{words}: a window of the user was closed"
        replaced = [win for win, one in self.before.items() if after[win]["shows"] != one["shows"]]
        assert len(replaced) <= most, f"{words}: {len(replaced)} windows of the user show something else"
        for win in replaced:
            assert self.before[win]["is_free"], f"{words}: not a code window: {self.before[win]}"
        for win, one in after.items():
            before = self.before.get(win, {"columns": 20, "lines": SMALL.get(one["kind"], 5)})
            assert one["columns"] >= min(20, before["columns"]), f"{words}: {one} of {after}"
            assert one["lines"] >= min(5, before["lines"]), f"{words}: {one} of {after}"


def chat(stage: Stage, layout: str) -> None:
    stage.editor.command("AcpChat")
    assert stage.here()[2] == "acp_prompt"


def toggle(stage: Stage, layout: str) -> None:
    win = stage.editor.api("get_current_win")
    stage.editor.command("AcpToggle")
    stage.check("AcpToggle", 0)
    stage.editor.command("AcpToggle")
    stage.editor.wait_until(
        lambda: set(stage.before) == {one["win"] for one in stage.editor.lua(LOOK)}, what="the layout of before"
    )
    assert stage.editor.api("get_current_win") == win


def prompt(stage: Stage, layout: str) -> None:
    stage.editor.command("AcpPrompt")
    assert stage.here()[2] == "acp_prompt"


def review_list(stage: Stage, layout: str) -> None:
    stage.chat()
    stage.editor.command("AcpReview")
    assert stage.here()[2] == "acp_review"


def review_without_chat(stage: Stage, layout: str) -> None:
    stage.editor.command("AcpReview")
    assert stage.here()[2] == "acp_review"
    stage.editor.keys("<CR>")
    assert stage.here()[0] == "0.py"


def review_file(stage: Stage, layout: str) -> None:
    review_list(stage, layout)
    for number in range(3):  # one after the other in the same window
        stage.editor.command(f"{number + 1}")
        path = stage.editor.lua("return vim.fn.getline('.')").split()[1]
        stage.editor.keys("<CR>")
        assert path.endswith(stage.here()[0]), path
        stage.check(f"file {number}")
        stage.editor.command("AcpReview")
    assert len(stage.editor.lua("return vim.fn.win_findbuf(...)", stage.chat_buffer)) == 1


def preview(stage: Stage, layout: str) -> None:
    stage.chat()
    number = stage.ask(stage.files[7])
    stage.editor.keys("p")
    assert stage.here()[0] == "7.py"
    stage.check("p")
    stage.editor.apply(done(stage.key, next(stage.blocks), number))
    assert stage.here()[0] == "7.py"


def kept(stage: Stage, layout: str) -> None:
    stage.chat()
    path = stage.editor.project.resolve() / f"new{next(stage.requests)}.py"
    number = stage.ask(path, is_new=True)
    stage.editor.keys("p")
    assert stage.here()[0] == path.name
    stage.check("p")
    stage.editor.keys("ghk")
    assert [one["id"] for one in stage.editor.sent("answer")][-1] == number
    path.write_text("new\n")
    stage.editor.apply(done(stage.key, next(stage.blocks), number))
    tell(stage.editor, review(path, "add", hunks=[]))
    here = "return vim.fn.expand('%:p') == ..."
    stage.editor.wait_until(here, LIMIT, "the file that was made", str(path))
    tell(stage.editor, review(path, "none"))
    assert len(stage.editor.lua("return vim.fn.win_findbuf(...)", stage.chat_buffer)) == 1


def rejected(stage: Stage, layout: str) -> None:
    stage.chat()
    before = {one["win"]: one["shows"] for one in stage.editor.lua(LOOK)}
    stage.ask(stage.editor.project.resolve() / "never.py", is_new=True)
    stage.editor.keys("p")
    stage.check("p")
    stage.editor.keys("ghr")
    assert {one["win"]: one["shows"] for one in stage.editor.lua(LOOK)} == before


def follow(stage: Stage, layout: str) -> None:
    stage.chat()
    stage.editor.apply(turn_starts(stage.key), location(stage.editor, "d.txt", 7, stage.key))
    if layout not in WITHOUT_CODE and stage.is_beside():
        stage.editor.wait_until(SHOWN, LIMIT, "the place", "d.txt")
    stage.editor.apply(turn_ends(stage.key))
    assert stage.here()[2] == "acp_chat"


def link(stage: Stage, layout: str) -> None:
    stage.chat()
    stage.say("see agent/3.py:33")
    stage.editor.keys("G$gf")
    assert stage.here()[:2] == ["3.py", 33]


def queue(stage: Stage, layout: str) -> None:
    stage.chat()
    stage.editor.command("AcpQueue")
    assert stage.here()[2] == "acp_queue"


def sessions(stage: Stage, layout: str) -> None:
    stage.chat()
    stage.editor.command("AcpSessions")
    assert stage.here()[2] == "acp_chat"


ACTIONS: list[Callable[[Stage, str], None]] = [
    *(chat, toggle, prompt, review_list, review_without_chat, review_file, preview, kept, rejected, follow, link),
    *(queue, sessions),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout(editor, layout):
    stage = Stage(editor)
    for size, action in itertools.product(SIZES, ACTIONS):
        stage.make(layout, size)
        words = f"{action.__name__} at {size[0]}x{size[1]}"
        try:
            action(stage, layout)
            stage.check(words)
        except AssertionError as error:
            raise AssertionError(f"{words}: {error}\n{editor.lua(LOOK)}") from error
