"""Finds what a request is about, for rules: the command that would run, and the files that it names or may name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from acp_nvim.acp.answers import CommandToRun, PermissionAsked
from acp_nvim.acp.diff import Diff
from acp_nvim.acp.patch_paths import PatchPath
from acp_nvim.acp.tool_call import NO_CHANGE, OF_FILES, ToolCall, UnknownItem
from acp_nvim.limits import INPUT_STRINGS, PATCH_CHARS
from acp_nvim.permissions.input_members import without_command
from acp_nvim.permissions.input_paths import InputPaths, input_paths
from acp_nvim.permissions.request.asked_command import Named, asked_command, terminal_command
from acp_nvim.permissions.rules import Subject, Wanted
from acp_nvim.terminals.command_line import Command
from acp_nvim.workspace.guarded_files import HARD_LINK, GuardedFiles
from acp_nvim.workspace.guarded_names import why_named
from acp_nvim.workspace.other_names import in_listing
from acp_nvim.workspace.refusals import NotAllowedError
from acp_nvim.workspace.roots import Roots, given_path, real_path

INPUT_PATH_CHARS: Final = 65_536
"""Total characters of the paths of a request: 200 usual ones have 16,000. Checking takes 0.3 s at worst."""

OUTSIDE: Final = ", which is outside of the session's directories"

_KNOWN_CHANGES = frozenset({"add", "delete", "modify", "move", "copy"})


class SessionPaths(msgspec.Struct):
    """Resolves the paths of one session and its `agent`: `cwd` is as the user writes it, `roots` are real paths."""

    agent: str
    cwd: str
    roots: Roots

    def given(self, path: str) -> str | None:
        """Return the absolute form of an agent's path, with its symlinks; None if it is not a path."""
        return given_path(path, self.cwd)

    def real(self, path: str) -> str | None:
        """Return the real path of an agent's path; None if it is not a path, or has a loop of symlinks."""
        try:
            given = self.given(path)
            return None if given is None else real_path(given)
        except NotAllowedError:
            return None

    def plain(self, given: str) -> str:
        """Return a path as `given` returns it without empty names and `.`, below the real path of the directory."""
        rest = given.removeprefix(self.cwd.rstrip(os.sep) + os.sep) if given != self.cwd else ""
        names = [name for name in rest.split(os.sep) if name not in ("", os.curdir)]
        top = "" if rest == given else self.roots.directories[0].rstrip(os.sep)
        return os.sep.join([top, *names]) or os.sep

    def has(self, path: str) -> bool:
        """Whether an agent's path leads into one of the session's directories."""
        real = self.real(path)
        return real is not None and self.roots.contains(real)


def of_permission(asked: PermissionAsked, call: ToolCall | None, diffs: Sequence[Diff], where: SessionPaths) -> Wanted:
    """Return what a permission request of the agent is about; `diffs` are those of its tool call."""
    kind = "execute" if asked.command is not None else call.kind if call else "other"
    command = asked_command(asked, call, kind, where.cwd)
    changes = [change for diff in diffs for change in diff.changes]
    of_files = named_files(kind, call, diffs, command.named is not None, where, asked.beyond)
    why = of_files.guarded
    outside = any(path is not None and not where.roots.contains(path) for path in of_files.paths)
    led = [*_led_elsewhere(command.directories, where), *of_files.led]
    strange = (
        asked.subject is not None
        or (call is not None and call.incomplete)
        or command.is_strange
        or any(not where.has(cwd) for cwd in command.directories)
        or any(place is None or not where.roots.contains(place) for place in of_files.places)
        or (bool(changes) and kind in NO_CHANGE)
        or why is not None
    )
    wanted = Wanted(
        agent=where.agent,
        kind=kind,
        roots=where.roots.directories,
        paths=of_files.paths,
        places=of_files.places,
        command=command.read,
        strange=strange,
        why=why,
        remarks=command.remarks,
        led=tuple(dict.fromkeys(led)),
    )
    if strange or outside or not of_files.certain or not command.is_known:
        return wanted
    about = _subject(wanted, command.named, next(iter(command.directories), None), where)
    return msgspec.structs.replace(wanted, about=about)


