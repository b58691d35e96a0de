"""Thousands of tool calls, each told four times; and updates of one that lies in the middle of a long chat."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.chat import texts
from tests.bench.chat.stage import Stalls, Who, at_once, paced, stage

CALLS = 1_000
MANY = 10_000
"""More than one turn shows (`limits.TURN_BLOCKS`)."""
CONTENT_LINES = 40
UPDATES = 200
UPDATES_A_SECOND = 50
KINDS = ("read", "search", "execute", "fetch")


@dataclass(frozen=True)
class Called:
    """Seconds: until the last text is there, of Neovim's processor, of the host's."""

    seconds: float
    cpu: float
    host_cpu: float


def content(number: int) -> str:
    """Return 2 kB of output."""
    return "".join(f"{number:4d} output line {row:2d} of the command, as usual.\n" for row in range(CONTENT_LINES))


def _call(session_update: str, number: int | str, **fields: Any) -> bytes:
    return texts.update_line({"sessionUpdate": session_update, "toolCallId": f"call-{number}", **fields})


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def told(number: int) -> bytes:
    """One call: announced, running, with its output, done."""
    kind = KINDS[number % len(KINDS)]
    return b"".join((
        _call("tool_call", number, title=f"Look at part {number}", kind=kind, status="pending"),
        _call("tool_call_update", number, status="in_progress"),
        _call("tool_call_update", number, content=_text(content(number))),
        _call("tool_call_update", number, status="completed"),
    ))  # fmt: skip


def flood(directory: Path, who: Who, count: int = CALLS) -> Called:
    """All of them without a pause, and a last word."""
    said = b"".join(map(told, range(count))) + texts.said(f"Done. {texts.END}")
    with stage(directory, who, {"go": [at_once(said)]}) as on:
        played = on.play("go")
        return Called(played.seconds, played.cpu, played.host_cpu)


def flood_stalls(directory: Path, who: Who, count: int = CALLS) -> Stalls:
    """Measure how long the editor answers nobody meanwhile."""
    said = b"".join(map(told, range(count))) + texts.said(f"Done. {texts.END}")
    with stage(directory, who, {"go": [at_once(said)]}) as on:
        return on.felt("go")


def update_in_the_middle(directory: Path, who: Who, lines: int) -> Called:
    """What updates cost of a call with as many lines before as after it, 50 a second; nothing of the call is seen."""
    half = texts.filling(lines // 2)
    first = _call("tool_call", "x", title="Wait", kind="execute", status="in_progress")
    news = b"".join(_call("tool_call_update", "x", content=_text(content(number))) for number in range(UPDATES))
    flow = paced(news, 1, 1 / UPDATES_A_SECOND)
    with stage(directory, who, {"fill": [at_once(half + first + half)], "go": [flow]}) as on:
        on.play("fill")
        played = on.play("go")
        return Called(0.0, played.cpu / UPDATES, played.host_cpu / UPDATES)
