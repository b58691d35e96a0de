"""The rules that answer permission requests in the user's place; the first one that matches decides."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from acp_nvim.permissions.bash_tree import Word
from acp_nvim.permissions.glob import Match, match_command, match_path
from acp_nvim.permissions.shell_line import Command, ShellLine
from acp_nvim.ui.request_events import RuleAction


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of `permissions.rules`; a None matches anything. `kind` is one kind of tool call, or several."""

    action: RuleAction
    agent: str | None = None
    kind: str | tuple[str, ...] | None = None
    path: str | None = None
    command: str | None = None

    @property
    def kinds(self) -> tuple[str, ...] | None:
        """The kinds of tool calls that it is about; None: all."""
        return (self.kind,) if isinstance(self.kind, str) else self.kind

    @property
    def words(self) -> str:
        """The rule as a user reads it."""
        kinds = None if self.kinds is None else "/".join(self.kinds)
        named = (("agent", self.agent), ("kind", kinds), ("path", self.path), ("command", self.command))
        return " ".join([self.action, *(f"{name} {value}" for name, value in named if value is not None)])


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer for good is about: a command in a directory, or what a kind of tool call does to some files."""

    agent: str
    kind: str
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent asks for, as far as rules are concerned; what it merely says (titles) is no part of it.

    `paths` are real ones, None for those that are none. `command` is what would run; `strange` says that there is more
    to the request than rules can judge: nothing but the user allows it. A file that is `outside` is allowed only by a
    rule that says where it is.

    `about` is what an answer for good would be about; None when the same request could not be recognised. `why`, in
    words: what makes it a request that no rule may allow.
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


class Judgement(msgspec.Struct, frozen=True):
    """What to do, and the rules that say so; `ask` without a rule: none says anything, or nothing certain."""

    action: RuleAction
    rules: tuple[Rule, ...] = ()


def judge(rules: Sequence[Rule], wanted: Wanted, otherwise: RuleAction = "ask") -> Judgement:
    """Each simple command is judged, and what it runs in turn; rejected if one is, allowed if all are.

    `otherwise` is done with what no rule says anything about.
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
    """By the first rule that matches; where it is not certain which one that is, they have to agree.

    An inner command is there already: it may be a reason not to run what runs it, and none to do so.
    """
    nothing = otherwise if command is None or not command.inner else "allow"
    possible: list[tuple[RuleAction, Rule | None]] = []
    for rule in rules:
        match _matches(rule, wanted, command):
            case "yes":
                possible.append((rule.action, rule))
                break
            case "maybe":
                possible.append((rule.action, rule))
    else:
        possible.append((nothing, None))
    actions = {action for action, _ in possible}
    if len(actions) > 1:
        return Judgement("ask")
    action, by = possible[-1]
    is_no_reason = command is not None and command.inner and action == "allow"
    return Judgement(action, () if by is None or is_no_reason else (by,))


def _matches(rule: Rule, wanted: Wanted, command: Command | None) -> Match:
    """To allow is to be certain of all of it; for the rest any of it is enough."""
    if rule.agent not in (None, wanted.agent) or (rule.kinds is not None and wanted.kind not in rule.kinds):
        return "no"
    found = _all_of(_conditions(rule, wanted, command))
    if found == "yes" and rule.action == "allow" and not _may_allow(rule, wanted, command):
        return "maybe"
    return found


def _may_allow(rule: Rule, wanted: Wanted, command: Command | None) -> bool:
    """Whether nothing that is asked for goes beyond what the rule is about."""
    if wanted.strange or (wanted.outside and rule.path is None):
        return False
    if wanted.command is None:
        return wanted.kind != "execute" or rule.path is None
    if rule.command is None:
        return rule.path is None  # nobody knows which files a command changes
    inner = command is not None and command.inner
    return inner or (wanted.command.plain and (not wanted.paths or rule.path is not None))


def _conditions(rule: Rule, wanted: Wanted, command: Command | None) -> Iterator[Match]:
    if rule.path is not None:
        yield _match_paths(rule, wanted)
    if rule.command is not None:
        if command is None:
            yield "maybe" if wanted.strange or wanted.kind == "execute" else "no"
        else:
            yield _match_words(rule, rule.command, command.words)


def _match_words(rule: Rule, glob: str, words: Sequence[Word]) -> Match:
    """`rm *` means /bin/rm too, but not to allow it: a path may be anybody's program."""
    found = match_command(glob, words)
    program = words[0] if words else None
    if rule.action == "allow" or found == "yes" or program is None or "/" not in program:
        return found
    by_name = match_command(glob, (os.path.basename(program), *words[1:]))
    return found if by_name == "no" else by_name


def _match_paths(rule: Rule, wanted: Wanted) -> Match:
    if not wanted.paths:
        return "maybe"
    found = [_match_path(rule, path, wanted.roots) for path in wanted.paths]
    if rule.action == "allow":
        return _all_of(found)
    return "yes" if "yes" in found else "maybe" if "maybe" in found else "no"


def _match_path(rule: Rule, path: str | None, roots: Sequence[str]) -> Match:
    if path is None or rule.path is None:
        return "maybe"
    return "yes" if match_path(rule.path, path, roots) else "no"


def _all_of(found: Iterable[Match]) -> Match:
    seen = set(found)
    return "no" if "no" in seen else "maybe" if "maybe" in seen else "yes"
