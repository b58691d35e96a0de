"""Names that are commands for whoever expands them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

CANARY = "mark"
"""A file of this name is made by whatever runs a name."""

_odd = json.loads(Path(__file__).with_name("odd_names.json").read_text(encoding="ascii"))
COMMANDS: tuple[str, ...] = tuple(_odd["commands"])
"""Names that make it, if a shell, Vim script or a key expands them."""

PIECES: tuple[str, ...] = tuple(_odd["pieces"])
"""What else means something to somebody who expands names."""

BYTES = 180
"""Of a name: others are made from it, with suffixes."""


def name_of(pieces: Sequence[str]) -> str:
    """One name of a file, of pieces."""
    name = "".join(pieces).replace("/", "").encode()[:BYTES].decode(errors="ignore")
    return name if name not in ("", ".", "..", ".git", CANARY) else f"{name}_"


names = st.lists(st.sampled_from(COMMANDS) | st.sampled_from(PIECES) | st.text(max_size=3), min_size=1, max_size=5).map(
    lambda pieces: name_of([piece.replace("\0", "") for piece in pieces if not re.search("[\ud800-\udfff]", piece)])
)
