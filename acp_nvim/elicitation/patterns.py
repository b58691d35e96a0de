"""Matches texts with the patterns of agents in a process of its own: a pattern may take for ever, or all memory."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from subprocess import DEVNULL
from typing import Final

import anyio

PATTERN_SECONDS: Final = 2.0
"""For all patterns of a form: people wait that long without wondering. Patterns come from agents and may never end."""
PATTERN_BYTES: Final = 512 * 1024 * 1024
"""Memory for all patterns of a form, Python's own included."""


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
"""The program of that process; it also ends by itself, as nobody may be there any more to end it."""


async def matches(pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
    """Whether each pattern is found in its text; None: nobody can say, for it is no pattern, or takes too long."""
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
