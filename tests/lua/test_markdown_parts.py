"""How markdown is cut into segments, and what is found in one."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.lua.conftest import LuaEditor

CUT = """
local cut = require("acp_nvim.transcript.markdown.cut")
local text = require("acp_nvim.transcript.line_bound")
local made = cut.new()
for _, piece in ipairs(...) do
  cut.feed(made, text.lines(piece))
end
local segments = {}
for index = 1, #made.segments do
  local segment = cut.segment(made, index)
  local kind = segment.kind or {}
  table.insert(segments, { segment.first, kind.code or false, kind.inside or false })
end
return segments
"""
FOUND = """
local lines, inside = ...
local rows = require("acp_nvim.transcript.markdown.structure")(lines, inside ~= vim.NIL and inside or nil)
local found = {}
for row = 1, #lines do
  for _, span in ipairs(rows[row] or {}) do
    local look = span[2]
    local group = look.hl_group and vim.fn.synIDattr(look.hl_group, "name") or ""
    local words = lines[row]:sub(span[1] + 1, look.end_col)
    table.insert(found, { words, (group:gsub("^@markup%.", ""):gsub("%.markdown.*$", "")), look.conceal or false })
  end
end
return found
"""
LINES = [
    "",
    "words",
    "# head",
    "- item",
    "  more",
    "1. one",
    "```lua",
    "```",
    "~~~",
    "| a | b |",
    "|---|---|",
    "> q",
    "x" * 300,
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One Neovim for all texts."""
    editor = LuaEditor(tmp_path_factory.mktemp("parts"))
    yield editor
    editor.close()


def segments(editor, *pieces):
    return [tuple(one) for one in editor.lua(CUT, list(pieces))]


def found(editor, text, inside=None):
    """(words, group, what is shown instead) of each coloured piece."""
    return [tuple(one) for one in editor.lua(FOUND, text.split("\n"), inside)]


@given(lines=st.lists(st.sampled_from(LINES), max_size=150), data=st.data())
def test_pieces_do_not_matter(shared, lines, data):
    text = "\n".join(lines) + "\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[first:last] for first, last in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = segments(shared, text)
    assert segments(shared, *pieces) == whole
    firsts = [first for first, _, _ in whole]
    assert firsts == sorted(set(firsts))
    assert firsts[0] == 0
    lengths = [last - first for first, last in zip(firsts, [*firsts[1:], text.count("\n")], strict=True)]
    assert max(lengths) <= 22


def test_fences_are_segments_of_their_own_and_long_ones_keep_their_language(shared):
    text = "words\n```lua\n" + "x = 1\n" * 45 + "```\nmore\n"
    assert segments(shared, text) == [
        (0, False, False),
        (1, "lua", False),
        (21, "lua", False),
        (41, "lua", False),
        (48, False, False),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("````md\n```\nx\n````\ny\n", [(0, "md", False), (4, False, False)]),
        ("~~~\n```\n~~~\ny\n", [(0, "", False), (3, False, False)]),
        ("- a\n  ```sh\n  x\n  ```\n- b\n", [(0, False, False), (1, "sh", False), (4, False, False)]),
        ("    ```\nno fence\n", [(0, False, False)]),
        ("```a`b\nno fence\n", [(0, False, False)]),
        ("```py title=x\nopen", [(0, "py title=x", False)]),
    ],
)
def test_what_a_fence_is(shared, text, expected):
    assert segments(shared, text) == expected


def test_text_is_cut_where_it_can_be_and_long_tables_and_lists_go_on(shared):
    assert segments(shared, "a\n\n" * 5)[:3] == [(0, False, False), (4, False, False), (8, False, False)]
    assert segments(shared, "- a\n\n  b\n\n  c\n\n  d\n\n  e\n") == [(0, False, False)]
    assert segments(shared, "| a |\n|---|\n" + "| 1 |\n" * 30)[1] == (20, False, "table")
    assert segments(shared, "- a\n" * 30)[1] == (20, False, "list")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## a `b`", [("## a `b`", "heading.2", False), ("`b`", "raw", False), ("`", "", ""), ("`", "", "")]),
        ("#hash", []),
        ("a\n===", [("a", "heading.1", False), ("===", "heading.1", False)]),
        ("**a** *b* _c_ ~~d~~", None),
        ("snake_case_name 2 * 3 * 4", []),
        ("\\*a*", [("\\", "@string.escape", "")]),
        ("`*a*` *", [("`*a*`", "raw", False), ("`", "", ""), ("`", "", "")]),
        ("> a", [(">", "@punctuation.special", "▎"), ("> a", "quote", False)]),
        ("- [x] a", [("[x]", "list.checked", "☑"), ("- ", "list", "")]),
        ("- a", [("-", "list", "•")]),
        ("***", [("*", "@punctuation.special", "─")] * 3 + [("", "", False)]),
        ("12. a", [("12.", "list", False)]),
        ("| a |", []),
        ("https://a.b/c_d_e).", [("https://a.b/c_d_e", "link.url", False)]),
        ("[a](b c)", []),
        ("text\n    no code", []),
        ("    code", [("    code", "raw.block", False)]),
    ],
)
def test_what_is_found(shared, text, expected):
    if expected is None:
        groups = {(words, group) for words, group, _ in found(shared, text) if group}
        assert groups == {("**a**", "strong"), ("*b*", "italic"), ("_c_", "italic"), ("~~d~~", "strikethrough")}
    else:
        assert found(shared, text) == expected


@pytest.mark.parametrize("target", ["(https://c.d/(e))", '(x.md "title")', "(<a b>)", "()"])
def test_links_hide_their_targets(shared, target):
    assert found(shared, f"see [a *b*]{target} and ![i](j.png)")[:6] == [
        ("a *b*", "link.label", False),
        ("[", "link.label", ""),
        (f"]{target}", "link.url", ""),
        ("i", "link.label", False),
        ("![", "link.label", ""),
        ("](j.png)", "link.url", ""),
    ]


def test_emphasis_over_several_lines(shared):
    assert [one for one in found(shared, "a **b\nc** d") if one[1]] == [
        ("**b", "strong", False),
        ("c**", "strong", False),
    ]


def test_in_a_table_no_mark_is_hidden(shared):
    lines = "| `a` | [b](https://c) |\n|---|---|\n| **d** | e |"
    assert {look for words, _, look in found(shared, lines) if words not in "|-"} == {False}
    assert "a" in {words.strip("`") for words, _, _ in found(shared, lines)}


def test_a_table_goes_on_from_the_segment_before(shared):
    bars = [("|", "@punctuation.special", "│")] * 2
    assert found(shared, "| 1 |", "table") == bars
    assert found(shared, "| 1 |") == []


@example(["---"])
@example(["```"])
@given(st.lists(st.text(alphabet="*_`~[]()!<>|#-+= \\a1.\t", max_size=120), max_size=20))
def test_nothing_breaks_it_and_all_is_within_its_line(shared, lines):
    for words, group, conceal in found(shared, "\n".join(lines)):
        assert words or not group  # behind a rule virtual text goes on to the edge: it colours nothing
        assert conceal is False or len(conceal) <= 1


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        ("abc", True),
        ("é日本👩‍👩‍👧", True),
        ("\U0010ffff", True),
        ("", True),
        ("a\udcff", False),
        ("日\udce6\udc97", False),
    ],
)
def test_which_code_and_tables_are_read_as_they_are(shared, text, is_valid):
    assert shared.lua('return require("acp_nvim.render.characters").is_valid(...)', text) is is_valid
