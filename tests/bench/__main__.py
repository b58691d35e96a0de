"""`make bench`: prints every figure with the bound it is held to; fails nothing. With names: only those of BENCHES.

`chat` stands for all of the chat's; `NAMES="chat-streams start" make bench` measures two.
"""

from __future__ import annotations

import os
import sys

from tests.bench import tables
from tests.bench.chat import tables as chat
from tests.bench.fair import tables as fair

BENCHES = {**tables.BENCHES, **chat.BENCHES, **fair.BENCHES}


def chosen(words: list[str]) -> list[str]:
    """The names that are meant; all of them when there are no words."""
    names = [name for word in words for name in BENCHES if word == name or name.startswith(f"{word}-")]
    unknown = [word for word in words if not any(name == word or name.startswith(f"{word}-") for name in BENCHES)]
    if unknown:
        raise SystemExit(f"no bench is called {' '.join(unknown)}; there are: {' '.join(BENCHES)}")
    return names or list(BENCHES)


def main() -> None:
    """All of them, or those that are named."""
    for name in chosen(sys.argv[1:] or os.environ.get("NAMES", "").split()):
        BENCHES[name]()


if __name__ == "__main__":
    main()
