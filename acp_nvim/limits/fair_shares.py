"""What one agent, or one session, may take of what all of them share: the host's time, its memory, the user."""

from __future__ import annotations

from typing import Final

SLICE_SECONDS: Final = 0.002
"""Time for which the messages of one agent are handled before others have theirs: a turn waits for a hundred such."""

THREAD_SECONDS: Final = 0.0005
"""Time after which a thread that wants to run gets the interpreter: one that reads files wants it a hundred times."""

UNANSWERED_REQUESTS: Final = 1000
"""Requests of one agent that are served at once; further ones are refused. A fast agent reads 100 files at once."""

UNANSWERED_BYTES: Final = 16 * 1024 * 1024
"""Of all these together, unless there is only one: each takes some times as much memory until it is answered."""

UNREAD_ANSWERS_BYTES: Final = 8 * 1024 * 1024
"""Answers that an agent has not read: with more waiting nothing more is read of it, and no more files for it."""

BATCH_ENTRIES: Final = 1000
"""Messages in one batch array, which are handled at once: as many requests as are served at once."""

WAITING_PERMISSIONS: Final = 200
"""Permission requests of one session that wait for the user; further ones are refused. Nobody reads through more."""

TURN_REQUESTS: Final = 2000
"""Requests and questions of one turn that the user is asked, withdrawn ones too: 35 MB of the host and Neovim."""

WAITING_QUESTIONS: Final = 50
"""The same of other questions to the user, which are forms: an agent asks one, or a few."""

OPTIONS: Final = 50
"""Options of a permission request that are offered: real agents have up to 10, and a screen has 50 lines."""

OPTION_CHARS: Final = 500
"""Characters of an option's name: a long sentence; real agents put the command that they mean into it."""

FILES_AT_ONCE: Final = 8
"""Files and outputs that are read or written for one session at once: the threads for that are 40, for all sessions."""

STARTING_TERMINALS: Final = 4
"""Commands of one session that are started at once: to start one keeps the host busy for a few milliseconds."""

LOGGED_AT_ONCE: Final = 500
"""Entries of one kind that go into the log within `LOGGED_SECONDS`, the others are counted: a long traceback is 100."""

LOGGED_SECONDS: Final = 60.0
"""See there. An agent that complains all day leaves some of what came before it in the log."""

LOGGED_KINDS: Final = 200
"""Kinds of entries whose numbers are remembered: some words of each call to the log, for each agent."""

STDERR_READ_LINES: Final = 500
"""Lines of stderr that are looked at of one read, its last: of 16 kB of empty lines all would take 0.1 s."""
