"""The tables of the chat's bench: medians of five rounds, ours and the floor in turns."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from tests.bench.chat import calls, memory, paced, permission, replay, streams, subagents
from tests.bench.chat.stage import WHO, Stalls, Who
from tests.bench.printing import ROUNDS, fresh, held, line

T = TypeVar("T")
Pair = tuple[list[T], list[T]]
COUNTS = (20_000, 100_000)


def in_turns(measure: Callable[..., T], **given: object) -> Pair[T]:
    """`measure` of ours and of the floor, round by round."""
    found: dict[Who, list[T]] = {who: [] for who in WHO}
    for _ in range(ROUNDS):
        for who in WHO:
            found[who].append(fresh(partial(_measure, measure, who, given)))
    return found["ours"], found["floor"]


def _measure(measure: Callable[..., T], who: Who, given: dict[str, object], directory: Path) -> T:
    return measure(directory, who, **given)


def median(found: list[T], name: str) -> float:
    """Return the median of one figure, by its dotted name."""
    return statistics.median(_get(one, name) for one in found)


def _get(one: object, name: str) -> float:
    for part in name.split("."):
        one = getattr(one, part)
    assert isinstance(one, float | int)
    return one


def against(what: str, pair: Pair[T], name: str, most: float | None, unit: str = "ms") -> None:
    """A row: ours, the floor, the ratio."""
    scale = 1000 if unit == "ms" else 1
    ours, floor = (median(found, name) * scale for found in pair)
    figure = f"{ours:.0f} {unit}, {floor:.0f} {unit}: {ours / floor:.2f} x"
    line(what, figure, "" if most is None else held(ours / floor, most, "x the floor"))


def print_stalls(what: str, pair: Pair[Stalls], beside: str = "the floor") -> None:
    """Both measures of stalls, and what the floor has, or what the second ones are."""
    for name, words in (("pings", "a request every 5 ms"), ("gaps", "a timer of 1 ms inside")):
        p99, worst = (median(pair[0], f"{name}.{one}") for one in ("p99", "max"))
        floor = ", ".join(f"{median(pair[1], f'{name}.{one}'):.1f}" for one in ("p99", "max"))
        very_worst = max(_get(one, f"{name}.max") for one in pair[0])
        line(f"{what}, {words}: p99", f"{p99:.1f} ms", held(p99, 8, "ms"))
        line(f"  max, of all rounds; p99 and max of {beside}: {floor}", f"{worst:.1f}, {very_worst:.1f} ms",
             held(worst, 16, "ms"))  # fmt: skip


def bench_streams() -> None:
    """Chunks that come without a pause."""
    for count in COUNTS:
        for screen in (True, False):
            pair = in_turns(streams.stream, count=count, screen=screen)
            what = f"chat: {count} chunks, {'with' if screen else 'without'} a screen"
            against(f"{what}: the last is there", pair, "seconds", 1.2)
            against("  Neovim's processor", pair, "cpu", 1)
            line("  the host's processor", f"{median(pair[0], 'host_cpu') * 1000:.0f} ms", "")


def bench_stalls() -> None:
    """How long the editor answers nobody while chunks come."""
    for count in COUNTS:
        print_stalls(f"chat: {count} chunks at once", in_turns(streams.flood_stalls, count=count))
    least: dict[str, float] = {}
    for lines in streams.FILLED:
        pair = in_turns(streams.stalls_at, lines=lines)
        print_stalls(f"chat: 2000 chunks/s at {lines} lines", pair)
        for name in ("pings.p99", "pings.max", "gaps.p99", "gaps.max"):
            now = median(pair[0], name)
            before = least.setdefault(name, now)
            if lines == streams.FILLED[-1]:
                what = f"  {name} beside that at {streams.FILLED[0]} lines"
                line(what, f"{now / before:.2f} x", held(now / before, 1.5, "x"))


def bench_paced() -> None:
    """200 chunks a second."""
    for before in (0, 10_000):
        pair = in_turns(paced.measure, before=before)
        after = f" after {before}" if before else ""
        for name, most in (("p50", 10), ("p99", 17)):
            ours, floor = (median(found, f"latency.{name}") for found in pair)
            line(f"chat: 200 chunks/s{after}, from write to buffer: {name}", f"{ours:.1f} ms, floor {floor:.1f} ms",
                 held(ours, most, "ms"))  # fmt: skip
        against(f"  Neovim's processor in {paced.SECONDS} s", pair, "cpu", 1.02)
        host = median(pair[0], "host_cpu") * 1000
        line("  the host's processor", f"{host:.0f} ms", held(host, 350, "ms"))
    pair = in_turns(paced.measure, before=0, a_second=paced.RARE_A_SECOND)
    ours, floor = (median(found, "latency.p50") for found in pair)
    line(f"chat: {paced.RARE_A_SECOND} chunks/s, from write to buffer: p50", f"{ours:.1f} ms, floor {floor:.1f} ms",
         held(ours, 5, "ms"))  # fmt: skip


def bench_subagents() -> None:
    """Twenty subagents at work: the parent's chat stays within the budgets that it has alone."""
    alone, found = ([fresh(partial(subagents.measure, who="ours", children=one)) for _ in range(ROUNDS)]
                    for one in (False, True))  # fmt: skip
    for name, most in (("p50", 10), ("p99", 17)):
        ours, without = (median(one, f"latency.{name}") for one in (found, alone))
        what = f"chat: 200 chunks/s beside {subagents.CHILDREN} subagents, from write to buffer: {name}"
        line(what, f"{ours:.1f} ms, without them {without:.1f} ms", held(ours, most, "ms"))
    for name, words in (("cpu", "Neovim's"), ("host_cpu", "the host's")):
        ours, without = (median(one, name) * 1000 for one in (found, alone))
        line(f"  {words} processor in {subagents.SECONDS} s", f"{ours:.0f} ms, without them {without:.0f} ms", "")
    with_, without_ = ([fresh(partial(subagents.stalls, who="ours", children=one)) for _ in range(ROUNDS)]
                       for one in (True, False))  # fmt: skip
    print_stalls(f"chat: 200 chunks/s beside {subagents.CHILDREN} subagents", (with_, without_), "without them")


