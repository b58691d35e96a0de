"""Whatever an agent writes, the keys that open what it names raise nothing, and open nothing that is not permitted."""

from __future__ import annotations

import random
import re
from urllib.parse import quote

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lua.conftest import LuaEditor
from tests.lua.test_chat import append, call
from tests.lua.test_external import ASKED
from tests.support.examples import examples

PIECES = st.sampled_from([
    "a.py", "./a.py", "d", "a.py:1", ":99999999999", ":0:0", "#L10-L" + "9" * 20, "(4,", "2)", "a.py(1,99999999999)",
    '", line ', "9" * 400, "https://", "HTTP://", "http://user@", "mailto:", "ssh://", "file://", "FILE:///", "vscode:",
    "javascript:alert(1)", "data:,x", "example.org", "evil.example", "/", "//", "[", "](", ")", "![", "<", ">", "`",
    '"', "'", "**", "~", "%00", "%2F", "%zz", "%", "-", "--x", "+x", "$HOME", "\\", "?", "#", "=", " ", "\n", "\t",
    "\u202e", "\u200b", "\u00e4", "\U0001f600", "\x00", "\x1b[1m", "\udc80", "\udcff", "x" * 300,
    "| a | b |\n|--|--|\n", "```\n",
    "- [ ] ", "> ",
])  # fmt: skip
TEXTS = st.lists(PIECES, min_size=1, max_size=12).map("".join)

PRESS = """
local win, rows = ...
local problems, chat = {}, vim.api.nvim_win_get_buf(win)
local targets, session = require("acp_nvim.actions.targets"), require("acp_nvim.host.sessions").of_buffer(chat)
for row = 1, vim.api.nvim_buf_line_count(chat) do
  local line = vim.api.nvim_buf_get_lines(chat, row - 1, row, true)[1]
  for column = 0, #line, math.max(1, math.floor(#line / 20)) do
    for _, run in ipairs({ targets.open, targets.open_written, targets.details }) do
      vim.api.nvim_set_current_win(win)
      vim.api.nvim_win_set_cursor(win, { row, column })
      local ok, problem = pcall(run, session, "gf")
      if not ok then table.insert(problems, { line, column, problem }) end
      if vim.api.nvim_win_get_buf(win) ~= chat then error("the chat is gone") end
    end
  end
end
return { problems, _G.opened }
"""
PERMITTED = ("https://", "http://", "HTTP://", "mailto:")


def test_no_text_of_an_agent_raises_or_opens_anything_else(tmp_path) -> None:
    editor = LuaEditor(tmp_path)
    try:
        editor.lua(ASKED)
        (editor.project / "a.py").write_text("one\ntwo\n")
        (editor.project / "d").mkdir()
        key = editor.chat()
        editor.lua("require('acp_nvim.host.sessions').get((...)).cwd = select(2, ...)", key, str(editor.project))
        win = editor.focus(editor.session(key, "bufnr"))
        blocks = iter(range(1, 10**9, 2))

        @given(TEXTS, TEXTS)
        @settings(max_examples=examples(30))
        def check(text: str, uri: str) -> None:
            block = next(blocks)
            editor.lua("_G.opened, _G.asked = {}, {}")
            item = {"type": "resource", "uri": uri, "name": text}
            place = {"path": text, "line": random.Random(block).choice([0, 1, 2**62, None])}
            place = {name: one for name, one in place.items() if one is not None}
            tool = call(2, block + 1, content=[item], locations=[place], title=text)
            said = [{"type": "reset"}, append(1, block, text), tool]
            editor.apply(*({**one, "session": key} for one in said))
            problems, opened = editor.lua(PRESS, win)
            assert problems == []
            for address in opened:
                assert address.startswith(PERMITTED), address
                assert "@" not in address.partition("://")[2].partition("/")[0], address
                assert address.isprintable(), address

        check()
    finally:
        editor.close()


NAMES = (
    st.lists(st.sampled_from([*"ab1.-_ %#:[]()é文&=@~+", "%20", "%4", ":5", "#L5", "(2)"]), min_size=1, max_size=12)
    .map("".join)
    .filter(lambda name: name.strip(" .") == name and not name.startswith("~"))
)
PLAIN_NAMES = st.builds(
    lambda first, middle, last: first + "".join(middle) + last,
    st.sampled_from("ab1é文"),
    st.lists(st.sampled_from([*"ab1.-_é文", ".py"]), max_size=8),
    st.sampled_from("ab1é文"),
)
LINES = st.sampled_from([
    (":5", 5, None), (":5:3", 5, 3), (":L5", 5, None), ("#L5", 5, None), ("#L5-L9", 5, None), ("#5", 5, None),
    (":5-9", 5, None), ("(5,3)", 5, 3), ("", None, None),
])  # fmt: skip
AFTER = st.sampled_from([("", None), (" (line 5)", 5), (", line 5", 5), (" (lines 5-9)", 5)])


def escaped(name: str) -> str:
    return re.sub(r"([\\()\[\]<>])", r"\\\1", name)


def test_every_way_to_write_a_link_leads_to_its_file_and_line(tmp_path) -> None:
    editor = LuaEditor(tmp_path)
    find = 'return require("acp_nvim.actions.targets.written").target(...) or false'

    def check(name: str, link: str, part: str, line: int | None, col: int | None) -> None:
        path = editor.project / name
        path.write_text("")
        try:
            text = f"see {link} and more"
            found = editor.lua(find, text, len(text[: text.index(part, 4)].encode()), str(editor.project))
        finally:
            path.unlink()
        assert found, link
        assert (found["path"], found.get("line"), found.get("col")) == (str(path), line, col), link

    @given(NAMES, LINES, AFTER)
    @settings(max_examples=examples(60))
    def links(name: str, place: tuple[str, int | None, int | None], after: tuple[str, int | None]) -> None:
        written, line, col = place
        behind, later = after if line is None else ("", None)
        quoted = quote(name)
        check(name, f"[word]({quoted}{written}){behind}", "word", line or later, col)
        check(name, f"[word]({quoted}{written}){behind}", quoted[:1], line or later, col)
        check(name, f'[word]({quoted}{written} "a title"){behind}', "word", line or later, col)
        check(name, f"[word](<{escaped(name)}{written}>){behind}", "word", line or later, col)
        check(name, f"`{name}{written}`{behind}", name[:1], line or later, col)
        check(name, f'"{name}{written}"{behind}', name[:1], line or later, col)
        if " " not in name:
            check(name, f"[word]({escaped(name)}{written}){behind}", "word", line or later, col)

    @given(PLAIN_NAMES, LINES, AFTER)
    @settings(max_examples=examples(30))
    def words(name: str, place: tuple[str, int | None, int | None], after: tuple[str, int | None]) -> None:
        written, line, col = place
        behind, later = after if line is None else ("", None)
        for link in (f"{name}{written}", f"@{name}{written}", f"({name}{written})", f"**{name}{written}**",
                     f"（{name}{written}）", f"file://{quote(str(editor.project / name))}{written}"):  # fmt: skip
            at = quote(name) if link.startswith("file:") else name
            check(name, f"{link}{behind}", at, line or later, col)

    try:
        links()
        words()
    finally:
        editor.close()
