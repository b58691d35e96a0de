"""An agent that says chunks as fast as they are taken: until the last is in the buffer, and how the editor feels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.bench.chat import texts
from tests.bench.chat.stage import Stage, Stalls, Who, at_once, paced, stage

FILLED = (1_000, 20_000, 100_000)
"""Lines of the chat before the stream in which stalls are counted."""
STREAM_CHUNKS = 8_000
STREAM_SECONDS = 4.0
STREAM_BEAT = 0.005


@dataclass(frozen=True)
class Streamed:
    """Seconds: until the last text is in the buffer, of Neovim's processor, of the host's."""

    seconds: float
    cpu: float
    host_cpu: float


def stream(directory: Path, who: Who, count: int, screen: bool) -> Streamed:
    """`count` chunks into an empty chat."""
    with stage(directory, who, {"go": [at_once(texts.said_all(count))]}, screen) as on:
        played = on.play("go")
        check(on, "".join(texts.chunks(count)))
        return Streamed(played.seconds, played.cpu, played.host_cpu)


def check(on: Stage, said: str) -> None:
    """Check that the chat has the exact text."""
    assert said in on.text(), "the chat has another text than the agent said"


def flood_stalls(directory: Path, who: Who, count: int) -> Stalls:
    """Measure how long the editor answers nobody while `count` chunks come without a pause."""
    with stage(directory, who, {"go": [at_once(texts.said_all(count))]}) as on:
        return on.felt("go")


def stalls_at(directory: Path, who: Who, lines: int) -> Stalls:
    """While 2,000 chunks a second come, some each 5 ms, into a chat of so many lines."""
    fill = at_once(texts.filling(lines))
    beats = STREAM_SECONDS / STREAM_BEAT
    flow = paced(texts.said_all(STREAM_CHUNKS), round(STREAM_CHUNKS / beats), STREAM_BEAT)
    with stage(directory, who, {"fill": [fill], "flow": [flow]}) as on:
        on.play("fill")
        return on.felt("flow")
