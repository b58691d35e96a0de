"""Records what each agent did and when."""

from __future__ import annotations

import time
from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal

from acp_nvim.acp.diff import FileChange
from acp_nvim.evidence.activities import Activity, Interval, Record
from acp_nvim.file_time import now
from acp_nvim.traffic.masking import masked
from acp_nvim.workspace.roots import WatchedRoots

CALL_SLACK_NS: Final = 1_000_000_000
"""A tool call may have changed a file this long before its first message: a busy host reads late."""
COMMAND_SLACK_NS: Final = 250_000_000
"""The same before a command: shorter, because a command names no files, and would claim what others change."""
TURN_LATE_NS: Final = 100_000_000
"""And after a turn. Not after a command: its end is reported when its process has ended."""
MAX_ACTIVITIES: Final = 4000
"""Activities kept for a session: twice as many as one turn may have."""
MAX_TURNS: Final = 50
"""Turns kept for a session, with what was done in them; the changes of older ones were judged long ago."""
RECORD_PATHS: Final = 100
"""Paths in one journal line of a tool call."""
LINE_CHARS: Final = 1000
"""Of a command line or a title in memory: masking its secrets takes 0.1 ms."""


class Work:
    """What the agent of a session did to what `roots` watch; `state` are globs of files with the agent's own records.

    `write` receives each record that the next host needs; `ended_at` returns when the agent process with a mark ended,
    if that is known.
    """

    def __init__(self, session: int, agent: str, roots: WatchedRoots, ended_at: Callable[[str], int | None]) -> None:
        self.session = session
        self.agent = agent
        self.roots = roots
        self.state: Sequence[str] = ()
        self.write: Callable[[Record], None] = lambda record: None
        self.is_over = False
        """True if its host is dead: activities without an end ended with the agent, at an unknown time."""
        self.writes: Callable[[Activity, str], bool] = lambda command, path: False
        """Returns whether a command has the file at that real path open for writing, as far as that is seen. Blocks."""
        self._ended_at = ended_at
        self._processes: dict[str, int] = {}
        self._turns: list[Interval] = []
        self._activities: dict[str, Activity] = {}
        self._naming: dict[str, list[Activity]] = {}  # by real path: thousands of files may be judged at once
        self._news = 0
        self._news_of: dict[str, int] = {}  # by real path: the number of the last news of an activity that names it
        self._news_of_commands: list[int] = []  # when the command began, for each news of one; sorted
        self.forgotten = 0
        """Of changes before this time (nanoseconds since 1970) the evidence is not complete any more."""

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
        self._note_news(activity, changes)
        if finished:
            self._end(f"call {key}")

    def command(
        self, key: str, words: str, tool_call: str, finished: bool = False, in_background: bool = False
    ) -> None:
        """Record a running or finished command; `key` identifies it within the session.

        `in_background`: the agent does not wait for it: when it is finished, it may run on for an unknown time.
        """
        activity = self._activity("command", key, words, tool_call, finished)
        if in_background and not activity.in_background:
            self._record(Record(self.session, "behind", activity.time.began, key))
        if finished and activity.in_background:
            self.leave(activity, time.time_ns())
        elif finished:
            self._end(f"command {key}")

    def leave(self, command: Activity, at: int) -> None:
        """Record that a command runs, by itself since `at` (nanoseconds since 1970), or since an earlier moment.

        With `NEVER` it still belongs to its turn.
        """
        if command.left is None or command.time.ended is not None or at < command.left:
            self._record(Record(self.session, "left", at, self._key(command)))

    def leave_terminals(self, at: int) -> None:
        """Record that the commands in terminals that still run do so by themselves since `at`, the turn's end."""
        for one in self.all_commands():
            if not one.is_over and self._key(one).startswith("command terminal-"):
                self.leave(one, at)

    def end(self, command: Activity) -> None:
        """Record that a command and all that it has started have ended by now."""
        if command.time.ended is None:
            self._record(Record(self.session, "deed_end", time.time_ns(), self._key(command)))

    def find(self, key: str) -> Activity | None:
        """Return the command that was recorded last with that key."""
        return self._activities.get(f"command {key}")

    def _key(self, activity: Activity) -> str:
        return next((key for key, one in self._activities.items() if one is activity), "")

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
        if found is not None and found.is_over and not finished:
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
                self._add_turn(record.at)
            case "turn_end":
                if self._turns:
                    self._turns[-1].ended = record.at
            case "deed_end" | "left":
                self._apply_end(record)
            case "behind":
                if (command := self._activities.get(f"command {record.id}")) is not None:
                    command.in_background = True
                    self._note_news(command)
            case "write":
                self._add_write(f"write {record.at}", Interval(record.at, record.at), record.paths)
            case kind:
                self._apply_activity(kind, record)

    def _add_turn(self, at: int) -> None:
        self._turns.append(Interval(at))
        for past in self._turns[:-MAX_TURNS]:
            self.forgotten = max(self.forgotten, past.ended or past.began)
        if len(self._turns) <= MAX_TURNS:
            return
        del self._turns[:-MAX_TURNS]
        for key, one in list(self._activities.items()):
            if one.time.ended is not None and one.time.ended <= self.forgotten and not one.in_background:
                self._drop(key)

    def _apply_end(self, record: Record) -> None:
        activity = self._activities.get(record.id)
        if activity is None:
            return
        if record.what == "left":
            activity.left, activity.time.ended = record.at, None
        else:
            activity.time.ended = record.at
        self._note_news(activity, activity.paths)

    def _apply_activity(self, kind: Literal["call", "command"], record: Record) -> None:
        key, tool_call = f"{kind} {record.id}", _id_in(record.id)
        if kind == "command":
            tool_call = _id_in(record.id.removeprefix("call ")) if record.id.startswith("call ") else ""
        activity = self._activities.get(key)
        if activity is not None and activity.is_over and not record.paths:  # the name is used again
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
        self._note_news(activity)
        while len(self._activities) > MAX_ACTIVITIES:
            self._drop(next(iter(self._activities)))
        return activity

    def _set_aside(self, key: str) -> None:
        """Keep an activity whose name is used again."""
        past = self._activities.pop(key)
        self._activities[f"{key} until {past.time.ended or past.left}"] = past

    def _drop(self, key: str) -> None:
        dropped = self._activities.pop(key)
        self.forgotten = max(self.forgotten, dropped.time.ended or dropped.time.began)
        del self._news_of_commands[: -3 * MAX_ACTIVITIES]
        for path in dropped.paths:
            self._naming[path] = [one for one in self._naming[path] if one is not dropped]
            if not self._naming[path]:
                del self._naming[path]
                self._news_of.pop(path, None)

    def _add_paths(self, activity: Activity, paths: Iterable[str]) -> None:
        for path in paths:
            if path not in activity.paths:
                activity.paths.add(path)
                self._naming.setdefault(path, []).append(activity)
                self._note_news(activity, [path])

    def _note_news(self, activity: Activity, paths: Iterable[str] = ()) -> None:
        """Note that something new is known of an activity; of a call, about the files that it names at `paths`."""
        if activity.kind == "command":
            insort(self._news_of_commands, activity.time.began)
        self._news += 1
        self._news_of.update(dict.fromkeys(paths, self._news))

    # --- queries -----------------------------------------------------------------------------------------------------

    def has_run_since(self, moment: int) -> bool:
        """Return whether a command of the agent ran at `moment` (nanoseconds since 1970) or later."""
        return any(
            one.kind == "command" and (one.time.ended is None or one.time.ended >= moment)
            for one in self._activities.values()
        )

    @property
    def named(self) -> list[str]:
        """The real paths of all files that its activities name."""
        return list(self._naming)

    @property
    def turn_began_at(self) -> int:
        """When the last turn began (nanoseconds since 1970); 0 before the first one."""
        return self._turns[-1].began if self._turns else 0

    def news(self, path: str, moment: int) -> tuple[int, int, int]:
        """Return numbers that grow when more is known of who may have changed a file at `moment`.

        Those of the activities that name the file at that real path, of the commands that began before `moment`
        (nanoseconds since 1970), and of the agent's processes.
        """
        commands = bisect_right(self._news_of_commands, moment)
        return self._news_of.get(path, 0), commands, len(self._processes)

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
        return any(turn.contains(moment, TURN_LATE_NS) for turn in self._turns)

    def naming(self, path: str) -> Iterator[Activity]:
        """Yield the activities that name the file at that real path, the newest first."""
        return reversed(self._naming.get(path, []))

    @property
    def turn(self) -> Interval | None:
        """The time of the running turn, or of the last one."""
        return self._turns[-1] if self._turns else None

    @property
    def is_turn_open(self) -> bool:
        """Whether a turn runs, or work of one in the background."""
        return bool(self._turns) and self._turns[-1].ended is None

    def all_commands(self) -> list[Activity]:
        """Return all commands that are remembered, the oldest first."""
        return [one for one in self._activities.values() if one.kind == "command"]

    def background_commands(self, moment: int) -> Iterator[Activity]:
        """Yield the commands that ran on by themselves at `moment` (nanoseconds since 1970), the newest first."""
        return (one for one in reversed(self._activities.values()) if one.ran_on(moment))

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
