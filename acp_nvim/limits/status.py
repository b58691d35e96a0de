"""Bounds of what a session's status says."""

from __future__ import annotations

from typing import Final

ACTIVITY_CHARS: Final = 200
"""Of a tool call's title in the status: more than a line of the screen. Some titles are whole scripts."""
