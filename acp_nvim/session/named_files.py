"""The files that a permission request is about: those that it names, and those that it may name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from acp_nvim.limits import PATCH_CHARS
from acp_nvim.limits.permissions import INPUT_PATH_CHARS, INPUT_STRINGS
from acp_nvim.permissions.input_paths import InputPaths, input_paths
from acp_nvim.protocol.diff import Diff
from acp_nvim.protocol.patch_paths import PatchPath
from acp_nvim.protocol.tool_call import ToolCall, UnknownItem
from acp_nvim.workspace.guarded_files import HARD_LINK, GuardedFiles
from acp_nvim.workspace.guarded_names import why_named
from acp_nvim.workspace.refusals import NotAllowedError
from acp_nvim.workspace.roots import Roots, real_path

NO_CHANGE: Final = frozenset({"read", "search", "think", "fetch", "switch_mode"})
"""Kinds of tool calls that change no files."""

_KNOWN_CHANGES = frozenset({"add", "delete", "modify", "move", "copy"})
_OF_COMMANDS = frozenset({"command", "cmd", "args", "cwd", "workdir", "env"})


class Where(msgspec.Struct, frozen=True):
    """A session: its agent, its directory as the user calls it, its directories as they are."""

    agent: str
    cwd: str
    roots: Roots

    def given(self, path: str) -> str | None:
        """The absolute path of what an agent calls so, links and all; None for what is no path."""
        try:
            parts = urlsplit(path) if path[:5].lower() == "file:" else None
            text = unquote(parts.path) if parts else os.path.expanduser(path)
        except ValueError:
            return None
        return os.path.join(self.cwd, text) if text else None

    def real(self, path: str) -> str | None:
        """The real path of what an agent calls so; None for what is no path, or leads through links in a circle."""
        try:
            given = self.given(path)
            return None if given is None else real_path(given)
        except NotAllowedError:
            return None

    def has(self, path: str) -> bool:
        """Whether it is in one of the session's directories."""
        real = self.real(path)
        return real is not None and self.roots.contains(real)


class NamedFiles(msgspec.Struct, frozen=True):
    """Real paths for rules; None among them: there may be others. `certain`: each of them is a path for sure.

    `guarded`, in words: the request would change a file that no rule may allow.
    """

    paths: Sequence[str | None]
    certain: bool
    guarded: str | None


def named_files(kind: str, call: ToolCall | None, diffs: Sequence[Diff], is_command: bool, where: Where) -> NamedFiles:
    """Those of a request about `call`, of that kind; `diffs` are all that it has shown.

    `is_command`: the input names a command, which rules judge instead of the rest of the input.
    """
    changes = [change for diff in diffs for change in diff.changes]
    named = [name for change in changes for name in (change.path, change.old_path) if name is not None]
    named += [name for diff in diffs for name in diff.others if name is not None]
    is_unread = any(change.operation not in _KNOWN_CHANGES for change in changes)
    is_unread = is_unread or any(None in diff.others for diff in diffs)
    may_change = bool(changes) or kind not in NO_CHANGE
    raw = None if call is None else _input(call, is_command)
    found = input_paths(raw, may_change, has_texts=kind not in ("move", "delete"))
    named += [one.path for one in call.locations] if call is not None else []
    is_only_command = is_command and not changes
    if sum(map(len, [*named, *found.named, *found.possible, *(one.path for one in found.patched)])) > INPUT_PATH_CHARS:
        named, found = [], InputPaths(too_many=True)
    guarded = _why_guarded(named, found, where) if may_change and not (is_only_command and kind == "execute") else None
    if is_only_command:
        return NamedFiles([], True, guarded)
    told = [where.real(one) for one in named[:INPUT_STRINGS]]
    alone = list(_alone(found, told, where))
    joined = list(_joined(found, where))
    paths = list(dict.fromkeys([*told, *alone, *joined]))
    if is_unread or found.unread or found.too_many or len(named) > INPUT_STRINGS:
        paths.append(None)
    return NamedFiles(paths, found.certain and not joined and None not in paths, guarded)


def _input(call: ToolCall, is_command: bool) -> Any:
    """With what content of unknown kinds says; without the command, which is judged as such."""
    raw = call.raw_input
    if is_command and isinstance(raw, dict):
        raw = {name: value for name, value in raw.items() if name not in _OF_COMMANDS}
    unknown = [one.original for one in call.content if isinstance(one, UnknownItem)]
    return [raw, *unknown] if unknown else raw


def _alone(found: InputPaths, told: Sequence[str | None], where: Where) -> Iterator[str | None]:
    """Each path of the input by itself; `told` are the real paths that the request names elsewhere."""
    known = [where.real(one) for one in [*found.named, *found.possible]]
    yield from known
    for one in found.patched[:INPUT_STRINGS]:
        yield from map(where.real, _patched(one, [*told, *known], where))
    if len(found.patched) > INPUT_STRINGS:
        yield None


def _joined(found: InputPaths, where: Where) -> Iterator[str | None]:
    """What is relative below whatever else in the input may be the directory that it is meant from."""
    texts = list(dict.fromkeys([*found.named, *found.possible]))
    patched = dict.fromkeys(one.path for one in found.patched)
    relative = [one for one in [*texts, *patched] if not os.path.isabs(one) and one[:5].lower() != "file:"]
    bases = [(one, real) for one in texts if (real := where.real(one)) is not None and not os.path.isfile(real)]
    if len(relative) * len(bases) > INPUT_STRINGS:
        yield None
        return
    for base, real in bases:
        yield from (where.real(os.path.join(real, one)) for one in relative if one != base)


def _patched(one: PatchPath, known: Sequence[str | None], where: Where) -> Iterator[str]:
    """What a patch means: `a/` is git's, unless there is such a directory; some agents write `a/home/me/x`."""
    literal = os.path.join(where.cwd, one.prefix, one.path)
    absolute = os.sep + one.path
    if one.prefix and os.path.lexists(literal):
        yield literal
    is_known = one.prefix and os.path.realpath(absolute) in known
    yield absolute if is_known and not os.path.lexists(os.path.join(where.cwd, one.path)) else one.path


def _why_guarded(named: Sequence[str], found: InputPaths, where: Where) -> str | None:
    """Why the user has to be asked about one of the files, or about one that a text may name."""
    patched = [text for one in found.patched for text in (one.path, one.prefix + one.path)]
    names = list(dict.fromkeys([*named, *found.named, *found.possible, *patched]))
    if found.too_many or len(names) > INPUT_STRINGS or sum(map(len, found.unread)) > PATCH_CHARS:
        return "No rule may allow it: it may name more files than acp_nvim looks at."
    guards = GuardedFiles(where.roots)
    for name in names:
        given, real = where.given(name), where.real(name)
        if given is not None and real is None:
            return f"No rule may allow it: {name[:100]} is no path that acp_nvim can look up."
        why = None if given is None or real is None else guards.why_asked(given, real)
        if why is not None and real is not None:
            return always_asked(real, why)
    why = next(filter(None, map(why_named, found.unread)), None)
    return None if why is None else always_asked("something that it names", why)


def always_asked(path: str, why: str) -> str:
    """For the user: why a request is not left to a rule."""
    return f"No rule may allow it, as {path} {'may make' if why == HARD_LINK else 'makes'} programs run: {why}."
