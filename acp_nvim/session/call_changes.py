"""Notes which files a tool call changes, or may change, as evidence for the review."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.limits import INPUT_STRINGS
from acp_nvim.permissions.input_paths import input_paths
from acp_nvim.review.ledger import TurnLog
from acp_nvim.review.work import Work
from acp_nvim.session.requests.asked_command import NO_CHANGE
from acp_nvim.session.requests.grants import named_command
from acp_nvim.workspace.refusals import NotAllowedError
from acp_nvim.workspace.roots import Roots

BACKGROUND = ("run_in_background", "is_background", "background")
"""Names of the flag in a command's input by which it continues after the call."""


def note_call(log: TurnLog, work: Work, call: ToolCall, patch: ToolCallPatch) -> None:
    """Note in `work` a tool call, changed by `patch`, that is a command, or names files that it changes.

    `log` is that of the session's turn. Calls between turns are ignored: they are replayed, as when a session is
    loaded.
    """
    if not log.active:
        return
    was_open = bool(patch.passed) and call.finished  # in between, perhaps once more
    ends = (False, True) if was_open else (call.finished,)
    _note_command(work, call, ends)
    _note_files(log, work, call, ends)


def _note_command(work: Work, call: ToolCall, ends: Sequence[bool]) -> None:
    command = None if call.raw_input is None else named_command(call.raw_input)
    if call.kind == "execute" or (command is not None and call.kind == "other"):
        line = command.command if command is not None else call.title
        words = line if isinstance(line, str) else " ".join(line)
        given = call.raw_input if isinstance(call.raw_input, dict) else {}
        in_background = bool(given) and any(given.get(name) is True for name in BACKGROUND)
        for is_finished in ends:
            work.command(f"call {call.key}", words, call.tool_call_id, is_finished, in_background)


def _note_files(log: TurnLog, work: Work, call: ToolCall, ends: Sequence[bool]) -> None:
    files = call.files()
    if not files and call.raw_input is None:
        return
    changes = {real: change for path, change in files if change and (real := _real(log.roots, path))}
    paths = set(changes)
    if call.kind not in NO_CHANGE and call.kind != "execute":
        named = [path for path, _ in files]
        paths |= {real for path in (*named, *_input(call)) if (real := _real(log.roots, path))}
    for change in changes.values():
        if change.old_path is not None and (real := _real(log.roots, change.old_path)):
            paths.add(real)
    if paths:
        words = call.title or call.name or call.kind
        for is_finished in ends:
            work.call(call.key, words, paths, changes, is_finished)


def _input(call: ToolCall) -> Iterator[str]:
    """Yield the paths that the input names unambiguously."""
    if call.raw_input is None:
        return
    found = input_paths(call.raw_input, True, has_texts=call.kind not in ("move", "delete"))
    yield from found.named[:INPUT_STRINGS]
    yield from (one.path for one in found.patched[:INPUT_STRINGS])


def _real(roots: Roots, path: str) -> str | None:
    """Return the real path, if it is in the session's directories."""
    with suppress(NotAllowedError):
        return roots.resolve(os.path.join(roots.directories[0], path))
    return None
