"""Numbers that bound something in several modules, each with its reason; a number with one user stands beside it."""

from __future__ import annotations

from typing import Final

READ_BYTES: Final = 64 * 1024
"""Bytes asked of a pipe at once: what a Linux pipe holds."""

TAKEN_BYTES: Final = 16 * 1024
"""Of an agent's words looked at without a pause: half a millisecond, in which nobody else gets an answer."""

MAX_FILE_BYTES: Final = 32 * 1024 * 1024
"""One text file served to an agent: escaped as JSON it must still fit into a message."""

PATCH_CHARS: Final = 256 * 1024
"""A patch that is taken apart into hunks: that much takes 30 ms of the host."""

TERMINAL_BYTES: Final = 1024 * 1024
"""Output kept of a terminal, the agent's or ours, whatever it asks for: its end."""

TERMINAL_LINES: Final = 20
"""Lines of it shown in the chat."""

TERMINAL_LINE_BYTES: Final = 1000
"""Bytes looked at for one of these lines."""

TROUBLES: Final = 20
"""Different complaints about an agent's messages, and kinds of unknown ones shown in a session; more are not news."""

INITIALIZE_SECONDS: Final = 60.0
"""Time for an agent to answer `initialize`, when the user set none: slow ones take 3 s, a first download more."""

CANCEL_SECONDS: Final = 10.0
"""Time for a turn to end after the agent was asked to stop it, when the user set none: agents take 0.2 s."""

EOF_GRACE_SECONDS: Final = 0.7
"""Time for an agent to leave by itself after its stdin was closed (slow ones take 0.5 s)."""

TERM_GRACE_SECONDS: Final = 0.8
"""Time between SIGTERM and SIGKILL; with the grace above everything is gone well within 3 s."""

KILL_SECONDS: Final = 1.0
"""Time for what got SIGKILL to be gone; only who hangs in the kernel needs more, and cannot be waited for."""

ENVELOPE_HEAD_BYTES: Final = 4 * 1024
"""Kept of the beginning of a message over the limit: its id and method stand there, or else at the end."""

ENVELOPE_TAIL_BYTES: Final = 256
"""Kept of its end."""

LOGGED_LINE_CHARS: Final = 500
"""Characters of one faulty message that go into the log."""

SECRET_CHARS: Final = 8
"""A secret shorter than this is not looked for inside texts: it would be found everywhere."""

ENTERED_SECRET_CHARS: Final = 7
"""The same for what the user has entered as a secret: "none" and "ollama" are keys for many local models."""

FOLLOW_ATTEMPTS: Final = 5
"""How often a buffer is brought up to its file, or a file written, while somebody changes either: keys take 100 ms."""

REVIEW_TEXT_BYTES: Final = 8 * 1024 * 1024
"""Size of a file up to which it is reviewed line by line: 200,000 lines, 50 MB of memory; larger ones as a whole."""

SNAPSHOT_FILES: Final = 300_000
"""Files of a workspace of which snapshots are taken: to look at that many takes 0.5 s."""

COMPARE_SECONDS: Final = 20.0
"""Time to compare two snapshots, or files: 10,000 changed ones take 1 s."""

EXCLUDES_BYTES: Final = 1024 * 1024
"""Read of a file with rules about what to ignore."""

GIT_ERROR_CHARS: Final = 300
"""Of what git said when it failed."""

# --- batches ---------------------------------------------------------------------------------------------------------

FRAME_SECONDS: Final = 0.018
"""The shortest time between two batches for the editor, unless more waits than one can take.

A bit more than a frame at 60 Hz: each batch costs Neovim a millisecond, most of it to draw; words wait for half of it.
"""

BATCH_BYTES: Final = 32 * 1024
"""Text in the first full batch: Lua puts it into a buffer, and finds the markdown in it, within about that time."""

# --- calls -----------------------------------------------------------------------------------------------------------

REQUEST_TEXT_LINES: Final = 5000
"""The same of a text in a permission request: people see the whole of what they allow."""

COMMAND_SHOWN_CHARS: Final = 128 * 1024
"""Characters of a command that is shown whole, so that it can be allowed: Linux takes no longer argument."""

