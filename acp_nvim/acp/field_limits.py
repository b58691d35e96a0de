"""Bounds of single fields that agents send (characters of a text, entries of a list), each with its reason.

Texts and lists that are only displayed are cut, with a note of how much is missing. What the client acts on (ids,
paths, commands) is never cut: a field beyond its bound is malformed.
"""

from __future__ import annotations

from typing import Final

# Texts, in characters, that are never cut
ID_CHARS: Final = 1000
"""An id of a session, a call, a message, an option: agents use UUIDs, or words of 60 characters."""
WORD_CHARS: Final = 200
"""A kind, a status, a MIME type, a time: one word."""
PATH_CHARS: Final = 4096
"""A path: PATH_MAX of Linux."""
URI_CHARS: Final = 64 * 1024
"""A URI: that of a file has some hundred characters, but a `data:` URI may contain a small picture."""
VALUE_CHARS: Final = 16 * 1024
"""A value of a form, which is sent back unchanged."""
COMMAND_CHARS: Final = 2 * 1024 * 1024
"""A command, one of its arguments, an environment variable: ARG_MAX of Linux is 2 MB for all of them."""
FILE_CHARS: Final = 32 * 1024 * 1024
"""The text of a file to write: as much as can be read."""
DIFF_CHARS: Final = 2 * 1024 * 1024
"""The old or the new text of a change: half a text would show lines as removed. A larger one is not displayed."""
DATA_CHARS: Final = 8 * 1024 * 1024
"""An image, a sound or a blob in base64: 6 MB. A part of one is useless."""
OUTPUT_CHARS: Final = 2 * 1024 * 1024
"""A piece of a terminal's output in base64: 1 MB of all output is kept."""
PATTERN_CHARS: Final = 2000
"""A regular expression in a form: those for times and addresses have a hundred characters."""

# Texts, in characters, that are cut
NAME_CHARS: Final = 1000
"""The name of a list entry: a line of a wide screen has 300 characters."""
TITLE_CHARS: Final = 32 * 1024
"""A title: some agents put a whole script there."""
WORDS_CHARS: Final = 16 * 1024
"""A description, a message, a step of a plan: several screens."""
TEXT_CHARS: Final = 2 * 1024 * 1024
"""One text of a message or a tool call: 40,000 lines, more than anybody reads in a chat."""

# Lists, in entries, that are cut
PLAN_ENTRIES: Final = 500
"""Steps of a plan: ten screens; agents make plans of 5 to 30."""
LOCATIONS: Final = 500
"""Locations of one tool call: a search through a large project; the chat shows 10."""
CONTENT_ITEMS: Final = 1000
"""Items of a tool call or a message, also when they arrive one by one: the chat shows 100."""
DIFF_CHANGES: Final = 1000
"""Files of one diff: a renamed package."""
COMMANDS: Final = 2000
"""Slash commands: each prompt of an MCP server is one; a hundred is a lot."""
MODES: Final = 500
"""Modes of a session: agents have 2 to 10."""
MODELS: Final = 5000
"""Models, and values of one configuration option: agents that use model brokers list a thousand."""
CONFIG_OPTIONS: Final = 200
"""Configuration options: agents have 2 to 10."""
SESSIONS: Final = 5000
"""Sessions in one answer: agents without pagination list all that they store."""
DIRECTORIES: Final = 200
"""Additional directories of a session."""
AUTH_METHODS: Final = 100
"""Authentication methods: agents have 1 to 5."""
ICONS: Final = 20
"""Icons of a resource and their sizes, which are not displayed; the audience of a content block."""
BACKGROUND: Final = 1000
"""Background work: as many terminals as one machine can run."""
ENTRIES: Final = 1000
"""Entries of a list that has no rule of its own."""

# Lists, in entries, that are never cut
OPTIONS: Final = 100
"""Options of a permission request: agents have 2 to 6. A dropped option might be the one that rejects."""
ARGUMENTS: Final = 10_000
"""Arguments of a command: Linux bounds their size, not their number. The longest one seen is a list of files."""
VARIABLES: Final = 2000
"""Environment variables of a command: a whole environment has a hundred."""
FORM_FIELDS: Final = 2000
"""Fields of a form as received; a form with more than `elicitation.FIELDS` is refused with a message."""
FORM_CHOICES: Final = 10_000
"""Values of one field as received; a form with more than `elicitation.CHOICES` is refused with a message."""
