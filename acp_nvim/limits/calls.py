"""Bounds of what is told of tool calls and plans."""

from __future__ import annotations

from typing import Final

CALL_TEXT_LINES: Final = 21
"""Lines told of a text in a tool call: the chat shows 20 and counts the others, or shows all 21."""

CALL_TEXT_CHARS: Final = 8 * 1024
"""Characters told of it, whatever its lines are."""

REQUEST_TEXT_LINES: Final = 5000
"""The same of a text in a permission request: people see the whole of what they allow."""

REQUEST_TEXT_CHARS: Final = 512 * 1024
"""Its characters: Linux takes no longer command line than a quarter of that."""

COMMAND_SHOWN_CHARS: Final = 128 * 1024
"""Characters of a command that is shown whole, so that it can be allowed: Linux takes no longer argument."""

COMMAND_TITLE_CHARS: Final = 200
"""Characters of a command in the title of our question: the whole of it is shown below."""

DIFF_CHARS: Final = 16 * 1024
"""Of the old and new text of a change that is told as it came; of a larger one, hunks: the chat shows 60 lines."""

DIFF_SEARCH_CHARS: Final = 256 * 1024
"""Of the texts in which all hunks are looked for: 5 ms; of larger ones the beginning of the change is told."""

DIFF_LINES: Final = 100
"""Lines told of a change that is cut: the chat shows 60."""

DIFF_CONTEXT: Final = 3
"""Lines around a hunk, as everywhere."""

DETAILS_CHARS: Final = 4 * 1024 * 1024
"""Of one text in the details of a tool call, which the user asks for: Neovim shows that within 0.1 s."""

NESTING: Final = 8
"""Tool calls that are looked through for the one above all: agents start agents, but not many in each other."""

INSTANT_SECONDS: Final = 1.0
"""A tool call that takes no longer has no duration: nobody waited for it."""

MEDIA_SECONDS: Final = 24 * 3600.0
"""Age at which pictures and sounds that were opened are removed from the cache directory."""

PREVIEW_UNASKED_CHARS: Final = 128 * 1024
"""Of the texts of a change that is looked for in its file before somebody opens that: 20 ms of a thread."""

PLAN_CHARS: Final = 64 * 1024
"""Of all steps of a plan that are told: each of them has an equal share if they are longer. A plan is told at once."""
