"""Decides who changed a file: an agent only if evidence shows it, else the user, or that is unknown."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.contract.events import By
from acp_nvim.evidence.activities import Activity, Interval
from acp_nvim.evidence.work import Work
from acp_nvim.file_time import now
from acp_nvim.hunks.locate import unapplied
from acp_nvim.lazy import pattern
from acp_nvim.snapshots.directories import CLOCK_NS
from acp_nvim.workspace.saves import Saved, Saves

SAVE_NS: Final = 100_000_000
"""The longest time from the first byte of a `:write` until it is in the journal of saves."""
MAX_GIT_ANSWERS: Final = 10_000
"""Answers of git that are kept: for the files of a checkout, as long as they may be judged again."""
MAX_LEFT: Final = 20
"""Commands that run on by themselves whose open files are looked at, for one change."""
OWN_COMMANDS: Final = 100
"""The last commands of the user's that are remembered: changes are judged within seconds."""


class Verdict(msgspec.Struct, frozen=True):
    """Who changed a file; `why` in words; `sessions` are those whose agents did, or may have done it."""

    by: By
    why: str
    sessions: tuple[int, ...] = ()
    tool_call: str | None = None

    @property
    def live_sessions(self) -> set[int]:
        """The sessions of this host among them; those of dead hosts have negative keys."""
        return {session for session in self.sessions if session > 0}


def is_proven(by: By, force: bool) -> bool:
    """Return whether commands on many files may undo changes by `by`; `force`: those of unknown origin, too."""
    return by == "agent" or (force and by == "unknown")  # the agent's own records are rejected file by file only


class Observation(msgspec.Struct, frozen=True):
    """A file that differs from what the last scan found.

    `changed` is its change time (nanoseconds since 1970), or that of its directory if it is gone; `size` is in bytes,
    None if it is gone. `before` and `after` are blob ids, None for no file; `since` is the time of the last scan;
    `text` is the present text, if it is one. Saves up to the change time `accounted` are accounted for. `is_past`: the
    file has changed again, so that `changed` may be too late. `earliest` and `other` are those of `ChangeTime`.
    """

    path: str
    changed: int
    size: int | None
    before: str | None
    after: str | None
    since: int = 0
    text: str | None = None
    accounted: int = 0
    is_past: bool = False
    earliest: int | None = None
    other: int | None = None


_GIT: Final = pattern(r"\b(git|jj)\b(?!\s+(status|diff|log|blame|grep|ls-files|rev-parse|describe)\b[^>]*$)")
"""Matches command lines that may have made git change files.

What only reads does not count, unless more is done with its output; scripts that call git do not, as nobody knows.
"""

News = tuple[object, ...]
"""Differs from an earlier one if there is evidence since then that may change a verdict."""


class Doubt(msgspec.Struct):
    """A change of unknown origin: its last `verdict`, and the evidence that this took into account."""

    seen: Observation
    verdict: Verdict
    news: News | None = None


AskGit = Callable[[Observation, bool], Awaitable[str | None]]
"""Returns the part of git that has the file's present content, in words, or None. True: it is proven."""