def _subject(wanted: Wanted, command: Named | None, cwd: str | None, where: SessionPaths) -> Subject | None:
    """Return the subject of a stored answer: the command and its directory, or the files if all are known."""
    paths = tuple(sorted({path for path in wanted.paths if path is not None}))
    if None in wanted.paths or (command is None and (not paths or wanted.kind not in OF_FILES)):
        return None
    place = where.real(cwd or where.cwd) if command else None
    text = command.text if command else None
    return Subject(agent=where.agent, kind=wanted.kind, command=text, cwd=place, paths=paths)


def of_terminal(wanted: CommandToRun, run: Command, where: SessionPaths) -> Wanted:
    """Return what a request for a terminal is about; `run` is what would run for `wanted`."""
    command, strange = terminal_command(wanted, run)
    return Wanted(
        agent=where.agent,
        kind="execute",
        roots=where.roots.directories,
        command=command.read,
        strange=strange,
        about=None if strange else Subject(agent=where.agent, kind="execute", command=command.text, cwd=run.cwd),
    )


def of_file(kind: str, path: str, where: SessionPaths, *, outside: bool, guarded: str | None) -> Wanted:
    """Return what a request for a file (a real path) is about, which is outside or `guarded` (the reason)."""
    return Wanted(
        agent=where.agent,
        kind=kind,
        roots=where.roots.directories,
        paths=[path],
        outside=outside,
        strange=guarded is not None,
        about=Subject(agent=where.agent, kind=kind, paths=(path,)) if guarded is None else None,
        why=guarded,
    )


# --- files -----------------------------------------------------------------------------------------------------------


class NamedFiles(msgspec.Struct, frozen=True):
    """The real paths for rules; None stands for unknown ones. If `certain`, none of them is something else.

    `guarded` is the reason why no rule may allow the request, which would change a guarded file. `places` are paths
    that a request about a command names beside it. `led` says, for the user, where names lead.
    """

    paths: Sequence[str | None]
    certain: bool
    guarded: str | None
    places: Sequence[str | None] = ()
    led: Sequence[str] = ()


def named_files(
    kind: str,
    call: ToolCall | None,
    diffs: Sequence[Diff],
    is_command: bool,
    where: SessionPaths,
    beyond: Mapping[str, Any],
) -> NamedFiles:
    """Return the files that a request of that kind about `call` with these `diffs` names.

    `is_command`: the input names a command, which rules judge instead of the rest of the input. `beyond` are members of
    the request that the protocol does not have.
    """
    changes = [change for diff in diffs for change in diff.changes]
    named = [name for change in changes for name in (change.path, change.old_path) if name is not None]
    named += [name for diff in diffs for name in diff.others if name is not None]
    is_unread = any(change.operation not in _KNOWN_CHANGES for change in changes)
    is_unread = is_unread or any(None in diff.others for diff in diffs)
    may_change = bool(changes) or kind not in NO_CHANGE
    raw = beyond if call is None else _input(call, is_command, beyond)
    found = input_paths(raw, may_change, has_texts=kind not in ("move", "delete"))
    named += [one.path for one in call.locations] if call is not None else []
    is_only_command = is_command and not changes
    if sum(map(len, [*named, *found.named, *found.possible, *(one.path for one in found.patched)])) > INPUT_PATH_CHARS:
        named, found = [], InputPaths(too_many=True)
    guarded = _why_guarded(named, found, where) if may_change and not (is_only_command and kind == "execute") else None
    if is_only_command:
        places = [where.real(one) for one in named[:INPUT_STRINGS]]
        return NamedFiles([], True, guarded, places, list(_led_elsewhere(named, where)))
    led = list(_led_elsewhere([*named, *found.named, *(one.path for one in found.patched)], where, found.possible))
    told = [where.real(one) for one in named[:INPUT_STRINGS]]
    alone = list(_alone(found, told, where))
    joined = list(_joined(found, where))
    paths = list(dict.fromkeys([*told, *alone, *joined]))
    if is_unread or found.unread or found.too_many or len(named) > INPUT_STRINGS:
        paths.append(None)
    return NamedFiles(paths, found.certain and not joined and None not in paths, guarded, led=led)


