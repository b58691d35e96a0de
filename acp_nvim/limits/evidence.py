"""Bounds of the evidence by which a changed file is an agent's."""

from __future__ import annotations

from typing import Final

CALL_SLACK_NS: Final = 1_000_000_000
"""So much before its first word a tool call may have changed a file that it names: a busy host hears late."""

CALL_LATE_NS: Final = 1_000_000_000
"""So much after its last word: some agents say that they are done just before they write."""

COMMAND_SLACK_NS: Final = 250_000_000
"""The same before a command, which names no files: what others do meanwhile would be taken for its doing."""

COMMAND_LATE_NS: Final = 100_000_000
"""And after it: the agent tells the end when the process has ended."""

SAVE_NS: Final = 100_000_000
"""A `:write` takes so long at most, from its first byte until it is noted for other Neovims."""

DEEDS: Final = 4000
"""Tool calls and commands of a session that are remembered: twice what one turn may have."""

SPANS: Final = 200
"""Turns of a session that are remembered; what they changed was looked at long before."""

RECORD_PATHS: Final = 100
"""Files of one tool call in one line of what is written down for the next host."""

WORDS_CHARS: Final = 80
"""Of a command line or a title, in the words that say who changed a file: they stand in a line of a list."""

GIT_HAD: Final = 10_000
"""Files of which is remembered what git had: those of a checkout, as long as they may be judged again."""

LINE_CHARS: Final = 1000
"""Of a command line or a title that is remembered: to mask the secrets in it takes 0.1 ms."""

SAVE_WAIT_SECONDS: Final = 2.0
"""So long after a `:write` began its end is waited for: a disk may take its time to have the text."""

SAVE_POLL_SECONDS: Final = 0.01
"""As often it is looked whether it has ended."""

TORN_SAVE_SECONDS: Final = 10.0
"""A Neovim that was killed while it saved may have written to the file for so long."""

SAVES_BYTES: Final = 4_000_000
"""Of the saves that are read at one look: about 20,000."""

SAVES_SECONDS: Final = 172_800.0
"""After two days nobody asks any more who saved a file."""

DOUBTS_AGAIN: Final = 200
"""Files that are judged again at each look, the newest: each takes a millisecond."""

ENDS_SECONDS: Final = 2_592_000.0
"""After 30 days nobody asks any more when an agent ended: what is left to review is kept as long."""

END_WAIT_SECONDS: Final = 10.0
"""Time that who takes over from a dead host waits for its agents to end: the guard gives them five seconds."""

END_POLL_SECONDS: Final = 0.05
"""As often it is looked whether they have ended."""

GIT_INDEX_SECONDS: Final = 10.0
"""Time to read the index of the user's repository: one of 100,000 files takes 0.1 s."""
