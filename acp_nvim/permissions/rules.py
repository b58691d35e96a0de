"""The rules that answer permission requests without the user; the first matching rule decides."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from acp_nvim.contract.request_events import RuleAction
from acp_nvim.contract.settings import Rule
from acp_nvim.permissions.bash_tree import Word
from acp_nvim.permissions.glob import Match, match_command, match_path
from acp_nvim.permissions.shell_line import Command, ShellLine


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a stored answer applies to: a command in a directory, or a kind of tool call on some files."""

    agent: str
    kind: str
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A request as rules see it; its title and other free text are not part of it.

    `paths` are real paths; None stands for an unknown one. `command` is what would run. A `strange` request contains
    more than rules can judge: only the user allows it. A file that is `outside` is allowed only by a rule with a path.

    `places` are paths that a request about a command names beside it: they may be a reason to reject it. `remarks` say,
    for the user, what the request has beyond the command, and `led` where paths lead.

    `about` is the subject of a stored answer; None if the same request could not be recognised. `why` says, for the
    user, why no rule may allow the request.
    """

    agent: str
    kind: str
    roots: Sequence[str]
    paths: Sequence[str | None] = ()
    command: ShellLine | None = None
    strange: bool = False
    outside: bool = False
    about: Subject | None = None
    why: str | None = None
    places: Sequence[str | None] = ()
    remarks: tuple[str, ...] = ()
    led: tuple[str, ...] = ()


class Judgement(msgspec.Struct, frozen=True):
    """What to do, and the rules that decided it; `ask` without a rule if none matches for certain."""

    action: RuleAction
    rules: tuple[Rule, ...] = ()


def judge(rules: Sequence[Rule], wanted: Wanted, otherwise: RuleAction = "ask") -> Judgement:
    """Judge each simple command, inner ones included: reject if one is rejected, allow if all are allowed.

    `otherwise` is the action when no rule matches.
    """
    commands: Sequence[Command | None] = wanted.command.commands if wanted.command else [None]
    found = [_judge_one(rules, wanted, one, otherwise) for one in commands]
    for action in ("reject", "ask", "allow"):
        meant = [one for one in found if one.action == action]
        if meant:
            break
    by = dict.fromkeys(rule for one in meant for rule in one.rules)
    return Judgement(meant[0].action, tuple(by))


def _judge_one(rules: Sequence[Rule], wanted: Wanted, command: Command | None, otherwise: RuleAction) -> Judgement:
    """Judge by the first matching rule. If it is uncertain which one that is, all candidates have to agree.

    An inner command can be a reason to reject the command that runs it, but not to allow it.
    """
    is_inner = command is not None and command.inner
    possible: list[tuple[RuleAction, Rule | None]] = []
    for rule in rules:
        match = _matches(rule, wanted, command)
        if match != "no":
            possible.append((rule.action, rule))
        if match == "yes":
            break
    else:
        possible.append(("allow" if is_inner else otherwise, None))
    if len({action for action, _ in possible}) > 1:
        return Judgement("ask")
    action, by = possible[-1]
    return Judgement(action, () if by is None or (is_inner and action == "allow") else (by,))


def _matches(rule: Rule, wanted: Wanted, command: Command | None) -> Match:
    """Match a rule. To allow, all of the request has to match for certain; otherwise any part is enough."""
    if rule.agent not in (None, wanted.agent) or (rule.kinds is not None and wanted.kind not in rule.kinds):
        return "no"
    found = _all_of(_conditions(rule, wanted, command))
    if found == "yes" and rule.action == "allow" and not _may_allow(rule, wanted, command):
        return "maybe"
    return found


def _may_allow(rule: Rule, wanted: Wanted, command: Command | None) -> bool:
    """Whether nothing in the request goes beyond what the rule covers."""
    if wanted.strange or (wanted.outside and rule.path is None):
        return False
    if wanted.command is None:
        return wanted.kind != "execute" or rule.path is None
    if rule.command is None:
        return rule.path is None  # the files that a command changes are unknown
    inner = command is not None and command.inner
    return inner or (wanted.command.plain and (not wanted.paths or rule.path is not None))


def _conditions(rule: Rule, wanted: Wanted, command: Command | None) -> Iterator[Match]:
    if rule.path is not None:
        yield _match_paths(rule.path, rule.action, wanted)
    if rule.command is not None:
        if command is None:
            yield "maybe" if wanted.strange or wanted.kind == "execute" else "no"
        else:
            yield _match_words(rule, rule.command, command.words)


def _match_words(rule: Rule, glob: str, words: Sequence[Word]) -> Match:
    """Match a command. `rm *` also matches /bin/rm, but not to allow it: a path may be any program."""
    found = match_command(glob, words)
    program = words[0] if words else None
    if rule.action == "allow" or found == "yes" or program is None or "/" not in program:
        return found
    by_name = match_command(glob, (os.path.basename(program), *words[1:]))
    return found if by_name == "no" else by_name


def _match_paths(glob: str, action: RuleAction, wanted: Wanted) -> Match:
    found: set[Match] = set()
    places = () if action == "allow" else wanted.places
    for path in (*places, *(wanted.paths or (None,))):
        found.add("maybe" if path is None else "yes" if match_path(glob, path, wanted.roots) else "no")
    if action == "allow":
        return _all_of(found)
    return "yes" if "yes" in found else "maybe" if "maybe" in found else "no"


def _all_of(found: Iterable[Match]) -> Match:
    seen = set(found)
    return "no" if "no" in seen else "maybe" if "maybe" in seen else "yes"
