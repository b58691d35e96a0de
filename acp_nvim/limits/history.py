"""Bounds of what is kept of conversations, of their search, and of the queue."""

from __future__ import annotations

from typing import Final

DAYS: Final = 90.0
"""Age at which a transcript is removed, when the user set none: who looks for something older knows where it is."""

MEGABYTES: Final = 200.0
"""Size of all transcripts, when the user set none: thousands of conversations."""

SOON_SECONDS: Final = 1.0
"""Time until a finished block is written: those that end together are one write, and a flood is over by then."""

LATE_SECONDS: Final = 5.0
"""Time until what is not finished is written too: so much is lost when the host is killed."""

PIECE_BYTES: Final = 512 * 1024
"""Of a message on one line: a reader holds no more of it, and looking for secrets in it takes 10 ms."""

TAKEN_BYTES: Final = 4 * 1024 * 1024
"""Text handed to the writer at once; the rest waits in the transcript, where it is anyway."""

TAKEN_BLOCKS: Final = 32
"""Blocks handed over at once: to look up what they show holds the event loop for about a millisecond."""

RECORD_BYTES: Final = 8 * 1024 * 1024
"""The longest line; of a tool call that shows more only the words are kept."""

GROWING: Final = 64
"""Messages of which is known how much is written; agents interleave a few, others are written again as a whole."""

HEAD_BYTES: Final = 64 * 1024
"""Read of a transcript's beginning for lists: its header and the first prompt are there."""

TAIL_BYTES: Final = 16 * 1024
"""Read of its end: the last title is there, or was written long before."""

FOUND: Final = 200
"""Transcripts in one answer; nobody looks at more in a list."""

FOUND_AT_ONCE: Final = 20
"""Of them told together: the first ones do not wait for the last."""

SNIPPET_CHARS: Final = 100
"""Of a text around what was looked for: one line of a list."""

PROMPT_CHARS: Final = 200
"""Of the first prompt, for lists."""

SHOWN_BLOCKS: Final = 50
"""Blocks of a kept transcript read at once, when it is shown: the first ones are seen before the last are read."""

EXPORT_PIECE_CHARS: Final = 64 * 1024
"""Of an export sent to the editor at once."""

SENT_PROMPTS: Final = 100
"""Prompts that went out and are remembered, so that an older view of the queue does not send them again."""

EXPORT_BLOCKS: Final = 20
"""Blocks of a session that are made markdown at once: the event loop is not held up by a long one."""

MISSING_BLOCKS: Final = 1000
"""Blocks in a row of a kept conversation that cannot be read, before the rest is left out: more is no accident."""
