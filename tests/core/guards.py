"""Ends what a host inside a test has besides its tasks: its guard, and its log."""

from __future__ import annotations

import logging

from acp_nvim.process.guarding import Guard


def close_guard(guard: Guard) -> None:
    """What the end of the host does: the guard sees the end of its stdin, and leaves."""
    process = guard._process
    if process is not None:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(20)


def close_log() -> None:
    """The log file, if there is one."""
    logger = logging.getLogger("acp_nvim")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.propagate = True
