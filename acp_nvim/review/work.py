"""What an agent did in a turn, as far as the host heard of it."""

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
"""So much before its first word a tool call may have changed a file that it names: a busy host hears late."""
CALL_LATE_NS: Final = 1_000_000_000
"""So much after its last word: some agents say that they are done just before they write."""
COMMAND_SLACK_NS: Final = 250_000_000
"""The same before a command, which names no files: what others do meanwhile would be taken for its doing."""
COMMAND_LATE_NS: Final = 100_000_000
"""And after it: the agent tells the end when the process has ended."""
DEEDS: Final = 4000
"""Tool calls and commands of a session that are remembered: twice what one turn may have."""
SPANS: Final = 200
"""Turns of a session that are remembered; what they changed was looked at long before."""
RECORD_PATHS: Final = 100
"""Files of one tool call in one line of what is written down for the next host."""
WORDS_CHARS: Final = 80
"""Of a command line or a title, in the words that say who changed a file: they stand in a line of a list."""
LINE_CHARS: Final = 1000
"""Of a command line or a title that is remembered: to mask the secrets in it takes 0.1 ms."""


class Span(msgspec.Struct):
    """From `began` to `ended`; None: it goes on, or nobody saw the end."""

    began: int
    ended: int | None = None

    def has(self, moment: int, late: int = 0) -> bool:
        """Whether that moment is in it, or at most `late` after it; times are nanoseconds since 1970."""
        return self.began <= moment and (self.ended is None or moment <= self.ended + late)


class Deed(msgspec.Struct):
    """Something an agent did that may have changed files.

    A `command` may have changed any file; a `call` changes files that it names: `paths` (real paths), some of them as
    `changes` say; a `write` has gone through us. `words` is the command line, or the title of the call. `tool_call` is
    the id of the call, "" of a command in a terminal that was not shown in any.
    """

    kind: Literal["call", "command", "write"]
    words: str
    tool_call: str
    span: Span
    paths: set[str] = msgspec.field(default_factory=set)
    changes: dict[str, FileChange] = {}
    is_behind: bool = False
    """Whether it goes on, nobody knows how long, when the agent says that it is done."""

    def covers(self, moment: int) -> bool:
        """Whether a file that was changed at that moment may have been changed by it."""
        return self.span.has(moment, COMMAND_LATE_NS if self.kind == "command" else CALL_LATE_NS)

    @property
    def why(self) -> str:
        """What shows that the agent changed a file, in words."""
        if self.kind == "write":
            return self.words
        line = self.words or self.kind
        return f"by `{line[: WORDS_CHARS - 1]}…`" if len(line) > WORDS_CHARS else f"by `{line}`"


class Record(msgspec.Struct, omit_defaults=True):
    """One line of what is written down of a session's work, so that the next host knows it."""

    session: int
    what: Literal["life", "turn", "turn_end", "call", "command", "behind", "write", "deed_end"]
    at: int
    id: str = ""
    words: str = ""
    paths: list[str] = []


