"""How much is written and told of what fails again and again."""

from __future__ import annotations

from typing import Final

TRACEBACKS: Final = 5
"""Of the same failure in the log: each is some 2 kB, and takes a millisecond."""

KNOWN_FAILURES: Final = 500
"""Kinds that are counted: an exception may hold words of an agent, who may have any number of them."""
