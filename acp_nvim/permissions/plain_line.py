"""Parses plain command lines, which only run programs: every shell reads them in the same way."""

from __future__ import annotations

import re
import unicodedata

from acp_nvim.lazy import pattern

# no possessive quantifiers below: those of Python 3.11.2 have bugs

_SAFE = r"\w\-./,:+@%=^!~" + "\u00a1-\U0010ffff"
"""Characters that are literal in an unquoted word; some are not as the first character, or after = and :."""

_SINGLE = r"'(?:[^'\\]|\\(?=[^'\\]))*'"  # without the escapes that fish has here
_DOUBLE = r'"(?:[^"\\$`]|\\["\\$]|\\(?=[^"\\$`\n]))*"'  # fish does not know an escaped `
_HASH = r"(?<=[\w./,:@+=-])(?<!\\.)\#"  # fish reads a # after an escape differently
_ESCAPED = r"\\[!-/:-@\[-`{-~ ]"  # some shells read an escaped letter as a control character

_PIECE = pattern(rf"(?P<single>{_SINGLE})|(?P<double>{_DOUBLE})|(?P<escaped>{_ESCAPED})|(?P<itself>.)", re.DOTALL)
_TOKEN = pattern(
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
"""Words that are not programs in bash, zsh or fish when they come first. `time` is safe: it runs its arguments."""

_ASSIGNMENT = pattern(r"\w+\+?=")
_TILDE = pattern(r"[=:]~")


def strange(text: str) -> bool:
    """Whether a text has invisible characters, or odd ones that look like blanks."""
    odd = (one for one in text if one not in " \t\n")
    return any(unicodedata.category(one)[0] in "CZ" or one.isspace() for one in odd)


def plain_commands(line: str) -> list[tuple[str, ...]] | None:
    """Return the words of each simple command, or None if the line has, or may have, anything else.

    Allowed are sequences, pipes, and redirections to /dev/null or to the other output stream.
    """
    if strange(line):
        return None
    commands: list[list[str]] = [[]]
    open_end = False  # the line cannot end here, and line breaks are ignored
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
    """Add a word to a command, without its quotes; return False if the word is not literal."""
    if not words and (text in _RESERVED or _ASSIGNMENT.match(text)):
        return False
    if _TILDE.search(text):
        return False
    words.append("".join(map(_unquoted, _PIECE.finditer(text))))
    return True


def _unquoted(piece: re.Match[str]) -> str:
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
