"""Ends the guard of a host that lives inside a test."""

from __future__ import annotations

from acp_nvim.process.guarding import Guard


def close_guard(guard: Guard) -> None:
    """What the end of the host does: the guard sees the end of its stdin, and leaves."""
    process = guard._process
    if process is not None:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(20)
