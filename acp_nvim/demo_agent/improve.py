"""Finds one small, harmless improvement for a file: the sample's bug, or else a comment line at the top."""

import re
from typing import NamedTuple

NOTE = "The acp_nvim demo agent was here; ask it again and it takes this line away."
LONGEST = 256 * 1024  # characters of a file that is shown as a diff
FIRST_LINES = ("#!", "<?", "<!", "@charset")  # lines that have to stay the first ones

_STYLES = {
    "# {}": "py sh bash zsh rb pl r toml yaml yml cfg conf nix ex jl cmake",
    "// {}": "c h cc cpp hpp cs go rs js mjs ts tsx jsx java kt swift zig",
    "-- {}": "lua sql hs elm",
    "<!-- {} -->": "md html xml svg vue",
    "/* {} */": "css scss less",
    '" {}': "vim",
    ";; {}": "el lisp clj scm",
    "% {}": "tex erl",
}
_STYLE_OF = {ending: style for style, endings in _STYLES.items() for ending in endings.split()}
_NAMES = {"Makefile": "# {}", ".gitignore": "# {}"}

_BUG = '    for index in range(1, len(names)):\n        lines.append(f"Hello, {names[index]}!")\n'
_FIX = '    for name in names:\n        lines.append(f"Hello, {name}!")\n'
_BARE = "def greet(names: list[str]) -> str:\n    lines = []\n"
_TOLD = 'def greet(names: list[str]) -> str:\n    """One line for each name, in order."""\n    lines = []\n'


class Improvement(NamedTuple):
    """A change of a whole file, with its words."""

    title: str
    why: str
    new_text: str
    line: int


def has_comments(name: str) -> bool:
    return _style(name) is not None


def improve(name: str, text: str) -> Improvement | None:
    """What to change in the file of that name; None when anything could do harm."""
    if _BUG in text:
        why = "`range(1, ...)` starts at the second name, so the first person is never greeted."
        return _replaced(text, _BUG, _FIX, f"Greet the first person too in {name}", why)
    if _BARE in text:
        why = "`greet` does not say what it returns; a docstring does."
        return _replaced(text, _BARE, _TOLD, f"Add a docstring in {name}", why)
    style = _style(name)
    if style is None or len(text) > LONGEST or "\0" in text:
        return None
    return _noted(name, text, style.format(NOTE))


def _replaced(text: str, old: str, new: str, title: str, why: str) -> Improvement:
    line = text[: text.index(old)].count("\n") + 1
    return Improvement(title, why, text.replace(old, new, 1), line)


def _noted(name: str, text: str, note: str) -> Improvement:
    """Put our line in, or take it away if it is there."""
    before = re.search(rf"(?:^|(?<=\ufeff)){re.escape(note)}\r?\n", text, re.MULTILINE)
    if before is not None:
        line = text[: before.start()].count("\n") + 1
        rest = text[: before.start()] + text[before.end() :]
        return Improvement(f"Take the demo comment out of {name}", "The comment has done its work.", rest, line)
    newline = "\r\n" if "\r\n" in text else "\n"
    at = _top(text)
    head = text[:at] if at == 0 or text[at - 1] in "\n\ufeff" else text[:at] + newline
    why = "I have no model to find a real improvement with, so it is one comment line, and nothing else."
    title = f"Add a comment at the top of {name}"
    return Improvement(title, why, head + note + newline + text[at:], head.count("\n") + 1)


def _top(text: str) -> int:
    """Where the first line of one's own may stand: behind a byte order mark, `#!`, an XML head, front matter."""
    at = 1 if text.startswith("\ufeff") else 0
    front = re.compile(r"---\r?\n.*?^---\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE).match(text, at)
    if front is not None:
        return front.end()
    while text.startswith(FIRST_LINES, at) or re.compile(r"#.*coding[:=]").match(text, at):
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        at = end + 1
    return at


def _style(name: str) -> str | None:
    base = name.rpartition("/")[2]
    return _NAMES.get(base) or _STYLE_OF.get(base.rpartition(".")[2].lower() if "." in base else "")
