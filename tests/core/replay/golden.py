"""Golden snapshots: what the core shows of each session at the end, as JSON beside the recording."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from typing import Any

import msgspec

from acp_nvim.contract import events
from acp_nvim.session.session import Session
from tests.core.session.host import Host


def snapshot(host: Host, sessions: list[Session], cwd: str) -> str:
    """Return everything that is shown, with the recorded directory in place of ours."""
    shown = [
        {
            "events": [
                fields(event) for event in session.presenter.transcript.replay() if not isinstance(event, events.Reset)
            ],
            "status": status(host, session),
        }
        for session in sessions
    ]
    text = json.dumps(shown, ensure_ascii=False, indent=1) + "\n"
    return text.replace(str(host.cwd), cwd)


def status(host: Host, session: Session) -> dict[str, Any]:
    """But for what is left to review, which is told when it is known, and the time."""
    shown: dict[str, Any] = msgspec.to_builtins(host.status(session.key))
    return {name: value for name, value in shown.items() if name not in {"review", "turn_started"}}


def fields(event: events.Event) -> dict[str, Any]:
    """An event without the key of its session, which the place in the file tells, and without times."""
    shown = {name: value for name, value in msgspec.to_builtins(event).items() if name != "session"}
    for time in ("started", "ended"):
        shown.get("call", {}).pop(time, None)
    return shown


def compare(path: Path, text: str) -> None:
    """Fails when the file beside the recording says something else; `ACP_NVIM_GOLDEN=write` makes it say this."""
    golden = path.with_suffix(".golden.json")
    if os.environ.get("ACP_NVIM_GOLDEN") == "write":
        golden.write_text(text, encoding="utf-8")
    assert golden.exists(), f"{golden} is missing: run this with ACP_NVIM_GOLDEN=write, and read what it wrote"
    before = golden.read_text(encoding="utf-8")
    difference = difflib.unified_diff(before.split("\n"), text.split("\n"), golden.name, "now", lineterm="")
    assert text == before, "\n".join(difference)
