"""Finds the simple commands in a shell line, at any depth, with tree-sitter's grammar of bash."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.permissions.overlooked import backquoted, nodes_of, overlooked
from acp_nvim.permissions.read_again import SecondReading

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Word = str | None
"""None is a word that only the shell can expand, to any number of words."""

_HARMLESS = (
    "program list pipeline command command_name word number string string_content raw_string concatenation comment"
    ' redirected_statement file_redirect file_descriptor && || | ; > >> < &> &>> >& { } " \n'
)
HARMLESS = frozenset(_HARMLESS.split(" "))
"""The node types of a line that only has simple commands. `plain_line` checks redirections more strictly."""

_COMMANDS = ("command", "declaration_command", "unset_command")
_NO_WORDS = ("variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect")
_EXPANDED = pattern(r"[*?\[\]{}$`]|(?:^|[=:])~|^[=^%!]|\\\n")
_ESCAPE = pattern(r"\\([^\n])")


class Tree(msgspec.Struct, frozen=True):
    """The words of each command, in order, and the other node types; and lines that `inner` commands are in.

    `broken`: the line has syntax errors, or parts that the grammar may have read in another way than bash.
    """

    commands: tuple[tuple[Word, ...], ...]
    features: frozenset[str]
    broken: bool
    lines: tuple[str, ...] = ()


@cache
def _parser() -> Parser:
    """Load the parser on first use, as it is not needed without rules. Raises `ImportError`."""
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse(line: str) -> Tree:
    """Parse a line, which must not contain NUL. Raises `ImportError` if the parser is not installed."""
    kinds: set[str] = set()
    commands: list[tuple[Word, ...]] = []
    lines: list[str] = []
    data = line.encode()
    root = _parser().parse(data).root_node
    broken, again = root.has_error, SecondReading()
    for node, around in nodes_of(root):
        broken = broken or overlooked(node, around, data)
        again.see(node)
        kinds.add(node.type)
        if node.type in _COMMANDS:
            commands.append(_words(node))
        elif (inner := backquoted(node, around)) is not None:
            lines.append(inner)
    broken = broken or again.happens(kinds)
    return Tree(tuple(commands), frozenset(kinds - HARMLESS), broken, tuple(lines))


def _words(command: Node) -> tuple[Word, ...]:
    others = _NO_WORDS if command.type == "command" else _NO_WORDS[1:]
    words = [_word(node) for node in command.children if node.type not in others]
    redirects = [node for node in command.children if node.type in _NO_WORDS[1:]]
    parent = command.parent
    if parent is not None and parent.type == "redirected_statement":
        redirects += [node for node in parent.children if node.type in _NO_WORDS[1:]]
    for redirect in redirects:  # words after the target belong to the command
        if redirect.type == "file_redirect":
            words += [_word(node) for node in redirect.children_by_field_name("destination")[1:]]
        elif redirect.type == "heredoc_redirect":
            words.append(None)
    return tuple(words)


def _word(node: Node) -> Word:
    """Return the value of a word, or None if only the shell can expand it."""
    text = (node.text or b"").decode("utf-8", "replace")
    match node.type:
        case "command_name" if node.child_count == 1:
            return _word(node.children[0])
        case "raw_string":
            return text[1:-1]
        case "string" if all(child.type in ('"', "string_content") for child in node.children):
            return None if "\\\n" in text else re.sub(r'\\(["\\$`])', r"\1", text[1:-1])
        case "concatenation" if text == "{}":
            return text
        case "concatenation":
            parts = [_word(child) for child in node.children]
            return None if None in parts else "".join(part for part in parts if part is not None)
        case "command_name" | "word" | "number" | "variable_name":
            return None if _EXPANDED.search(_ESCAPE.sub("", text)) else _ESCAPE.sub(r"\1", text)
        case _:
            return text if not node.is_named and text.isalpha() else None  # `export`, `unset`, ...