class Evidence:
    """The recorded work of this host's sessions, and of those of dead hosts whose changes are not judged yet."""

    def __init__(self, ask_git: AskGit, saves: Saves) -> None:
        self.works: list[Work] = []
        self.saves = saves
        self._ask_git = ask_git
        self._accounted: dict[str, int] = {}
        self._git_answers: dict[tuple[str, int, bool], str] = {}
        self._own_commands: deque[tuple[str, Interval]] = deque(maxlen=OWN_COMMANDS)

    @contextmanager
    def running(self, command: str) -> Iterator[None]:
        """Note that the plugin runs a command for the user meanwhile: what it changes is not an agent's."""
        interval = Interval(now())
        self._own_commands.append((command, interval))
        try:
            yield
        finally:
            interval.ended = time.time_ns()

    def found_written(self, session: int, path: str) -> None:
        """Record that the agent of that session asked to write what the file has already."""
        for work in self.works:
            if work.session == session:
                work.found_written(path)

    def has_diff(self, path: str) -> bool:
        """Return whether a tool call has shown a diff of the file at that real path."""
        return any(path in activity.changes for work in self.works for activity in work.naming(path))

    def set_accounted(self, path: str, changed: int) -> None:
        """Note that all saves of the file until its change time `changed` (nanoseconds) are accounted for."""
        self._accounted[path] = max(changed, self._accounted.get(path, 0))

    def accounted(self, path: str) -> int:
        """Return the change time of the file up to which its saves are accounted for."""
        return self._accounted.get(path, 0)

    def forget_accounted(self, path: str) -> None:
        """Let all saves of the file be judged again."""
        self._accounted.pop(path, None)

    def is_complete(self, seen: Observation) -> bool:
        """Return whether all that is known of the time of the change is still kept."""
        works = (work for work in self.works if work.roots.contains(seen.path))
        return all(work.forgotten < (seen.changed if seen.earliest is None else seen.earliest) for work in works)

    def news(self, found: Sequence[Observation], git: object) -> list[News]:
        """Return what has become known of each observation; `git` stands for the present state of the user's git.

        Reads the end times of the agents' processes, and of saves what `Saves.update` has read.
        """
        ends = {work.session: work.last_end for work in self.works}
        return [
            (
                git,
                len(self.saves.of(seen.path)),
                self.saves.may_be_saving(seen.path, seen.changed),
                *(
                    (work.session, ends[work.session], work.news(seen.path, max(seen.changed, seen.other or 0)))
                    for work in self.works
                    if work.roots.contains(seen.path)
                ),
            )
            for seen in found
        ]

    async def judge(self, seen: Observation) -> Verdict:
        """Decide who gave the file its present content, and put it where it is."""
        verdict = await self._judge_one(seen)
        if seen.other is None:
            return verdict
        moved = msgspec.structs.replace(seen, changed=seen.other, other=None, earliest=seen.since)
        return _both(verdict, await self._judge_one(moved))

    async def _judge_one(self, seen: Observation) -> Verdict:
        await anyio.to_thread.run_sync(self.saves.update)
        works = [work for work in self.works if work.roots.contains(seen.path)]
        saved = self._new_saves(seen)
        if saved and not seen.is_past and _wrote(saved[-1], seen):
            return self._judge_save(saved[0], seen, works)
        verdict = await self._judge_without_saves(seen, works)
        if verdict.by == "agent" and (saved or self.saves.may_be_saving(seen.path, seen.changed)):
            why = f"{verdict.why}, but another Neovim saved it, too"
            return Verdict("unknown", why, verdict.sessions, verdict.tool_call)
        return verdict

    def _new_saves(self, seen: Observation) -> list[Saved]:
        """Return the saves that are not accounted for, without those begun after the file's last change."""
        return [
            one
            for one in self.saves.of(seen.path)
            if seen.accounted < _number(one.ctime) and _number(one.mtime) - SAVE_NS < seen.changed
        ]

    def _judge_save(self, first: Saved, seen: Observation, works: Sequence[Work]) -> Verdict:
        """Judge a content that the user saved, which may include earlier changes of an agent."""
        since = max(seen.since, seen.accounted)
        if first.was is None and seen.before is not None:
            suspects = [work for work in works if work.may_have_changed(seen.path, since, _number(first.ctime))]
            if suspects:
                why = f"{_names(suspects)} worked after the last look at it, then it was saved in Neovim as a new file"
                return Verdict("unknown", why, _sessions(suspects))
        if first.was is None or _number(first.was) <= since:
            return Verdict("user", "saved in Neovim")
        was = _number(first.was)
        suspects = [work for work in works if any(one.covers(was) for one in work.naming(seen.path))]
        suspects = suspects or [work for work in works if any((*work.commands(was), *work.background_commands(was)))]
        if not suspects:
            return Verdict("user", "saved in Neovim")
        why = f"changed while {_names(suspects)} worked, then saved in Neovim"
        return Verdict("unknown", why, _sessions(suspects))

    async def _judge_without_saves(self, seen: Observation, works: Sequence[Work]) -> Verdict:
        at = seen.changed
        named = [(work, call) for work in works if (call := _naming_call(work, seen)) is not None]
        named = [(work, call) for work, call in named if call.time.contains(at)] or named
        if named:
            return _verdict("agent", named[0][1].why, named)
        alive = [work for work in works if work.was_alive(at)]
        own = [work for work in alive if _is_state(work, seen.path)]
        if own:
            return Verdict("state", f"{_names(own)} keeps its own records there", _sessions(own))
        ran = [(work, command) for work in alive if (command := next(work.commands(at), None)) is not None]
        ran = [(work, command) for work, command in ran if command.time.contains(at)] or ran  # late ones come second
        git = await self._git_answer(seen, not ran)
        if ran:
            why = ran[0][1].why
            beside = next((words for words, interval in self._own_commands if interval.contains(at)), None)
            if beside is not None:
                return _verdict("unknown", f"by `{beside}`, which ran after a turn, or {why}, which ran then", ran)
            if git is None or any(_GIT.search(command.words) for _, command in ran):
                return _verdict("agent", why, ran)
            return _verdict("unknown", f"as {git} has it, or {why}, which ran then", ran)
        if git:
            return Verdict("user", f"by {git}")
        ran_on = [(work, command) for work in alive for command in work.background_commands(at)]
        for work, command in ran_on[:MAX_LEFT]:
            if await anyio.to_thread.run_sync(work.writes, command, seen.path):
                return _verdict("agent", f"{command.why} (still runs)", [(work, command)])
        return _judge_unclaimed(seen, works, alive, ran_on)

    async def _git_answer(self, seen: Observation, is_first: bool) -> str | None:
        """Ask git, and keep the answer: when the file is judged again, git may have moved on."""
        key = (seen.path, seen.changed, is_first)
        found = self._git_answers.get(key) or await self._ask_git(seen, is_first)
        if found:
            self._git_answers[key] = found
            while len(self._git_answers) > MAX_GIT_ANSWERS:
                del self._git_answers[next(iter(self._git_answers))]
        return found


