"""Twenty subagents that speak and call tools while their parent says 200 chunks a second: what its chat feels of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.chat import texts
from tests.bench.chat.paced import CHUNKS_A_SECOND, latencies
from tests.bench.chat.stage import Stage, Stalls, Turns, Who, at_once, paced, stage
from tests.support.ping import Report, report_of

CHILDREN = 20
CHUNKS_A_BEAT = 4
"""Of all children together: each says 40 a second, which is faster than models write."""
SECONDS = 5
BEATS = CHUNKS_A_SECOND * SECONDS


@dataclass(frozen=True)
class Worked:
    """`latency` in milliseconds, of the parent's chunks; processors in seconds."""

    latency: Report
    cpu: float
    host_cpu: float


def _update(session_id: str, **update: Any) -> bytes:
    params = {"sessionId": session_id, "update": update}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode() + b"\n"


def _announced() -> bytes:
    """Return updates that announce all children as running."""
    state = {"state": "running"}
    return b"".join(
        _update("bench", sessionUpdate="subagent_update", sessionId=f"child{one}", title=f"Child {one}", state=state)
        for one in range(CHILDREN)
    )


def _of_children(beat: int) -> Iterator[bytes]:
    """What they say in one beat: chunks, and the beginning or the end of a tool call."""
    for one in range(CHUNKS_A_BEAT):
        name = f"child{(beat * CHUNKS_A_BEAT + one) % CHILDREN}"
        yield _update(name, sessionUpdate="agent_message_chunk", content={"type": "text", "text": f"word {beat} "})
    turn, name = divmod(beat, CHILDREN)[0], f"child{beat % CHILDREN}"
    status = "completed" if turn % 2 else "in_progress"
    call = {"toolCallId": f"{name}-{turn // 2}", "title": f"Read file {turn // 2}", "kind": "read", "status": status}
    yield _update(name, sessionUpdate="tool_call", **call)


def _turns(children: bool) -> Turns:
    """Each beat has one chunk of the parent, and what the children say."""
    mine = texts.said_all(BEATS, "each").splitlines(keepends=True)
    said = b"".join(one + (b"".join(_of_children(beat)) if children else b"") for beat, one in enumerate(mine))
    lines = CHUNKS_A_BEAT + 2 if children else 1
    begin = [at_once(_announced())] if children else []
    return {"begin": begin, "go": [paced(said, lines, 1 / CHUNKS_A_SECOND)]}


def _begin(on: Stage, children: bool) -> None:
    if children:
        on.say("begin")
        on.editor.wait_until(f'#(require("acp_nvim").status().subagents or {{}}) == {CHILDREN}')
        on.editor.wait_until('require("acp_nvim").status().state == "idle"')


def measure(directory: Path, who: Who, children: bool) -> Worked:
    """How long each chunk of the parent takes until the buffer has it."""
    with stage(directory, who, _turns(children)) as on:
        _begin(on, children)
        played = on.play("go")
        assert "".join(texts.chunks(BEATS, "each")) in on.text(), "the chat has another text than the agent said"
        return Worked(report_of(latencies(played)), played.cpu, played.host_cpu)


def stalls(directory: Path, who: Who, children: bool) -> Stalls:
    """Measure how long the editor answers nobody meanwhile."""
    with stage(directory, who, _turns(children)) as on:
        _begin(on, children)
        return on.felt("go")
