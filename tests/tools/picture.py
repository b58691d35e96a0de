"""Makes the README's pictures: the demo in a real Neovim on a real screen, as SVG."""

from __future__ import annotations

import re
import tempfile
from html import escape
from itertools import groupby
from pathlib import Path
from shutil import copytree

from tests.support.places import ROOT
from tests.support.screen import ScreenEditor

COLUMNS, ROWS = 118, 48
SET_UP = {"env": {"ACP_NVIM_DEMO_SPEED": "0"}, "config": {"ui": {"width": 60}}}
CELL_WIDTH, CELL_HEIGHT = 8.4, 18
PAPER, INK = "#14161b", "#e0e2ea"
STYLE = "font: 14px 'DejaVu Sans Mono', Menlo, Consolas, monospace"
NAMED = {
    **{"black": "#14161b", "red": "#ffc0b9", "green": "#b3f6c0", "brown": "#fce094", "blue": "#a6dbff"},
    **{"magenta": "#ffcaff", "cyan": "#8cf8f7", "white": "#e0e2ea"},
}


def colour(name: str, default: str) -> str:
    """A colour of pyte as SVG has it."""
    if name == "default":
        return default
    return NAMED.get(name.removeprefix("bright"), f"#{name}" if len(name) == 6 else default)


def look(cell: object) -> tuple[str, str, bool]:
    """Ink, paper and weight of a cell."""
    ink, paper = colour(cell.fg, INK), colour(cell.bg, PAPER)  # type: ignore[attr-defined]
    if cell.reverse:  # type: ignore[attr-defined]
        ink, paper = paper, ink
    return ink, paper, bool(cell.bold)  # type: ignore[attr-defined]


def drawn_row(nvim: ScreenEditor, row: int) -> list[str]:
    """The SVG elements of one row."""
    cells = [nvim.cell(row, column) for column in range(COLUMNS)]
    pieces, column = [], 0
    for (ink, paper, bold), group in groupby(cells, key=look):
        text = "".join(cell.data for cell in group)
        x, y, width = column * CELL_WIDTH, row * CELL_HEIGHT, len(text) * CELL_WIDTH
        if paper != PAPER:
            pieces.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{CELL_HEIGHT}" fill="{paper}"/>')
        pieces += [drawn_word(match, column, y + 14, ink, bold) for match in re.finditer(r"\S+", text)]
        column += len(text)
    return pieces


def drawn_word(word: re.Match[str], column: int, y: int, ink: str, bold: bool) -> str:
    """A word at its place: what stands between words is not left to the reader's idea of a space."""
    x, width = (column + word.start()) * CELL_WIDTH, len(word[0]) * CELL_WIDTH
    weight = ' font-weight="bold"' if bold else ""
    length = f'textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x:.1f}" y="{y}" {length} fill="{ink}"{weight}>{escape(word[0])}</text>'


def svg(nvim: ScreenEditor) -> str:
    """What the screen shows now."""
    width, height = COLUMNS * CELL_WIDTH, ROWS * CELL_HEIGHT
    rows = [piece for row in range(ROWS) for piece in drawn_row(nvim, row)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" style="{STYLE}">'
    return "\n".join([head, f'<rect width="100%" height="100%" fill="{PAPER}"/>', *rows, "</svg>"]) + "\n"


def talked(nvim: ScreenEditor) -> None:
    """The demo agent has said all that markdown has; the chat is read from its beginning."""
    nvim.type("i/markdown\x1b\r")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    nvim.type("\x17kgg")
    nvim.wait_until(lambda: any("You" in row for row in nvim.rows()[:3]), what="the beginning")


def asked(nvim: ScreenEditor) -> None:
    """The demo agent asks for permission."""
    nvim.type("G\x17jifix the greeting\x1b\r")
    nvim.wait_until('#require("acp_nvim").permissions() > 0')
    nvim.wait_for("[3] r")


def reviewed(nvim: ScreenEditor) -> None:
    """All is allowed and done; the cursor is on the first hunk in the code."""
    while True:
        nvim.wait_until('#require("acp_nvim").permissions() > 0 or require("acp_nvim").status().state == "idle"')
        if nvim.lua('return require("acp_nvim").status().state == "idle"'):
            break
        nvim.lua("""
            local acp = require("acp_nvim")
            local asked = acp.permissions()[1]
            acp.answer(asked.id, asked.options[1].option_id)
        """)
    nvim.wait_for(":AcpRestore")
    nvim.type("\x17t")
    nvim.command("AcpReview next")
    nvim.wait_for("hunk 1/")


def main() -> None:
    """Talk with the demo agent, and keep the screens on which it has talked, asks for a permission, and is reviewed."""
    with tempfile.TemporaryDirectory(prefix="acp-picture-") as directory:
        nvim = ScreenEditor(
            Path(directory), columns=COLUMNS, rows=ROWS, env={"ACP_NVIM_DEMO_SPEED": "0"}, config={"ui": {"width": 60}}
        )
        try:
            copytree(ROOT / "acp_nvim" / "demo_project", nvim.project, dirs_exist_ok=True)
            nvim.command(f"cd {nvim.project} | edit greeting.py | set termguicolors")
            nvim.command("AcpChat demo")
            nvim.wait_until('require("acp_nvim").status().state == "idle"')
            for name, show in (("chat", talked), ("picture", asked), ("review", reviewed)):
                show(nvim)
                (ROOT / "doc" / f"{name}.svg").write_text(svg(nvim), encoding="utf-8")
        finally:
            nvim.close()


if __name__ == "__main__":
    main()
