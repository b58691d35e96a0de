"""Bounds of single fields of what agents send (characters of a text, entries of a list), each with its reason.

A text or a list that is only shown is cut, and says how much was left out. What is acted on (ids, paths, commands)
is never cut: a field beyond its bound is malformed.
"""

from __future__ import annotations

from typing import Final

# --- texts, in characters: never cut --------------------------------------------------------------------------------

ID_CHARS: Final = 1000
"""An id of a session, a call, a message, an option: agents use UUIDs, or words of 60 characters."""

WORD_CHARS: Final = 200
"""A kind, a status, a MIME type, a time: one word."""

PATH_CHARS: Final = 4096
"""A path: PATH_MAX of Linux."""

URI_CHARS: Final = 64 * 1024
"""A URI: one of a file has some hundred characters, but small pictures may be in it as a whole (`data:`)."""

VALUE_CHARS: Final = 16 * 1024
"""A value of a form, which is sent back as it came."""

COMMAND_CHARS: Final = 2 * 1024 * 1024
"""A command, one of its arguments, an environment variable: ARG_MAX of Linux is 2 MB for all of them."""

FILE_CHARS: Final = 32 * 1024 * 1024
"""The text of a file to write: the largest that is served for reading."""

DIFF_CHARS: Final = 2 * 1024 * 1024
"""The old or the new text of a change: half of one would tell of lines that go. A larger one is not shown."""

DATA_CHARS: Final = 8 * 1024 * 1024
"""An image, a sound or a blob in base64: 6 MB. Half of one is nothing."""

OUTPUT_CHARS: Final = 2 * 1024 * 1024
"""A piece of a terminal's output in base64: of all output 1 MB is kept."""

PATTERN_CHARS: Final = 2000
"""A regular expression in a form: those for times and addresses have a hundred characters."""

# --- texts, in characters: cut --------------------------------------------------------------------------------------

NAME_CHARS: Final = 1000
"""A name of something in a list: a line of a wide screen has 300 characters."""

TITLE_CHARS: Final = 32 * 1024
"""A title: some agents put a whole script there."""

WORDS_CHARS: Final = 16 * 1024
"""A description, a message, a step of a plan: several screens."""

TEXT_CHARS: Final = 2 * 1024 * 1024
"""A text of a message or a tool call in one piece: 40,000 lines. Nobody reads more of it in a chat."""

# --- lists, in entries: cut -----------------------------------------------------------------------------------------

PLAN_ENTRIES: Final = 500
"""Steps of a plan: ten screens; agents make plans of 5 to 30."""

LOCATIONS: Final = 500
"""Places of one tool call: a search through a large project; the chat shows 10."""

CONTENT_ITEMS: Final = 1000
"""Items of a tool call or a message, also when they come one by one: the chat shows 100 of them."""

DIFF_CHANGES: Final = 1000
"""Files of one diff: a renamed package."""

COMMANDS: Final = 2000
"""Slash commands: each prompt of an MCP server is one, a hundred is much."""

MODES: Final = 500
"""Modes of a session: agents have 2 to 10."""

MODELS: Final = 5000
"""Models, and values of one configuration option: agents that use brokers of models list a thousand."""

CONFIG_OPTIONS: Final = 200
"""Configuration options: agents have 2 to 10."""

SESSIONS: Final = 5000
"""Sessions in one answer: agents without pages list all that they keep."""

DIRECTORIES: Final = 200
"""Additional directories of a session."""

AUTH_METHODS: Final = 100
"""Ways to sign in: agents have 1 to 5."""

ICONS: Final = 20
"""Icons of a resource, and their sizes, which nobody shows; the audience of a content block."""

BACKGROUND: Final = 1000
"""What goes on in the background: as many terminals as one machine bears."""

ENTRIES: Final = 1000
"""Entries of a list for which there is no rule yet."""

# --- lists, in entries: never cut -----------------------------------------------------------------------------------

OPTIONS: Final = 100
"""Options of a permission request: agents have 2 to 6. Were one left out, it might be the one that refuses."""

ARGUMENTS: Final = 10_000
"""Arguments of a command; Linux bounds their size, not their number. A list of files is the longest seen."""

VARIABLES: Final = 2000
"""Environment variables of a command: a whole environment has a hundred."""

FORM_FIELDS: Final = 2000
"""Fields of a form as they come; forms with more than `elicitation.FIELDS` are refused in words."""

FORM_CHOICES: Final = 10_000
"""Values of one field as they come; forms with more than `elicitation.CHOICES` are refused in words."""
