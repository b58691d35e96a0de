"""What the user has mentioned in a message, or attached to it, is a link in the chat."""

from __future__ import annotations

import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lua.test_chat import append
from tests.lua.test_targets import Chat

MARKED = """
local bufnr, row = ...
local marks = vim.api.nvim_buf_get_extmarks(bufnr, vim.api.nvim_get_namespaces()["acp_nvim.looks"],
  { row, 0 }, { row, -1 }, { details = true })
local out = {}
for _, mark in ipairs(marks) do
  if mark[4].hl_group == "AcpLink" then table.insert(out, { mark[3], mark[4].end_col }) end
end
table.sort(out, function(a, b) return a[1] < b[1] end)
return out
"""
ROW = 2  # of the second line of a message, from 0; its header is above


@pytest.fixture
def chat(editor):
    made = Chat(editor)
    (made.cwd / "my notes (old).txt").write_text("".join(f"{n}\n" for n in range(1, 21)))
    (made.cwd / "@odd").write_text("odd\n")
    return made


def user(chat, line):
    """A message of the user, with that line."""
    chat.apply(append(1, 1, f"Look:\n{line}", kind="user"))


def marked(chat):
    """The parts of that line that look like links."""
    bufnr = chat.editor.session(chat.key, "bufnr")
    [line] = chat.editor.api("buf_get_lines", bufnr, ROW, ROW + 1, True)
    return [line.encode()[a:b].decode() for a, b in chat.editor.lua(MARKED, bufnr, ROW)]


NOTES = "my notes (old).txt"
CASES = [
    ("@src/a.py", ["@src/a.py"], ("src/a.py", 1)),
    ("@src/a.py:3-5", ["@src/a.py:3-5"], ("src/a.py", 3)),
    ("@src/a.py:7", ["@src/a.py:7"], ("src/a.py", 7)),
    ("@src/a.py:3-5 (Greeter)", ["@src/a.py:3-5 (Greeter)"], ("src/a.py", 3)),
    (f"@{NOTES}", [f"@{NOTES}"], (NOTES, 1)),
    (f"@{NOTES}:3-5", [f"@{NOTES}:3-5"], (NOTES, 3)),
    (f'@"{NOTES}":4', [f'@"{NOTES}":4'], (NOTES, 4)),
    (f'@"{NOTES}":4-6, please', [f'@"{NOTES}":4-6'], (NOTES, 4)),
    ("@src/a.py: what is it?", ["@src/a.py"], ("src/a.py", 1)),
    ("@./src/a.py.", ["@./src/a.py"], ("src/a.py", 1)),
    ("@@odd", ["@@odd"], ("@odd", 1)),
]


@pytest.mark.parametrize("key", ["gf", "<CR>"])
@pytest.mark.parametrize(("line", "links", "place"), CASES)
def test_a_mention_and_an_attachment_are_links(chat, key, line, links, place):
    user(chat, line)
    chat.editor.wait_until(lambda: marked(chat) == links, what=f"{links} to look like links")
    for col in (1, len(links[0]) // 2, len(links[0])):
        chat.press(key, ROW + 1, col)
        assert chat.place()[:2] == place, col


def test_mentions_within_a_text_lead_to_their_own_places(chat):
    user(chat, f'compare @src/a.py:9 with (@"{NOTES}":2), not me@src/a.py nor @nothing')
    chat.editor.wait_until(lambda: marked(chat) == ["@src/a.py:9", f'@"{NOTES}":2'], what="two links")
    chat.press("gf", ROW + 1, 12)
    assert chat.place()[:2] == ("src/a.py", 9)
    chat.press("gf", ROW + 1, 32)
    assert chat.place()[:2] == (NOTES, 2)


def test_buffers_without_a_name_are_opened(chat):
    chat.editor.command("wincmd t")
    chat.editor.command("enew")
    unnamed = chat.editor.api("get_current_buf")
    chat.editor.api("buf_set_lines", 0, 0, -1, True, ["a", "b", "c"])
    chat.editor.lua("vim.o.hidden = true")
    for block, line in enumerate((f"@[No Name {unnamed}]:2-3", f"see @buffer:{unnamed}", f"@[No Name {unnamed}]"), 1):
        chat.apply(append(1, block, line, kind="user"))
        row = chat.editor.lua("return vim.api.nvim_buf_line_count(...)", chat.editor.session(chat.key, "bufnr"))
        chat.press("gf", row, 6)
        assert chat.editor.api("get_current_buf") == unnamed
        assert chat.editor.lua("return vim.fn.line('.')") == (2 if ":2" in line else 1)


def test_what_is_relative_is_so_to_the_sessions_directory(chat, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    chat.editor.command(f"tcd {other}")
    user(chat, "@src/a.py:3-5")
    chat.editor.wait_until(lambda: marked(chat) == ["@src/a.py:3-5"], what="the link")
    chat.press("gf", ROW + 1, 3)
    assert chat.editor.lua("return vim.fn.expand('%:p')") == str(chat.path)


def test_a_mention_of_nothing_says_so_and_no_word_of_an_agent_looks_like_one(chat):
    user(chat, "@src/none.py:3 @src/a.py")
    chat.editor.wait_until(lambda: marked(chat) == ["@src/a.py"], what="one link")
    chat.press("gf", ROW + 1, 4)
    assert "there is no file src/none.py" in chat.editor.message()
    chat.apply({"type": "replace", "block": 1, "kind": "user", "text": "Look:\n@src/b.py @src/__init__.py"})
    chat.editor.wait_until(lambda: marked(chat) == ["@src/__init__.py"], what="the links of the new text")
    chat.apply(append(1, 2, "Look:\n@src/a.py"), append(1, 3, "@src/a.py", kind="user"))
    row = chat.editor.lines(chat.key).index("@src/a.py")
    assert chat.editor.lua(MARKED, chat.editor.session(chat.key, "bufnr"), row) == []


NAME = st.text(
    st.sampled_from(string.ascii_letters + string.digits + " .,-_()[]'@+é日"), min_size=1, max_size=20
).filter(lambda name: name.strip() == name and name not in (".", "..") and any(one.isalnum() for one in name))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(name=NAME, first=st.none() | st.integers(1, 9))
def test_any_attachment_leads_to_its_file(chat, name, first):
    (chat.cwd / name).write_text("".join(f"{n}\n" for n in range(1, 21)))
    line = f"@{name}" if first is None else f"@{name}:{first}-{first + 3}"
    chat.apply({"type": "reset"})
    user(chat, line)
    chat.press("gf", ROW + 1, 1)
    assert chat.place()[:2] == (name, first or chat.place()[1])
    (chat.cwd / name).unlink()
