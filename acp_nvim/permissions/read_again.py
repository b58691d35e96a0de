"""Says whether bash may read a quoted text of a line a second time, and run the substitutions in it.

It does in arithmetic (`x='a[$(rm f)]'; echo $((x))`), in names of variables for some builtins, and in prompts.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import TYPE_CHECKING, Final

from acp_nvim.lazy import pattern

if TYPE_CHECKING:
    from tree_sitter import Node

NAMING: Final = frozenset(
    {"let", "test", "[", "read", "printf", "unset", "wait", "getopts", "mapfile", "readarray", "declare", "typeset"}
    | {"local", "export", "readonly"}
)
"""Builtins whose arguments may name a variable with an index, which bash expands: `unset 'a[$(rm f)]'`."""

BASH_READS: Final = frozenset({"PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "BASH_ENV", "ENV"})
"""Variables whose values are expanded or run by bash."""

_QUOTED = frozenset({"raw_string", "ansi_c_string", "heredoc_body"})
_BEGINS = pattern(r"`|\$[({\[]|\$['\"]?\Z")
_ESCAPED = pattern(r"\\`|\\\$(?:[({\[]|\Z)")
_CODE = pattern(r"\\[xuU0-7c]")
_PLAIN_INDEX = pattern(r"\w+\[(?:\d+|[@*])?\]")
_ARITHMETIC = frozenset({"arithmetic_expansion", "c_style_for_statement"})
_NUMERIC_TESTS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"})
_BEFORE_BUILTINS = frozenset({"time", "coproc", "command", "builtin"})
_NEEDED = {"printf": "-v", "test": "-v", "[": "-v", "wait": "-p"}
"""Options without which these builtins name no variable."""
_VALUES = pattern(rb"[*?\[{~$`]")
_COMPUTED = pattern(rb'"?\$\{?\w+\}?=')
"""A variable whose name is the value of another one."""
_STREAMS = frozenset({"herestring_redirect", "heredoc_redirect", "process_substitution", "|", "|&"})
"""What gives a sourced script lines that are in the command line, too."""


class SecondReading:
    """Collects, from the nodes of a line, quoted substitutions, and what reads texts again."""

    def __init__(self) -> None:
        self._is_quoted = self._has_index = self._counts = self._sources = False
        self._expands = self._always = False

    def see(self, node: Node) -> None:
        """Take a node of the line into account."""
        text = (node.text or b"").decode("utf-8", "replace") if not node.children or node.type == "subscript" else ""
        self._see_text(node, text)
        names = [one.type for one in node.children]
        match node.type:
            case "expansion":
                self._expands |= "@" in names and "P" in names
                self._counts |= "!" in names or ":" in names
            case "compound_statement":
                self._counts |= "((" in names
            case "subscript":
                self._counts |= _PLAIN_INDEX.fullmatch(text) is None
                self._has_index = True
            case "variable_assignment":
                self._always |= (node.children[0].text or b"").decode("utf-8", "replace") in BASH_READS
            case "declaration_command":
                self._counts |= any(_is_open(one) for one in node.children[1:])
                self._always |= any(_COMPUTED.match(one.text or b"") for one in node.children[1:])
            case "command":
                self._see_command(node)
            case "test_operator":
                self._counts |= text in _NUMERIC_TESTS
            case kind:
                self._counts |= kind in _ARITHMETIC

    def _see_text(self, node: Node, text: str) -> None:
        if not node.is_named:
            return
        self._has_index |= "[" in text
        self._always |= text.strip("'") in BASH_READS - {"ENV"}
        if node.type in _QUOTED and _BEGINS.search(text):
            self._is_quoted = True
        elif node.type == "ansi_c_string" and _CODE.search(text):
            self._is_quoted = self._has_index = True
        elif node.type not in _QUOTED and _ESCAPED.search(text):
            self._is_quoted = True

    def _see_command(self, node: Node) -> None:
        words = [one for one in node.children if one.type not in ("variable_assignment", "file_redirect")]
        names = [re.sub(r"[\\'\"]", "", (one.text or b"").decode("utf-8", "replace")) for one in words]
        while names and (names[0] in _BEFORE_BUILTINS or names[0].startswith("-")):
            del names[0], words[0]
        program, more = (names or [""])[0], words[1:]
        if program in ("source", "."):
            self._sources |= any(_has_values(one) for one in more)
        elif program in NAMING:
            needed = _NEEDED.get(program)
            names_one = needed is None or any(name.startswith(needed) for name in names[1:])
            self._counts |= program == "let" or (names_one and any(_is_open(one) for one in more))

    def happens(self, kinds: Set[str]) -> bool:
        """Whether something may be read again that may run commands; `kinds` are the types of all nodes."""
        if self._always or (self._sources and kinds & _STREAMS):
            return True
        return self._is_quoted and (self._expands or (self._counts and self._has_index))


def _has_values(word: Node) -> bool:
    return word.type not in ("word", "raw_string") or _VALUES.search(word.text or b"") is not None


def _is_open(argument: Node) -> bool:
    """Whether an argument may name a variable by a text that is read again: one with an index, or a reference."""
    text = (argument.text or b"").decode("utf-8", "replace")
    if argument.type == "word":
        return text.startswith("-") and bool({"i", "n"} & set(text))
    return argument.type not in ("variable_assignment", "variable_name", "number", "file_redirect")
