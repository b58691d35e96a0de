"""A conversation that goes on: what was said in it before."""

from __future__ import annotations

import msgspec

from acp_nvim.history.files import TranscriptFile
from acp_nvim.history.records import About, Kept


class Recalled(msgspec.Struct):
    """Its blocks, in order, and what is known of it; `file` is where it goes on, None: in a new one, with all of it."""

    blocks: list[list[Kept]] = []
    about: About = msgspec.field(default_factory=About)
    file: TranscriptFile | None = None
