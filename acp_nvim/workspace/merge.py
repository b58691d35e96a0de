"""Merges two changed versions of a text: lines with git, and other properties of the text separately."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeVar

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.process import git
from acp_nvim.state.private_file import remove_directory, write_new
from acp_nvim.workspace.text_shape import MIXED, TextShape, is_mac, put_together, take_apart

MERGE_SECONDS: Final = 10.0
"""Time limit in seconds for git: a million lines take 0.5 s, only unrelated texts take longer."""

NAMES: Final = ("ours", "base", "theirs")
"""The files that git merges, in the order of its arguments."""

MAX_CONFLICTS: Final = 127
"""git's exit code is the number of conflicts, this at most; a greater code is a failure."""

CONFLICT: Final = "the same lines, or lines next to each other, were changed in both"

_T = TypeVar("_T")


class Merge(msgspec.Struct, frozen=True):
    """The merged text; or None with the reason in words."""

    text: str | None
    why: str = ""


class _FailedError(Exception):
    """The merge failed; the message says why."""


class _Plan(msgspec.Struct, frozen=True):
    """What is merged already, and the files for git, which contain a number for each different line.

    So the user's text stays in our memory, and may have any character. Lines of a `MIXED` text are in `lines` as
    `_with_end` returns them, others without their ends.
    """

    bom: bool
    kind: str
    ended: bool
    lone_cr: bool
    lines: dict[bytes, str]
    files: tuple[bytes, ...]


async def merge(base: str, ours: str, theirs: str) -> Merge:
    """Apply the changes of `ours` and `theirs` to `base`; `ours` is the user's.

    Byte order mark, kind of line ends, and the end of the last line are merged separately; where both changed them, the
    user's win. Never raises; every failure is a merge without a text.
    """
    if base == ours or ours == theirs:
        return Merge(theirs)
    if base == theirs:
        return Merge(ours)
    try:
        plan = await anyio.to_thread.run_sync(_plan, base, ours, theirs)
        merged = await _merge_files(plan.files)
        return Merge(await anyio.to_thread.run_sync(_finish, plan, merged))
    except _FailedError as failure:
        return Merge(None, str(failure))


def _plan(base: str, ours: str, theirs: str) -> _Plan:
    lone_cr = any(map(is_mac, (base, ours, theirs)))
    shapes = [take_apart(text, lone_cr) for text in (base, ours, theirs)]
    bom = _changed(*(shape.bom for shape in shapes))
    ended = _changed(*_known(shape.ended for shape in shapes))
    kind = _changed(*_known(shape.kind or None for shape in shapes)) or "\n"
    base_lines, our_lines, their_lines = _mixed(*shapes) if kind == MIXED else [shape.lines for shape in shapes]
    lines = dict.fromkeys([*base_lines, *our_lines, *their_lines])
    numbers = {line: b"%d\n" % number for number, line in enumerate(lines)}
    files = tuple(b"".join(map(numbers.__getitem__, lines)) for lines in (our_lines, base_lines, their_lines))
    return _Plan(bom, kind, bool(ended), lone_cr, {number: line for line, number in numbers.items()}, files)


def _changed(base: _T, ours: _T, theirs: _T) -> _T:
    return theirs if ours == base else ours


def _known(values: Iterable[_T | None]) -> list[_T | None]:
    """Replace None, for a property that a text is too short to show, by that of the base."""
    base, *others = values
    return [base, *(base if value is None else value for value in others)]


def _mixed(base: TextShape, ours: TextShape, theirs: TextShape) -> list[list[str]]:
    """Return lines with their ends. If `theirs` only changed all ends to another kind, it gets the old ones."""
    if MIXED not in (base.kind, theirs.kind):
        theirs = TextShape(theirs.bom, theirs.lines, [base.kind] * len(theirs.lines))
    usual = Counter(filter(None, [*base.ends, *ours.ends, *theirs.ends])).most_common(1)[0][0]
    return [list(map(_with_end, shape.lines, [end or usual for end in shape.ends])) for shape in (base, ours, theirs)]


def _with_end(line: str, end: str) -> str:
    return f"{line}\n{end}"  # no line has a newline


def _finish(plan: _Plan, merged: bytes) -> str:
    try:
        lines = [plan.lines[number] for number in merged.splitlines(keepends=True)]
    except KeyError as error:
        raise _FailedError("git wrote something else than a merge") from error
    ends = [plan.kind] * len(lines)
    if plan.kind == MIXED:
        ends = [line.partition("\n")[2] for line in lines]
        lines = [line.partition("\n")[0] for line in lines]
    if lines and lines[-1] and not plan.ended:  # an empty line exists only by its end
        ends[-1] = ""
    text = put_together(plan.bom, lines, ends)
    if take_apart(text, plan.lone_cr).lines != lines:
        raise _FailedError("line ends were changed in both, in ways that do not go together")
    return text


async def _merge_files(contents: tuple[bytes, ...]) -> bytes:
    """Return the output of `git merge-file` for the three files."""
    directory = None
    try:
        directory = _make_directory()
        await anyio.to_thread.run_sync(_write_files, directory, contents)
        return await _run_git(directory)
    except OSError as error:
        raise _FailedError(f"a temporary file for git cannot be written: {error.strerror}") from error
    finally:
        if directory is not None:
            remove_directory(directory)


def _make_directory() -> str:
    """Create a directory readable by the user only, and return its real path."""
    import tempfile  # here: the host starts without it

    return os.path.realpath(tempfile.mkdtemp(prefix="acp_nvim-merge-"))


def _write_files(directory: str, contents: tuple[bytes, ...]) -> None:
    for name, content in zip(NAMES, contents, strict=True):
        write_new(Path(directory, name), content)


async def _run_git(directory: str) -> bytes:
    env = git.environment(
        {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CEILING_DIRECTORIES": os.path.dirname(directory),  # the directory may be inside a repository
        }
    )
    try:
        with anyio.fail_after(MERGE_SECONDS):
            done = await git.run(["merge-file", "-p", "-q", *NAMES], directory, env)
    except TimeoutError as error:
        raise _FailedError(f"git took too long: more than {MERGE_SECONDS:g} s") from error
    except FileNotFoundError as error:
        raise _FailedError("git, which merges, is not installed or not in PATH") from error
    except OSError as error:
        raise _FailedError(f"git, which merges, cannot be started: {error.strerror}") from error
    if 0 < done.code <= MAX_CONFLICTS:
        raise _FailedError(CONFLICT)
    if done.code != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise _FailedError(f"git failed with code {done.code}: {said[:200]}")
    return done.stdout
