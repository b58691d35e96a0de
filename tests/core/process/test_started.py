"""Processes that have started since a moment, also while some of them end."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from acp_nvim.process import group, started

MARK = "0123456789abcdef"
CHILD = "subprocess.Popen(['sleep', '1000'], stdout=subprocess.DEVNULL)"
PARENT = f"import subprocess, sys; print({CHILD}.pid, flush=True); sys.stdin.read()"


def test_one_that_ends_while_it_is_looked_at_leaves_its_child_without_a_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.time_ns()
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, group.MARK_VARIABLE: MARK},
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    child, read = int(parent.stdout.readline()), group.has_mark
    looks = []

    def ending(pid: int, mark: str) -> bool:
        has_mark = read(pid, mark)
        if pid == parent.pid and has_mark:
            looks.append(pid)
            if len(looks) == 2:  # the look that finds what the one before has found
                parent.communicate(timeout=60)
        return has_mark

    monkeypatch.setattr(group, "has_mark", ending)
    try:
        found = started.started_since(MARK, began)
        assert [(one.pid, one.arguments, one.has_lost_parent) for one in found] == [(child, ("sleep", "1000"), True)]
    finally:
        parent.stdin.close()
        parent.stdout.close()
        os.kill(child, 9)
        parent.wait()
