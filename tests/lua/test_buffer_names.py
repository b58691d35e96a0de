"""The names of buffers, as tab lines, status lines and buffer lists show them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lua.conftest import LuaEditor
from tests.lua.review_events import hunk, recorded
from tests.lua.test_chat import call
from tests.lua.test_pinned_plan import plan
from tests.support.examples import examples

NAMES = """
local words = ...
local named = require("acp_nvim.buffers.named")
local bufnr = named.new(named.name(words))
local name = vim.api.nvim_buf_get_name(bufnr)
local out = { name, vim.fn.pathshorten(name), vim.fn.fnamemodify(name, ":t"),
  vim.api.nvim_buf_call(bufnr, function() return vim.fn.expand("%:t") end) }
vim.api.nvim_buf_delete(bufnr, { force = true })
return out
"""
OPENED = """
local bufnr = assert(require("acp_nvim.buffers.file_buffer").get(...))
vim.cmd.buffer(bufnr)
local line = vim.api.nvim_buf_get_lines(bufnr, 0, 1, true)[1]
return { vim.api.nvim_eval_statusline("%f", {}).str, vim.api.nvim_buf_get_name(bufnr), line }
"""
WORDS = st.lists(
    st.sampled_from(["chat", "src/main.py", "/", "//", "..", "~", ".", " ", "a:/b", "漢", "%", "#"]),
    min_size=1, max_size=6,
).map("".join)  # fmt: skip


def test_the_tab_line_says_which_chat_it_is(screen):
    editor = screen(columns=100, rows=24)
    editor.command("AcpChat demo")
    editor.command("stopinsert | wincmd k | tabnew")
    editor.wait_until(lambda: "a//demo chat 1" in editor.rows()[0], what="the chat in the tab line")
    editor.command("tabprevious | wincmd j | tabnext")
    editor.wait_until(lambda: "a//demo prompt 1" in editor.rows()[0], what="the prompt in the tab line")


def test_chat_prompt_and_plan_are_told_apart(editor):
    key = editor.chat()
    editor.apply(plan(key, 1, "ci"))
    editor.lua('require("acp_nvim.chat.windows.fit").now()')
    listed = editor.lua("return vim.fn.execute('ls!')")
    for name in ("demo chat", "demo prompt", "demo plan"):
        assert f'"acp://{name} {key}"' in listed, listed


def test_whatever_is_in_a_name_its_last_part_is_all_of_it(tmp_path) -> None:
    editor = LuaEditor(tmp_path)
    try:

        @settings(max_examples=examples(100))
        @given(WORDS)
        def check(words: str) -> None:
            name, short, tail, expanded = editor.lua(NAMES, words)
            assert name.removeprefix("acp://") == tail == expanded == words.replace("/", "∕")
            assert short == "a//" + tail

        check()
    finally:
        editor.close()


@pytest.mark.parametrize(
    "name", ["main.py", "src/main.py", "~main", "$HOME", "`ls`", "a b*[c].txt", "-x", "#1", "%", "+1", "http:/x", "a:b"]
)
def test_a_file_of_the_project_has_a_short_name(editor, name):
    path = editor.project.resolve() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("text of it\n")
    shown, whole, line = editor.lua(OPENED, str(path))
    assert (whole, line) == (str(path), "text of it")
    assert shown == (str(path) if ":/" in name or name[0] == "~" else name)


def test_a_file_elsewhere_keeps_its_path(editor, tmp_path: Path):
    path = tmp_path.resolve() / "elsewhere.txt"
    path.write_text("text of it\n")
    assert editor.lua(OPENED, str(path)) == [str(path), str(path), "text of it"]
    editor.command("cd /")
    (editor.project / "a.txt").write_text("text of it\n")
    shown, whole, _ = editor.lua(OPENED, str(editor.project.resolve() / "a.txt"))
    assert shown == whole


def test_a_file_that_is_renamed_keeps_a_short_name(editor):
    old, new = (editor.project.resolve() / name for name in ("a.txt", "sub/b.txt"))
    old.write_text("text of it\n")
    editor.lua(OPENED, str(old))
    assert editor.lua("return require('acp_nvim.buffers.gone').rename(vim.api.nvim_get_current_buf(), ...)", str(new))
    assert editor.lua("return { vim.fn.bufname(), vim.api.nvim_buf_get_name(0) }") == ["sub/b.txt", str(new)]


SHOWN = """
local path = vim.uv.fs_realpath(...)
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  if vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)) == path then
    local directory = vim.fn.getcwd(win)
    vim.api.nvim_set_current_win(win) -- status lines are those of the directory of the current window
    return { vim.api.nvim_eval_statusline("%f", {}).str, vim.fn.execute("ls!"), vim.fn.getcwd() }
  end
