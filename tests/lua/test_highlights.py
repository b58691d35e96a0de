"""The highlight groups: users and colour schemes may replace them, and what is not replaced can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

LUA = Path(__file__).resolve().parents[2] / "lua" / "acp_nvim"
LINK = "return vim.api.nvim_get_hl(0, { name = ... }).link"
DEFINE = "require('acp_nvim.kernel.highlights').define()"
LINKS = "return vim.tbl_keys(require('acp_nvim.kernel.highlights').links)"
TINTS = "return vim.tbl_keys(require('acp_nvim.kernel.highlights.tints').tints)"
READABLE = 4.5
"""The contrast that text needs (WCAG 2.2, 1.4.3)."""
VISIBLE = 3.0
"""The contrast that signs need (1.4.11)."""
SIGNS = {
    "AcpAgentSign": "a sign",
    "AcpAgentSignOver": "a sign",
    "AcpReviewSignAdd": "a sign",
    "AcpReviewSignChange": "a sign",
    "AcpReviewSignConflict": "a sign",
    "AcpReviewSignDelete": "a sign",
}
"""Groups of what is no text, and the reason."""
ATTRIBUTES = """
local out = {}
for _, name in ipairs(...) do
  local has = vim.api.nvim_get_hl(0, { name = name, link = false })
  out[#out + 1] = { name, has.fg or -1, has.bg or -1, has.reverse == true, has.ctermfg or -1, has.ctermbg or -1 }
end
return out
"""
CODE = """
local names = vim.split("Comment Constant String Identifier Function Statement Type PreProc Special Title", " ")
for name in pairs(vim.api.nvim_get_hl(0, {})) do
  if name:match("^@") then names[#names + 1] = name end
end
return names
"""


def luminance(colour: int) -> float:
    """The relative luminance of an RGB colour."""
    shares = [(colour >> shift & 255) / 255 for shift in (16, 8, 0)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: int, other: int) -> float:
    """The contrast of two RGB colours, from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


class Colours:
    """The groups of an editor, as they are now."""

    def __init__(self, editor):
        self.editor = editor
        self.foreground, self.background = self.of("Normal")

    def of(self, name):
        """Return foreground and background of a group, or else those of Normal."""
        _, fg, bg, reverse, _, _ = self.editor.lua(ATTRIBUTES, [name])[0]
        if name != "Normal":
            fg, bg = fg if fg >= 0 else self.foreground, bg if bg >= 0 else self.background
        return (bg, fg) if reverse else (fg, bg)

    def has_background(self, name):
        """Whether a group has a background of its own."""
        _, _, bg, reverse, _, _ = self.editor.lua(ATTRIBUTES, [name])[0]
        return bg >= 0 or reverse


@pytest.fixture(params=["light", "dark"])
def coloured(editor, request):
    """Neovim's own colours; the background changes after the groups were defined, as terminals report it late."""
    editor.lua("vim.o.termguicolors, vim.o.background = true, ...", "dark" if request.param == "light" else "light")
    editor.lua(DEFINE)
    editor.lua("vim.o.background = ...", request.param)
    return Colours(editor)


def test_groups_are_there_after_another_colour_scheme(editor):
    editor.lua(DEFINE)
    assert editor.lua(LINK, "AcpUserHeader") == "Title"
    editor.command("colorscheme blue")
    assert editor.lua(LINK, "AcpUserHeader") == "Title"


def test_what_the_user_has_set_stays(editor):
    editor.command("highlight! link AcpUserHeader Comment")
    editor.command("highlight AcpReviewDelete guibg=#123456")
    editor.command("highlight! link AcpReviewAdd DiffAdd")
    editor.lua(DEFINE)
    for background in ("light", "dark"):
        editor.lua("vim.o.background = ...", background)
        assert editor.lua(LINK, "AcpUserHeader") == "Comment"
        assert editor.lua(LINK, "AcpReviewAdd") == "DiffAdd"
        assert editor.lua("return vim.api.nvim_get_hl(0, { name = 'AcpReviewDelete' }).bg") == 0x123456
    editor.command("highlight AcpConflictMine guibg=#654321")  # also after a change
    editor.lua("vim.o.background = 'light'")
    assert editor.lua("return vim.api.nvim_get_hl(0, { name = 'AcpConflictMine' }).bg") == 0x654321


def test_they_are_set_once(editor):
    count = """local set, calls = vim.api.nvim_set_hl, 0
    vim.api.nvim_set_hl = function(...) calls = calls + 1; return set(...) end
    for _ = 1, 3 do require('acp_nvim.kernel.highlights').define() end
    vim.api.nvim_set_hl = set
    return calls"""
    assert editor.lua(count) == len(editor.lua(LINKS)) + len(editor.lua(TINTS))


def test_all_text_is_readable_wherever_it_is_shown(coloured):
    groups = coloured.editor.lua(LINKS)
    assert set(groups) > set(SIGNS)
    on_cursor_line = {
        name
        for file in ("review/files/list.lua", "render/file_changes.lua")  # windows with 'cursorline'
        for name in re.findall(r'"(Acp\w+)"', (LUA / file).read_text())
    }
    faint = {}
    for name in groups:
        fg, bg = coloured.of(name)
        surfaces = ["Normal", "NormalFloat", "WinBar", *(["CursorLine"] if name in on_cursor_line else [])]
        under = {name: bg} if coloured.has_background(name) else {one: coloured.of(one)[1] for one in surfaces}
        for surface, colour in under.items():
            ratio = contrast(fg, colour)
            if ratio < (VISIBLE if name in SIGNS else READABLE):
                faint[name, surface] = round(ratio, 2)
    assert faint == {}


def test_code_is_readable_on_our_backgrounds(coloured):
    attributes = coloured.editor.lua(ATTRIBUTES, coloured.editor.lua(CODE))
    code = {fg: name for name, fg, bg, *_ in attributes if fg >= 0 and bg < 0} | {coloured.foreground: "Normal"}
    assert len(code) > 5
    faint, backgrounds = {}, {}
    for tint in coloured.editor.lua(TINTS):
        background = backgrounds[tint] = coloured.of(tint)[1]
        faint |= {
            (name, tint): round(contrast(fg, background), 2)
            for fg, name in code.items()
            if contrast(fg, background) < READABLE
        }
    assert faint == {}
    assert coloured.background not in backgrounds.values()
    assert len({backgrounds[name] for name in backgrounds if name.startswith("AcpReview")}) == 5


def rgb(index):
    """The RGB colour of one of the 256 colours of terminals that do not depend on their configuration."""
    if index >= 232:
        return (8 + 10 * (index - 232)) * 0x010101
    steps = (0, 95, 135, 175, 215, 255)
    index -= 16
    return steps[index // 36] << 16 | steps[index // 6 % 6] << 8 | steps[index % 6]


def test_text_is_readable_where_the_terminal_has_256_colours(coloured):
    text = 0 if coloured.editor.lua("return vim.o.background") == "light" else 0xFFFFFF
    shown = coloured.editor.lua(ATTRIBUTES, coloured.editor.lua(TINTS))
    assert all(ctermfg < 0 and ctermbg >= 16 for *_, ctermfg, ctermbg in shown)
    assert min(contrast(text, rgb(ctermbg)) for *_, ctermbg in shown) >= READABLE
    assert len({ctermbg for name, *_, ctermbg in shown if not name.endswith("Text")}) >= 5


def test_with_fewer_colours_the_foreground_goes_with_the_background(editor):
    editor.lua("vim.api.nvim_list_uis = function() return { { term_colors = 16 } } end")
    editor.lua(DEFINE)
    shown = editor.lua(ATTRIBUTES, editor.lua(TINTS))
    assert all(0 <= ctermfg < 16 and 0 <= ctermbg < 16 and ctermfg != ctermbg for *_, ctermfg, ctermbg in shown)
