"""The tables of all benches but the chat's."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from functools import partial

from tests.bench import (
    files,
    follow,
    many_files,
    pipeline,
    review,
    sessions,
    snapshots,
    starting,
    streaming,
    terminals,
    tools,
    turns,
)
from tests.bench.printing import ROUNDS, fresh, held, line


def bench_start() -> None:
    """What waiting for the first prompt costs; plain Lua that starts the same agent and its session, in turns.

    The environment variable PYTHONS names more interpreters that are measured.
    """
    rounds = [
        (
            fresh(starting.floor),
            fresh(starting.blocked),
            fresh(partial(starting.felt, by_hand=False)),
            fresh(partial(starting.felt, by_hand=True)),
        )
        for _ in range(ROUNDS)
    ]
    load = starting.plugin_load()
    line("loading the plugin", f"{load:.2f} ms", held(load, 2, "ms"))
    least = statistics.median(one[0] for one in rounds)
    took, used = (statistics.median(one[1][index] for one in rounds) for index in range(2))
    what = "the first command blocks the editor, with the redraw; its CPU"
    line(what, f"{took:.1f} ms, {used:.1f} ms", held(took, 16, "ms"))
    for place, words in ((2, "run by a mapping"), (3, "typed, 100 ms between keys")):
        runs = [one[place] for one in rounds]
        typed, ready, longest = (
            statistics.median(getattr(run, name) for run in runs) for name in ("typed", "ready", "longest")
        )
        line(f"{words}: until a key lands in the prompt", f"{typed:.1f} ms", held(typed, 50, "ms"))
        figure = f"{ready:.0f} ms, {least:.0f} ms: {ready / least:.2f} x"
        line("  until the session is ready, the floor", figure, held(ready, 100, "ms"))
        line("  the longest stall after the first key", f"{longest:.1f} ms", held(longest, 16, "ms"))
    parts = [statistics.median(part) for part in zip(*(starting.imported() for _ in range(ROUNDS)), strict=True)]
    figures = ", ".join(f"{part:.0f}" for part in parts)
    line("processor time to load Python, the libraries, our modules", f"{figures} ms", "")
    for python in os.environ.get("PYTHONS", "").split():
        runs = [fresh(partial(starting.felt, by_hand=True, python=python)) for _ in range(ROUNDS)]
        ready = statistics.median(run.ready for run in runs)
        line(f"  typed, with {python}: ready", f"{ready:.0f} ms: {ready / least:.2f} x", held(ready, 100, "ms"))


def bench_streams() -> None:
    """How long the editor answers nobody while text is streamed."""
    for count in (1_000, 20_000, 100_000):
        for screen in (False, True):
            runs = [fresh(lambda place: streaming.stream(place, count, screen)) for _ in range(ROUNDS)]  # noqa: B023
            what = f"{count} chunks without a pause, {'with' if screen else 'without'} a screen"
            assert all(run.exact for run in runs), what
            line(f"{what}: all text in the buffer", f"{statistics.median(run.seconds for run in runs):.2f} s", "")
            worst = max(run.pings.max for run in runs)
            p99 = statistics.median(run.pings.p99 for run in runs)
            line("  a request every 5 ms: p99, worst of all runs", f"{p99:.1f} ms, {worst:.1f} ms", "p99 <= 16 ms")
    slow = fresh(streaming.slow_start)
    line("an agent takes 5 s to start: p99, worst", f"{slow.p99:.1f} ms, {slow.max:.1f} ms", "p99 <= 16 ms")


def bench_sessions() -> None:
    """How long the editor answers nobody while many sessions talk."""
    for lines, pause, words in ((2_000, 0.0, "without a pause"), (250, 0.02, "50 a second each")):
        for screen in (False, True):
            runs = [fresh(lambda place: sessions.talk(place, lines, pause, screen)) for _ in range(ROUNDS)]  # noqa: B023
            what = f"20 sessions on 3 agents, {lines} lines {words}, {'with' if screen else 'without'} a screen"
            assert all(run.exact for run in runs), what
            line(f"{what}: all turns", f"{statistics.median(run.seconds for run in runs):.2f} s", "")
            worst = max(run.pings.max for run in runs)
            p99 = statistics.median(run.pings.p99 for run in runs)
            line("  a request every 5 ms: p99, worst of all runs", f"{p99:.1f} ms, {worst:.1f} ms", "p99 <= 16 ms")
            p99 = statistics.median(run.quiet.p99 for run in runs)
            line("  the same while they are silent: p99", f"{p99:.1f} ms", "")


def bench_pipeline() -> None:
    """What the host does with a chunk, beside merely decoding it."""
    for v2 in (False, True):
        figures = [pipeline.fold(100_000, v2) for _ in range(ROUNDS)]
        ratio = statistics.median(one.seconds / one.floor for one in figures)
        what = f"host: 100000 chunks of version {2 if v2 else 1} decoded, folded, batched"
        line(what, f"{ratio:.1f} x the floor", "<= 3 x msgspec.json.decode")
    grown = pipeline.memory(100_000)
    line("  memory for a byte of text: all waiting, all taken", f"{grown.waiting:.1f} B, {grown.taken:.1f} B", "<= 3 B")
    seconds = [min(pipeline.long_line(size) for _ in range(3)) * 1000 for size in (8, 16, 32, 63)]
    line("one message of 8, 16, 32, 63 MiB", " ".join(f"{one:.0f}" for one in seconds) + " ms", "in proportion")


def bench_files() -> None:
    """What an agent waits for the files that Neovim holds; plain Lua does the same work, without a check, in turns."""
    rounds = [(fresh(files.floor), fresh(files.ours)) for _ in range(ROUNDS)]
    kinds: list[tuple[str, Callable[[files.Served], list[float]], float | None]] = [
        (f"{files.READS} reads of a modified buffer of {files.LINES} lines", lambda served: served.reads, 0.6),
        (f"{files.PARTS} reads of {files.PART_LINES} lines of it", lambda served: served.parts, 1.0),
        (f"{files.WRITES} writes of one line into it, saved", lambda served: served.writes, 1.0),
        (f"{files.EDITS} reads, each after an edit of the user", lambda served: served.edits, None),
    ]
    for what, of, most in kinds:
        found = files.compare([of(ours) for _, ours in rounds], [of(floor) for floor, _ in rounds])
        figure = f"{found.ours:.0f} ms, {found.floor:.0f} ms: {found.ratio:.2f} x"
        verdict = "" if most is None else f"<= {most} x the floor: {'ok' if found.ratio <= most else 'over'}"
        line(f"{what}: all, the floor", figure, verdict)
        ours, floor = found.ours_each, found.floor_each
        line("  each: p50 and p99, the floor", f"{ours.p50:.2f} {ours.p99:.1f}, {floor.p50:.2f} {floor.p99:.1f} ms", "")
    pings = [fresh(partial(serve, with_pings=True)).pings for serve in (files.ours, files.floor)]
    figure = ", ".join(f"{one.p99:.1f} {one.max:.1f}" for one in pings if one is not None)
    line("  a request every 5 ms meanwhile: p99 and worst, the floor", f"{figure} ms", "p99 <= 16 ms")


def bench_review() -> None:
    """How long the editor needs for a file under review, and for the same file without hunks."""
    for language in ("lua", "python"):
        both = [
            (fresh(partial(review.measure, language=language, with_review=True)),
             fresh(partial(review.measure, language=language, with_review=False)))
            for _ in range(ROUNDS)
        ]  # fmt: skip
        of = [felt for felt, _ in both], [plain for _, plain in both]
        drawn, all_ = (statistics.median(getattr(felt, name) for felt in of[0]) for name in ("shown", "shown_all"))
        what = f"{language}: {review.LINES} lines, {review.HUNKS} hunks: drawn, with all colours"
        line(what, f"{drawn:.1f} ms, {all_:.1f} ms", "<= 50 ms")
        ours, floor = ([statistics.median(getattr(felt.jumps, name) for felt in felts)
                        for name in ("ran", "drawn", "all")] for felts in of)  # fmt: skip
        line(
            "  next hunk: found, drawn, with all colours",
            " ".join(f"{one:.2f}" for one in ours) + " ms",
            "<= 5 ms more than plain",
        )
        line("  the same cursor movements, plain", " ".join(f"{one:.2f}" for one in floor) + " ms", "")
        for name, words in (("latency", "until it is seen"), ("cpu", "Neovim's processor time")):
            mine, plain = (statistics.median(getattr(felt.typed, name) for felt in felts) for felts in of)
            figure = f"{mine:.2f} ms, {plain:.2f} ms"
            line(f"  a key typed, {words}: ours, plain", figure, "<= 1 ms more")


def bench_snapshots() -> None:
    """What it costs to know all files of a repository; plain git, on the same files, in turns."""
    rounds = [fresh(snapshots.run) for _ in range(3)]
    names = ("first", "first_status")
    ours, floor = (statistics.median(getattr(one, name) for one in rounds) * 1000 for name in names)
    figure = f"{ours:.0f} ms, {floor:.0f} ms: {ours / floor:.2f} x"
    line(f"the first snapshot of {snapshots.FILES} files, the floor", figure, "")
    for what, name in (("nothing changed", "same"), (f"{snapshots.CHANGED} files changed", "changed")):
        ours = snapshots.median([seconds for one in rounds for seconds in getattr(one, name)])
        floor = snapshots.median([seconds for one in rounds for seconds in getattr(one, f"status_{name}")])
        figure = f"{ours:.1f} ms, {floor:.1f} ms: {ours / floor:.2f} x"
        line(f"  a later one, {what}, the floor", figure, "<= 1.5 x git status")
    found = snapshots.median([seconds for one in rounds for seconds in one.changes])
    line("  what differs between two", f"{found:.1f} ms", "")


def bench_first_snapshots() -> None:
    """A clean checkout; `git status` in the same run, in turns."""
    for packed in (True, False):
        found = fresh(partial(snapshots.first, packed=packed, rounds=ROUNDS))
        ours, floor = (statistics.median(getattr(one, name) for one in found) * 1000 for name in ("ours", "status"))
        ratio = statistics.median(one.ours / one.status for one in found)
        what = f"the first snapshot of {snapshots.MANY_FILES} files, {'packed' if packed else 'loose'}, the floor"
        line(what, f"{ours:.0f} ms, {floor:.0f} ms: {ratio:.2f} x", held(ratio, 2, "x git status"))


def bench_turns() -> None:
    """What is felt of the snapshots, in a repository of 20,000 files."""
    rounds = [fresh(turns.run) for _ in range(3)]
    for what, name in (("the first snapshot and turn", "first"), ("a later turn", "later")):
        p99 = statistics.median(getattr(one, name).p99 for one in rounds)
        worst = max(getattr(one, name).max for one in rounds)
        line(f"{snapshots.FILES} files, {what}: pings p99, worst", f"{p99:.1f} ms, {worst:.1f} ms", "p99 <= 16 ms")
    waits = [statistics.median(getattr(one, name) for one in rounds) for name in ("prompt_waits", "summary_waits")]
    figure = " ".join(f"{one:.2f}" for one in waits) + " s"
    line("  from the prompt to the agent, to the summary of 21 files", figure, "")


def bench_many_files() -> None:
    """What is felt while all that a command has changed is rejected, as soon as its turn is over."""
    for listed in (False, True):
        found = fresh(partial(many_files.run, listed=listed))
        what = f"{many_files.FILES} changed files rejected{', the list on the screen' if listed else ''}"
        line(what, f"{found.seconds:.1f} s", "")
        figure = f"{found.pings.p99:.1f} ms, {found.pings.max:.1f} ms"
        line("  a request every 5 ms: p99, worst", figure, held(found.pings.p99, 16, "ms"))


def bench_terminals() -> None:
    """What is felt of a command that floods its terminal; plain Python reads the same bytes beside it."""
    least = fresh(terminals.floor)
    line(f"{terminals.LINE}, read by plain Python: s, its CPU", f"{least.seconds:.1f} {least.cpu:.1f} s", "")
    figure = f"{least.pings.p99:.1f} ms, {least.pings.max:.1f} ms"
    line("    pings of a Neovim beside it: p99, worst", figure, "what the machine has")
    for opened in (False, True):
        found = fresh(partial(terminals.flood, opened=opened))
        what = "the terminal open in a buffer" if opened else "the chat alone"
        figure = f"{found.seconds:.1f} {found.host_cpu:.1f} {found.nvim_cpu:.1f} s"
        line(f"  {what}: s, CPU of the host, of Neovim", figure, "")
        for name, memory in (("the host", found.host), ("Neovim", found.nvim)):
            figure = f"{memory.before:.0f} {memory.peak:.0f} {memory.after:.0f} MB"
            line(f"    memory of {name}: before, peak, after", figure, "flat")
        line("    pings: p99, worst", f"{found.pings.p99:.1f} ms, {found.pings.max:.1f} ms", "p99 <= 16 ms")


def bench_follow() -> None:
    """What following costs the editor; the same updates without following, and the same turn without any, in turns."""
    rounds = [{what: fresh(partial(follow.measure, what=what)) for what in follow.WHAT} for _ in range(3)]
    share = {what: statistics.median(one[what].share for one in rounds) * 100 for what in follow.WHAT}
    what = f"{follow.PLACES} places a second for {follow.SECONDS} s: processor time for following"
    line(what, f"{share['followed'] - share['not followed']:.1f} %", "<= 5 % of one processor")
    for one in follow.WHAT:
        p99 = statistics.median(round_[one].pings.p99 for round_ in rounds)
        worst = max(round_[one].pings.max for round_ in rounds)
        shown = statistics.median(round_[one].shown for round_ in rounds)
        line(f"  {one}: all of Neovim's, places shown", f"{share[one]:.1f} %, {shown:.0f}", "")
        line("    a request every 5 ms: p99, worst", f"{p99:.1f} ms, {worst:.1f} ms", "p99 <= 16 ms")


def bench_tools() -> None:
    """Tool calls of an agent, over the relay, against Neovim's own function for the same."""
    runs = [fresh(tools.called) for _ in range(ROUNDS)]
    single, own = (statistics.median(getattr(run, name).p50 for run in runs) for name in ("single", "own"))
    line("a call of `definition`, and Neovim's own function: p50", f"{single:.2f} ms, {own:.2f} ms", "")
    line("  beyond that", f"{single - own:.2f} ms", held(single - own, 3, "ms"))
    seconds = statistics.median(run.seconds for run in runs)
    line(f"{tools.CALLS} calls at once: until the last answer", f"{seconds:.2f} s", "")
    for name, what in (("editor", "Neovim"), ("server", "the server")):
        p99 = statistics.median(getattr(run, name).p99 for run in runs)
        line(f"  pings of {what} meanwhile: p99", f"{p99:.1f} ms", held(p99, 16, "ms"))


BENCHES = {
    "start": bench_start,
    "streams": bench_streams,
    "sessions": bench_sessions,
    "pipeline": bench_pipeline,
    "files": bench_files,
    "review": bench_review,
    "snapshots": bench_snapshots,
    "snapshots-first": bench_first_snapshots,
    "turns": bench_turns,
    "follow": bench_follow,
    "many-files": bench_many_files,
    "terminals": bench_terminals,
    "tools": bench_tools,
}
