"""Records what each agent did and when."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal

import msgspec

from acp_nvim.acp.diff import FileChange
from acp_nvim.file_time import now
from acp_nvim.traffic.masking import masked
from acp_nvim.workspace.roots import Roots

CALL_SLACK_NS: Final = 1_000_000_000
"""A tool call may have changed a file this long before its first message: a busy host reads late."""
CALL_LATE_NS: Final = 1_000_000_000
"""And this long after its last message: some agents report the end just before they write."""
COMMAND_SLACK_NS: Final = 250_000_000
"""The same before a command: shorter, because a command names no files, and would claim what others change."""
COMMAND_LATE_NS: Final = 100_000_000
"""And after a command: agents report the end when the process has ended."""
MAX_ACTIVITIES: Final = 4000
"""Activities kept for a session: twice as many as one turn may have."""
MAX_TURNS: Final = 200
"""Turns kept for a session; the changes of older ones were judged long ago."""
RECORD_PATHS: Final = 100
"""Paths in one journal line of a tool call."""
WHY_CHARS: Final = 80
"""Of a command line or a title, in the reason for a verdict: it is shown in one line of a list."""
LINE_CHARS: Final = 1000
"""Of a command line or a title in memory: masking its secrets takes 0.1 ms."""


class Interval(msgspec.Struct):
    """The time from `began` to `ended`; None if it has not ended, or its end is unknown."""

    began: int
    ended: int | None = None

    def contains(self, moment: int, late: int = 0) -> bool:
        """Return whether `moment` (nanoseconds since 1970) is within, or at most `late` nanoseconds after."""
        return self.began <= moment and (self.ended is None or moment <= self.ended + late)


class Activity(msgspec.Struct):
    """Something an agent did that may have changed files.

    A `command` may have changed any file; a `call` only the files that it names: `paths` (real paths), some with the
    diffs in `changes`; a `write` went through the host. `words` is the command line, or the title of the call.
    `tool_call` is the id of the call, "" for a command in a terminal that no call shows.
    """

    kind: Literal["call", "command", "write"]
    words: str
    tool_call: str
    time: Interval
    paths: set[str] = msgspec.field(default_factory=set)
    changes: dict[str, FileChange] = {}
    in_background: bool = False
    """True if it may run on, for an unknown time, after the agent reports its end."""
    told: str = ""  # as it was reported last; `words` is its first line, without secrets

    def covers(self, moment: int) -> bool:
        """Return whether it may have changed a file at `moment` (nanoseconds since 1970)."""
        return self.time.contains(moment, COMMAND_LATE_NS if self.kind == "command" else CALL_LATE_NS)

    @property
    def why(self) -> str:
        """The reason, in words, to attribute a change to the agent."""
        if self.kind == "write":
            return self.words
        line = self.words or self.kind
        return f"by `{line[: WHY_CHARS - 1]}…`" if len(line) > WHY_CHARS else f"by `{line}`"


class Record(msgspec.Struct, omit_defaults=True):
    """One journal line: an event of a session's work at the time `at` (nanoseconds since 1970).

    The first line of a call or a command has no `paths`: they come in lines of their own.
    """

    session: int
    what: Literal["life", "turn", "turn_end", "call", "command", "behind", "write", "deed_end"]
    at: int
    id: str = ""
    words: str = ""
    paths: list[str] = []


class Work:
    """What the agent of a session did below `roots`; `state` are globs of files with the agent's own records.

    `write` receives each record that the next host needs; `ended_at` returns when the agent process with a mark ended,
    if that is known.
    """

    def __init__(self, session: int, agent: str, roots: Roots, ended_at: Callable[[str], int | None]) -> None:
        self.session = session
        self.agent = agent
        self.roots = roots
        self.state: Sequence[str] = ()
        self.write: Callable[[Record], None] = lambda record: None
        self.is_over = False
        """True if its host is dead: activities without an end ended with the agent, at an unknown time."""
        self._ended_at = ended_at
        self._processes: dict[str, int] = {}
        self._turns: list[Interval] = []
        self._activities: dict[str, Activity] = {}
        self._naming: dict[str, list[Activity]] = {}  # by real path: thousands of files may be judged at once

    # --- recording ---------------------------------------------------------------------------------------------------

    def process_started(self, mark: str, began: int) -> None:
        """Record that the agent process with that mark serves the session since `began` (nanoseconds since 1970)."""
        if mark not in self._processes:
            self._record(Record(self.session, "life", began, mark))

    def turn_began(self, at: int) -> None:
        """Begin a turn at `at` (nanoseconds since 1970), and end the open one."""
        self.turn_ended(at)
        self._record(Record(self.session, "turn", at))

    def turn_ended(self, at: int) -> None:
        """End the open turn, if any, at `at` (nanoseconds since 1970)."""
        if self._turns and self._turns[-1].ended is None:
            self._record(Record(self.session, "turn_end", at))

    def call(self, key: str, words: str, paths: Iterable[str], changes: dict[str, FileChange], finished: bool) -> None:
        """Record what a tool call reports: the real paths of files that it changes, and how.

        `key` is `ToolCall.key`: agents use ids again.
        """
        activity = self._activity("call", key, words, _id_in(key), finished)
        more = sorted({*paths, *changes} - activity.paths)
        for first in range(0, len(more), RECORD_PATHS):
            some = more[first : first + RECORD_PATHS]
            self._record(Record(self.session, "call", activity.time.began, key, activity.words, some))
        activity.changes = {**activity.changes, **changes}
        if finished:
            self._end(f"call {key}")

    def command(
        self, key: str, words: str, tool_call: str, finished: bool = False, in_background: bool = False
    ) -> None:
        """Record a running or finished command; `key` identifies it within the session."""
        activity = self._activity("command", key, words, tool_call, finished)
        if in_background and not activity.in_background:
            self._record(Record(self.session, "behind", activity.time.began, key))
        if finished:
            self._end(f"command {key}")

    def before_write(self, path: str) -> None:
        """Tell the next host that the agent is about to write a file through this one, which may be killed then."""
        self.write(Record(self.session, "write", now(), paths=[path]))

    def found_written(self, path: str) -> None:
        """Record that the agent asked to write what the file has already: it may have written that in its turn."""
        time_range = Interval(self._turns[-1].began if self._turns else now(), time.time_ns())
        self._add_write(f"write {path}", time_range, [path])

    def _activity(
        self, kind: Literal["call", "command"], name: str, told: str, tool_call: str, finished: bool
    ) -> Activity:
        """Return the activity with that name; if it is reported again after its end, a new one."""
        found = self._activities.get(key := f"{kind} {name}")
        if found is not None and found.time.ended is not None and not finished:
            self._set_aside(key)
            found = None
        if found is not None and found.told == told:
            return found
        words = _first_line(told)
        if found is None:
            slack = CALL_SLACK_NS if kind == "call" else COMMAND_SLACK_NS
            began = max(now() - slack, self._turns[-1].began if self._turns else 0)
            found = self._add(key, Activity(kind, words, tool_call, Interval(began)))
            self.write(Record(self.session, kind, began, name, words))
        found.words, found.told = words or found.words, told
        return found

    def _end(self, key: str) -> None:
        if self._activities[key].time.ended is None:
            self._record(Record(self.session, "deed_end", time.time_ns(), key))

    def _record(self, record: Record) -> None:
        self.apply(record)
        self.write(record)

    # --- replaying ---------------------------------------------------------------------------------------------------

    def apply(self, record: Record) -> None:
        """Update the state with a record of this host, or of a dead one."""
        match record.what:
            case "life":
                self._processes[record.id] = record.at
            case "turn":
                self._turns.append(Interval(record.at))
                del self._turns[:-MAX_TURNS]
            case "turn_end":
                if self._turns:
                    self._turns[-1].ended = record.at
            case "deed_end":
                if record.id in self._activities:
                    self._activities[record.id].time.ended = record.at
            case "behind":
                if (command := self._activities.get(f"command {record.id}")) is not None:
                    command.in_background = True
            case "write":
                self._add_write(f"write {record.at}", Interval(record.at, record.at), record.paths)
            case kind:
                self._apply_activity(kind, record)

    def _apply_activity(self, kind: Literal["call", "command"], record: Record) -> None:
        key, tool_call = f"{kind} {record.id}", _id_in(record.id)
        if kind == "command":
            tool_call = _id_in(record.id.removeprefix("call ")) if record.id.startswith("call ") else ""
        activity = self._activities.get(key)
        if activity is not None and activity.time.ended is not None and not record.paths:  # the name is used again
            self._set_aside(key)
            activity = None
        if activity is None:
            activity = self._add(key, Activity(kind, record.words, tool_call, Interval(record.at)))
        self._add_paths(activity, record.paths)

    def _add_write(self, key: str, time_range: Interval, paths: Iterable[str]) -> None:
        self._add_paths(self._add(key, Activity("write", f"written by {self.agent}", "", time_range)), paths)

    def _add(self, key: str, activity: Activity) -> Activity:
        """Add an activity, and drop the oldest beyond `MAX_ACTIVITIES`."""
        if key in self._activities:
            self._drop(key)
        self._activities[key] = activity
        while len(self._activities) > MAX_ACTIVITIES:
            self._drop(next(iter(self._activities)))
        return activity

    def _set_aside(self, key: str) -> None:
        """Keep an activity whose name is used again."""
        past = self._activities.pop(key)
        self._activities[f"{key} until {past.time.ended}"] = past

    def _drop(self, key: str) -> None:
        dropped = self._activities.pop(key)
        for path in dropped.paths:
            self._naming[path] = [one for one in self._naming[path] if one is not dropped]
            if not self._naming[path]:
                del self._naming[path]

    def _add_paths(self, activity: Activity, paths: Iterable[str]) -> None:
        for path in paths:
            if path not in activity.paths:
                activity.paths.add(path)
                self._naming.setdefault(path, []).append(activity)

    # --- queries -----------------------------------------------------------------------------------------------------

    @property
    def marks(self) -> list[str]:
        """The marks of the agent's processes that have served the session."""
        return list(self._processes)

    @property
    def last_end(self) -> int | None:
        """When the last process of the agent ended; None while one runs, or if an end is unknown."""
        ends = [self._ended_at(mark) for mark in self._processes]
        known = [end for end in ends if end is not None]
        return max(known) if known and len(known) == len(ends) else None

    def was_alive(self, moment: int) -> bool:
        """Return whether a process of the agent may have run at `moment` (nanoseconds since 1970)."""
        return any(Interval(began, self._ended_at(mark)).contains(moment) for mark, began in self._processes.items())

    def was_working(self, moment: int) -> bool:
        """Return whether a turn was open at `moment` (nanoseconds since 1970)."""
        return any(turn.contains(moment, COMMAND_LATE_NS) for turn in self._turns)

    def naming(self, path: str) -> Iterator[Activity]:
        """Yield the activities that name the file at that real path, the newest first."""
        return reversed(self._naming.get(path, []))

    def background_commands(self, moment: int) -> Iterator[Activity]:
        """Yield the background commands that began before `moment` (nanoseconds since 1970), the newest first."""
        return (one for one in reversed(self._activities.values()) if one.in_background and one.time.began <= moment)

    def commands(self, moment: int) -> Iterator[Activity]:
        """Yield the commands that ran at `moment`, the newest first, without those whose end is lost."""
        for one in reversed(self._activities.values()):
            if one.kind == "command" and one.covers(moment) and not self.is_end_lost(one):
                yield one

    def ran_between(self, since: int, until: int) -> Activity | None:
        """Return the newest command that ran from `since` to `until` (ns since 1970), unless its end is lost."""
        for one in reversed(self._activities.values()):
            is_in = one.time.began <= until and (one.time.ended is None or one.time.ended >= since)
            if one.kind == "command" and is_in and not self.is_end_lost(one):
                return one
        return None

    def may_have_changed(self, path: str, since: int, until: int) -> bool:
        """Return whether a command, or a call naming the file, ran from `since` to `until` (nanoseconds since 1970)."""
        return any(
            (one.kind == "command" or path in one.paths)
            and one.time.began <= until
            and (one.time.ended is None or one.time.ended >= since)
            for one in self._activities.values()
        )

    def is_end_lost(self, activity: Activity) -> bool:
        """Return whether neither its end nor that of the agent is known: it may have ended at any time."""
        return self.is_over and activity.time.ended is None and self.last_end is None


def _id_in(key: str) -> str:
    """Return the id of the tool call that has that key."""
    number, space, tool_call = key.partition(" ")
    return tool_call if space and number.isdigit() else key


def _first_line(words: str) -> str:
    """Return the first line of a command or a title, without secrets, because it is written to the journal."""
    line = words.strip().partition("\n")[0]
    return masked(line[:LINE_CHARS].strip("`").strip(), grows=len(line) > LINE_CHARS)
