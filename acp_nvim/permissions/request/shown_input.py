"""Finds what a permission request has to show of its call's input: each member that nothing else in it shows.

Rules, stored answers and grants read the input. What they read is shown whole, so that nobody allows what they have not
seen; of other long texts the middle is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from acp_nvim.acp.answers import PermissionAsked
from acp_nvim.acp.diff import Diff, Piece
from acp_nvim.acp.patch_paths import patch_paths
from acp_nvim.acp.raw_paths import is_path, words_of
from acp_nvim.acp.tool_call import ToolCall, UnknownItem
from acp_nvim.contract.views import CallView, DiffItem, InputMember, ResourceItem, TextItem
from acp_nvim.lazy import pattern
from acp_nvim.permissions import member_names as names
from acp_nvim.permissions.input_members import InputMembers, in_json, is_shown_whole, of_command, shown, shown_name
from acp_nvim.permissions.input_paths import is_ordinary, is_patch, is_text, names_paths
from acp_nvim.permissions.request.subject import SessionPaths

MEMBERS: Final = 2000
"""Members that a request shows: real inputs have ten, and a hundred edits at once have four each."""
MEMBERS_CHARS: Final = 512 * 1024
"""Characters of all members: as many as one text of a request has."""
TEXT_CHARS: Final = 4096
"""Characters of a text that rules do not read: of a longer one the middle is left out. No path is longer."""
TEXT_LINES: Final = 40
"""Lines of such a text."""
DEPTH: Final = 20
"""Depth of nested values; a deeper one is shown as JSON."""
SEARCHED_CHARS: Final = 8 * 1024 * 1024
"""Characters of changes that are searched for texts of the input, in 5 ms."""

_PATCH_HEADER = pattern(r"(?:diff |index |--- |\+\+\+ |@@|\*\*\* |\\ |Index: |={3,}|(?:new|deleted) file mode )")
_ADDRESS = pattern(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_BETWEEN_WORDS = pattern(r"[\s`'\"]+")

Member = tuple[str, str, Any]
"""A member as the request calls it, its own name, and its value."""
Names = tuple[str, ...]
Leaf = tuple[Member, Names]


def shown_input(
    asked: PermissionAsked, call: ToolCall | None, known: Known, remarks: Sequence[str]
) -> tuple[list[InputMember], bool]:
    """Return the members of the input that a request has to show, and whether these are all.

    `asked.command` is the command that it shows, and `remarks` show some of the members that are no part of it.
    """
    found: list[InputMember] = []
    chars = 0
    for (label, name, value), paths in _leaves(_parts(asked, call, known.cwd, frozenset(remarks)), DEPTH):
        if (names.is_empty(value) or known.has(name, value)) and all(map(known.has_file, paths)):
            continue
        one = _view(label, name, value)
        chars += len(one.name) + len(one.text)
        if len(found) == MEMBERS or chars > MEMBERS_CHARS:
            return found, False
        found.append(one)
    return found, True


class Known:
    """What a request shows beside the input: title, description, content, and the files of its call (`view`)."""

    def __init__(
        self, asked: PermissionAsked, view: CallView | None, diffs: Sequence[Diff], where: SessionPaths
    ) -> None:
        content = view.content if view is not None else []
        title = asked.title or (view.title if view is not None else "")
        self.cwd = where.cwd
        self._where = where
        self._texts = {title.strip(), (asked.description or "").strip()}
        self._texts |= {one.text.strip() for one in content if isinstance(one, TextItem) and not one.chars}
        self._texts |= {one.uri for one in content if isinstance(one, ResourceItem)}
        self._words = set(_BETWEEN_WORDS.split(title))
        places = [one.path for one in view.locations] if view is not None else []
        places += [path for one in content if isinstance(one, DiffItem) for path in (one.path, one.old_path) if path]
        self._files = set(map(self._place, places))
        self._pieces = [piece for diff in diffs for change in diff.changes for piece in change.pieces]
        self._left = SEARCHED_CHARS
        self._lines: frozenset[str] | None = None

    def has(self, name: str, value: Any) -> bool:
        """Whether the request shows this value of a member with that name."""
        if not isinstance(value, str):
            return False
        words = words_of(name)
        if value.strip() in self._texts:
            return True
        if is_patch(words, value):
            return self._has_patch(value)
        if is_text(words):
            return self._is_changed(value)
        is_named = is_path(words, value) or "/" in value
        return is_named and (value in self._words or self.has_file(value))

    def has_file(self, path: str) -> bool:
        """Whether the request names that file, as one that its call changes or is about."""
        return self._place(path) in self._files

    def _place(self, path: str) -> str:
        given = self._where.given(path)
        return path if given is None else self._where.plain(given)

    def _is_changed(self, text: str) -> bool:
        """Whether a text is a part of a change, before or after it."""
        for side in _sides(self._pieces):
            self._left -= len(side)
            if self._left < 0:
                return False
            if text in side:
                return True
        return False

    def _has_patch(self, patch: str) -> bool:
        """Whether the changes have all files and lines of a patch."""
        files = patch_paths(patch)
        if not self._pieces or files is None or not all(self._has_patched(one.prefix, one.path) for one in files):
            return False
        if self._lines is None:
            self._lines = frozenset(line for side in _sides(self._pieces) for line in side.splitlines())
        lines = self._lines
        return all(not line or _PATCH_HEADER.match(line) or line[1:] in lines for line in patch.splitlines())

    def _has_patched(self, prefix: str, path: str) -> bool:
        return any(map(self.has_file, (path, prefix + path, "/" + path)))


def _sides(pieces: Iterable[Piece]) -> Iterator[str]:
    return (side for piece in pieces for side in (piece.old_text, piece.new_text) if side)


def _parts(asked: PermissionAsked, call: ToolCall | None, cwd: str, remarks: frozenset[str]) -> Iterator[Member]:
    """Yield all that rules read of a request beside its title, content and files."""
    raw = None if call is None else call.raw_input
    others = [*asked.beyond.items(), *(asked.subject or {}).items()]
    earlier = call.earlier_input if call is not None else ()
    members = None if asked.command is None else of_command(raw, [*others, *earlier])
    ours = list(raw.items()) if isinstance(raw, dict) else [("input", raw)]
    for before, part in (("", ours), ("", others), ("earlier ", earlier)):
        for name, value in part:
            is_remark = f"  {shown((name, value))}" in remarks and is_shown_whole((name, value))
            if not is_remark and not _is_shown_else(name, value, members, asked, cwd):
                yield before + shown_name(name), name, value
    if call is not None:
        yield from (("content", "content", one.original) for one in call.content if isinstance(one, UnknownItem))


def _is_shown_else(name: str, value: Any, members: InputMembers | None, asked: PermissionAsked, cwd: str) -> bool:
    """Whether a member is a part of the shown command, which has the `members`, or harmless beside it.

    Of other calls only what identifies them is harmless.
    """
    plain = names.plain_name(name)
    if members is None:
        return plain in names.ABOUT_THE_CALL and names.is_harmless(plain, value)
    if plain in names.COMMANDS | names.ARGUMENTS:
        return len(members.commands) == 1
    if plain in names.DIRECTORIES:
        return bool(value == (asked.cwd or cwd))
    if plain in names.ENVIRONMENTS:
        return len(members.environments) == 1 and bool(asked.env)
    is_repeating = plain in names.REPEATING | names.CHOICES and (name, value) not in members.unknown
    return is_repeating or names.is_harmless(plain, value)


def _leaves(members: Iterable[Member], depth: int, around: Names = (), are_paths: bool = False) -> Iterator[Leaf]:
    """Yield the innermost members that say something, each with its names and those `around` it that may be paths."""
    for label, name, value in members:
        is_item = label.endswith("]")
        paths = around if is_item or (is_ordinary(name, value) and not are_paths) else (*around, name)
        if isinstance(value, dict) and value and depth:
            inner = ((f"{label}.{shown_name(str(one))}", str(one), two) for one, two in value.items())
            yield from _leaves(inner, depth - 1, paths, not is_item and names_paths(words_of(name)))
        elif isinstance(value, list) and depth and any(isinstance(one, str | dict | list) for one in value):
            yield from _leaves(((f"{label}[{at}]", name, one) for at, one in enumerate(value, 1)), depth - 1, paths)
        elif paths or not names.is_empty(value):
            yield (label, name, value), paths


def _view(label: str, name: str, value: Any) -> InputMember:
    """Return a member as the request shows it: a text as it is, unless its ends are blank; anything else as JSON."""
    is_visible = isinstance(value, str) and value == value.strip() != ""
    text = value if is_visible else in_json(value)
    lines = text.split("\n")
    if (len(text) <= TEXT_CHARS and len(lines) <= TEXT_LINES) or (isinstance(value, str) and _is_read(name, value)):
        return InputMember(label, text)
    half = TEXT_LINES // 2
    head = "\n".join(lines[:half])[: TEXT_CHARS // 2]
    tail = "\n".join(lines[max(half, len(lines) - half) :])[-TEXT_CHARS // 2 :]
    if not tail or len(head) + len(tail) >= len(text):
        head, tail = text[: TEXT_CHARS // 2], text[-TEXT_CHARS // 2 :]
    return InputMember(label, head, tail, len(text), len(lines))


def _is_read(name: str, value: str) -> bool:
    """Whether a long text is one of which every part counts: a path, a patch, a command, or an address."""
    words = words_of(name)
    return (
        _ADDRESS.fullmatch(value) is not None
        or is_path(words, "")
        or is_patch(words, value)
        or names.plain_name(name) in names.OTHER_COMMANDS
    )
