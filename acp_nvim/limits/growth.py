"""Bounds of what grows from message to message, each with its reason."""

from __future__ import annotations

from typing import Final

TURN_BLOCKS: Final = 10_000
"""Tool calls and messages of one turn that get a place of their own: 20 MB of memory; a day of work has a thousand.

Of more messages the text goes on in the last one; more tool calls are counted.
"""

TURN_PLANS: Final = 100
"""Plans of one turn: agents have one, and one for each of a few agents that they start."""

CALLS_BYTES: Final = 128 * 1024 * 1024
"""What the messages took of which the tool calls of a session keep texts and inputs: a day with a thousand of 100 kB.

Beyond it the oldest ones keep their titles and places.
"""

TURN_TEXT_BYTES: Final = 10 * 1024 * 1024
"""Text of the messages of one turn that is kept: 100,000 lines; what follows is left out. A book has 1 MB.

A conversation that is told again is one turn, too. The host and Neovim together take four times as much memory.
"""

EARLY_BYTES: Final = 32 * 1024 * 1024
"""Messages kept for sessions whose ids the agent has not told us yet: a conversation that is told again has 10 MB."""

KNOWN_TERMINALS: Final = 5000
"""Terminals of a session that have a number, by which they can be opened; of more only the last lines are shown."""