def _judge_unclaimed(
    seen: Observation, works: Sequence[Work], alive: Sequence[Work], ran_on: Sequence[tuple[Work, Activity]]
) -> Verdict:
    """Judge a change that no activity of an agent explains; `ran_on` are commands that ran on by themselves then."""
    touched = [work for work in works if _began_to_change(work, seen)]
    if touched:
        return Verdict("unknown", f"changed again after {_names(touched)} had worked on it", _sessions(touched))
    if ran_on:
        command = ran_on[0][1]
        how = "(may still run)" if command.time.ended is None else "(it ran on)"
        return _verdict("unknown", f"{command.why} {how}, or by something else", ran_on)
    working = [work for work in alive if work.was_working(seen.changed)]
    if working:
        why = f"changed while {_names(working)} worked; nothing it told of names the file"
        return Verdict("unknown", why, _sessions(working))
    if seen.earliest is not None:
        after = max(seen.earliest, seen.since + CLOCK_NS)
        ran = [(work, one) for work in works if (one := work.ran_between(after, seen.changed)) is not None]
        if ran:
            why = f"changed at an unknown time; {ran[0][1].why}, which ran before, may have done it"
            return _verdict("unknown", why, ran)
    return Verdict("user", "no agent worked then")


def _both(edited: Verdict, moved: Verdict) -> Verdict:
    """Return the verdict about a file that was edited, and whose directory was renamed."""
    if edited.by == moved.by:
        return edited
    first, last = (edited, moved) if edited.by != "user" else (moved, edited)
    why = f"changed {first.why}, and {last.why}" if last.by == "user" else f"{first.why}, and {last.why}"
    sessions = tuple(dict.fromkeys((*first.sessions, *last.sessions)))
    return Verdict("unknown", why, sessions, first.tool_call or last.tool_call)


def _began_to_change(work: Work, seen: Observation) -> bool:
    """Return whether a call named the file since the last scan: what it made of the file is unknown."""
    for one in work.naming(seen.path):
        end = work.last_end if one.time.ended is None else one.time.ended
        looked = seen.since + CLOCK_NS  # `since` is earlier than the scan, for times of files, which may lag
        if (end is None or end > looked) and one.time.began <= seen.changed:
            return True
    return False


def _naming_call(work: Work, seen: Observation) -> Activity | None:
    """Return the call of the agent that changed the file."""
    if not work.was_alive(seen.changed):
        return None
    for one in work.naming(seen.path):
        if one.covers(seen.changed) and not work.is_end_lost(one):
            return one
        change = one.changes.get(seen.path)
        if change is None or not work.was_working(seen.changed):
            continue
        if change.operation == "delete" and seen.after is None:
            return one
        if seen.text is not None and change.pieces and unapplied(seen.text, change) is not None:
            return one
    return None


def _verdict(by: By, why: str, found: Sequence[tuple[Work, Activity]]) -> Verdict:
    return Verdict(by, why, _sessions(work for work, _ in found), found[0][1].tool_call or None)


def _wrote(saved: Saved, seen: Observation) -> bool:
    """Return whether that save wrote the present content."""
    return _number(saved.mtime) <= seen.changed <= _number(saved.ctime) and saved.size == seen.size


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _is_state(work: Work, path: str) -> bool:
    return any(
        _matches(os.path.relpath(path, directory), glob)
        for directory in work.roots.directories
        if path.startswith(directory.rstrip(os.sep) + os.sep)
        for glob in work.state
    )


def _matches(path: str, glob: str) -> bool:
    """Match a glob: `a/**` matches all below `a`, any other the one file of that name."""
    top = glob.removesuffix("/**")
    return path.startswith(f"{top}/") if top != glob else path == glob


def _sessions(works: Iterable[Work]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(work.session for work in works))


def _names(works: Sequence[Work]) -> str:
    return " and ".join(dict.fromkeys(work.agent for work in works))
