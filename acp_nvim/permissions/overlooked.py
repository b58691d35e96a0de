"""Says whether tree-sitter's tree of a line may lack something that bash runs.

The grammar is lenient: it takes a backquote in `${x:-...}` for a letter, and `{` after `time` for a word. So whatever
begins a substitution or a quote in bash has to begin a node, and no command may have the name of a reserved word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from acp_nvim.lazy import pattern

if TYPE_CHECKING:
    from tree_sitter import Node

_RESERVED = frozenset(
    {"if", "then", "elif", "else", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "function"}
    | {"[[", "]]", "{", "}", "!"}
)
"""Words that begin no command of that name. `time` and `coproc` are read as programs that run another one."""

_STARTERS = frozenset({"time", "coproc"})
_TEXTS = frozenset({"string", "heredoc_body"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_WITHOUT_QUOTES = frozenset({*_TEXTS, "arithmetic_expansion"})
"""In these, single quotes quote nothing, or only sometimes."""
_AROUND = _WITHOUT_QUOTES | {"expansion"}

Around = frozenset[str]
"""The types of nodes around a node that change how bash reads it."""

_ESCAPE = pattern(r"(?s)\\.")
_VARIABLE = pattern(r"\$\{\w+\}")
_IN_TEXT = pattern(r"`|\$[({\[]")
_IN_EXPANSION = pattern(r"[`'\"]|\$[({\[]|[<>]\(")
_IN_WORD = pattern(r"[`'\";&|()<>\n]|\$[({\['\"]")
_WORDS = frozenset({"word", "variable_name", "number", "special_variable_name", "file_descriptor"})
_BLANK = pattern(r"(?:[ \t\n]|\\\n)*(?:-[ \t]+)?")
"""What may be between two nodes; the grammar has no node for the `-` in `python - <<E`."""
_BEFORE_COMMENT = pattern(r"[\s;&|()<>`]")
_ONE_LINE = pattern(rb"[^\n]*\n[ \t\n]*")
_DELIMITER = pattern(r"\\?([\w.-]+)|'([\w.-]+)'|\"([\w.-]+)\"")


def nodes_of(root: Node) -> Iterator[tuple[Node, Around]]:
    """Yield all nodes in text order, with what is around each; without recursion, as lines may nest deeply."""
    waiting: list[tuple[Node, Around]] = [(root, frozenset())]
    while waiting:
        node, around = waiting.pop()
        yield node, around
        if node.type in _SUBSTITUTIONS:
            around = frozenset()
        elif node.type in _AROUND:
            around |= {node.type}
        waiting.extend((child, around) for child in reversed(node.children))


def overlooked(node: Node, around: Around, line: bytes) -> bool:
    """Whether bash may run something in this node that is not among the nodes in it."""
    if not node.children:
        return node.is_named and _is_odd_leaf(node, around, line)
    match node.type:
        case "string" | "heredoc_body":
            return _is_escaped(node, line) or any(_begins(_IN_TEXT, part) for part in _own_parts(node))
        case "command" if _is_keyword(node) or _splits_a_word(node):
            return True
        case "command_substitution" if node.children[0].type == "`" and "`" in _ESCAPE.sub("", _text(node)[1:-1]):
            return True
        case "heredoc_redirect" if not _is_read_as_bash_does(node, line):
            return True
        case "redirected_statement" if node.children[0].type != "command":  # whose words are those after a file?
            targets = [one.children_by_field_name("destination") for one in node.children]
            return any(len(words) > 1 for words in targets) or _has_odd_parts(node)
    return _has_odd_parts(node)


def _is_odd_leaf(leaf: Node, around: Around, line: bytes) -> bool:
    text = _text(leaf)
    match leaf.type:
        case "heredoc_start" | "heredoc_body" | "heredoc_end":
            return False  # `_is_read_as_bash_does` reads them
        case "string_content" | "heredoc_content":
            return _begins(_IN_TEXT, text)
        case "raw_string" | "ansi_c_string":
            return bool(around & _WITHOUT_QUOTES) or _is_escaped(leaf, line)
        case "comment":
            before = line[: leaf.start_byte][-1:].decode("utf-8", "replace")
            return bool(around) or bool(before and not _BEFORE_COMMENT.match(before))
        case kind if kind in _WORDS and not around:
            return _begins(_IN_WORD, text)
    return _begins(_IN_EXPANSION, _VARIABLE.sub("", text))


def _is_escaped(quoted: Node, line: bytes) -> bool:
    """Whether a backslash takes the meaning from its first quote."""
    before = line[: quoted.start_byte]
    return quoted.type != "heredoc_body" and (len(before) - len(before.rstrip(b"\\"))) % 2 == 1


def _begins(what: re.Pattern[str], text: str) -> bool:
    """Whether there is one of these without a backslash before it."""
    return what.search(_ESCAPE.sub("", text)) is not None


def backquoted(node: Node, around: Around) -> str | None:
    """Return the line that a substitution in backquotes runs, if it differs from its text: without its escapes."""
    text = _text(node)
    if node.type != "command_substitution" or not text.startswith("`"):
        return None
    escaped = r'\\([\\`$"])' if around & _TEXTS else r"\\([\\`$])"
    line = re.sub(escaped, r"\1", text[1:-1])
    return None if line == text[1:-1] else line


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _own_parts(node: Node) -> Iterator[str]:
    """Yield the parts of a node's text that belong to none of its children."""
    data, at = node.text or b"", 0
    for child in node.children:
        yield data[at : child.start_byte - node.start_byte].decode("utf-8", "replace")
        at = child.end_byte - node.start_byte
    yield data[at:].decode("utf-8", "replace")


def _has_odd_parts(node: Node) -> bool:
    return any(not _BLANK.fullmatch(part) for part in _own_parts(node))


def _is_read_as_bash_does(redirect: Node, line: bytes) -> bool:
    """Whether a here-document has a simple delimiter, begins on the next line, and ends where it has to."""
    parts = {one.type: one for one in redirect.children}
    texts = {name: _text(one) for name, one in parts.items()}
    found = _DELIMITER.fullmatch(texts.get("heredoc_start", ""))
    if found is None:
        return False
    delimiter = next(one for one in found.groups() if one is not None)
    body = parts.get("heredoc_body")
    text = texts.get("heredoc_body", "")
    if found[1] == found[0] and body is not None and not body.children and _begins(_IN_TEXT, text):
        return False
    lines = text.split("\n")
    if "<<-" in parts:
        lines = [line.lstrip("\t") for line in lines]
    end = parts.get("heredoc_end")
    if end is None or line[end.end_byte :][:1] not in (b"", b"\n"):
        return False
    if not _ONE_LINE.fullmatch(line[parts["heredoc_start"].end_byte : (body or end).start_byte]):
        return False
    return _text(end).strip("\t") == delimiter and delimiter not in lines


def _splits_a_word(command: Node) -> bool:
    """Whether two words of the tree have nothing between them."""
    words = [one for one in command.children if not one.type.endswith("_redirect")]
    return any(one.end_byte == after.start_byte and one.type != "$" for one, after in pairwise(words))


def _is_keyword(command: Node) -> bool:
    """Whether bash reads a keyword where the tree has the name of a command, or an argument of `time`."""
    words = [_text(one) for one in command.children if one.type not in ("variable_assignment", "file_redirect")]
    while words and words[0] in _STARTERS:
        coproc = words.pop(0) == "coproc"
        while words and words[0] in ("-p", "--"):
            words.pop(0)
        if coproc and words[1:2] and words[1] in _RESERVED | _STARTERS:
            return True
    return bool(words) and words[0] in _RESERVED
