"""Decides whose a change of a file is: an agent's only when something shows it, else the user's, or nobody knows."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.review.locate import unapplied
from acp_nvim.review.work import Deed, Work
from acp_nvim.ui.events import By
from acp_nvim.workspace.saves import Saved, Saves

SAVE_NS: Final = 100_000_000
"""A `:write` takes so long at most, from its first byte until it is noted for other Neovims."""
GIT_HAD: Final = 10_000
"""Files of which is remembered what git had: those of a checkout, as long as they may be judged again."""


class Verdict(msgspec.Struct, frozen=True):
    """Who changed a file; `why` in words; `sessions` are those whose agents did, or may have done it."""

    by: By
    why: str
    sessions: tuple[int, ...] = ()
    tool_call: str | None = None


def is_proven(by: By, force: bool) -> bool:
    """Whether what works on many files at once may take back what these did; `force`: also what nobody knows who did.

    The agent's own records are taken back one by one only.
    """
    return by == "agent" or (force and by == "unknown")


class Seen(msgspec.Struct, frozen=True):
    """A file that is another one than at the last look.

    `changed` is its change time (nanoseconds since 1970), or that of its directory when the file is gone; `size` in
    bytes, None when it is gone. `before` and `after` are ids of blobs, None for no file; `since` is the time of the
    last look at it; `text` is what it is now, if that is a text. What was saved of it up to `heard`, a change time, is
    known by its contents. `is_past`: it is not what is on disk any more, so that `changed` may be too late for it.
    """

    path: str
    changed: int
    size: int | None
    before: str | None
    after: str | None
    since: int = 0
    text: str | None = None
    heard: int = 0
    is_past: bool = False


_GIT: Final = re.compile(r"\bgit\b")
"""A command line with this word may have made git change files."""

AskGit = Callable[[Seen, bool], Awaitable[str | None]]
"""Which part of git has the file as it is now, in words; None if none has. True: and had that before the file."""


class Evidence:
    """What is known of the work of this host's sessions, and of those of dead hosts that is not looked at yet."""

    def __init__(self, ask_git: AskGit, saves: Saves) -> None:
        self.works: list[Work] = []
        self.saves = saves
        self._ask_git = ask_git
        self._heard: dict[str, int] = {}
        self._git_had: dict[tuple[str, int, bool], str] = {}

    def __repr__(self) -> str:
        return f"<Evidence {self.works!r} {self.saves!r}>"

    def writes(self, session: int, path: str) -> None:
        """The agent of that session is about to write the file through us."""
        for work in self.works:
            if work.session == session:
                work.writes(path)

    def wrote(self, session: int, path: str) -> None:
        """The agent of that session wanted the file to be what it is already."""
        for work in self.works:
            if work.session == session:
                work.wrote(path)

    def shows(self, path: str) -> bool:
        """Whether a tool call has shown what it does to the file at that real path."""
        return any(path in deed.changes for work in self.works for deed in work.naming(path))

    def accounted(self, path: str, changed: int) -> None:
        """All that was saved of the file until `changed` (its change time, in nanoseconds) is known by its contents."""
        self._heard[path] = max(changed, self._heard.get(path, 0))

    def heard(self, path: str) -> int:
        """The change time of the file up to which all that was saved of it is known by its contents."""
        return self._heard.get(path, 0)

    def judge_anew(self, path: str) -> None:
        """What was saved of the file is to be judged once more."""
        self._heard.pop(path, None)

    async def judge(self, seen: Seen) -> Verdict:
        """Decide who made the file what it is now."""
        await anyio.to_thread.run_sync(self.saves.look)
        works = [work for work in self.works if work.roots.contains(seen.path)]
        saved = self._unheard(seen)
        if saved and not seen.is_past and _is_of(saved[-1], seen):
            return self._of_save(saved, seen, works)
        verdict = await self._without_saves(seen, works)
        is_being_saved = await anyio.to_thread.run_sync(self.saves.may_be_saving, seen.path, seen.changed)
        if (saved or is_being_saved) and verdict.by == "agent":
            why = f"{verdict.why}, but another Neovim saved it, too"
            return Verdict("unknown", why, verdict.sessions, verdict.tool_call)
        return verdict

    def _unheard(self, seen: Seen) -> list[Saved]:
        """The saves of the file since its last look, none of which was begun after its last change."""
        saves = self.saves.of(seen.path)
        return [one for one in saves if seen.heard < _number(one.ctime) and _number(one.mtime) - SAVE_NS < seen.changed]

    def _of_save(self, saved: Sequence[Saved], seen: Seen, works: Sequence[Work]) -> Verdict:
        """A user saved it; but what the agent had made of it before may be in the text that was saved."""
        first, since = saved[0], max(seen.since, seen.heard)
        if first.was is None and seen.before is not None:
            doers = [work for work in works if work.may_have_changed(seen.path, since, _number(first.ctime))]
            if doers:
                why = f"{_names(doers)} worked after the last look at it, then it was saved in Neovim as a new file"
                return Verdict("unknown", why, _sessions(doers))
        if first.was is None or _number(first.was) <= since:
            return Verdict("user", "saved in Neovim")
        was = _number(first.was)
        doers = [work for work in works if any(one.covers(was) for one in work.naming(seen.path))]
        doers = doers or [work for work in works if any(work.commands(was))]
        if not doers:
            return Verdict("user", "saved in Neovim")
        return Verdict("unknown", f"changed while {_names(doers)} worked, then saved in Neovim", _sessions(doers))

    async def _without_saves(self, seen: Seen, works: Sequence[Work]) -> Verdict:
        moment = seen.changed
        named = [(work, deed) for work in works if (deed := self._naming(work, seen)) is not None]
        named = [(work, deed) for work, deed in named if deed.span.has(moment)] or named
        if named:
            deed = named[0][1]
            return Verdict("agent", deed.why, _sessions(work for work, _ in named), deed.tool_call or None)
        living = [work for work in works if work.lived(moment)]
        own = [work for work in living if _is_state(work, seen.path)]
        if own:
            return Verdict("state", f"{_names(own)} keeps its own records there", _sessions(own))
        ran = [(work, deed) for work in living if (deed := next(work.commands(moment), None)) is not None]
        ran = [(work, deed) for work, deed in ran if deed.span.has(moment)] or ran  # late ones only without others
        git = await self._git(seen, not ran)
        if ran:
            deed, sessions = ran[0][1], _sessions(work for work, _ in ran)
            if git is None or any(_GIT.search(one.words) for _, one in ran):
                return Verdict("agent", deed.why, sessions, deed.tool_call or None)
            why = f"as {git} has it, or {deed.why}, which ran then"
            return Verdict("unknown", why, sessions, deed.tool_call or None)
        return self._of_nobody(seen, works, living, git)

    async def _git(self, seen: Seen, is_first: bool) -> str | None:
        """Which part of git had the file like that; what is judged again later, git may have moved on from."""
        key = (seen.path, seen.changed, is_first)
        found = self._git_had.get(key) or await self._ask_git(seen, is_first)
        if found:
            self._git_had[key] = found
            while len(self._git_had) > GIT_HAD:
                del self._git_had[next(iter(self._git_had))]
        return found

    def _of_nobody(self, seen: Seen, works: Sequence[Work], living: Sequence[Work], git: str | None) -> Verdict:
        """No agent has said that it did it."""
        if git:
            return Verdict("user", f"by {git}")
        touched = [work for work in works if any(one.span.began <= seen.changed for one in self._open(work, seen))]
        if touched:
            return Verdict("unknown", f"changed again after {_names(touched)} had worked on it", _sessions(touched))
        working = [work for work in living if work.worked(seen.changed)]
        if working:
            why = f"changed while {_names(working)} worked; nothing it told of names the file"
            return Verdict("unknown", why, _sessions(working))
        behind = [(work, deed) for work in living if (deed := next(work.behind(seen.changed), None)) is not None]
        if behind:
            deed = behind[0][1]
            why = f"changed when no agent worked, but {deed.why} may have run in the background"
            return Verdict("unknown", why, _sessions(work for work, _ in behind), deed.tool_call or None)
        return Verdict("user", "no agent worked then")

    def _open(self, work: Work, seen: Seen) -> list[Deed]:
        """The calls that named the file since it was looked at last: what they made of it is not known."""
        ends = [(one, work.last_moment if one.span.ended is None else one.span.ended) for one in work.naming(seen.path)]
        return [one for one, end in ends if end is None or end > seen.since]

    def _naming(self, work: Work, seen: Seen) -> Deed | None:
        """The call of the agent that changed the file."""
        if not work.lived(seen.changed):
            return None
        for deed in work.naming(seen.path):
            if deed.covers(seen.changed) and not work.is_lost(deed):
                return deed
            change = deed.changes.get(seen.path)
            if change is None or not work.worked(seen.changed):
                continue
            if change.operation == "delete" and seen.after is None:
                return deed
            if seen.text is not None and change.pieces and unapplied(seen.text, change) is not None:
                return deed
        return None


def _is_of(saved: Saved, seen: Seen) -> bool:
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
    """`a/**` is all below `a`; any other glob is the name of one file."""
    top = glob.removesuffix("/**")
    return path.startswith(f"{top}/") if top != glob else path == glob


def _sessions(works: Iterable[Work]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(work.session for work in works))


def _names(works: Sequence[Work]) -> str:
    return " and ".join(dict.fromkeys(work.agent for work in works))
