"""Who listens hears which blocks changed and where they are; blocks are found by rows."""

from __future__ import annotations

from tests.lua.test_chat import append, call

LISTEN = """
_G.heard = {}
local transcript = require("acp_nvim.transcript")
transcript.on_changes(function(session, blocks)
  for block in pairs(blocks) do
    local first, last = transcript.rows(session, block)
    table.insert(_G.heard, { session.key, block.id, first, last })
  end
end)
"""
BETWEEN = """
local key, first, last = ...
local session = require("acp_nvim.host.sessions").get(key)
local found = {}
for block, from, to in require("acp_nvim.transcript").blocks_in(session, first, last) do
  table.insert(found, { block.id, from, to })
end
return found
"""


def heard(editor):
    found = editor.lua("local heard = _G.heard _G.heard = {} return heard")
    return sorted(found)


def test_each_block_with_new_lines_is_told_of_once_in_a_batch(editor):
    key = editor.chat()
    editor.lua(LISTEN)
    editor.apply(append(key, 1, "hi", "user"), append(key, 2, "a\nb"), append(key, 2, "\nc"), call(key, 3))
    assert heard(editor) == [[key, 1, 1, 1], [key, 2, 3, 5], [key, 3, 7, 7]]
    editor.apply(append(key, 2, "more on the same line"))
    assert heard(editor) == []
    editor.apply(append(key, 2, "\n"), call(key, 3, title="Another title"))
    assert heard(editor) == [[key, 2, 3, 6], [key, 3, 8, 8]]
    editor.apply({"type": "replace", "session": key, "block": 1, "kind": "user", "text": "1\n2"})
    assert heard(editor) == [[key, 1, 1, 2]]
    editor.apply(append(key, 2, "\n"), {"type": "reset", "session": key})
    assert heard(editor) == []


def test_blocks_between_rows(editor):
    key = editor.chat()
    assert editor.lua(BETWEEN, key, 0, 100) == []
    editor.apply(append(key, 1, "hi", "user"), append(key, 2, "a\nb\nc"), call(key, 3), append(key, 4, "end"))
    every = [[1, 1, 1], [2, 3, 5], [3, 7, 7], [4, 9, 9]]
    for first in range(12):
        for last in range(first, 12):
            expected = [one for one in every if one[1] <= last and one[2] >= first]
            assert editor.lua(BETWEEN, key, first, last) == expected, (first, last)
