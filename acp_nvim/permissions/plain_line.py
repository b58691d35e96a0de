"""Command lines in which nothing is left to the shell but to run programs: every shell reads them in the same way."""

from __future__ import annotations

import re
import unicodedata

# no possessive quantifiers below: those of Python 3.11.2 match what they should not

_SAFE = r"\w\-./,:+@%=^!~" + "\u00a1-\U0010ffff"
"""What stands for itself in a word without quotes; some of it not as the first character, or behind = and :."""

_SINGLE = r"'(?:[^'\\]|\\(?=[^'\\]))*'"  # where fish knows escapes there must be none
_DOUBLE = r'"(?:[^"\\$`]|\\["\\$]|\\(?=[^"\\$`\n]))*"'  # nor does fish know an escaped `
_HASH = r"(?<=[\w./,:@+=-])(?<!\\.)\#"  # behind an escape fish takes it for something else
_ESCAPED = r"\\[!-/:-@\[-`{-~ ]"  # what stands behind a letter other shells take for a control character

_PIECE = re.compile(rf"(?P<single>{_SINGLE})|(?P<double>{_DOUBLE})|(?P<escaped>{_ESCAPED})|(?P<itself>.)", re.DOTALL)
_TOKEN = re.compile(
    rf"""
    (?P<blank> [\ \t](?:[\ \t]|\\\n)* )
  | (?P<then> &&|\|\|?|\n|; )
  | (?P<harmless> (?<!\d)(?:[012]?>>?|&>>?|<)[\ \t]*/dev/null(?=[\s;|&]|\Z) | (?<!\d)[012]?>&[012](?=[\s;|&]|\Z) )
  | (?P<comment> \#[^\n]* )
  | (?P<word> \{{\}}(?=[\s;|&]|\Z) | (?![\^=~!%])(?:[{_SAFE}]|{_HASH}|{_ESCAPED}|{_SINGLE}|{_DOUBLE})+ )
    """,
    re.VERBOSE,
)

_KEYWORDS = (
    "if then else elif fi do done case esac while until for foreach select in function coproc begin end switch repeat"
    " nocorrect and or not builtin"
)
_RESERVED = frozenset(_KEYWORDS.split())
"""First words that are no programs, in bash, zsh or fish. (`time` is left: it is what it looks like.)"""

_ASSIGNMENT = re.compile(r"\w+\+?=")
_TILDE = re.compile(r"[=:]~")


def strange(text: str) -> bool:
    """Whether it has characters that nobody sees, or that look like blanks: no line of a person has them."""
    return any(_is_strange(one) for one in text)


def _is_strange(one: str) -> bool:
    kind = unicodedata.category(one)
    return (kind[0] in "CZ" and one not in " \t\n") or (one.isspace() and one not in " \t\n")


def plain_commands(line: str) -> list[tuple[str, ...]] | None:
    """The words of each simple command; None when there is more in the line, or anything that is not understood.

    Output may go to /dev/null, or where the other output goes; commands may follow each other, or be piped.
    """
    if strange(line):
        return None
    commands: list[list[str]] = [[]]
    open_end = False  # the line cannot end here, and a line break is nothing
    at = 0
    while at < len(line):
        token = _TOKEN.match(line, at)
        if token is None:
            return None
        at = token.end()
        text = token.group()
        match token.lastgroup:
            case "word":
                if line[at : at + 1] == "#" or not _add(commands[-1], text):
                    return None
                open_end = False
            case "then" if commands[-1]:
                commands.append([])
                open_end = text not in (";", "\n")
            case "then" if text != "\n":
                return None
            case "harmless" if not commands[-1]:
                return None
    if open_end or not commands[0]:
        return None
    return [tuple(words) for words in commands if words]


def _add(words: list[str], text: str) -> bool:
    """Add a word to a command; False when it means something else than itself."""
    if not words and (text in _RESERVED or _ASSIGNMENT.match(text)):
        return False
    if _TILDE.search(text):
        return False
    words.append(_value(text))
    return True


def _value(text: str) -> str:
    """A word without its quotes."""
    return "".join(_piece(piece) for piece in _PIECE.finditer(text))


def _piece(piece: re.Match[str]) -> str:
    text = piece.group()
    match piece.lastgroup:
        case "single":
            return text[1:-1]
        case "double":
            return re.sub(r'\\(["\\$])', r"\1", text[1:-1])
        case "escaped":
            return text[1]
        case _:
            return text
