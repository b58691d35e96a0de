"""Bounds that several modules share, each with its reason; a bound of one module is defined there."""

from __future__ import annotations

TYPE_CHECKING = False  # the guard reads this file, and starts in half the time without `typing`
if TYPE_CHECKING:
    from typing import Final

# Connections and messages
READ_BYTES: Final = 64 * 1024
"""Bytes requested from a pipe in one read: the capacity of a Linux pipe."""
TAKEN_BYTES: Final = 16 * 1024
"""Bytes of an agent's output handled without a look at the clock: they take half a millisecond."""
SLICE_SECONDS: Final = 0.002
"""Time for which the messages of one agent are handled before other agents get their turn; there may be a hundred."""
SCANNED_BYTES: Final = 32 * 1024
"""Length from which a line is scanned for long lists: decoding a shorter line is faster than scanning it.

Twice `TAKEN_BYTES`, so that lines which arrive whole are never scanned. No more than that, because this much is scanned
without a pause: 40 ms if it consists of brackets.
"""
ENVELOPE_HEAD_BYTES: Final = 4 * 1024
"""Bytes kept of the beginning of a message over the limit: its id and method are there, or else at the end."""
ENVELOPE_TAIL_BYTES: Final = 256
"""Bytes kept of the end of a message over the limit."""
LEFT_OUT: Final = "acp_nvim/leftOut"
"""The member of an object that counts what was dropped from it: list entries or characters, by member name.

Zero means that something is missing further inside that member.
"""
LIST_ENTRIES: Final = 10_000
"""Elements of one array, or members of one object, that are kept; no bound of a single field is larger."""
STRING_BYTES: Final = 8 * 1024 * 1024
"""Length of one string of a message; while it is decoded, it may take four times as much memory.

An image of 6 MB fits, and so does any text that is shown. A request with a longer string is refused.
"""
NESTED: Final = 200
"""Depth of nested arrays and objects. Python's own limit depends on its version; that of msgpack is 511."""
BATCH_ENTRIES: Final = 1000
"""Messages in one batch array, which are handled at once: as many as the requests that are served at once."""
LOGGED_LINE_CHARS: Final = 500
"""Characters of a faulty message that are logged."""
MAX_FILE_BYTES: Final = 32 * 1024 * 1024
"""Size of a text file served to an agent: escaped as JSON it must fit into one message."""
TROUBLES: Final = 20
"""Distinct complaints about an agent's messages, and unknown update kinds, that a session shows."""

# Processes
INITIALIZE_SECONDS: Final = 60.0
"""Default time for an agent to answer `initialize`: slow ones take 3 s, one that is downloaded first takes longer."""
CANCEL_SECONDS: Final = 10.0
"""Default time for a turn to end after a cancel: agents take 0.2 s."""
EOF_GRACE_SECONDS: Final = 0.7
"""Time for an agent to exit after its stdin was closed: slow ones take 0.5 s."""
TERM_GRACE_SECONDS: Final = 0.8
"""Time between SIGTERM and SIGKILL; together with the grace above, a process is gone well within 3 s."""
KILL_SECONDS: Final = 1.0
"""Time for a process to end after SIGKILL; only one that hangs in the kernel takes longer, and is not waited for."""
IDLE_SECONDS: Final = 30 * 60.0
"""Default time without a turn after which an agent's process is stopped: longer than a lunch break."""
ENDS_SECONDS: Final = 2_592_000.0
"""Time for which the end of an agent is recorded: 30 days, as long as changes that are left to review are kept."""
GIT_LOOK_SECONDS: Final = 2.0
"""Time for git to inspect a repository: it takes 10 ms, but one that opens a FIFO would never end."""
GIT_ERROR_CHARS: Final = 300
"""Characters of git's error message that are shown."""

# Secrets
SECRET_CHARS: Final = 8
"""Shortest secret that is searched for inside texts: a shorter one would match everywhere."""
ENTERED_SECRET_CHARS: Final = 7
"""The same for secrets that the user entered: "none" and "ollama" are keys for many local models."""
TOKEN_CHARS: Final = 4
"""The same for what can only be a secret, as `token_env`; a shorter one would make logs and recordings unreadable."""

