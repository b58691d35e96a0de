"""An agent that works on files outside of its session's directories, and what a test says to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from acp_nvim.contract import events, review_events
from tests.core.session.host import Host

OLD = "one\ntwo\nthree\n"
NEW = "one\nTWO\nthree\n"

AGENT = """
    import subprocess

    def turn(agent, prompt):
        for number, step in enumerate(json.loads(prompt.text)):
            call, call_id = step.get("call"), f"{prompt.id}-{number}"
            if call is not None and not step.get("late"):
                status = "pending" if step.get("ask") else "in_progress"
                prompt.tool(call_id, step["title"], status=status, **call)
                prompt.until_heard()
            if step.get("ask") and prompt.ask(call_id, **call) != "allow":
                continue
            if step["run"]:
                subprocess.run(step["run"], shell=True, check=True)
            for path, text in step.get("fs", {}).items():
                prompt.write(path, text)
            if call is not None and step.get("late"):
                prompt.tool(call_id, step["title"], status="completed", **call)
            elif call is not None:
                prompt.tool_update(call_id, status="completed")
            prompt.until_heard()
"""
"""Does the steps of a prompt, one after the other. `late`: the call is told when it is over."""


def diff(path: Path | str, old: str | None = OLD, new: str = NEW) -> dict[str, Any]:
    """Return the fields of an edit with a diff."""
    return {"kind": "edit", "content": [{"type": "diff", "path": str(path), "oldText": old, "newText": new}]}


def place(path: Path | str, kind: str = "edit") -> dict[str, Any]:
    """Return the fields of a call with a location."""
    return {"kind": kind, "locations": [{"path": str(path)}]}


def step(run: str = "", call: dict[str, Any] | None = None, title: str = "Edit", **more: Any) -> dict[str, Any]:
    """One step: what the shell does, and the call that tells of it."""
    return {"run": run, "call": call, "title": title, **more}


def command(run: str) -> dict[str, Any]:
    """A step that is a command."""
    return step(run, {"kind": "execute", "rawInput": {"command": run}}, run)


async def work(host: Host, *steps: dict[str, Any], key: int = 1, cwd: Path | None = None) -> None:
    """A turn in which the agent does that, until its changes are known; all that it asks is allowed."""
    if not any(one.key == key for one in host.app.sessions.values()):
        host.open(key, cwd=None if cwd is None else str(cwd))
    ends, asked = len(host.of(events.TurnEnd, key)), len(host.of(events.Permission, key))
    host.prompt(json.dumps(steps), key)
    for _ in [one for one in steps if one.get("ask") or one.get("fs")]:
        asked += 1
        await host.until("the question", lambda: len(host.of(events.Permission, key)) >= asked)  # noqa: B023
        request = host.of(events.Permission, key)[-1].request
        host.answer(request.id, request.options[0].option_id)
    await host.until("the end of the turn", lambda: len(host.of(events.TurnEnd, key)) > ends)
    assert host.of(events.TurnEnd, key)[-1].stop_reason == "end_turn", host.notices(key)
    await host.app.sessions[key].changes.settled()


def listed(host: Host, directory: Path) -> dict[str, tuple[str, str, int, int]]:
    """What there is to review, by name below the directory: operation, author, lines added and removed."""
    last = {one.path: one for one in host.editor.all(review_events.Review)}
    found = {path: one for path, one in last.items() if one.operation != "none"}
    return {
        str(Path(path).relative_to(directory)): (one.operation, one.by, one.added, one.removed)
        for path, one in found.items()
    }


def summary(host: Host, key: int = 1) -> set[str]:
    """The names of the files that the last summary in the chat lists."""
    return {Path(one.path).name for one in host.of(review_events.Summary, key)[-1].files}
