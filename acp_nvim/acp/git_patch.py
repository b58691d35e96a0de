"""Divides a patch into its files: the names as git means them, the hunks, and the lines that are neither.

Each line of the patch is in one of these, so that whatever is not understood can be shown.
"""

from __future__ import annotations

from typing import Final

import msgspec

from acp_nvim.acp.patch_paths import HUNK, NULL_FILE, UnreadError, end_of_hunk, name_in_line, names_in_header, unquoted
from acp_nvim.lazy import pattern

_OF_FILE = pattern(r"(old|new|deleted file|new file) mode \d{6}|(?:dis)?similarity index \d+%")
_BLOBS = pattern(r"index ([0-9a-f]+)\.\.([0-9a-f]+)(?: \d{6})?")
_INDEX = pattern(r"Index: .*|=+")
_MOVED = pattern(r"(?:rename|copy) (from|to) (.*)")
_BINARY = pattern(r"Binary files? .* (?:differ|has changed)|GIT binary patch")
_BASE85 = pattern(r"[A-Za-z][0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]+")
_BINARY_SIZE = pattern(r"(?:literal|delta) \d+")
_COMBINED: Final = ("diff --cc ", "diff --combined ")
_FILE: Final = ("diff --git ", *_COMBINED)


class PatchedFile(msgspec.Struct, kw_only=True):
    """A file of a patch with all its lines; `left` are those that are not understood.

    `old` and `new` are its names, as they are written but for quotes. Without both, all lines are left.
    """

    old: str | None = None
    new: str | None = None
    is_new: bool = False
    is_deleted: bool = False
    is_binary: bool = False
    is_named: bool = False
    has_blobs: bool = False
    lines: list[str] = []
    hunks: list[str] = []
    left: list[str] = []

    @property
    def names(self) -> set[str]:
        """The names that the patch has for the file."""
        return {name for name in (self.old, self.new) if name is not None and name != NULL_FILE}


def patched_files(patch: str) -> list[PatchedFile]:
    """Return the files of a patch; one without names has lines that belong to no file."""
    return _Reader(patch).files()


class _Reader:
    def __init__(self, patch: str) -> None:
        self._lines = [f"{line}\n" for line in patch.split("\n")]
        self._lines[-1] = self._lines[-1][:-1]
        self._bare = [line.removesuffix("\n").removesuffix("\r") for line in self._lines]
        self._at = 0
        self._files: list[PatchedFile] = []
        self._file = PatchedFile()

    def files(self) -> list[PatchedFile]:
        """Read all lines, and return the changes of each file in the order of the patch."""
        while self._at < len(self._lines):
            line, file = self._bare[self._at], self._file
            hunk = HUNK.match(line)
            if line.startswith("diff --git "):
                self._begin(names_in_header(line.removeprefix("diff --git ")))
                self._take()
            elif line.startswith(_COMBINED):
                name = unquoted(line.split(" ", 2)[2])
                self._begin(None if name is None else (name, name))
                self._leave_rest()
            elif line.startswith("--- ") and "".join(self._bare[self._at + 1 : self._at + 2]).startswith("+++ "):
                self._take_names()
            elif hunk is not None and file.names:
                self._take_hunk(int(hunk[1] or 1), int(hunk[2] or 1))
            elif not self._take_information(line):
                if not self._files:
                    self._begin()
                self._file.left += self._take()
        for one in self._files:
            one.left = one.left if one.names else one.lines
        return [one for one in self._files if one.names or "".join(one.left).strip()]

    def _begin(self, names: tuple[str, str] | None = None) -> None:
        self._file = PatchedFile()
        self._files.append(self._file)
        if names is not None:
            self._file.old, self._file.new = names

    def _take(self, count: int = 1) -> list[str]:
        taken = self._lines[self._at : self._at + count]
        self._at += count
        self._file.lines += taken
        return taken

    def _leave_rest(self) -> None:
        """Leave the lines before the next file, whatever they seem to be."""
        self._file.left += self._take()
        while self._at < len(self._lines) and not self._bare[self._at].startswith(_FILE):
            self._file.left += self._take()

    def _take_names(self) -> None:
        names = [name_in_line(line[4:]) for line in self._bare[self._at : self._at + 2]]
        if self._file.hunks or self._file.is_named or not self._files:
            self._begin()
        if None in names or names == [NULL_FILE, NULL_FILE]:
            self._leave_rest()
            return
        self._file.old, self._file.new = names
        self._file.is_named = True
        self._file.is_new, self._file.is_deleted = names[0] == NULL_FILE, names[1] == NULL_FILE
        self._take(2)

    def _take_hunk(self, old: int, new: int) -> None:
        try:
            end = end_of_hunk(self._bare, self._at + 1, old, new)
        except UnreadError:
            self._leave_rest()
            return
        while "".join(self._bare[end : end + 1]).startswith("\\"):
            end += 1
        self._file.hunks += self._take(end - self._at)

    def _take_information(self, line: str) -> bool:
        """Take a line about the file, if it is one.

        Before names that begin with `/`, as this version of the protocol has them, git writes `new file mode` for any
        change: names and blobs are right.
        """
        file, moved = self._file, _MOVED.fullmatch(line)
        name, blobs = unquoted(moved[2]) if moved is not None else None, _BLOBS.fullmatch(line)
        is_header = bool(self._files) and not file.hunks
        follows = any(one.startswith("--- ") for one in self._bare[self._at + 1 : self._at + 3])
        if is_header and moved is not None and name is not None:
            file.old, file.new = (name, file.new) if moved[1] == "from" else (file.old, name)
        elif is_header and _BINARY.fullmatch(line):
            file.is_binary = True
        elif is_header and blobs is not None:
            file.is_new, file.is_deleted = (not one.strip("0") for one in blobs.groups())
            file.has_blobs = True
        elif is_header and _OF_FILE.fullmatch(line):
            file.is_new |= line.startswith("new file")
            file.is_deleted |= line.startswith("deleted file")
        elif line and not (_INDEX.fullmatch(line) and follows) and not (file.is_binary and _is_base85(line)):
            return False
        self._take()
        return True


def _is_base85(line: str) -> bool:
    """Whether it is a line of a binary patch: a number of bytes, and five characters for each four of them."""
    if not _BASE85.fullmatch(line):
        return _BINARY_SIZE.fullmatch(line) is not None
    count = ord(line[0]) - (ord("A") - 1 if line[0].isupper() else ord("a") - 27)
    return len(line) - 1 == (count + 3) // 4 * 5
