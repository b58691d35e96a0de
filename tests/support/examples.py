"""How many examples a property test tries: few in `make test`, `DEPTH` times as many in `make soak`."""

from __future__ import annotations

import os
from typing import Any, Final

from hypothesis import HealthCheck

DEPTH: Final = int(os.environ.get("DEPTH", "1"))
"""1: each run tries the same examples. More: each run tries others, and a failure says how to repeat it."""

DEFAULT: Final = 100


def examples(count: int) -> int:
    """The `max_examples` of a property, of which `count` find the bugs that were put into what it tests."""
    return count * DEPTH


def profile() -> dict[str, Any]:
    """The settings of all properties: no clock decides whether one holds, and no run depends on an earlier one."""
    return {
        "max_examples": examples(DEFAULT),
        "derandomize": DEPTH == 1,
        "print_blob": True,
        "deadline": None,
        "database": None,
        "suppress_health_check": [HealthCheck.too_slow],
    }
