"""The files that the input of a tool call names, or may name: what is not known to be something else may be a path.

Agents name the members of their inputs as they like, so no list of names for paths is complete. The closed lists here
are of names for other things: texts, identifiers, and words that say what is done.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final

import msgspec

from acp_nvim.acp.patch_paths import PatchPath, patch_paths
from acp_nvim.acp.raw_paths import is_path, words_of
from acp_nvim.limits import INPUT_STRINGS

INPUT_DEPTH: Final = 5
"""Members in members of a tool call's input: agents have three; in what is deeper anything may be."""
INPUT_VALUES: Final = 5000
"""Values looked at in it: 10 ms of the host; a thousand edits at once have four each."""

NOTES: Final = frozenset(
    {"description", "explanation", "reason", "reasoning", "justification", "intention", "intent", "instruction"}
    | {"instructions", "thought", "summary", "comment", "message", "title", "prompt", "question"}
)
"""Names of members that hold words for people: nothing in them is a path."""

TEXTS: Final = NOTES | frozenset(
    {"content", "contents", "text", "body", "code", "file_text", "file_content", "file_contents", "new_file_contents"}
    | {"old_string", "new_string", "old_str", "new_str", "old_text", "new_text", "old_content", "new_content"}
    | {"old_source", "new_source", "old_code", "new_code", "before", "after", "snippet", "insert_text"}
    | {"replacement", "replace", "search", "find", "original_content", "modified_content", "ai_proposed_content"}
)
"""`NOTES`, and names of members that hold the content of a file; to move or delete one needs no such text."""

IDS: Final = frozenset(
    {"id", "call_id", "turn_id", "tool_call_id", "tool_use_id", "session_id", "message_id", "request_id", "cell_id"}
    | {"process_id"}
)
WAYS: Final = frozenset(
    {"type", "kind", "mode", "command", "operation", "op", "action", "edit_mode", "cell_type", "status", "encoding"}
    | {"line_ending", "language", "tool", "tool_name"}
)
"""Names of members that say how something is done, in one word (`str_replace`)."""

PATCHES: Final = frozenset({"diff", "patch", "unified_diff", "git_diff", "patch_text", "file_diff"})
LISTS: Final = frozenset({"edits", "operations", "replacements", "hunks", "changes", "input"})
"""Names of members that hold other members, or a list of them."""

PATTERNS: Final = frozenset({"pattern", "query", "regex", "regexp"})
"""Names of members that say what is searched for, in requests that change nothing."""

_PATCH_STARTS: Final = ("*** Begin Patch", "diff --git ")
"""A text that begins so names files, whatever its member is called."""

_WORD = re.compile(r"_?[A-Za-z][A-Za-z0-9_-]{0,63}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SIMPLE = re.compile(r"[\w.+~/-][\w.@+~/-]{0,4095}")
"""A word that is one path if it is any."""

_SEVERAL = re.compile(r"s$|_list$")
_NAME = re.compile(r"[-_]{0,2}[A-Za-z][A-Za-z0-9_-]*")
_WEB = re.compile(r"https?://", re.I)


class InputPaths(msgspec.Struct):
    """Paths as the agent writes them: `named` and `patched` ones are paths, `possible` ones may be.

    `unread` are texts that may have paths in them; `too_many`: there is more than is looked at.
    """

    named: list[str] = []
    patched: list[PatchPath] = []
    possible: list[str] = []
    unread: list[str] = []
    too_many: bool = False

    @property
    def certain(self) -> bool:
        """Whether these are all of the paths that there can be, and none of them is something else."""
        return not self.possible and not self.unread and not self.too_many


def input_paths(raw: Any, changes: bool, has_texts: bool = True) -> InputPaths:
    """Read the input of a tool call; `changes`: the call may change files, so that nothing in it is passed over.

    `has_texts`: it may have what is in files, so that `TEXTS` are none of its paths, and not only `NOTES`. In a call
    that only reads, a word without a slash or `..`, or with other characters than names of files usually have, is taken
    for something to search for.
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
            elif not _is_known(words, name, value):
                self._string("", str(name))
            self.value(words, value, depth + 1)

    def value(self, words: str, value: Any, depth: int, is_item: bool = False) -> None:
        self._values -= 1
        if depth > INPUT_DEPTH or self._values < 0:
            self.found.too_many = True
        elif isinstance(value, dict):
            self.members(value, depth, not is_item and (words == "changes" or is_path(words, "")))
        elif isinstance(value, list):
            for one in value[:INPUT_VALUES]:
                self.value(_SEVERAL.sub("", words), one, depth + 1, is_item=True)
        elif isinstance(value, str) and value:
            self._string(words, value)

    def _string(self, words: str, value: str) -> None:
        is_patch = value.lstrip().startswith(_PATCH_STARTS)
        is_text = words.rstrip("0123456789_") in self._texts  # some agents number them
        if (is_text and (not is_patch or words in NOTES)) or _is_word(words, value):
            return
        self._strings -= 1
        if self._strings < 0:
            self.found.too_many = True
        elif is_patch or words in PATCHES:
            self._patch(value)
        else:
            self._path(words, value)

    def _patch(self, text: str) -> None:
        paths = patch_paths(text)
        if paths is None:
            self.found.unread.append(text)
        else:
            self.found.patched += paths

    def _path(self, words: str, value: str) -> None:
        is_simple = _SIMPLE.fullmatch(value) is not None
        if words in ("uri", "url", "href") and _WEB.match(value):
            return
        if is_path(words, value) and (is_simple or (is_path(words, "") and _is_single(words, value))):
            self.found.named.append(value)
        elif not self._changes and not _leads_somewhere(words, value):
            return
        elif is_simple:
            self.found.possible.append(value)
        else:
            self.found.unread.append(value)


def _is_known(words: str, name: Any, value: Any) -> bool:
    """Whether a member's name is that of a member, and not one that the agent has made of a path."""
    if not _NAME.fullmatch(str(name)):
        return False
    plain = words.rstrip("0123456789_")
    if plain in TEXTS or words in IDS | WAYS | PATCHES | LISTS | PATTERNS or is_path(words, "/"):
        return True
    return not isinstance(value, (str, list, dict)) and not str(name)[0].isupper()


def _is_word(words: str, value: str) -> bool:
    return bool((words in WAYS and _WORD.fullmatch(value)) or (words in IDS and _ID.fullmatch(value)))


def _is_single(words: str, value: str) -> bool:
    """Whether a value with blanks and the like is one path for sure, as it stands, and not several."""
    return not _SEVERAL.search(words) and value.isprintable() and value[0] not in " @\"'`<" and value[-1] != " "


def _leads_somewhere(words: str, value: str) -> bool:
    """Whether what is read is elsewhere by it: patterns are often regular expressions with a slash in them."""
    if words in PATTERNS:
        return value.startswith((os.sep, "~")) or ".." in value
    return os.sep in value or value.startswith("~") or ".." in value
