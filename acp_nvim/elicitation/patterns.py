"""Matches texts against the patterns of agents in a subprocess: a pattern may run forever, or use all memory."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from subprocess import DEVNULL
from typing import Final

import anyio

PATTERN_SECONDS: Final = 2.0
"""Time limit for all patterns of a form: users accept such a wait, and patterns of agents may never end."""
PATTERN_BYTES: Final = 512 * 1024 * 1024
"""Memory for all patterns of a form, including Python's own."""

log = logging.getLogger(__name__)

PROGRAM: Final = """
import json, re, resource, sys
seconds, size, pairs = json.load(sys.stdin)
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
try:
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
except (OSError, ValueError):
    pass  # not every system can
for pattern, text in pairs:
    try:
        print(json.dumps(re.search(pattern, text) is not None), flush=True)
    except Exception:
        print("null", flush=True)
"""
"""The program of the subprocess. It limits its own time, as it may outlive the host."""


async def matches(pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
    """Return for each (pattern, text) whether the pattern occurs in it; None if it is invalid or takes too long."""
    if not pairs:
        return []
    asked = json.dumps([int(PATTERN_SECONDS) + 1, PATTERN_BYTES, pairs]).encode()
    command = [sys.executable, "-I", "-S", "-W", "ignore", "-c", PROGRAM]
    said = b""
    try:
        async with await anyio.open_process(command, stderr=DEVNULL) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            with anyio.move_on_after(PATTERN_SECONDS):
                await process.stdin.send(asked)
                await process.stdin.aclose()
                async for piece in process.stdout:
                    said += piece
            if process.returncode is None:
                process.kill()
    except (OSError, anyio.BrokenResourceError):
        log.exception("patterns could not be looked at")
    found: list[bool | None] = [json.loads(line) for line in said.split(b"\n")[:-1]]
    return found + [None] * (len(pairs) - len(found))
