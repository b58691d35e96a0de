"""Ends what a host inside a test has besides its tasks: its guard, and its log."""

from __future__ import annotations

import atexit
import logging
import os
from unittest.mock import patch

from acp_nvim.process.guarding import Guard
from tests.support.processes import MARK


def share_guard(guard: Guard) -> None:
    """Start the guard process, for all hosts of this test process, unless it runs: to start it takes 20 ms.

    It is not of the test that needs it first: it has no mark.
    """
    with patch.dict(os.environ):
        os.environ.pop(MARK, None)
        guard.pid_is_free("nothing")
        guard.forget("nothing")
    atexit.unregister(close_guard)
    atexit.register(close_guard, guard)


def release_guard(guard: Guard) -> None:
    """Close the guard of a host that has ended: it then ends what it still watches."""
    if repr(guard) != "<Guard of nothing>":
        close_guard(guard)


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
