"""What an agent did that may have changed files, and when."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from acp_nvim.acp.diff import FileChange

CALL_LATE_NS: Final = 1_000_000_000
"""A tool call may have changed a file this long after its last message: some agents report the end, then write."""
WHY_CHARS: Final = 80
"""Of a command line or a title, in the reason for a verdict: it is shown in one line of a list."""
NEVER: Final = 2**63 - 1
"""Later than any moment: since then a command runs on by itself that belongs to a turn, though that was cancelled."""


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
    """True if the agent does not wait for it: it may run on after the agent reports its end."""
    left: int | None = None
    """Since when a command runs on by itself: after its turn, or after the agent has reported its end."""
    told: str = ""  # as it was reported last; `words` is its first line, without secrets

    def covers(self, moment: int) -> bool:
        """Return whether it may have changed a file at `moment` (nanoseconds since 1970)."""
        if self.kind == "command":
            return self.time.contains(moment) and (self.left is None or moment <= self.left)
        return self.time.contains(moment, CALL_LATE_NS)

    def ran_on(self, moment: int) -> bool:
        """Return whether it ran on by itself at `moment` (nanoseconds since 1970), or may have."""
        return self.left is not None and self.left < moment and self.time.contains(moment)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or runs on by itself: then its name may be used again."""
        return self.time.ended is not None or self.left is not None

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
    what: Literal["life", "turn", "turn_end", "call", "command", "behind", "left", "write", "deed_end"]
    at: int
    id: str = ""
    words: str = ""
    paths: list[str] = []
