"""Numbers about questions of agents to the user, each with its reason."""

from __future__ import annotations

from typing import Final

FIELDS: Final = 200
"""Fields of one form: nobody fills in more."""

CHOICES: Final = 2000
"""Values to choose from in one form: more can be typed."""

REQUEST_BYTES: Final = 1024 * 1024
"""Of a question: a form that people fill in has some kB."""

PATTERN_SECONDS: Final = 2.0
"""For all patterns of a form: people wait that long without wondering. Patterns come from agents and may never end."""

PATTERN_BYTES: Final = 512 * 1024 * 1024
"""Of memory for that, Python's own included."""

ANSWER_CHARS: Final = 200
"""Of an answer that the chat repeats: the agent has all of it."""

URL_CHARS: Final = 8000
"""Of a URL: what is longer no browser takes, and nobody reads."""

OPEN_URLS: Final = 100
"""Of one agent, whose end it may tell: nobody does more at once."""
