"""Every number that bounds something, with its reason."""

from __future__ import annotations

from typing import Final

READ_BYTES: Final = 64 * 1024
"""Bytes asked of a pipe at once: what a Linux pipe holds."""

TAKEN_BYTES: Final = 16 * 1024
"""Of an agent's words looked at without a pause: half a millisecond, in which nobody else gets an answer."""

GARBAGE: Final = (10_000, 20, 20)
"""New objects until cycles are looked for, and how often the older ones are looked through: there are few."""

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""One message of an agent; the largest seen in the field is 0.6 MB, whole files travel in one message."""

MAX_FILE_BYTES: Final = 32 * 1024 * 1024
"""One text file served to an agent: escaped as JSON it must still fit into a message."""

MERGE_SECONDS: Final = 10.0
"""Time for git to merge a file: a million lines take 0.5 s; only texts with nothing in common take as long as this."""

LEFT_OVER_SECONDS: Final = 3600.0
"""Age at which a temporary file of ours is removed: no write takes an hour, so whoever made it was killed."""

PATCH_CHARS: Final = 256 * 1024
"""A patch that is taken apart into hunks: that much takes 30 ms of the host."""

CALL_ITEMS: Final = 50
"""Items of a tool call's content that are shown of its beginning, and of its end; more are counted."""

TERMINAL_BYTES: Final = 1024 * 1024
"""Output kept of a terminal, the agent's or ours, whatever it asks for: its end."""

TERMINALS_BYTES: Final = 32 * 1024 * 1024
"""The same of all terminals of a session; beyond it the oldest keep no more than the chat shows."""

TERMINAL_SCROLLBACK: Final = 10_000
"""Lines of it that an open terminal buffer holds: with each line that Neovim keeps, the next one costs it more."""

TERMINAL_BATCH_BYTES: Final = 16 * 1024
"""Output for open terminal buffers in one batch: Neovim shows it within about 3 ms."""

TERMINAL_BATCH_LINE: Final = 64
"""What an end of a line counts in it beside its one byte: Neovim takes 10 µs to scroll, as for 64 characters."""

TERMINALS: Final = 100
"""Terminals of a session that are kept for its agent; of those that have ended it forgets to release some."""

COMMAND_CHARS: Final = 4 * 1024
"""Length of a command line that is read for permission rules, in 5 ms, or 0.3 s if it is malicious; longer ones ask."""

COMMANDS_IN_LINE: Final = 200
"""Simple commands in it, those that others run included."""

COMMAND_STARTS: Final = 20
"""Words of a command at which another may begin that it runs: options have to be told from what they take."""

COMMAND_DEPTH: Final = 5
"""How deep they are in each other: sudo env sh -c 'xargs rm' is three."""

TERMINAL_COLUMNS: Final = 120
"""Wide enough that programs cut little off."""

TERMINAL_ROWS: Final = 40
"""As on many screens; only programs that fill the screen care."""

TERMINAL_DRAIN_BYTES: Final = 256 * 1024
"""Output that may wait in a terminal when its command has ended: Linux holds 64 kB, and a bit."""

TERMINAL_SHOW_SECONDS: Final = 0.05
"""Time between two looks of the chat at a terminal that prints: a person cannot read faster."""

ESCAPE_CHARS: Final = 4096
"""The longest escape sequence that is waited for; what is longer was none."""

TERMINAL_LINES: Final = 20
"""Lines of it shown in the chat."""

TERMINAL_LINE_BYTES: Final = 1000
"""Bytes looked at for one of these lines."""

EARLY_UPDATES: Final = 10_000
"""Updates kept for a session whose id the agent has not told us yet; whole replays arrive like this."""

WRONG_PARTS: Final = 20
"""Wrong parts of one message that are left out and named; what has more is not the protocol."""

TROUBLES: Final = 20
"""Different complaints about an agent's messages, and kinds of unknown ones shown in a session; more are not news."""

STDERR_LINES: Final = 20
"""Lines of stderr kept for the moment an agent dies."""

STDERR_LINE_CHARS: Final = 400
"""Characters kept of one such line."""

INITIALIZE_SECONDS: Final = 60.0
"""Time for an agent to answer `initialize`, when the user set none: slow ones take 3 s, a first download more."""

