"""Whose a change is: for each kind of evidence, and where two of them meet."""

from __future__ import annotations

import itertools
import os
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from acp_nvim.acp.diff import FileChange, Piece
from acp_nvim.evidence import evidence, work
from acp_nvim.evidence.activities import NEVER, Record
from acp_nvim.evidence.evidence import Evidence, Observation
from acp_nvim.evidence.work import MAX_ACTIVITIES, Work
from acp_nvim.workspace.roots import WatchedRoots
from acp_nvim.workspace.saves import Saves

pytestmark = pytest.mark.anyio

SECOND = 1_000_000_000
NOW = 1_000_000 * SECOND
"""The agent lives since then; all times below are seconds after it."""
FILE = "/w/f"


class Case:
    """One agent in `/w`, whose turn goes from second 10 to 50; `git` is what git has."""

    def __init__(self, directory: Path) -> None:
        self.git: str | None = None
        self.ended: int | None = None
        self.directory = directory
        self.evidence = Evidence(self._ask_git, Saves(directory))
        self.evidence.saves.open()
        self.work = self.agent(1)

    async def _ask_git(self, seen: Observation, is_first: bool) -> str | None:
        return self.git

    def agent(self, session: int) -> Work:
        """Return another agent, which works at the same times."""
        work = Work(session, f"it{session}", WatchedRoots(["/w"]), lambda mark: self.ended)
        work.apply(Record(session, "life", NOW, "mark"))
        work.apply(Record(session, "turn", NOW + 10 * SECOND))
        work.apply(Record(session, "turn_end", NOW + 50 * SECOND))
        self.evidence.works.append(work)
        return work

    def deed(self, what: str, began: float, ended: float | None, words: str = "make", paths: tuple[str, ...] = ()):
        """A call or a command of the agent."""
        key = f"{words}{began}"
        self.work.apply(Record(1, what, NOW + int(began * SECOND), key, words, list(paths)))
        if ended is not None:
            self.work.apply(Record(1, "deed_end", NOW + int(ended * SECOND), f"{what} {key}"))

    def save(self, at: float, was: float | None, path: str = FILE, wrote: float | None = None) -> None:
        """A user saved the file then, which had been changed last at `was`; `wrote`: the text was there before."""
        line = {
            "path": quote(os.fsencode(path)),
            "size": 4,
            "mtime": str(NOW + int((at if wrote is None else wrote) * SECOND)),
            "ctime": str(NOW + int(at * SECOND)),
            "was": None if was is None else str(NOW + int(was * SECOND)),
        }
        self.note(line)

    def begin_save(self, at: float, pid: int) -> None:
        """A user's Neovim is about to write the file."""
        self.note({"path": quote(os.fsencode(FILE)), "began": str(NOW + int(at * SECOND)), "pid": pid})

    def give_up(self, pid: int) -> None:
        """End the save without writing the file."""
        self.note({"path": quote(os.fsencode(FILE)), "pid": pid})

    def note(self, line: dict[str, object]) -> None:
        """Write a line into the user's journal of saves."""
        with open(self.directory / "2026-01-01.jsonl", "ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")

    async def judge(self, at: float, since: float = 5, **more) -> tuple[str, str]:
        """Who made the file what it is, when it was changed then and looked at last at `since`."""
        more = {"accounted": self.evidence.accounted(FILE), **more}
        seen = Observation(FILE, NOW + int(at * SECOND), 4, "old", "new", NOW + int(since * SECOND), **more)
        verdict = await self.evidence.judge(seen)
        return verdict.by, verdict.why


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path / "saves")