def _input(call: ToolCall, is_command: bool, beyond: Mapping[str, Any]) -> Any:
    """Return the input, what it was before, and content of unknown kinds; the command is judged by itself."""
    raw = without_command(call.raw_input) if is_command else call.raw_input
    if call.earlier_input or beyond:
        raw = [raw, *({name: value} for name, value in (*call.earlier_input, *beyond.items()))]
    unknown = [one.original for one in call.content if isinstance(one, UnknownItem)]
    return [raw, *unknown] if unknown else raw


def _alone(found: InputPaths, told: Sequence[str | None], where: SessionPaths) -> Iterator[str | None]:
    """Yield the real path of each path in the input; `told` are real paths from the rest of the request."""
    known = [where.real(one) for one in [*found.named, *found.possible]]
    yield from known
    for one in found.patched[:INPUT_STRINGS]:
        yield from map(where.real, _patched(one, [*told, *known], where))
    if len(found.patched) > INPUT_STRINGS:
        yield None


def _joined(found: InputPaths, where: SessionPaths) -> Iterator[str | None]:
    """Yield the relative paths, joined with every other path of the input that may be their base directory."""
    texts = list(dict.fromkeys([*found.named, *found.possible]))
    patched = dict.fromkeys(one.path for one in found.patched)
    relative = [one for one in [*texts, *patched] if not os.path.isabs(one) and one[:5].lower() != "file:"]
    bases = [(one, real) for one in texts if (real := where.real(one)) is not None and not os.path.isfile(real)]
    if len(relative) * len(bases) > INPUT_STRINGS:
        yield None
        return
    for base, real in bases:
        yield from (where.real(os.path.join(real, one)) for one in relative if one != base)


def _patched(one: PatchPath, known: Sequence[str | None], where: SessionPaths) -> Iterator[str]:
    """Yield the paths that a patch may mean: `a/` is git's prefix, unless such a directory exists.

    Some agents write absolute paths as `a/home/me/x`.
    """
    literal = os.path.join(where.cwd, one.prefix, one.path)
    absolute = os.sep + one.path
    if one.prefix and os.path.lexists(literal):
        yield literal
    is_known = one.prefix and os.path.realpath(absolute) in known
    yield absolute if is_known and not os.path.lexists(os.path.join(where.cwd, one.path)) else one.path


def _led_elsewhere(named: Sequence[str], where: SessionPaths, possible: Sequence[str] = ()) -> Iterator[str]:
    """Yield, for the user, where names lead that are outside, or that are those of another place.

    A `possible` path is one if there is such a file.
    """
    for name in dict.fromkeys([*named[:INPUT_STRINGS], *possible[:INPUT_STRINGS]]):
        given, real = where.given(name), where.real(name)
        if given is None or real is None or (name not in named and not os.path.lexists(real)):
            continue
        is_inside = where.roots.contains(real)
        listed = in_listing(real, next(filter(partial(_is_above, real), where.roots.directories), os.sep))
        is_spelled = name[:5].lower() == "file:" and "%" in name
        if listed != where.plain(given) or is_spelled:
            yield f"{name} leads to {where.roots.name(listed)}" + ("" if is_inside else OUTSIDE)
        elif not is_inside:
            yield f"{name} is outside of the session's directories"


def _is_above(path: str, directory: str) -> bool:
    return path.startswith(directory.rstrip(os.sep) + os.sep)


def _why_guarded(named: Sequence[str], found: InputPaths, where: SessionPaths) -> str | None:
    """Return why no rule may allow a change to one of the files, or to one that a text may name."""
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
    """Return the user's explanation why no rule may allow a request about `path`."""
    return f"No rule may allow it, as {path} {'may make' if why == HARD_LINK else 'makes'} programs run: {why}."
