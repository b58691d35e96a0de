"""Picks a file of the project, reads it, proposes an improvement, and writes it, through the client or on the disk."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple
from urllib.parse import unquote

from acp_nvim.demo_agent.turn import Turn
from acp_nvim.demo_agent.wire import Json, RpcError

SAMPLE = "greeting.py"
SMALL = 64 * 1024  # bytes of a file that the tour picks by itself
LARGEST = 1024 * 1024  # bytes of a file that it reads from the disk
LOOKED_AT = 500  # names of a large directory


class FileTrouble(Exception):
    """A file could not be read or written; the text tells the user why."""


def pick(cwd: str, text: str, blocks: list[Json]) -> str | None:
    """Return the absolute path of the file that the tour shows; None if there is none."""
    sample = os.path.join(cwd, SAMPLE)
    chosen = _from_context(blocks) or _named(cwd, text)
    return chosen or (sample if os.path.isfile(sample) else _first_small(cwd))


def shown(cwd: str, path: str) -> str:
    """Return the path as shown to the user, relative to `cwd` if it is inside."""
    return path[len(cwd.rstrip("/")) + 1 :] if _inside(cwd, path) else path


def read(turn: Turn, path: str) -> str:
    """Return the text of a file: from the client if it offers that, or else from the disk. Raises `FileTrouble`."""
    if turn.fs.get("readTextFile") is not True:
        return _read_disk(path)
    result = _ask(turn, "fs/read_text_file", path=path)
    content = result.get("content") if isinstance(result, dict) else None
    if not isinstance(content, str):
        raise FileTrouble("The editor's answer has no text in it.")
    return content


def write(turn: Turn, path: str, text: str) -> None:
    """Replace the text of a file: through the client if it offers that, or else on the disk. Raises `FileTrouble`."""
    if turn.fs.get("writeTextFile") is True:
        _ask(turn, "fs/write_text_file", path=path, content=text)
        return
    try:
        data = text.encode()  # before `open` truncates the file
        with open(path, "wb") as file:
            file.write(data)
    except UnicodeEncodeError as error:
        raise FileTrouble("The text is not valid Unicode.") from error
    except OSError as error:
        raise FileTrouble(f"{error.strerror or error}.") from error


def _ask(turn: Turn, method: str, **params: Any) -> Any:
    try:
        return turn.request(method, **params)
    except RpcError as error:
        raise FileTrouble(f"The editor said: {error.message}") from error


def _read_disk(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise FileTrouble("The file is too large for a demonstration.")
        return data.decode("utf-8")
    except OSError as error:
        raise FileTrouble(f"{error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise FileTrouble("The file is not UTF-8 text.") from error


def _from_context(blocks: list[Json]) -> str | None:
    for block in blocks:
        inner = block.get("resource") if block["type"] == "resource" else block
        uri = inner.get("uri") if isinstance(inner, dict) else None
        if isinstance(uri, str) and uri.startswith("file://"):
            path = unquote(re.sub(r"^file://[^/]*|[?#].*$", "", uri).encode("utf-8", "replace"))
            if path.startswith("/") and "\0" not in path:
                return path
    return None


def _named(cwd: str, text: str) -> str | None:
    """Return the first file of the project that the prompt names, with or without quotes."""
    for word in text.split()[:LOOKED_AT]:
        name = word.strip("`'\"()[]<>@,;:!?").rstrip(".")
        path = os.path.normpath(os.path.join(cwd, name)) if name and "\0" not in name else ""
        if path and _inside(cwd, path) and os.path.isfile(path):
            return path
    return None


def _first_small(cwd: str) -> str | None:
    """Return the first small text file by name, preferably one in a language with comments."""
    try:
        with os.scandir(cwd) as entries:
            found = [entry.name for entry, _ in zip(entries, range(LOOKED_AT), strict=False)]
    except OSError:
        return None
    visible = (name for name in found if not name.startswith("."))
    names = sorted(visible, key=lambda name: (_style(name) is None, name))
    return next((path for path in (os.path.join(cwd, name) for name in names) if _is_small_text(path)), None)


def _is_small_text(path: str) -> bool:
    try:
        path.encode()
        if not os.path.isfile(path) or not 0 < os.path.getsize(path) <= SMALL:
            return False
        with open(path, "rb") as file:
            data = file.read()
        return b"\0" not in data and bool(data.decode("utf-8"))
    except (OSError, UnicodeError):
        return False


def _inside(cwd: str, path: str) -> bool:
    return path.startswith(cwd.rstrip("/") + "/")


NOTE = "The acp_nvim demo agent was here; ask it again and it takes this line away."
NOTE_TOP = "The demo agent has added this line."
NOTE_END = "And this one."
LONGEST = 256 * 1024  # characters of a file that is shown as a diff
FIRST_LINES = ("#!", "<?", "<!", "@charset")  # beginnings of lines that must stay first

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
    """The new text of a file, with a title and a reason; `line` is where it changes, counted from 1."""

    title: str
    why: str
    new_text: str
    line: int


def improve(name: str, text: str) -> Improvement | None:
    """Return a harmless improvement of the file of that name; None if there is none."""
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


def noted_twice(name: str, text: str) -> str | None:
    """Return the text with a comment at its top and one at its end; None if its language has no comments."""
    style = _style(name)
    if style is None or len(text) > LONGEST or "\0" in text:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    at = _top(text)
    gap = "" if text.endswith("\n") else newline
    head, rest = text[:at], text[at:]
    if head and not head.endswith(("\n", "\ufeff")):
        head += newline
    return head + style.format(NOTE_TOP) + newline + rest + gap + style.format(NOTE_END) + newline


def _replaced(text: str, old: str, new: str, title: str, why: str) -> Improvement:
    line = text[: text.index(old)].count("\n") + 1
    return Improvement(title, why, text.replace(old, new, 1), line)


def _noted(name: str, text: str, note: str) -> Improvement:
    """Insert `note` as a line of its own, or remove it if it is there."""
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
    """Return where a first line may be inserted: after a byte order mark, `#!`, an XML header, front matter."""
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
    """Return the format of a comment in the language of the file; None if it is unknown or has no comments."""
    base = name.rpartition("/")[2]
    return _NAMES.get(base) or _STYLE_OF.get(base.rpartition(".")[2].lower() if "." in base else "")