# --- evidence --------------------------------------------------------------------------------------------------------

ENDS_SECONDS: Final = 2_592_000.0
"""After 30 days nobody asks any more when an agent ended: what is left to review is kept as long."""

# --- fair shares -----------------------------------------------------------------------------------------------------

SLICE_SECONDS: Final = 0.002
"""Time for which the messages of one agent are handled before others have theirs: a turn waits for a hundred such."""

BATCH_ENTRIES: Final = 1000
"""Messages in one batch array, which are handled at once: as many requests as are served at once."""

TURN_REQUESTS: Final = 2000
"""Requests and questions of one turn that the user is asked, withdrawn ones too: 35 MB of the host and Neovim."""

# --- git -------------------------------------------------------------------------------------------------------------

GIT_LOOK_SECONDS: Final = 2.0
"""Time for git to look at what a repository is: it takes 10 ms. One that waits for a FIFO would take for ever."""

# --- growth ----------------------------------------------------------------------------------------------------------

TURN_BLOCKS: Final = 7000
"""Tool calls and messages of one turn that get a place of their own: 40 MB of the host and Neovim together.

A day of work has a thousand.

Of more messages the text goes on in the last one; more tool calls are counted.
"""

OLD_TITLE_CHARS: Final = 200
"""Of the title that a call keeps whose texts are forgotten: a line of the chat."""

# --- history ---------------------------------------------------------------------------------------------------------

SOON_SECONDS: Final = 1.0
"""Time until a finished block is written: those that end together are one write, and a flood is over by then."""

RECORD_BYTES: Final = 8 * 1024 * 1024
"""The longest line; of a tool call that shows more only the words are kept."""

# --- lives -----------------------------------------------------------------------------------------------------------

IDLE_SECONDS: Final = 30 * 60.0
"""Time without a turn after which a process is stopped, when the user set none: a long lunch goes unnoticed."""

# --- messages --------------------------------------------------------------------------------------------------------

LEFT_OUT: Final = "acp_nvim/leftOut"
"""The member by which an object says what is missing in it: by name the entries of a list, the characters of a text.

Zero says that something is missing in what is inside that member.
"""

SCANNED_BYTES: Final = 32 * 1024
"""A line is looked through for long lists from this length on: a shorter one is decoded faster than looked through.

Twice what is read at once (`TAKEN_BYTES`), so that lines which are whole are never looked through; and no more, because
so much is looked through at once: if it is all brackets that takes 40 ms.
"""

LIST_ENTRIES: Final = 10_000
"""Elements of one array, or members of one object, that are kept; no bound of a single field is larger."""

NESTED: Final = 200
"""Arrays and objects in each other. Python's own bound depends on its version; msgpack has one of 511."""

STRING_BYTES: Final = 8 * 1024 * 1024
"""One string of a message that is not a request; it may take four times as much in memory for a moment.

An image of 6 MB fits, and any text that is shown. A request with a longer one is refused.
"""

# --- permissions -----------------------------------------------------------------------------------------------------

INPUT_STRINGS: Final = 200
"""Files that a request may name, with what may be one: to look at that many takes 50 ms of the host."""

# --- prompt ----------------------------------------------------------------------------------------------------------

MENTION_BYTES: Final = 1024 * 1024
"""Of one file whose text comes along: 300,000 tokens, more than the context of a model."""

IMAGE_BYTES: Final = 7 * 1024 * 1024
"""Of an image: 10 MB in base64, which is what agents take."""

# --- review ----------------------------------------------------------------------------------------------------------

SNAPSHOT_WAIT_SECONDS: Final = 0.8
"""Time that a prompt waits for the snapshot before it, which then goes on: it takes 0.3 s for 100,000 files."""

# --- state -----------------------------------------------------------------------------------------------------------

MEGABYTES: Final = 2000.0
"""Size of the state directory, when the user set none: as much as a few large projects need for weeks."""

# --- turns -----------------------------------------------------------------------------------------------------------

QUIET_SECONDS: Final = 5.0
"""Silence, with nothing open, after which such a turn is over, when the user set none; also the time after a cancel in
which the agent's words count to what was cancelled. Models stream: few are silent for longer while they work."""