CANCEL_SECONDS: Final = 10.0
"""Time for a turn to end after the agent was asked to stop it, when the user set none: agents take 0.2 s."""

CANCEL_STEP_SECONDS: Final = 2.0
"""Time for each of the stronger means to work before the next is tried: the user has waited long enough by then."""

EOF_GRACE_SECONDS: Final = 0.7
"""Time for an agent to leave by itself after its stdin was closed (slow ones take 0.5 s)."""

TERM_GRACE_SECONDS: Final = 0.8
"""Time between SIGTERM and SIGKILL; with the grace above everything is gone well within 3 s."""

KILL_SECONDS: Final = 1.0
"""Time for what got SIGKILL to be gone; only who hangs in the kernel needs more, and cannot be waited for."""

EXIT_SECONDS: Final = 1.0
"""Time for an agent to exit after it closed its stdout, before it is stopped."""

LOG_BYTES: Final = 4 * 1024 * 1024
"""Size at which the log file is rotated; one older file is kept."""

GLIMPSE_HEAD_BYTES: Final = 4 * 1024
"""Kept of the beginning of a message over the limit: its id and method stand there, or else at the end."""

GLIMPSE_TAIL_BYTES: Final = 256
"""Kept of its end."""

MAX_COMPLAINTS: Final = 20
"""Times that one peer is told of something without an id that it is no message; it may answer each with another."""

BATCH_ANSWER_SECONDS: Final = 5.0
"""Time for the answers to a batch array to be complete; then those that are there are sent."""

LOGGED_LINE_CHARS: Final = 500
"""Characters of one faulty message that go into the log."""

TRAFFIC_FILE_BYTES: Final = 32 * 1024 * 1024
"""Size at which a recording of a connection is rotated; days of work, and still small enough to be sent to somebody."""

