"""Bounds of the lives of agents' processes: how often they may die, how long they may have nothing to do."""

from __future__ import annotations

from typing import Final

IDLE_SECONDS: Final = 30 * 60.0
"""Time without a turn after which a process is stopped, when the user set none: a long lunch goes unnoticed."""

IDLE_LOOK_SECONDS: Final = 60.0
"""Time until somebody looks again, at the latest: a process that was busy is not any more, the user set another."""

DEATHS: Final = 3
"""Ends of an agent in a row, without a turn that was finished, after which only a prompt starts it again."""

WAY_DEATHS: Final = 2
"""Ends while a session is taken up in one way, after which the next way is tried: one may have been an accident."""

REPLAY_QUIET_SECONDS: Final = 0.3
"""Silence after which nothing of a conversation is told again: some agents begin only when they have answered."""

REPLAY_SECONDS: Final = 10.0
"""Time for all of it: who still speaks then has something new to say."""

GONE_SECONDS: Final = 10.0
"""Time for a process to be gone before another takes up its sessions: it may be writing them down."""

SLOW_SECONDS: Final = 30.0
"""Time after which the user is told that an agent has not opened the session yet: most take less than 10."""
