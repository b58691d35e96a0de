"""Notes which files a tool call changes, or may change, as evidence for the review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acp_nvim.acp.diff import FileChange
from acp_nvim.acp.tool_call import NO_CHANGE, ToolCall, ToolCallPatch
from acp_nvim.evidence.work import Work
from acp_nvim.limits import INPUT_STRINGS
from acp_nvim.permissions.input_commands import named_command
from acp_nvim.permissions.input_paths import input_paths
from acp_nvim.review.ledger import TurnLog

BACKGROUND = ("run_in_background", "is_background", "background")
"""Names of the flag in a command's input by which it continues after the call."""


def note_call(
    log: TurnLog, work: Work, call: ToolCall, patch: ToolCallPatch, is_closed_by_us: bool = False
) -> dict[str, list[FileChange]]:
    """Note in `work` a tool call, changed by `patch`, that is a command, or names files that it changes.

    Returns the files (real paths) outside of the session's directories that it names, which are watched from now on,
    with its changes of each. `log` is that of the session's turn. Calls between turns are ignored: they are replayed,
    as when a session is loaded. `is_closed_by_us`: its turn is over, which does not end a command that runs.
    """
    if not log.active:
        return {}
    was_open = bool(patch.passed) and call.finished  # in between, perhaps once more
    ends = (False, True) if was_open else (call.finished,)
    runs_on = is_closed_by_us and call.status != "rejected"
    _note_command(work, call, (False,) if runs_on else ends)
    return _note_files(log, work, call, ends)


def _note_command(work: Work, call: ToolCall, ends: Sequence[bool]) -> None:
    command = None if call.raw_input is None else named_command(call.raw_input)
    if call.kind == "execute" or (command is not None and call.kind == "other"):
        line = command.command if command is not None else call.title
        words = line if isinstance(line, str) else " ".join(line)
        given = call.raw_input if isinstance(call.raw_input, dict) else {}
        in_background = bool(given) and any(given.get(name) is True for name in BACKGROUND)
        for is_finished in ends:
            work.command(f"call {call.key}", words, call.tool_call_id, is_finished, in_background)


def _note_files(log: TurnLog, work: Work, call: ToolCall, ends: Sequence[bool]) -> dict[str, list[FileChange]]:
    files = call.files()
    if not files and call.raw_input is None:
        return {}
    changes: dict[str, list[FileChange]] = {}
    for path, change in files:
        if change and (real := log.roots.admit(path)):
            changes.setdefault(real, []).append(change)
    paths = set(changes)
    if call.kind not in NO_CHANGE and call.kind != "execute":
        named = [path for path, _ in files]
        paths |= {real for path in (*named, *_input(call)) if (real := log.roots.admit(path))}
    for some in changes.values():
        for change in some:
            if change.old_path is not None and (real := log.roots.admit(change.old_path)):
                paths.add(real)
    if paths:
        words = call.title or call.name or call.kind
        last = {path: some[-1] for path, some in changes.items()}
        for is_finished in ends:
            work.call(call.key, words, paths, last, is_finished)
    return {path: changes.get(path, []) for path in paths if log.roots.is_outside(path)}


def _input(call: ToolCall) -> Iterator[str]:
    """Yield the paths that the input names unambiguously."""
    if call.raw_input is None:
        return
    found = input_paths(call.raw_input, True, has_texts=call.kind not in ("move", "delete"))
    yield from found.named[:INPUT_STRINGS]
    yield from (one.path for one in found.patched[:INPUT_STRINGS])