TRAFFIC_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""The largest message that is recorded: to look for secrets in it keeps the host busy for about 0.1 s."""

TRAFFIC_FILES: Final = 20
"""Recordings kept, the newest; each connection makes one, or two when it is long."""

TRAFFIC_BYTES: Final = 200 * 1024 * 1024
"""Size of all recordings that are kept when a new one begins."""

SECRET_CHARS: Final = 8
"""A secret shorter than this is not looked for inside texts: it would be found everywhere."""

ENTERED_SECRET_CHARS: Final = 7
"""The same for what the user has entered as a secret: "none" and "ollama" are keys for many local models."""

SEEN_TEXT_BYTES: Final = 4 * 1024 * 1024
"""Memory for one text that an agent has seen: sources of 1 MB, at 4 bytes a character; larger texts go to disk."""

SEEN_MEMORY_BYTES: Final = 32 * 1024 * 1024
"""Memory for all such texts of a session: a thousand ordinary files, far more than a turn touches."""

SEEN_DISK_BYTES: Final = 512 * 1024 * 1024
"""Room on disk for those of a session that are not in memory: 16 of the largest files that are served."""

SEEN_FILES: Final = 20_000
"""Files of a session of which anything is known: 8 MB for their digests and names."""

SPILL_LEFT_SECONDS: Final = 14 * 24 * 3600.0
"""Age at which texts on disk are removed although something runs as their process: pids come again."""

CONFLICTS: Final = 100
"""Conflicts kept of a session, and copies of them on disk: who has not looked at the last 100 will not."""

CONFLICT_BYTES: Final = 64 * 1024 * 1024
"""Their memory, and their room on disk: two of the largest files, or all 100 of ordinary ones."""

BUFFER_TEXTS_BYTES: Final = 64 * 1024 * 1024
"""Memory for the texts of buffers that agents read again and again: the largest file that is served fits."""

FOLLOW_ATTEMPTS: Final = 5
"""How often a buffer is brought up to its file, or a file written, while somebody changes either: keys take 100 ms."""

BUSY_SECONDS: Final = 8.0
"""Time that a change of a buffer waits for the user to finish a half typed command; then the agent is told to retry."""

BUSY_POLL_SECONDS: Final = 0.05
"""Time between two looks whether it is finished."""

FOLLOWED_AT_ONCE: Final = 2
"""Buffers that are brought up to their files at the same time: a checkout changes hundreds, each takes Neovim 3 ms."""

OWN_PATHS: Final = 200
"""Files looked at when a tool call says that it has changed them: what one call edits; each is a task."""

EMPTY_SECONDS: Final = 0.2
"""Time for a file that somebody has emptied to get its new text, before its buffer is emptied too."""

PREVIEW_CHANGES: Final = 100
"""Changes of one file that a permission request shows: to find each in 10,000 lines takes 20 ms."""

PREVIEW_CHARS: Final = 1024 * 1024
"""Of the new text that a permission request shows of one file: nobody reads more before they answer."""

PART_CHARS: Final = 256 * 1024
"""Length of a text up to which parts of it are found on the event loop: that takes 10 ms."""

MOVED_ENTRIES: Final = 50_000
"""Directory entries looked at for a file that was renamed: 0.2 s; a workspace with more has its files near by."""

REVIEW_TEXT_BYTES: Final = 8 * 1024 * 1024
"""Size of a file up to which it is reviewed line by line: 200,000 lines, 50 MB of memory; larger ones as a whole."""

REVIEW_MOMENTS: Final = 1000
"""Earlier moments of a text under review that undo and redo come back to: as many as 'undolevels' is by default."""

REVIEW_MOMENT_BYTES: Final = 8 * 1024 * 1024
"""Memory for these, of one text: a thousand edits, or four times that the whole of a file of 1 MB was another one."""

CHECKPOINTS: Final = 500
"""Turns of a workspace that can be gone back to: weeks of work; nobody finds more in a list."""

CHECKPOINT_SECONDS: Final = 30 * 24 * 3600.0
"""Age at which they are forgotten."""

PATCH_LINES: Final = 2000
"""Lines shown of what a restore would do to one file."""

KEEP_SECONDS: Final = 0.5
"""Time in which what is left to review changes more than once before it is written down."""

SETTLED_WAIT_SECONDS: Final = 20.0
"""Time to find out what a turn has changed after it has ended: Neovim may be at a prompt of its own."""

SCAN_PAUSE: Final = 5.0
"""Pause between two looks at the disk while an agent works, in durations of the last look."""

SCAN_PAUSE_SECONDS: Final = 0.5
"""The same in seconds, at least."""

SNAPSHOT_FILES: Final = 300_000
"""Files of a workspace of which snapshots are taken: to look at that many takes 0.5 s."""

SNAPSHOT_FILE_BYTES: Final = 32 * 1024 * 1024
"""Size of a file whose content is kept: the largest that is served as text."""

SNAPSHOT_BYTES: Final = 1024 * 1024 * 1024
"""What a snapshot may have to read: git takes 25 s for it, and 0.4 GB of the disk."""

SNAPSHOT_SECONDS: Final = 60.0
"""Time for a snapshot; the first of 100,000 files takes a third of it."""

SNAPSHOT_RETRY_SECONDS: Final = 600.0
"""Time before a workspace that is beyond a limit is tried again: the user may have told git to ignore something."""

FOLD_FILES: Final = 100
"""Changed files that are hashed again or remembered one by one; for more the index is written, which takes 20 ms."""

FOLD_BYTES: Final = 4 * 1024 * 1024
"""Their size: to compress that takes 0.1 s."""

RENAMES: Final = 400
"""Deleted and created files that are compared with each other, to find those renamed and edited: 2 s at most."""

COMPARE_SECONDS: Final = 20.0
"""Time to compare two snapshots, or files: 10,000 changed ones take 1 s."""

PATCH_BYTES: Final = 4 * 1024 * 1024
"""Length of a patch for a preview: nobody reads more."""

EXCLUDES_BYTES: Final = 1024 * 1024
"""Read of a file with rules about what to ignore."""

CLEAN_SECONDS: Final = 120.0
"""Time to clean a shadow repository: git packs 100,000 files in half of it."""

GIT_NICENESS: Final = 10
"""Of the git processes of snapshots: on a busy machine the host waits half as long for its turn, they 20 % longer."""

GIT_ERROR_CHARS: Final = 300
"""Of what git said when it failed."""

LOCATED_PLACES: Final = 1000
"""Places of a tool call's part of a file that are looked at in it: a part that is there more often is a single word."""

LOOKED_AT: Final = 100
"""Files that change at once up to which their texts are compared, instead of git being asked: 1 ms each."""

LOCATION_SECONDS: Final = 0.1
"""Between two places where an agent is that the editor is told of: people see no more of them."""
