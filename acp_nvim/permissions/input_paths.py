"""Finds the files that the input of a tool call names, or may name: any string not known to be something else.

Agents choose the names of the members freely, so a list of names for paths is never complete. The closed lists here
contain names for other things: texts, ids, and words for what is done.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final

import msgspec

from acp_nvim.acp.patch_paths import PatchPath, patch_paths
from acp_nvim.acp.raw_paths import is_path, words_of
from acp_nvim.lazy import pattern
from acp_nvim.limits import INPUT_STRINGS

INPUT_DEPTH: Final = 5
"""Nesting depth that is read: agents use three levels; deeper values may be anything."""
INPUT_VALUES: Final = 5000
"""Values that are read, which takes 10 ms: a thousand edits at once have four each."""

NOTES: Final = frozenset(
    {"description", "explanation", "reason", "reasoning", "justification", "intention", "intent", "instruction"}
    | {"instructions", "thought", "summary", "comment", "message", "title", "prompt", "question"}
)
"""Names of members with text for human readers: nothing in them is a path."""

TEXTS: Final = NOTES | frozenset(
    {"content", "contents", "text", "body", "code", "file_text", "file_content", "file_contents", "new_file_contents"}
    | {"old_string", "new_string", "old_str", "new_str", "old_text", "new_text", "old_content", "new_content"}
    | {"old_source", "new_source", "old_code", "new_code", "before", "after", "snippet", "insert_text"}
    | {"replacement", "replace", "search", "find", "original_content", "modified_content", "ai_proposed_content"}
)
"""`NOTES`, and names of members with the content of a file, which calls that move or delete files do not need."""

IDS: Final = frozenset(
    {"id", "call_id", "turn_id", "tool_call_id", "tool_use_id", "session_id", "message_id", "request_id", "cell_id"}
    | {"process_id"}
)
WAYS: Final = frozenset(
    {"type", "kind", "mode", "command", "operation", "op", "action", "edit_mode", "cell_type", "status", "encoding"}
    | {"line_ending", "language", "tool", "tool_name", "output_mode", "format", "sort", "sort_by"}
)
"""Names of members that name an operation or a mode in one word (`str_replace`)."""

PATCHES: Final = frozenset({"diff", "patch", "unified_diff", "git_diff", "patch_text", "file_diff"})
LISTS: Final = frozenset({"edits", "operations", "replacements", "hunks", "changes", "input"})
"""Names of members that contain other members, or a list of them."""

PATTERNS: Final = frozenset(
    {"pattern", "query", "regex", "regexp", "glob", "include", "exclude", "file_pattern", "include_pattern"}
    | {"exclude_pattern", "filter", "keyword", "symbol"}
)
"""Names of members with a search pattern, in requests that change nothing."""

_PATCH_STARTS: Final = ("*** Begin Patch", "diff --git ")
"""A text with this beginning is a patch, whatever its member is called."""

_WORD = pattern(r"_?[A-Za-z][A-Za-z0-9_-]{0,63}")
_ID = pattern(r"[A-Za-z0-9_-]{1,128}")
_SIMPLE = pattern(r"[\w.+~/-][\w.@+~/-]{0,4095}")
"""Matches a string that is a single path, if it is a path at all."""

_SEVERAL = pattern(r"s$|_list$")
_NAME = pattern(r"[-_]{0,2}[A-Za-z][A-Za-z0-9_-]*")
_WEB = pattern(r"https?://", re.I)


class InputPaths(msgspec.Struct):
    """Paths as the agent writes them. `named` and `patched` are certainly paths, `possible` may be.

    `unread` are texts that may contain paths. `too_many`: a limit has cut the input.
    """

    named: list[str] = []
    patched: list[PatchPath] = []
    possible: list[str] = []
    unread: list[str] = []
    too_many: bool = False

    @property
    def certain(self) -> bool:
        """Whether the paths are complete, and none of them is something else."""
        return not self.possible and not self.unread and not self.too_many


def input_paths(raw: Any, changes: bool, has_texts: bool = True) -> InputPaths:
    """Read the input of a tool call. If the call `changes` files, no possible path is ignored.

    `has_texts`: the input may have the content of files, so that members in `TEXTS` (not only `NOTES`) are no paths. In
    a call that only reads, a pattern without a leading slash or `..` names no file, and any other text without a slash
    names at most one.
    """
    reader = _Reader(changes, TEXTS if has_texts else NOTES)
    if isinstance(raw, dict):
        reader.members(raw, 0)
    elif isinstance(raw, list):
        reader.value("", raw, 0)
    elif isinstance(raw, str) and raw.strip():
        reader.found.unread.append(raw)
    return reader.found


class _Reader:
    def __init__(self, changes: bool, texts: frozenset[str]) -> None:
        self.found = InputPaths()
        self._changes = changes
        self._texts = texts
        self._values = INPUT_VALUES
        self._strings = INPUT_STRINGS

    def members(self, members: dict[Any, Any], depth: int, names_are_paths: bool = False) -> None:
        for name, value in members.items():
            words = words_of(name)
            if names_are_paths:
                self._strings -= 1
                self.found.too_many |= self._strings < 0
                self.found.named += [str(name)] if self._strings >= 0 else []
            elif not is_ordinary(name, value):
                self._string("", str(name))
            self.value(words, value, depth + 1)

    def value(self, words: str, value: Any, depth: int, is_item: bool = False) -> None:
        self._values -= 1
        if depth > INPUT_DEPTH or self._values < 0:
            self.found.too_many = True
        elif isinstance(value, dict):
            self.members(value, depth, not is_item and names_paths(words))
        elif isinstance(value, list):
            for one in value[:INPUT_VALUES]:
                self.value(_SEVERAL.sub("", words), one, depth + 1, is_item=True)
        elif isinstance(value, str) and value:
            self._string(words, value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and is_path(words, ""):
            self.found.unread.append(str(value))  # a file may be called so

    def _string(self, words: str, value: str) -> None:
        is_word = (words in WAYS and _WORD.fullmatch(value)) or (words in IDS and _ID.fullmatch(value))
        if is_word or (_numbered(words) in self._texts and (not _begins_patch(value) or words in NOTES)):
            return
        self._strings -= 1
        if self._strings < 0:
            self.found.too_many = True
        elif not is_patch(words, value):
            self._path(words, value)
        elif (paths := patch_paths(value)) is None:
            self.found.unread.append(value)
        else:
            self.found.patched += paths

    def _path(self, words: str, value: str) -> None:
        is_simple = _SIMPLE.fullmatch(value) is not None
        if words in ("uri", "url", "href") and _WEB.match(value):
            return
        if is_path(words, value) and (is_simple or (is_path(words, "") and _is_single(words, value))):
            self.found.named.append(value)
        elif not self._changes and words in PATTERNS and not _leads_somewhere(words, value):
            return
        elif is_simple or not (self._changes or is_path(words, "") or _leads_somewhere(words, value)):
            self.found.possible.append(value)
        else:
            self.found.unread.append(value)


def names_paths(words: str) -> bool:
    """Whether the names in the object of a member with this name, as `words_of` returns it, are paths."""
    return words == "changes" or is_path(words, "")


def is_text(words: str) -> bool:
    """Whether a member with this name, as `words_of` returns it, has a text in which nothing is a path."""
    return _numbered(words) in TEXTS


def is_patch(words: str, value: str) -> bool:
    """Whether the text of a member with this name, as `words_of` returns it, is a patch."""
    return words in PATCHES or _begins_patch(value)


def _begins_patch(value: str) -> bool:
    return value.lstrip().startswith(_PATCH_STARTS)


def _numbered(words: str) -> str:
    """Return the name without a number at its end: some agents number their members."""
    return words.rstrip("0123456789_")


def is_ordinary(name: Any, value: Any) -> bool:
    """Whether the name of a member with that value is an ordinary one, and cannot be a path."""
    if not _NAME.fullmatch(str(name)):
        return False
    words = words_of(name)
    if _numbered(words) in TEXTS or words in IDS | WAYS | PATCHES | LISTS | PATTERNS or is_path(words, "/"):
        return True
    return not isinstance(value, (str, list, dict)) and not str(name)[0].isupper()


def _is_single(words: str, value: str) -> bool:
    """Whether a value with blanks or other unusual characters is certainly one path, not several."""
    return not _SEVERAL.search(words) and value.isprintable() and value[0] not in " @\"'`<" and value[-1] != " "


def _leads_somewhere(words: str, value: str) -> bool:
    """Whether a string may lead to another directory. Patterns often are regular expressions with a slash."""
    if words in PATTERNS:
        return value.startswith((os.sep, "~")) or ".." in value
    return os.sep in value or value.startswith("~") or ".." in value
