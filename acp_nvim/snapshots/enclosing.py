"""Finds the repository that a directory belongs to by looking at files: git might run what its configuration names."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from acp_nvim.limits.git import PACKED_REFS_BYTES
from acp_nvim.workspace.regular_files import read_regular


class Enclosing(NamedTuple):
    """A repository of the user's. Absolute paths."""

    top: str
    """Its work tree."""
    git_dir: str
    """That of this work tree: its index is there."""
    common_dir: str
    """What all its work trees share: the same, when there is just one."""


def enclosing(directory: str) -> Enclosing | None:
    """The innermost repository whose work tree `directory` is, or is in."""
    while True:
        found = repository_at(directory)
        parent = os.path.dirname(directory)
        if found is not None or parent == directory:
            return found
        directory = parent


def repository_at(top: str) -> Enclosing | None:
    """The repository with the work tree `top`."""
    git_dir = os.path.join(top, ".git")
    if os.path.isfile(git_dir):
        git_dir = _pointed(git_dir, b"gitdir: ", top)
    if not git_dir or not os.path.lexists(os.path.join(git_dir, "HEAD")):
        return None
    common_dir = _pointed(os.path.join(git_dir, "commondir"), b"", git_dir) or git_dir
    return Enclosing(top, git_dir, common_dir) if os.path.isdir(os.path.join(common_dir, "objects")) else None


def main_directory(directory: str) -> str:
    """The main work tree, when the directory is a linked one of the same repository; else the directory itself.

    A bare repository stands for its main work tree.
    """
    repository = repository_at(directory)
    if repository is None or repository.common_dir == repository.git_dir:
        return directory
    common = os.path.realpath(repository.common_dir)
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def head_commit(repository: Enclosing) -> str | None:
    """The id of the commit that is checked out; None when that does not stand in a file."""
    head = _pointed(os.path.join(repository.git_dir, "HEAD"), b"", "")
    if not head.startswith("ref: "):
        return head if _is_id(head) else None
    name = head.removeprefix("ref: ")
    loose = _pointed(os.path.join(repository.common_dir, name), b"", "")
    if _is_id(loose):
        return loose
    try:
        packed = read_regular(os.path.join(repository.common_dir, "packed-refs"), PACKED_REFS_BYTES)
    except OSError:
        return None
    found = re.search(rb"^([0-9a-f]{40}) " + re.escape(os.fsencode(name)) + rb"$", packed, re.MULTILINE)
    return found[1].decode() if found else None


def _is_id(word: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{40}", word) is not None


def _pointed(file: str, prefix: bytes, base: str) -> str:
    """The path that stands in a file, made absolute; "" without one."""
    try:
        line = read_regular(file, 65_536).rstrip(b"\r\n")
    except OSError:
        return ""
    return os.path.join(base, os.fsdecode(line.removeprefix(prefix))) if line.startswith(prefix) else ""
