"""Cases of one test that share a process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def case(name: str) -> Iterator[None]:
    """What fails in it names the case."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the case: {name}")
        raise
