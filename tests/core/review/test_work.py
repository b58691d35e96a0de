"""The next host reads from the journal what the agents of a dead one did, exactly as that host knew it."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.evidence.activities import NEVER, Activity, Record
from acp_nvim.evidence.work import Work
from acp_nvim.file_time import now
from acp_nvim.workspace.roots import WatchedRoots

NAMES, PATHS = ["1", "call 1", "2"], ["/w/f", "/w/g"]
names, paths = st.sampled_from(NAMES), st.lists(st.sampled_from(PATHS), max_size=2)
steps = st.one_of(
    st.tuples(st.just("turn_began")),
    st.tuples(st.just("turn_ended")),
    st.tuples(st.just("call"), names, st.sampled_from(["", "Edit"]), paths, st.booleans()),
    st.tuples(st.just("command"), names, st.sampled_from(["", "make"]), st.booleans(), st.booleans()),
    st.tuples(st.sampled_from(["leave", "hold", "end"]), names),
    st.tuples(st.just("before_write"), st.sampled_from(PATHS)),
)


def known(activity: Activity) -> tuple[object, ...]:
    """What a verdict may depend on."""
    time = activity.time
    return activity.kind, time.began, time.ended, sorted(activity.paths), activity.in_background, activity.left


def do(work: Work, step: tuple) -> None:
    """Note one act of the agent."""
    match step:
        case ("turn_began",):
            work.turn_began(now())
        case ("turn_ended",):
            work.turn_ended(now())
        case ("call", name, words, named, finished):
            work.call(name, words, named, {}, finished)
        case ("command", name, words, finished, in_background):
            work.command(name, words, "", finished, in_background)
        case (("leave" | "hold" | "end") as what, name):
            if (command := work.find(name)) is not None and what == "end":
                work.end(command)
            elif command is not None:
                work.leave(command, now() if what == "leave" else NEVER)
        case ("before_write", path):
            work.before_write(path)


@given(st.lists(steps, max_size=12))
def test_what_is_read_is_what_was_done(done: list[tuple]) -> None:
    live, read = (Work(1, "it", WatchedRoots(["/w"]), lambda mark: None) for _ in range(2))
    lines: list[bytes] = []
    live.write = lambda record: lines.append(msgspec.json.encode(record))
    for step in done:
        do(live, step)
    records = [msgspec.json.decode(line, type=Record) for line in lines]
    for record in records:
        read.apply(record)
    for moment in {now(), *(record.at for record in records)}:
        assert live.was_working(moment) == read.was_working(moment)
        for query in ("commands", "background_commands"):
            told = [[known(one) for one in getattr(work, query)(moment)] for work in (live, read)]
            assert told[0] == told[1]
    for path in PATHS:
        told = [[known(one) for one in work.naming(path) if one.kind != "write"] for work in (live, read)]
        assert told[0] == told[1]
