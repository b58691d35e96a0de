"""`make bench`: prints every figure with the bound it is held to; fails nothing."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tests.bench import pipeline, starting, streaming

T = TypeVar("T")
ROUNDS = 5


def fresh(measure: Callable[[Path], T]) -> T:
    """Measure in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="acp-bench-") as directory:
        return measure(Path(directory))


def line(what: str, figure: str, bound: str) -> None:
    """One row."""
    print(f"{what:<66} {figure:>28}   {bound}", flush=True)


def bench_start() -> None:
    """What waiting for the first prompt costs."""
    firsts = [fresh(starting.first_command) for _ in range(ROUNDS)]
    ours = statistics.median(first.ours for first in firsts)
    line("first command to ready, without the agent's own start", f"{ours:.0f} ms", "<= 250 ms")
    line(
        "  the agent alone (spawn, initialize, session/new)", f"{statistics.median(f.agent for f in firsts):.0f} ms", ""
    )
    line("loading the plugin", f"{starting.plugin_load():.2f} ms", "<= 2 ms")


def bench_streams() -> None:
    """How the editor feels meanwhile."""
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


def main() -> None:
    """All of them."""
    bench_start()
    bench_streams()
    bench_pipeline()


if __name__ == "__main__":
    main()
