"""Bounds of :checkhealth."""

from __future__ import annotations

from typing import Final

CHECKUP_INITIALIZE_SECONDS: Final = 20.0
"""For an agent to answer `initialize`: the slowest that we know takes 3 s alone, but all start at once."""

CHECKUP_SESSION_SECONDS: Final = 8.0
"""For it to open a session: they take up to 2 s alone."""

CHECKUP_CLOSE_SECONDS: Final = 1.0
"""For it to delete that again."""
