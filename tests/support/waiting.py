"""The one place where tests pause: waiting for a condition, with a limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PAUSE = 0.01
"""Seconds between two questions; most is true soon, so the pauses begin with `FIRST_PAUSE` and double."""
FIRST_PAUSE = 0.001
LIMIT = 60.0
"""Seconds; only who fails waits as long: a busy machine may take ten times as long as one that rests."""

PATIENT = {"snapshot": LIMIT * 1000}
"""`timeouts` of tests: a prompt waits for its snapshot on a busy machine, too."""


def wait_until(
    condition: Callable[[], T],
    limit: float = LIMIT,
    what: str | Callable[[], str] = "the condition",
    describe: Callable[[], str] | None = None,
) -> T:
    """Asks again and again until the answer is true, and returns it; after the limit it fails in words.

    A callable `what` tells what there is at the end. A condition that reads a file may ask before the file is there.
    """
    end = time.monotonic() + limit
    pause = FIRST_PAUSE
    while True:
        missing = None
        try:
            answer = condition()
        except FileNotFoundError as error:
            answer, missing = None, error
        if answer:
            return answer
        if time.monotonic() > end:
            break
        time.sleep(pause)
        pause = min(2 * pause, PAUSE)
    more = f"\n{describe()}" if describe else ""
    last = repr(answer) if missing is None else str(missing)
    words = what if isinstance(what, str) else what()
    raise AssertionError(f"waited {limit:g} s in vain for {words}; the last answer was {last}{more}")
