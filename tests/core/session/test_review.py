"""The same edit, made in different ways, comes to the same review; the user's own edits are never in it."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent, indent

import pytest

from acp_nvim import events, review_events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

OLD = "one\ntwo\nthree\nfour\nfive\n"
NEW = "one\nTWO\nthree\nfour\nfive\nsix\n"


def reviews(host: Host) -> dict[str, review_events.Review]:
    """The last word on each file that has something to review, by its name."""
    last = {os.path.relpath(one.path, host.cwd): one for one in host.editor.all(review_events.Review)}
    return {name: one for name, one in last.items() if one.operation != "none"}


def shown(host: Host) -> dict[str, tuple[object, ...]]:
    """What a list of files says."""
    return {name: (one.operation, one.added, one.removed, one.old_path) for name, one in reviews(host).items()}


async def summary(host: Host, count: int = 1) -> review_events.Summary:
    """What the chat says at the end of the turn."""
    await host.until("a summary", lambda: len(host.of(review_events.Summary)) >= count)
    return host.of(review_events.Summary)[count - 1]


WAYS = {
    "fs/write": "prompt.write(path, new)",
    "a tool with a diff": """
        prompt.update("tool_call", toolCallId="1", title="Edit", kind="edit", status="in_progress",
            locations=[{"path": path}], content=[{"type": "diff", "path": path, "oldText": old, "newText": new}])
        open(path, "w").write(new)
        prompt.update("tool_call_update", toolCallId="1", status="completed")""",
    "a tool with locations": """
        prompt.update("tool_call", toolCallId="1", title="Edit", kind="edit", status="in_progress",
            locations=[{"path": path}])
        open(path, "w").write(new)
        prompt.update("tool_call_update", toolCallId="1", status="completed")""",
    "a command": """
        import subprocess
        subprocess.run(["sed", "-i", "-e", "s/two/TWO/", "-e", "$ a six", path], check=True)""",
}


def agent(way: str, path: Path) -> str:
    """A script that edits in that way."""
    body = indent(dedent(WAYS[way]).strip(), "        ")
    return f"    def turn(agent, prompt):\n        path, old, new = {str(path)!r}, {OLD!r}, {NEW!r}\n{body}\n"


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open"])
@pytest.mark.parametrize("way", WAYS)
async def test_the_review_does_not_depend_on_who_writes(host: Host, way: str, is_open: bool) -> None:
    path = host.cwd / "f"
    path.write_text(OLD)
    if is_open:
        host.editor.open(path)
    host.script(agent(way, path))
    await host.turn()
    files = (await summary(host)).files
    assert files == [review_events.FileView(str(path), "modify", 2, 1)]
    assert shown(host) == {"f": ("modify", 2, 1, None)}
    assert path.read_text() == NEW
    told = host.of(events.FileChanged)
    assert told[-1] == events.FileChanged(
        session=1, path=str(path), by="agent", operation="modify", added=2, removed=1
    )