end"""
LOCATION = """local session = require("acp_nvim.host.sessions").get(1)
vim.api.nvim_set_current_win(vim.fn.bufwinid(session.bufnr))
vim.fn.search("main.py", "bw")
require("acp_nvim.actions.targets").open(session, "<CR>")"""
DIRECTORIES = {
    "the project": "",
    "a tab page": "tcd {0}",
    "a window": "lcd {0}",
    "a window in another": "cd / | lcd {0}",
    "a directory in it": "cd {0}/src",
    "autochdir": "set autochdir",
    "a session elsewhere": "let g:elsewhere = 1",
}


def review(path):
    told = {"type": "review", "path": path, "operation": "modify", "sessions": [1], "added": 1, "removed": 0}
    return {**told, "hunks": [hunk(1, 0, 1)]}


def by_location(editor, path):
    editor.apply(call(1, 1, title="look", locations=[{"path": path, "line": 2}]))
    editor.lua(LOCATION)


def by_review(editor, path):
    editor.apply(review(path))
    editor.command("AcpReview next")


def by_list(editor, path):
    editor.apply(review(path))
    editor.command("AcpReview quickfix")
    editor.command("cfirst")


def by_following(editor, path):
    editor.focus(editor.session(1, "bufnr"))  # following leaves the current window alone
    start = {"type": "turn_start", "session": 1}
    editor.apply(start, {"type": "location", "session": 1, "path": path, "line": 2})


@pytest.mark.parametrize("way", [by_location, by_review, by_list, by_following])
@pytest.mark.parametrize("directory", DIRECTORIES)
def test_what_we_open_has_a_name_below_the_directory(editor, tmp_path, directory, way):
    path = editor.project.resolve() / "src" / "main.py"
    path.parent.mkdir()
    path.write_text("one\ntwo\n")
    editor.command(DIRECTORIES[directory].format(path.parent.parent) or "echo")
    key = editor.chat()
    if "elsewhere" in directory:
        editor.lua("require('acp_nvim.host.sessions').get(...).cwd = '/'", key)
    editor.command("wincmd p")
    way(editor, str(path))
    editor.wait_until(lambda: editor.lua(SHOWN, str(path)), what="the file in a window")
    shown, listed, current = editor.lua(SHOWN, str(path))
    assert shown == str(path.relative_to(current)), (shown, current)
    assert f'"{shown}"' in listed, listed


@pytest.mark.parametrize("way", [by_location, by_following])
def test_a_link_to_the_project_is_no_other_place(editor, tmp_path, way):
    path = editor.project.resolve() / "src" / "main.py"
    path.parent.mkdir()
    path.write_text("one\ntwo\n")
    (tmp_path / "link").symlink_to(editor.project)
    editor.chat()
    editor.command("wincmd p")
    way(editor, str(tmp_path / "link" / "src" / "main.py"))
    editor.wait_until(lambda: editor.lua(SHOWN, str(path)), what="the file in a window")
    assert editor.lua(SHOWN, str(path))[0] == "src/main.py"


def test_the_status_line_of_a_file_under_review_is_short(screen):
    editor = recorded(screen(columns=80, rows=24))
    (editor.project / "main.py").write_text("one\ntwo\n")
    by_list(editor, str(editor.project.resolve() / "main.py"))
    editor.wait_until(lambda: any(row.startswith("main.py ") for row in editor.rows()), what=editor.screen_text)