def bench_calls() -> None:
    """Many tool calls."""
    what = f"chat: {calls.CALLS} tool calls, 3 updates each, 2 kB"
    pair = in_turns(calls.flood)
    against(f"{what}: all there", pair, "seconds", 1.7)
    against("  Neovim's processor", pair, "cpu", 2)
    line("  the host's processor", f"{median(pair[0], 'host_cpu') * 1000:.0f} ms", "")
    print_stalls("chat: the same", in_turns(calls.flood_stalls))
    print_stalls(f"chat: {calls.MANY} tool calls", in_turns(calls.flood_stalls, count=calls.MANY))
    each = {lines: in_turns(calls.update_in_the_middle, lines=lines) for lines in (1_000, 100_000)}
    for lines, found in each.items():
        ours, floor = (median(one, "cpu") * 1e6 for one in found)
        line(f"chat: update in the middle of {lines} lines: Neovim's processor", f"{ours:.0f} us, {floor:.0f} us", "")
    grown = median(each[100_000][0], "cpu") / median(each[1_000][0], "cpu")
    line("  the long chat beside the short one", f"{grown:.2f} x", held(grown, 1.5, "x"))


def bench_permission() -> None:
    """A permission request with a large diff."""
    for edits in (False, True):
        pair = in_turns(permission.ask, edits=edits)
        ours, floor = (median(found, "shown") for found in pair)
        what = f"chat: a permission to {'change' if edits else 'write'} a file of {permission.LINES} lines: on screen"
        line(what, f"{ours:.0f} ms, floor {floor:.0f} ms", held(ours, 40, "ms"))
        for name, words in (("pings", "request"), ("gaps", "timer")):
            ours, floor = (median(found, f"stalls.{name}.max") for found in pair)
            line(f"  longest stall, {words}", f"{ours:.1f} ms, floor {floor:.1f} ms", held(ours, 8, "ms"))


def bench_replay() -> None:
    """A conversation that `session/load` replays."""
    pair = in_turns(replay.replay)
    first = median(pair[0], "first") * 1000
    line(f"chat: {replay.UPDATES} updates told again: first screen", f"{first:.0f} ms", held(first, 200, "ms"))
    against("  all of it", pair, "seconds", 1.5)
    against("  Neovim's processor", pair, "cpu", None)
    line("  the host's processor", f"{median(pair[0], 'host_cpu') * 1000:.0f} ms", "")
    for name in sorted(pair[0][0].actions):
        worst, middle = (statistics.median(of(one.actions[name]) for one in pair[0]) for of in (max, statistics.median))
        line(f"  then {name}: median, longest", f"{middle:.1f}, {worst:.1f} ms", held(worst, 16, "ms"))
    print_stalls("chat: while they are told", in_turns(replay.stalls))


def bench_memory() -> None:
    """Resident memory."""
    pair = in_turns(memory.measure)
    host = median(pair[0], "host")
    line("chat: the host with one idle session", f"{host:.1f} MB", held(host, 40, "MB"))
    for name, words in (("came", "when it came"), ("seen", "when every page was on the screen")):
        ours, floor = (median(found, name) for found in pair)
        line(f"  Neovim for a byte of text, {words}", f"{ours:.1f} B, floor {floor:.1f} B", held(ours, 4, "B"))
    idle = fresh(memory.idle)
    figure = f"{idle.host:.1f}, {idle.editor:.1f} ms"
    line(f"  processors in {memory.IDLE_SECONDS} s without work: the host, Neovim", figure, held(idle.host, 1, "ms"))


BENCHES = {
    "chat-streams": bench_streams,
    "chat-stalls": bench_stalls,
    "chat-paced": bench_paced,
    "chat-subagents": bench_subagents,
    "chat-calls": bench_calls,
    "chat-permission": bench_permission,
    "chat-replay": bench_replay,
    "chat-memory": bench_memory,
}