# Files, snapshots and reviews
PATCH_CHARS: Final = 256 * 1024
"""Length of a patch that is parsed into hunks: 30 ms of the host."""
FOLLOW_ATTEMPTS: Final = 5
"""Attempts to synchronize a buffer with its file, or to write a file, while it keeps changing: a key takes 100 ms."""
REVIEW_TEXT_BYTES: Final = 8 * 1024 * 1024
"""Size of a file that is reviewed line by line: 200,000 lines, 50 MB of memory. A larger one is reviewed as a whole."""
SNAPSHOT_FILES: Final = 300_000
"""Files of a workspace that is snapshotted: to scan that many takes 0.5 s."""
SNAPSHOT_WAIT_SECONDS: Final = 0.8
"""Time that a prompt waits for the snapshot before it, which then continues: it takes 0.3 s for 100,000 files."""
COMPARE_SECONDS: Final = 20.0
"""Time to compare two snapshots, or files: 10,000 changed files take 1 s."""
EXCLUDES_BYTES: Final = 1024 * 1024
"""Bytes read of a file with ignore rules."""
MEGABYTES: Final = 2000.0
"""Default size of the state directory, in MB: what a few large projects need for weeks."""

# The MCP server
PROGRESS_SECONDS: Final = 15.0
"""Time between two notices of progress of a call that waits: opencode gives up after 60 s without any."""

# Sessions, turns and prompts
TURN_REQUESTS: Final = 2000
"""Requests and questions of one turn, withdrawn ones included, that reach the user: 35 MB of the host and Neovim."""
TURN_BLOCKS: Final = 7000
"""Tool calls and messages of one turn that get a block of their own: 40 MB of the host and Neovim together.

A day of work has a thousand. The text of further messages is appended to the last one; further tool calls are counted.
"""
OLD_TITLE_CHARS: Final = 200
"""Characters of the title that a tool call keeps after its texts are dropped: one line of the chat."""
REQUEST_TEXT_LINES: Final = 5000
"""Lines of a text in a permission request: users must see all of what they allow."""
COMMAND_SHOWN_CHARS: Final = 128 * 1024
"""Length of a command that is shown whole, so that it can be allowed: the longest argument that Linux accepts."""
INPUT_STRINGS: Final = 200
"""Strings in the input of a permission request that are checked as paths: that many take 50 ms of the host."""
QUIET_SECONDS: Final = 5.0
"""Default silence, with nothing open, that ends a background turn; also how long output after a cancel belongs to the
cancelled turn. Models stream: few are silent for longer while they work."""
SILENT_SECONDS: Final = 30.0
"""Silence of an agent in a turn, with nothing open, that the user is told of: models that think say so before that."""
MENTION_BYTES: Final = 1024 * 1024
"""Size of an attached text file: 300,000 tokens, more than the context of a model."""
IMAGE_BYTES: Final = 5 * 1024 * 1024 * 3 // 4
"""Size of an attached image: 5 MB in base64, the most that all providers of models take."""
IMAGE_PIXELS: Final = 8000
"""Width and height of an attached image, for the same reason."""
SOON_SECONDS: Final = 1.0
"""Delay until finished blocks are written to the transcript, so that one write takes all blocks of a burst."""
RECORD_BYTES: Final = 8 * 1024 * 1024
"""Length of a line of a transcript, in bytes; the content of a tool call that is longer is dropped."""

# The editor
FRAME_SECONDS: Final = 0.0145
"""Shortest time between two batches for the editor, unless a backlog waits: a little less than a frame at 60 Hz.

A batch costs Neovim almost a millisecond, mostly for drawing. The average wait is half of it, the longest a frame.
"""
BATCH_BYTES: Final = 32 * 1024
"""Text in the first full batch: Lua inserts it into a buffer and parses its markdown within one frame."""
FIRST_LINES: Final = 8
"""Lines of a longer text of a tool call, or of a terminal's output, that the chat shows from the beginning."""
LAST_LINES: Final = 12
"""Lines of it from the end: there stand errors and results."""
TERMINAL_BYTES: Final = 1024 * 1024
"""Output kept of a terminal, whatever the agent requests: the end of it."""
TERMINAL_LINES: Final = 20
"""Lines of a terminal's output that the chat shows: the first and the last."""
TERMINAL_LINE_BYTES: Final = 1000
"""Bytes examined for one of these lines."""
