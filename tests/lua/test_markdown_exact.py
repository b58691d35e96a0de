"""What is streamed is what can be yanked and written, byte for byte, while all of it is coloured on a screen."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.lua.conftest import RECORD
from tests.support.screen import ScreenEditor

ODD = [
    *(
        "\x1b[31mred\x1b[0m",
        "\x1b]52;c;aGk=\x07",
        "\0",
        "\r\n",
        "\r",
        "\u202eevil\u202c",
        "שלום עולם",
        "e\u0301\u0302\u0303",
    ),
    *("👩‍👩‍👧‍👦", "🏳️‍🌈", "\u200b", "\ufeff", "\u2028", "\x85", "\t", "世界", "\udc80", "\udcff\udcfe", "\U0010ffff"),
]
MARKS = [
    *(
        "# title\n",
        "###### six\n",
        "- item\n",
        "  - nested\n",
        "1. one\n",
        "- [ ] todo\n",
        "- [x] done\n",
        "> quoted\n",
    ),
    *("> > deeper\n", "| a | b |\n", "|---|:-:|\n", "| 1 | `2` |\n", "---\n", "***\n", "===\n", "```lua\n", "```\n"),
    *("~~~\n", "````markdown\n", "    code\n", "**bold**", "*it", "__", "`", "``", "[link](https://example.com/", ")"),
    *(
        "![",
        "](",
        "~~gone~~",
        "\\*",
        "<https://a.b>",
        "https://c.d/e_f",
        "\n",
        "\n\n",
        "  \n",
        " ",
        "words ",
        "local x = [[",
    ),
    *("> " * 40, "- " * 30, "*" * 50, "[" * 60, "|" * 30),
]
TEXTS = st.lists(
    st.one_of(st.sampled_from(MARKS), st.sampled_from(ODD), st.text(max_size=20), st.binary(max_size=8)), max_size=60
)
LONG = "long **line** `of` words " * 4000
SHOWN = """
local win, path = ...
local lines
vim.api.nvim_win_call(win, function()
  vim.cmd("silent normal! ggVG\\"ay")
  lines = vim.fn.getreg("a", 1, true)
  vim.cmd("silent keepalt 2,$write! " .. vim.fn.fnameescape(path))
end)
return lines
"""


def raw(text):
    """The bytes of a text, as the connection to Neovim sends them."""
    return (
        text
        if isinstance(text, bytes)
        else text.encode("utf-8", "surrogateescape" if _escaped(text) else "surrogatepass")
    )


def _escaped(text):
    return all("\udc80" <= character <= "\udcff" for character in text if "\ud800" <= character <= "\udfff")


def apply(editor, *events):
    editor.apply(*events)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One Neovim with a screen for all texts."""
    editor = ScreenEditor(tmp_path_factory.mktemp("exact"), columns=90, rows=40)
    editor.lua(RECORD.replace("vim.o.columns, vim.o.lines = 120, 40", ""))
    editor.command("AcpChat")
    yield editor
    editor.close()


def stream(editor, pieces, kind="agent"):
    """Send the pieces as one message, each with its own redraw."""
    apply(editor, {"type": "reset", "session": 1})
    for piece in pieces:
        text = piece.decode("utf-8", "surrogateescape")
        apply(editor, {"type": "append", "session": 1, "block": 1, "kind": kind, "text": text})
        editor.command("redraw")


def check(editor, text):
    """The text can be yanked, and written into a file, as it came."""
    path = Path(editor.project) / "written"
    win = editor.lua("return vim.fn.bufwinid(...)", editor.chat_buffer())
    lines = [line.encode("utf-8", "surrogateescape") for line in editor.lua(SHOWN, win, str(path))]
    assert lines[1:] == [line.replace(b"\0", b"\n") for line in text.split(b"\n")]
    assert path.read_bytes() == text + b"\n"
    log = editor.lua('return require("acp_nvim.kernel.log").path()')
    assert not Path(log).exists() or "no colours" not in Path(log).read_text(encoding="utf-8")


@given(parts=TEXTS, data=st.data(), kind=st.sampled_from(["agent", "thought", "user"]))
@example(parts=["```lua\n", "x = 1\n" * 100], data=None, kind="agent")
@example(parts=[LONG, "\n", LONG], data=None, kind="agent")
@example(parts=["```lua\n", LONG, "\n```\n"], data=None, kind="agent")
@example(parts=["> " * 5000, "\n", "- " * 5000, "\n", "*a **b " * 2000], data=None, kind="agent")
@example(parts=["```markdown\n", "> " * 400 + "\n" + ("> " * 400 + "\n") * 20], data=None, kind="agent")
@example(parts=["```lua\n", ("[" * 400 + "\n") * 20, "((" * 400, "\udcff" * 900], data=None, kind="agent")
@example(parts=[ODD[0], *ODD] * 3, data=None, kind="thought")
def test_any_markdown_in_any_pieces_is_exact(shared, parts, data, kind):
    text = b"".join(map(raw, parts))
    cuts = [len(text) // 3] if data is None else data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    pieces = [text[first:last] for first, last in pairwise([0, *sorted(cuts), len(text)])]
    stream(shared, pieces, kind)
    check(shared, text)


@given(st.lists(st.sampled_from(ODD + MARKS), min_size=1, max_size=30), st.integers(1, 5))
def test_single_characters_are_exact(shared, parts, size):
    text = b"".join(map(raw, parts))
    stream(shared, [text[at : at + size] for at in range(0, min(len(text), 150), size)])
    check(shared, text[: -(-min(len(text), 150) // size) * size])


def test_escapes_are_shown_and_not_obeyed(shared):
    stream(shared, [b"\x1b[31mred\x1b[0m \0 \x1b]0;title\x07"])
    shared.wait_for("^[[31mred^[[0m ^@ ^[]0;title^G")
    row, column = shared.wait_for("red^[")
    assert shared.cell(row, column).fg not in ("red", "cd0000")
