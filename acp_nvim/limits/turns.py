"""Bounds of the turns that an agent begins by itself."""

from __future__ import annotations

from typing import Final

QUIET_SECONDS: Final = 5.0
"""Silence, with nothing open, after which such a turn is over, when the user set none; also the time after a cancel in
which the agent's words count to what was cancelled. Models stream: few are silent for longer while they work."""

OPEN_SECONDS: Final = 600.0
"""Silence after which an open tool call or command does not keep such a turn open: a long build is silent, too, but
some agents never close their calls."""
