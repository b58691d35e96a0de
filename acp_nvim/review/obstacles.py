"""In which order changes are rejected, what stands in the way of each, and which directories are left empty."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile

from acp_nvim.evidence.evidence import is_proven
from acp_nvim.file_time import is_real_directory
from acp_nvim.review.change import Entry
from acp_nvim.workspace.refusals import InTheWayError


def make_way(path: str) -> None:
    """Remove empty directories at `path`, where a file has to be. Blocks.

    Raises `InTheWayError` if anything else than a file is there, or something else than a directory above it.
    """
    check_above(path)
    if not is_real_directory(path):
        return
    found = first_file(path)
    if found is not None:
        raise InTheWayError(
            f"{path} was left as it is: it is a directory now, with files in it ({found}). Keep or reject these "
            "first, or move them"
        )
    remove_empty(path)


def check_above(path: str) -> None:
    """Raise `InTheWayError` if something above `path` is no directory. Blocks."""
    above = _nearest(os.path.dirname(path))
    if not is_real_directory(above):
        what = "a symbolic link" if os.path.islink(above) else "a file"
        raise InTheWayError(
            f"{path} was left as it is: {above} is {what} now, not a directory. Keep or reject it first, or move it"
        )


def first_file(directory: str, without: str | None = None) -> str | None:
    """Return the path of anything below that directory, and not in `without`, which is no directory. Blocks."""
    for where, names, files in os.walk(directory):
        names[:] = [name for name in names if os.path.join(where, name) != without]
        links = [name for name in names if os.path.islink(os.path.join(where, name))]
        for name in (*files, *links):
            return os.path.join(where, name)
    return None


def remove_empty(directory: str) -> None:
    """Remove that directory, and those in it, as far as they are empty. Blocks."""
    for where, _, _ in os.walk(directory, topdown=False):
        with suppress(OSError):
            os.rmdir(where)


def remove_emptied(path: str, made: Container[str]) -> list[str]:
    """Remove the directories that held `path` and are empty now, as far as they are in `made`. Blocks.

    Returns those removed.
    """
    removed = []
    for above in _above(path):
        if above not in made:
            break
        try:
            os.rmdir(above)
        except OSError:
            break
        removed.append(above)
    return removed


def directories_above(path: str, root: str) -> list[str]:
    """Return the directories above `path` and below `root`, the innermost first."""
    return list(takewhile(lambda above: above.startswith(root.rstrip(os.sep) + os.sep), _above(path)))


def missing_above(path: str) -> list[str]:
    """Return the directories above `path` that are not there, the innermost first. Blocks."""
    return list(takewhile(lambda above: not os.path.lexists(above), _above(path)))


def _above(path: str) -> Iterator[str]:
    while (above := os.path.dirname(path.rstrip(os.sep))) != path:
        yield above
        path = above


def _nearest(path: str) -> str:
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return path


def in_order(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries in an order in which most of them can be rejected.

    New files go first, inner ones before outer ones, and directories are renamed last, when they have their files.
    """
    deepest = sorted(entries, key=lambda one: one.path, reverse=True)
    new = [one for one in deepest if _is_new(one) and not one.is_directory]
    directories = sorted((one for one in deepest if one.is_directory), key=lambda one: -one.path.count(os.sep))
    others = [one for one in entries if not _is_new(one) and not one.is_directory]
    return [*new, *sorted(others, key=lambda one: one.current is None), *directories]


def place_of(entry: Entry) -> str | None:
    """Return where the rejection of an entry puts something that is not there now; None if it does not."""
    if entry.old_path is not None:
        return entry.old_path.rstrip(os.sep)
    return entry.path if entry.current is None and entry.base is not None else None


def is_in_way(other: Entry, entry: Entry, place: str) -> bool:
    """Return whether an agent has put `other` at `place`, below it, or where a directory above it has to be."""
    if not is_proven(other.verdict.by, force=False) or not (_is_new(other) or other.old_path is not None):
        return False
    if entry.is_directory and other.path == entry.old_path:
        return False  # it is renamed together with that
    return (
        other.path.rstrip(os.sep) == place
        or other.path.startswith(place + os.sep)
        or (not other.is_directory and place.startswith(other.path + os.sep))
    )


def check_covered(place: str, paths: Sequence[str]) -> None:
    """Raise `InTheWayError` if anything is at `place`, or below it, but these files and renamed directories. Blocks."""
    if not is_real_directory(place) or place + os.sep in paths:
        return
    for where, names, files in os.walk(place):
        names[:] = [name for name in names if os.path.join(where, name, "") not in paths]
        links = [name for name in names if os.path.islink(os.path.join(where, name))]
        other = next((name for name in (*files, *links) if os.path.join(where, name) not in paths), None)
        if other is not None:
            raise InTheWayError(
                f"{place} was left as it is: {os.path.join(where, other)} is there, and no agent is known to have made "
                "it. Move it, then try again"
            )


def check_way(entry: Entry) -> None:
    """Raise `InTheWayError` if something is where the rejection of a file puts something back. Blocks."""
    place = place_of(entry)
    if place is not None:
        make_way(place)


def _is_new(entry: Entry) -> bool:
    return entry.base is None and entry.old_path is None
