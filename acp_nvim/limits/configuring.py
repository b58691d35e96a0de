"""Bounds of what has to do with a session's configuration."""

from __future__ import annotations

from typing import Final

CONFIGURE_SECONDS: Final = 30.0
"""An agent may take to change an option; some start another process for another model. Then prompts go on."""

NAMED: Final = 12
"""Values named when somebody asks for one that is not there: a line or two."""

DEFAULTS_BYTES: Final = 1024 * 1024
"""Of the file of kept defaults: a larger one was not written by us."""
