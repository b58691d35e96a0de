"""A permission request with a large diff: until its options are on the screen, and how long the editor is held up."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.chat import texts
from tests.bench.chat.stage import LIMIT, Stage, Stalls, Who, stage
from tests.support.screen import ScreenEditor
from tests.support.waiting import wait_until

LINES = 20_000
OPTION = "Permit-this"
LATER = 0.3
"""Seconds after it was shown in which stalls count: colours and previews come later."""


@dataclass(frozen=True)
class Asked:
    """Milliseconds from the agent's write until the screen shows the options."""

    shown: float
    stalls: Stalls


def request(path: str, edits: bool) -> bytes:
    """To write a new file, or to change every fourth line of one (of which there is no buffer)."""
    old = [f"    value_{row} = compute({row}, 'text')  # a comment of line {row}\n" for row in range(LINES)]
    new = [line.replace("compute", "calculate") if row % 4 == 0 else line for row, line in enumerate(old)]
    diff: dict[str, Any] = {"type": "diff", "path": path, "newText": "".join(new)}
    if edits:
        diff["oldText"] = "".join(old)
    call = {"toolCallId": "x", "title": "Write a file", "kind": "edit", "status": "pending", "content": [diff]}
    options = [
        {"optionId": "yes", "name": OPTION, "kind": "allow_once"},
        {"optionId": "no", "name": "Do not", "kind": "reject_once"},
    ]
    params = {"sessionId": texts.SESSION, "toolCall": call, "options": options}
    message = {"jsonrpc": "2.0", "id": 77, "method": "session/request_permission", "params": params}
    return json.dumps(message).encode() + b"\n"


def ask(directory: Path, who: Who, edits: bool) -> Asked:
    """The floor appends the new text, and its options as one more line."""
    said = request(str(directory / "file.py"), edits)
    with stage(directory, who, {"go": [(said, {"stays": True})]}) as on:
        return _asked(on)


def _asked(on: Stage) -> Asked:
    editor = on.editor
    assert isinstance(editor, ScreenEditor)
    on.rest()
    editor.lua("probe.begin()")
    shown = editor.terminal.look_for(OPTION.encode())
    with on.measured() as stalls:
        on.say("go")
        stalls.begun = on.log()["begun"]
        stalls.ended = LATER + wait_until(lambda: shown.at, LIMIT, f"{OPTION} on the screen", editor.describe)
    return Asked((shown.at - stalls.begun) * 1000, stalls.found())