def gone_pid() -> int:
    """Return the id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


@pytest.mark.parametrize("at", [9, 20, 49, 60])
async def test_without_any_evidence_it_is_the_agents_never(case: Case, at: int) -> None:
    by, why = await case.judge(at)
    assert by == ("unknown" if 10 <= at <= 50 else "user"), why


@pytest.mark.parametrize(
    ("at", "by"), [(19.9, "unknown"), (20, "agent"), (25, "agent"), (30, "agent"), (30.9, "agent"), (31.1, "unknown")]
)
async def test_a_call_that_names_the_file(case: Case, at: float, by: str) -> None:
    case.deed("call", 20, 30, "Edit f", (FILE,))
    assert (await case.judge(at))[0] == by


@pytest.mark.parametrize(("kind", "slack"), [("call", 1), ("command", 0.25)])
async def test_what_is_heard_a_little_late(
    case: Case, monkeypatch: pytest.MonkeyPatch, kind: str, slack: float
) -> None:
    monkeypatch.setattr(work, "now", lambda: NOW + 20 * SECOND)
    if kind == "call":
        case.work.call("c", "Edit f", [FILE], {}, finished=False)
    else:
        case.work.command("c", "make", "", finished=False)
    assert (await case.judge(20 - slack - 0.01))[0] == "unknown"
    assert (await case.judge(20 - slack))[0] == "agent"


async def test_what_is_heard_late_was_not_done_before_the_turn(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "now", lambda: NOW + int(10.2 * SECOND))
    case.work.call("c", "Edit f", [FILE], {}, finished=False)
    case.work.command("c", "make", "", finished=False)
    assert (await case.judge(9.9))[0] == "user"
    assert (await case.judge(10))[0] == "agent"


@pytest.mark.parametrize(("since", "by"), [(29.97, "user"), (29.9, "unknown")])
async def test_a_change_after_a_call_and_a_scan_that_followed_it_at_once(case: Case, since: float, by: str) -> None:
    case.deed("call", 20, 30, paths=(FILE,))
    assert (await case.judge(60, since))[0] == by  # a scan finds changes until 0.05 s after `since`


async def test_a_call_that_names_another_file(case: Case) -> None:
    case.deed("call", 20, 30, "Edit g", ("/w/g",))
    assert (await case.judge(25))[0] == "unknown"


@pytest.mark.parametrize(("at", "by"), [(19.9, "unknown"), (20, "agent"), (30, "agent"), (30.2, "unknown")])
async def test_a_command(case: Case, at: float, by: str) -> None:
    case.deed("command", 20, 30, "npm test")
    verdict = await case.judge(at)
    assert verdict[0] == by
    assert by == "unknown" or verdict[1] == "by `npm test`"


@pytest.mark.parametrize(("at", "by"), [(21, "agent"), (22, "unknown"), (25, "unknown"), (27, "agent")])
async def test_a_command_beside_one_of_the_users(
    case: Case, monkeypatch: pytest.MonkeyPatch, at: float, by: str
) -> None:
    case.deed("command", 20, 30, "npm test")
    monkeypatch.setattr(evidence, "now", lambda: NOW + 22 * SECOND)
    monkeypatch.setattr(time, "time_ns", lambda: NOW + 26 * SECOND)
    with case.evidence.running("make"):
        pass
    verdict = await case.judge(at)
    words = {"agent": "by `npm test`", "unknown": "by `make`, which ran after a turn, or by `npm test`, which ran then"}
    assert verdict == (by, words[by])


async def test_a_command_that_goes_on_behind(case: Case) -> None:
    case.deed("command", 20, 21, "npm start")
    assert (await case.judge(70))[0] == "user"
    case.work.apply(Record(1, "left", case.work.all_commands()[0].time.ended, "command npm start20"))
    by, why = await case.judge(70)
    assert by == "unknown"
    assert "`npm start`" in why
    case.ended = NOW + 60 * SECOND
    assert (await case.judge(70))[0] == "user"


@pytest.mark.parametrize(
    ("at", "by"), [(19, "unknown"), (20, "agent"), (30, "agent"), (30.05, "unknown"), (49, "unknown"), (51, "user")]
)
async def test_a_command_claims_nothing_after_its_end(case: Case, at: float, by: str) -> None:
    case.deed("command", 20, 30)
    assert (await case.judge(at))[0] == by


@pytest.mark.parametrize(
    ("at", "by", "why"),
    [
        (30, "agent", "by `npm start`"),
        (31, "unknown", "by `npm start` (it ran on), or by something else"),
        (60, "unknown", "by `npm start` (it ran on), or by something else"),
        (61, "user", "no agent worked then"),
    ],
)
async def test_what_a_command_changes_that_runs_on_is_in_doubt(case: Case, at: float, by: str, why: str) -> None:
    case.deed("command", 20, 60, "npm start")
    case.work.leave(case.work.all_commands()[0], NOW + 30 * SECOND)
    assert (await case.judge(at))[0] == ("agent" if by == "agent" else "unknown")
    case.work.apply(Record(1, "deed_end", NOW + 60 * SECOND, "command npm start20"))
    assert await case.judge(at) == (by, why)


@pytest.mark.parametrize(("git", "by"), [(None, "agent"), ("git", "user")])
async def test_what_it_has_open_for_writing_is_its_own(case: Case, git: str | None, by: str) -> None:
    case.git = git
    case.deed("command", 20, None, "npm start")
    command = case.work.all_commands()[0]
    case.work.leave(command, NOW + 30 * SECOND)
    case.work.writes = lambda one, path: one is command and path == FILE
    assert await case.judge(70) == (by, "by git" if git else "by `npm start` (still runs)")


async def test_a_cancelled_one_belongs_to_its_turn_until_it_is_left(case: Case) -> None:
    case.deed("command", 20, None, "npm start")
    command = case.work.all_commands()[0]
    case.work.leave(command, NEVER)
    assert (await case.judge(70))[0] == "agent"
    case.work.leave(command, NOW + 60 * SECOND)
    assert [(await case.judge(at))[0] for at in (60, 70)] == ["agent", "unknown"]


@pytest.mark.parametrize(
    ("command", "git", "by"),
    [
        (None, "git", "user"),
        ("make", None, "agent"),
        ("make", "git", "unknown"),
        ("git checkout x", "git", "agent"),
        ("git checkout x", None, "agent"),
    ],
)
async def test_git(case: Case, command: str | None, git: str | None, by: str) -> None:
    case.git = git
    if command is not None:
        case.deed("command", 20, 30, command)
    assert (await case.judge(25))[0] == by


@pytest.mark.parametrize("kind", ["call", "command"])
async def test_after_the_agent_has_ended(case: Case, kind: str) -> None:
    case.deed(kind, 20, None, "Edit", (FILE,) if kind == "call" else ())
    case.ended = NOW + 30 * SECOND
    assert (await case.judge(29))[0] == "agent"
    assert (await case.judge(40))[0] == ("unknown" if kind == "call" else "user")
    assert (await case.judge(40, since=31))[0] == "user"


async def test_before_the_agent_began(case: Case) -> None:
    case.deed("call", -5, None, "Edit", (FILE,))
    assert (await case.judge(-2, since=-9))[0] != "agent"


async def test_a_command_of_a_dead_host_of_which_nobody_saw_the_end(case: Case) -> None:
    case.deed("command", 20, None)
    case.work.is_over = True
    assert (await case.judge(40))[0] == "unknown"
    case.ended = NOW + 45 * SECOND
    assert (await case.judge(40))[0] == "agent"


async def test_its_own_records(case: Case) -> None:
    case.work.state = ["f"]
    case.deed("command", 20, 30)
    assert (await case.judge(25))[0] == "state"
    case.save(26, 9)
    assert (await case.judge(26))[0] == "user"
    case.deed("call", 27, 28, "Edit f", (FILE,))
    case.ended = NOW + 29 * SECOND
    assert (await case.judge(40))[0] != "state"


@pytest.mark.parametrize("running", [False, True])
async def test_a_save(case: Case, running: bool) -> None:
    if running:
        case.deed("command", 20, 30)
    case.save(25, 4)
    assert (await case.judge(25))[0] == "user"


async def test_a_save_over_what_the_agent_may_have_made(case: Case) -> None:
    case.deed("command", 20, 30)
    case.save(28, 25)
    assert (await case.judge(28))[0] == "unknown"


@pytest.mark.parametrize(
    ("at", "by"), [(24.8, "agent"), (24.95, "unknown"), (25, "user"), (25.2, "user"), (25.3, "user")]
)
async def test_what_is_seen_while_it_is_saved(case: Case, at: float, by: str) -> None:
    case.deed("command", 20, 30)
    case.save(25.3, 4, wrote=25)
    assert (await case.judge(at))[0] == by


async def test_what_is_in_doubt_is_no_agents_when_it_is_judged_again(case: Case) -> None:
    case.deed("command", 20, 30)
    case.save(28, 25)
    seen = Observation(
        FILE, NOW + 28 * SECOND, 4, "old", "new", NOW + 5 * SECOND, accounted=case.evidence.accounted(FILE)
    )
    assert (await case.evidence.judge(seen)).by == "unknown"
    case.evidence.set_accounted(FILE, seen.changed)
    assert (await case.evidence.judge(seen)).by == "unknown"


async def test_two_saves_one_upon_the_other(case: Case) -> None:
    case.deed("command", 20, 30)
    case.save(22, 4)
    case.save(28, 22)
    assert (await case.judge(28))[0] == "user"


async def test_the_agent_changes_what_was_saved(case: Case) -> None:
    case.save(22, 4)
    case.deed("call", 25, 26, "Edit f", (FILE,))
    assert (await case.judge(25.5))[0] == "unknown"
    assert (await case.judge(25.5, since=23))[0] == "unknown"
    case.evidence.set_accounted(FILE, NOW + 22 * SECOND)
    assert (await case.judge(25.5))[0] == "agent"


async def test_a_diff_that_is_told_after_the_edit(case: Case) -> None:
    shown = FileChange(path=FILE, pieces=(Piece("one\n", "two\n"),))
    case.work.call("late", "Edit", [], {FILE: shown}, finished=True)
    for one in case.work.naming(FILE):
        one.time.began = one.time.ended = NOW + 40 * SECOND
    assert (await case.judge(20, text="two\n"))[0] == "agent"
    assert (await case.judge(20, text="three\n"))[0] == "unknown"
    assert (await case.judge(9, text="two\n"))[0] != "agent"


@pytest.mark.parametrize(
    ("began", "is_alive", "by"),
    [(24, True, "unknown"), (4, True, "unknown"), (26, True, "agent"), (24, False, "unknown"), (4, False, "agent")],
)
async def test_a_save_that_has_not_ended_is_no_agents(case: Case, began: float, is_alive: bool, by: str) -> None:
    case.deed("call", 20, 30, "Edit f", (FILE,))
    case.begin_save(began, os.getpid() if is_alive else gone_pid())
    assert (await case.judge(25))[0] == by


async def test_a_save_that_was_not_made(case: Case) -> None:
    case.deed("call", 20, 30, "Edit f", (FILE,))
    case.begin_save(24, 1)
    case.begin_save(24.5, 2)
    case.give_up(1)
    assert (await case.judge(25))[0] == "unknown"
    case.give_up(2)
    assert (await case.judge(25))[0] == "agent"


async def test_garbage_in_the_journal(case: Case) -> None:
    case.directory.joinpath("2026-01-01.jsonl").write_bytes(b"\xff\x00{}\n[1]\nnull\n" + b"x" * 5000 + b"\n")
    for text in ("", "-1", "²", "9" * 5000, "1.5", "now"):
        for fields in ({"began": text}, {"size": 4, "mtime": text, "ctime": text}):
            case.note({"path": FILE, "pid": 1, **fields})
    case.save(25, 4)
    file = case.directory / "2026-01-01.jsonl"
    file.write_bytes(file.read_bytes() + b'{"path": "/w/f", "si')
    assert (await case.judge(25))[0] == "user"


async def test_two_agents_at_once(case: Case) -> None:
    other = case.agent(2)
    case.deed("command", 20, 30)
    other.apply(Record(2, "call", NOW + 24 * SECOND, "c", "Edit", [FILE]))
    other.apply(Record(2, "deed_end", NOW + 26 * SECOND, "call c"))
    verdict = await case.evidence.judge(Observation(FILE, NOW + 25 * SECOND, 4, "a", "b"))
    assert (verdict.by, verdict.sessions) == ("agent", (2,))


async def test_nothing_is_an_agents_outside_of_its_life(case: Case) -> None:
    """All combinations of evidence, and all times."""
    case.ended = NOW + 60 * SECOND
    shown = FileChange(path=FILE, pieces=(Piece("one\n", "two\n"),))
    times = [-10, -1, 0, 5, 15, 45, 60, 61, 90]
    for call, command, diff, git, at in itertools.product(
        (False, True), (False, True), (False, True), (None, "git"), times
    ):
        one = Case(case.directory.parent / "other")
        one.ended, one.git = case.ended, git
        if call:
            one.deed("call", -20, None, "Edit", (FILE,))
        if command:
            one.deed("command", -20, None)
        if diff:
            one.work.call("d", "Edit", [], {FILE: shown}, finished=False)
        by, why = await one.judge(at, since=-30, text="two\n")
        assert by != "agent" or 0 <= at <= 60, (call, command, diff, git, at, why)


async def test_of_many_calls_the_oldest_are_forgotten(case: Case) -> None:
    case.work.call("first", "Edit", [FILE], {}, finished=True)
    assert [one.tool_call for one in case.work.naming(FILE)] == ["first"]
    for number in range(MAX_ACTIVITIES):
        case.work.call(str(number), "Edit", [f"/w/{number}"], {}, finished=True)
        case.work.found_written("/w/again")
    assert list(case.work.naming(FILE)) == []
    assert len(list(case.work.naming("/w/again"))) == 1
    assert len(case.work._naming) <= MAX_ACTIVITIES


@pytest.mark.parametrize(("key", "tool_call"), [("call 7", "7"), ("terminal-7", "")])
async def test_a_command_of_a_dead_host_is_of_its_call(case: Case, key: str, tool_call: str) -> None:
    case.work.apply(Record(1, "command", NOW + 20 * SECOND, key, "make"))
    assert [one.tool_call for one in case.work.commands(NOW + 25 * SECOND)] == [tool_call]


@pytest.mark.parametrize(
    ("words", "by"),
    [
        ("git stash", "agent"),
        ("legit digits", "unknown"),
        ("cd x && git pull", "agent"),
        ("jj new main", "agent"),
        ("git status && make", "unknown"),
        ("git diff | wc", "unknown"),
        ("git status && git stash", "agent"),
        ("git log -1 --format=%B >notes", "agent"),
        ("git show main:f >f", "agent"),
        ("git -C x checkout y", "agent"),
        ("git statusx", "agent"),
    ],
)
async def test_only_words_for_git_that_may_write_count(case: Case, words: str, by: str) -> None:
    case.git = "git"
    case.deed("command", 20, 30, words)
    assert (await case.judge(25))[0] == by
