"""How many seeds a soak plays, and how many in one go."""

from __future__ import annotations

import os


def batches(variable: str, count: int, first: int, size: int = 100) -> list[range]:
    """Seeds, `size` at a time; the environment's `variable` says how many, and `SEED` from which on."""
    begin = int(os.environ.get("SEED", first))
    end = begin + int(os.environ.get(variable, count))
    return [range(one, min(one + size, end)) for one in range(begin, end, size)]