class Work:
    """What a session's agent did below `roots`; `state` are globs of files with the agent's own records.

    `write` is called with each line that the next host must know; `ended_at` tells when a process of the agent ended,
    by its mark, if that is known.
    """

    def __init__(self, session: int, agent: str, roots: Roots, ended_at: Callable[[str], int | None]) -> None:
        self.session = session
        self.agent = agent
        self.roots = roots
        self.state: Sequence[str] = ()
        self.write: Callable[[Record], None] = lambda record: None
        self.is_over = False
        """Whether its host is gone: what has no end has ended with the agent, nobody knows when else."""
        self._ended_at = ended_at
        self._lives: dict[str, int] = {}
        self._turns: list[Span] = []
        self._deeds: dict[str, Deed] = {}
        self._naming: dict[str, list[Deed]] = {}  # by real path: thousands of files may be judged at once

    def __repr__(self) -> str:
        return f"<Work of {self.agent} in {self.session}: {len(self._turns)} turns, {len(self._deeds)} deeds>"

    # --- what happens ------------------------------------------------------------------------------------------------

    def lives(self, mark: str, began: int) -> None:
        """A process of the agent, with that mark, serves the session since `began` (nanoseconds since 1970)."""
        if mark not in self._lives:
            self._note(Record(self.session, "life", began, mark))

    def turn_began(self, at: int) -> None:
        """The agent works since `at` (nanoseconds since 1970); a turn that was open ends there."""
        self.turn_ended(at)
        self._note(Record(self.session, "turn", at))

    def turn_ended(self, at: int) -> None:
        """The turn that is open, if any, has ended at `at` (nanoseconds since 1970)."""
        if self._turns and self._turns[-1].ended is None:
            self._note(Record(self.session, "turn_end", at))

    def call(
        self, tool_call: str, words: str, paths: Iterable[str], changes: dict[str, FileChange], finished: bool
    ) -> None:
        """The agent says of a tool call that it changes these files."""
        deed = self._deed("call", tool_call, words, tool_call, finished)
        more = sorted({*paths, *changes} - deed.paths)
        for first in range(0, len(more), RECORD_PATHS):
            some = more[first : first + RECORD_PATHS]
            self._note(Record(self.session, "call", deed.span.began, tool_call, deed.words, some))
        deed.changes = {**deed.changes, **changes}
        if finished:
            self._end(f"call {tool_call}")

    def writes(self, path: str) -> None:
        """The agent is about to write a file through us; when we are killed then, the next host must know."""
        self.write(Record(self.session, "write", now(), paths=[path]))

    def wrote(self, path: str) -> None:
        """The agent wants a file to be what it is already: it may have made it so, at any time in its turn."""
        span = Span(self._turns[-1].began if self._turns else now(), time.time_ns())
        self._written(f"write {path}", span, [path])

    def _written(self, key: str, span: Span, paths: Iterable[str]) -> None:
        self._name(self._add(key, Deed("write", f"written by {self.agent}", "", span)), paths)

    def _add(self, key: str, deed: Deed) -> Deed:
        """Remember it, and forget the oldest of too many."""
        if key in self._deeds:
            self._forget(key)
        self._deeds[key] = deed
        while len(self._deeds) > DEEDS:
            self._forget(next(iter(self._deeds)))
        return deed

    def _forget(self, key: str) -> None:
        forgotten = self._deeds.pop(key)
        for path in forgotten.paths:
            self._naming[path] = [one for one in self._naming[path] if one is not forgotten]
            if not self._naming[path]:
                del self._naming[path]

    def _name(self, deed: Deed, paths: Iterable[str]) -> None:
        """The deed is about these files, too."""
        for path in paths:
            if path not in deed.paths:
                deed.paths.add(path)
                self._naming.setdefault(path, []).append(deed)

    def command(self, key: str, words: str, tool_call: str, finished: bool = False, is_behind: bool = False) -> None:
        """A command of the agent runs; `key` tells it from others of the session; `is_behind`: in the background."""
        deed = self._deed("command", key, words, tool_call, finished)
        if is_behind and not deed.is_behind:
            self._note(Record(self.session, "behind", deed.span.began, key))
        if finished:
            self._end(f"command {key}")

    def _deed(self, kind: Literal["call", "command"], name: str, words: str, tool_call: str, finished: bool) -> Deed:
        """The one of that name; one that is told of again after it was done is another one."""
        key, words = f"{kind} {name}", _line(words)
        found = self._deeds.get(key)
        if found is not None and found.span.ended is not None and not finished:
            self._deeds[f"{key} until {found.span.ended}"] = self._deeds.pop(key)
            found = None
        if found is None:
            slack = CALL_SLACK_NS if kind == "call" else COMMAND_SLACK_NS
            began = max(now() - slack, self._turns[-1].began if self._turns else 0)
            found = self._add(key, Deed(kind, words, tool_call, Span(began)))
            self.write(Record(self.session, kind, began, name, words))
        found.words = words or found.words
        return found

    def _end(self, key: str) -> None:
        if self._deeds[key].span.ended is None:
            self._note(Record(self.session, "deed_end", time.time_ns(), key))

    def _note(self, record: Record) -> None:
        self.take(record)
        self.write(record)

    # --- what was written down ---------------------------------------------------------------------------------------

    def take(self, record: Record) -> None:
        """Remember what happens now, or what a host that is gone has written."""
        match record.what:
            case "life":
                self._lives[record.id] = record.at
            case "turn":
                self._turns.append(Span(record.at))
                del self._turns[:-SPANS]
            case "turn_end":
                if self._turns:
                    self._turns[-1].ended = record.at
            case "deed_end":
                if record.id in self._deeds:
                    self._deeds[record.id].span.ended = record.at
            case "behind":
                if (behind := self._deeds.get(f"command {record.id}")) is not None:
                    behind.is_behind = True
            case _:
                self._take_deed(record.what, record)

    def _take_deed(self, what: Literal["call", "command", "write"], record: Record) -> None:
        if what == "write":
            self._written(f"write {record.at}", Span(record.at, record.at), record.paths)
            return
        key = f"{what} {record.id}"
        called = record.id if what == "call" else record.id.removeprefix("call ")
        tool_call = called if what == "call" or called != record.id else ""
        deed = self._deeds.get(key) or self._add(key, Deed(what, record.words, tool_call, Span(record.at)))
        self._name(deed, record.paths)

    # --- what it shows -----------------------------------------------------------------------------------------------

    @property
    def marks(self) -> list[str]:
        """The marks of the agent's processes that have served the session."""
        return list(self._lives)

    @property
    def last_moment(self) -> int | None:
        """When the last process of the agent ended; None while one runs, or when nobody has seen the end."""
        ends = [self._ended_at(mark) for mark in self._lives]
        known = [end for end in ends if end is not None]
        return max(known) if known and len(known) == len(ends) else None

    def lived(self, moment: int) -> bool:
        """Whether a process of the agent may have changed something at that moment."""
        for mark, began in self._lives.items():
            ended = self._ended_at(mark)
            if began <= moment and (ended is None or moment <= ended):
                return True
        return False

    def worked(self, moment: int) -> bool:
        """Whether the agent worked then: it had a prompt, or something else to do."""
        return any(span.has(moment, COMMAND_LATE_NS) for span in self._turns)

    def naming(self, path: str) -> Iterator[Deed]:
        """The calls that name the file at that real path, the newest first."""
        return reversed(self._naming.get(path, []))

    def behind(self, moment: int) -> Iterator[Deed]:
        """The commands that were begun before, and may have run in the background then."""
        return (deed for deed in reversed(self._deeds.values()) if deed.is_behind and deed.span.began <= moment)

    def commands(self, moment: int) -> Iterator[Deed]:
        """Yield the commands that ran then, the newest first, but none of a dead host whose end nobody saw."""
        for deed in reversed(self._deeds.values()):
            if deed.kind == "command" and deed.covers(moment) and not self.is_lost(deed):
                yield deed

    def may_have_changed(self, path: str, since: int, until: int) -> bool:
        """Whether a command, or a call that names the file, ran between `since` and `until`.

        Both are in nanoseconds since 1970.
        """
        return any(
            (deed.kind == "command" or path in deed.paths)
            and deed.span.began <= until
            and (deed.span.ended is None or deed.span.ended >= since)
            for deed in self._deeds.values()
        )

    def is_lost(self, deed: Deed) -> bool:
        """Whether nobody saw its end, nor that of the agent: it may have ended at any time."""
        return self.is_over and deed.span.ended is None and self.last_moment is None


def _line(words: str) -> str:
    """The first line of a command or a title, without secrets: it is written down as what shows who changed a file."""
    return masked(words.strip().partition("\n")[0][:LINE_CHARS].strip("`").strip())
