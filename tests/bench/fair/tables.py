"""The table of the floods."""

from __future__ import annotations

import os
from functools import partial

from tests.bench.fair.floods import FLOODS
from tests.bench.fair.measure import measure
from tests.bench.printing import fresh, held, line

TURN_SECONDS = 1.0
WAIT_MILLISECONDS = 50.0
MEMORY_MEGABYTES = 50.0


def bench_fair() -> None:
    """Each flood once, in an editor of its own; FLOODS="terminals plan" measures those with such a word in the name."""
    words = os.environ.get("FLOODS", "").split()
    for name, make in FLOODS.items():
        if words and not any(word in name for word in words):
            continue
        line(name, "", "")
        try:
            found = fresh(partial(measure, flood=make()))
        except AssertionError as error:  # the others are measured all the same
            line("  not measured", "", str(error).partition("\n")[0])
            continue
        line(
            "  another agent's turn: median, slowest",
            f"{found.turn:.2f} s, {found.slowest:.2f} s",
            held(found.slowest, TURN_SECONDS, "s"),
        )
        line(
            "  the editor's longest wait; before the flood",
            f"{found.wait:.0f} ms, {found.quiet:.0f} ms",
            held(found.wait, WAIT_MILLISECONDS, "ms"),
        )
        line(
            "  memory: most, and what stays",
            f"{found.peak:.0f} MB, {found.kept:.0f} MB",
            held(found.kept, MEMORY_MEGABYTES, "MB"),
        )


BENCHES = {"fair": bench_fair}
