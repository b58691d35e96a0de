"""Events of a review, and the files that they are about; for the tests of the review."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def hunk(number: int, first: int, count: int, old: list[str], **more: Any) -> dict[str, Any]:
    """One hunk of the agent's: rows from 0."""
    return {"id": number, "first": first, "count": count, "old": old, "by": "agent", **more}


def review(path: Path | str, operation: str = "modify", **more: Any) -> dict[str, Any]:
    """A `review` event; without `hunks` they are not told."""
    given = {"added": 0, "removed": 0, "sessions": [1], **more}
    if "hunks" in given and "added" not in more:
        given["added"] = sum(one["count"] for one in given["hunks"])
        given["removed"] = sum(len(one["old"]) for one in given["hunks"])
    return {"type": "review", "path": str(path), "operation": operation, **given}


STATE = """
local bufnr = require("acp_nvim.buffers.lookup").find(...)
return bufnr and require("acp_nvim.buffers.text").state(bufnr)
"""


def tell(editor: Any, *events: dict[str, Any]) -> None:
    """What the host would send: hunks are told with the state of the buffer that they are of."""
    for event in events:
        if "hunks" in event and "state" not in event:
            event["state"] = editor.lua(STATE, event["path"])
    editor.apply(*events)


def written(directory: Path, name: str, lines: int = 20) -> Path:
    """A file with the lines `line 1`, `line 2`, ..."""
    path = directory.resolve() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"line {number}\n" for number in range(1, lines + 1)))
    return path


TWO = [hunk(1, 1, 1, ["old 2"]), hunk(2, 9, 2, [])]
