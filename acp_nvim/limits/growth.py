"""Bounds of what grows from message to message, each with its reason."""

from __future__ import annotations

from typing import Final

TURN_BLOCKS: Final = 7000
"""Tool calls and messages of one turn that get a place of their own: 40 MB of the host and Neovim together.

A day of work has a thousand.

Of more messages the text goes on in the last one; more tool calls are counted.
"""

TURN_PLANS: Final = 100
"""Plans of one turn: agents have one, and one for each of a few agents that they start."""

CALLS_BYTES: Final = 24 * 1024 * 1024
"""What the tool calls of a session keep of their texts and inputs in memory: a day has a thousand of 10 kB.

Beyond it the oldest ones keep the beginnings of their titles and places.
"""

CONTAINER_BYTES: Final = 150
"""Of memory that an object or array takes beside what is in it: 56 to 232 bytes."""

VALUE_BYTES: Final = 50
"""The same of a value in it: 24 to 100 bytes."""

OLD_TITLE_CHARS: Final = 200
"""Of the title that a call keeps whose texts are forgotten: a line of the chat."""

OLD_PLACES: Final = 10
"""Of its places: as many as the chat shows."""

TURN_TEXT_BYTES: Final = 10 * 1024 * 1024
"""Text of the messages of one turn that is kept: 100,000 lines; what follows is left out. A book has 1 MB.

A conversation that is told again is one turn, too. The host and Neovim together take four times as much memory.
"""

EARLY_BYTES: Final = 32 * 1024 * 1024
"""Messages kept for sessions whose ids the agent has not told us yet: a conversation that is told again has 10 MB."""

KNOWN_TERMINALS: Final = 5000
"""Terminals of a session that have a number, by which they can be opened; of more only the last lines are shown."""

TOLD_CALLS_BYTES: Final = 12 * 1024 * 1024
"""What the tool calls of one turn take in the editor, where all that it is told stays: a thousand of them take 5 MB."""

PLACE_BYTES: Final = 300
"""Of that for each item and place, beside its text: a table of Lua."""

TOLD_TITLE_CHARS: Final = 4000
"""Of the title of a tool call in the chat: two screens of a script. The details have all of it."""
