"""Bounds of what is asked about sessions."""

from __future__ import annotations

from typing import Final

ASKED_SECONDS: Final = 60.0
"""That an agent which has listed its sessions is kept without one: the user chooses meanwhile, or wants more."""

CLOSE_SECONDS: Final = 5.0
"""For an agent to say that it has closed a session; it is left in any case."""

COPIED_BLOCKS: Final = 5
"""Blocks of a session that are copied or told at once: the event loop is not held up by a long one."""
