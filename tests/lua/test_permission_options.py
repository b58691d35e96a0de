"""The options of a request: side by side where there is room, each whole, and none that another one's name pretends."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lua.conftest import LuaEditor
from tests.lua.test_permissions import OPTIONS, asked
from tests.support.examples import examples

RENDERED = """
local options, width, has_no_keys = ...
local request = { id = 7, title = "Edit", kind = "edit", options = options }
local rendered = require("acp_nvim.permission.request").render(request, {
  letters = require("acp_nvim.permission.answer_keys").letters(request),
  width = width or nil,
  has_no_keys = has_no_keys,
})
local lines = vim.list_slice(rendered.lines, 2)
local widths, shown = vim.tbl_map(vim.api.nvim_strwidth, lines), {}
for index, place in ipairs(rendered.options) do
  local text = lines[place.row]:sub(place.from + 1, place.to)
  local at = require("acp_nvim.permission.options").at(rendered.options, place.row, place.to - 1)
  shown[index] = { place.option_id, text, vim.api.nvim_strwidth(text), place.row, at }
end
return { lines, widths, shown }
"""
NAMES = st.lists(
    st.sampled_from([
        "Allow", "always", " ", "  ", " · ", "✓", "✗", "✓ a ", "? 3 ", "\n", "┃ $ ls", "漢字", "\u202e", "x" * 45,
    ]),
    min_size=1, max_size=6,
).map("".join)  # fmt: skip
KINDS = st.sampled_from(["allow_once", "allow_always", "reject_once", "reject_always", "boss"])


def test_each_option_is_whole_and_no_name_begins_another(tmp_path) -> None:
    editor = LuaEditor(tmp_path)
    try:

        @settings(max_examples=examples(150))
        @given(st.lists(st.tuples(NAMES, KINDS), min_size=1, max_size=12), st.none() | st.integers(1, 130))
        def check(given_options: list[tuple[str, str]], width: int | None) -> None:
            options = [
                {"option_id": f"o{number}", "name": name, "kind": kind}
                for number, (name, kind) in enumerate(given_options)
            ]
            lines, widths, shown = editor.lua(RENDERED, options, width or False)
            assert sorted(one[0] for one in shown) == sorted(one["option_id"] for one in options)
            assert all(one[0] == one[4] for one in shown)
            assert lines == [
                " · ".join(text for _, text, _, row, _ in shown if row == number) for number in range(1, len(lines) + 1)
            ]
            marks = "".join(lines)
            assert marks.count("✓") + marks.count("✗") == sum(kind != "boss" for _, kind in given_options)
            for number, columns in enumerate(widths, 1):
                here = [one for one in shown if one[3] == number]
                assert width is None or columns <= width or len(here) == 1, (lines, width)
                assert lines[number - 1].count("·") == len(here) - 1
                if number < len(lines):  # the next one had no room
                    following = next(one for one in shown if one[3] == number + 1)
                    assert width is not None
                    assert columns + 3 + following[2] > width
            order = [int(one[0][1:]) for one in shown if one[2] <= 40]
            assert order == sorted(order)
            long = [one[2] for one in shown if one[2] > 40]
            assert [one[2] for one in shown][len(order) :] == sorted(long)
            keyless = editor.lua(RENDERED, options, width or False, True)[2]
            assert [one[3] for one in keyless] == [one[3] for one in shown]

        check()
    finally:
        editor.close()


def test_the_options_have_one_row_where_there_is_room_and_more_where_there_is_none(screen):
    editor = screen(columns=200, rows=40)
    editor.command("AcpChat")
    editor.apply(asked(1))
    row = "✓ a Allow once · ✓ A Allow always · ✗ r Reject once · ✗ R Reject always"
    editor.wait_for(row)
    editor.resize(100, 40)
    editor.wait_until(lambda: not editor.find(row), what="a narrow chat")
    editor.wait_for("✗ r Reject once · ✗ R Reject always")
    editor.resize(200, 40)
    editor.wait_for(row)


def test_the_preview_is_no_part_of_what_has_to_be_seen(screen):
    """The preview comes later: what was seen before still counts as seen."""
    editor = screen(columns=200, rows=40)
    editor.command("AcpChat")
    editor.apply(asked(1, options=OPTIONS[:1]))
    seen = "return require('acp_nvim.permission.visibility').is_whole(7)"
    editor.wait_until(lambda: editor.lua(seen), what="the request to be seen")
    editor.lua("""
      local limits, visibility = require("acp_nvim.limits"), require("acp_nvim.permission.visibility")
      limits.seen_ms = 3600 * 1000
      _G.texts = {}
      local show = visibility.show
      visibility.show = function(id, surface, lines, bodies)
        table.insert(_G.texts, table.concat(lines, "\\n"))
        show(id, surface, lines, bodies)
      end""")
    path = editor.project.resolve() / "file.txt"
    path.write_text("one\ntwo\n")
    told = {"type": "preview", "session": 1, "request": 7, "path": str(path), "operation": "modify", "exists": True}
    editor.apply({**told, "hunks": [{"first": 0, "count": 1, "new": ["ONE"]}]})
    editor.wait_for("Edit main.py  p preview")
    assert editor.lua("return _G.texts") == ["Permission needed  edit  Edit main.py\n option x1"]
