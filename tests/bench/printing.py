"""How figures are printed: one row each, with the bound it is held to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
ROUNDS = 5


def fresh(measure: Callable[[Path], T]) -> T:
    """Measure in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="acp-bench-") as directory:
        return measure(Path(directory))


def line(what: str, figure: str, bound: str) -> None:
    """Print one row of the table."""
    print(f"{what:<66} {figure:>28}   {bound}", flush=True)


def held(value: float, most: float, unit: str) -> str:
    """The bound, and whether it is kept."""
    return f"<= {most:g} {unit}: {'ok' if value <= most else 'OVER'}"
