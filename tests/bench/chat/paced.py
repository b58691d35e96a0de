"""An agent that says 200 chunks a second, or 10: how long each takes until the buffer has it, and what Neovim works."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.bench.chat import texts
from tests.bench.chat.stage import Played, Who, at_once, paced, stage
from tests.support.ping import Report, report_of

CHUNKS_A_SECOND = 200
RARE_A_SECOND = 10
SECONDS = 10


@dataclass(frozen=True)
class Paced:
    """`latency` in milliseconds, of each chunk; processors in seconds."""

    latency: Report
    cpu: float
    host_cpu: float


def latencies(played: Played) -> list[float]:
    """Milliseconds from the write of each numbered chunk until the buffer had it."""
    waits, at = [], 0
    for number, written in enumerate(played.times):
        while played.seen[at][1] < number:
            at += 1
        waits.append((played.seen[at][0] - written) * 1000)
    return waits


def measure(directory: Path, who: Who, before: int, seconds: float = SECONDS, a_second: int = CHUNKS_A_SECOND) -> Paced:
    """After so many chunks that came at once."""
    count = round(a_second * seconds)
    turns = {"go": [paced(texts.said_all(count, "each"), 1, 1 / a_second)]}
    if before:
        turns["fill"] = [at_once(texts.said_all(before, "none"))]
    with stage(directory, who, turns) as on:
        if before:
            on.play("fill")
        played = on.play("go")
        assert "".join(texts.chunks(count, "each")) in on.text(), "the chat has another text than the agent said"
        return Paced(report_of(latencies(played)), played.cpu, played.host_cpu)
