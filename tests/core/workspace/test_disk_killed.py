"""A writer that is killed, between any two steps or at any moment, leaves the old file or the new one, never half."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.core.workspace.killed_writer import FOREVER_BYTES, KINDS, MODE, NEW, OLD
from tests.support.waiting import wait_until

PROGRAM = [sys.executable, "-m", "tests.core.workspace.killed_writer"]
TEMPORARY = re.compile(r"(?:.*/)?\.acp_nvim-[0-9a-f]{16}")
STEPS = {"open", "write", "write, half of it", "fsync", "close"}
OVER_OLD = {"fchown", "fchmod", "listxattr", "replace"}
STEPS_OF = {
    "existing": STEPS | OVER_OLD,
    "link": STEPS | OVER_OLD,
    "new": STEPS | {"link", "unlink"},
    "directories": STEPS | {"mkdir", "link", "unlink"},
    "no links": STEPS | {"replace"},
}
NAME = {"directories": "a/b/f"}


def check_left(kind: str, files: dict[str, dict[str, Any]]) -> str | None:
    """What is in the file; all else is as it was, but for one temporary file that nobody else can read."""
    temporary = [name for name in files if TEMPORARY.fullmatch(name)]
    assert len(temporary) <= 1
    others = set(files) - {*temporary, "link"}
    assert others <= {NAME.get(kind, "f")}
    if kind == "link":
        assert files["link"]["link"] == "f"
    if kind in ("existing", "link"):
        assert files["f"]["mode"] == MODE
        assert all(files[name]["mode"] & ~MODE == 0 for name in temporary)
    return files[others.pop()]["text"] if others else None


@pytest.mark.parametrize("kind", KINDS)
def test_killed_before_any_step(tmp_path: Path, kind: str) -> None:
    answer = subprocess.run([*PROGRAM, "steps", kind, str(tmp_path)], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    results = json.loads(answer.stdout)
    before = OLD if kind in ("existing", "link") else None
    texts = [check_left(kind, result["files"]) for result in results]
    assert set(texts) == {before, NEW}
    assert texts == sorted(texts, key=lambda text: text == NEW)  # once it is there it stays
    steps = [result["step"] for result in results]
    assert set(steps) >= STEPS_OF[kind]
    named = steps.index("link" if "link" in STEPS_OF[kind] else "replace")
    assert "fsync" in steps[:named]  # the file; else it may be empty after a crash of the machine
    assert "fsync" in steps[named:]  # the directory
    survived = results[-1]
    assert survived["step"] == ""
    assert not any(TEMPORARY.fullmatch(name) for name in survived["files"])


def temporary_bytes(directory: Path) -> int:
    """Return the size of the temporary file: how much the writer has written."""
    for path in directory.glob(".acp_nvim-*"):
        try:
            return path.stat().st_size
        except FileNotFoundError:
            continue  # it was renamed meanwhile
    return -1


@pytest.mark.parametrize("seed", range(6))
def test_killed_from_outside_at_any_moment(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    writes, size = chosen.randrange(1, 6), chosen.randrange(FOREVER_BYTES)
    path = tmp_path / "f"
    with subprocess.Popen([*PROGRAM, "forever", str(path)]) as writer:
        try:
            seen: set[int] = set()

            def is_time() -> bool:
                if path.exists():
                    seen.add(path.stat().st_ino)
                return len(seen) >= writes and temporary_bytes(tmp_path) >= size

            wait_until(is_time, limit=60, what="the writer to be as far as that")
        finally:
            writer.kill()
    text = path.read_text()
    assert len(text) == FOREVER_BYTES
    assert set(text) in ({"a"}, {"b"})
    left = [entry.name for entry in tmp_path.iterdir() if entry.name != "f"]
    assert len(left) <= 1
    assert all(TEMPORARY.fullmatch(name) for name in left)
