"""Writes down the prompts of a project for the prompt's history, without secrets."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from acp_nvim.traffic.words import masked
from acp_nvim.workspace.private_file import make_directory

log = logging.getLogger(__name__)

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


def remember(path: Path, text: str, time: int) -> None:
    """Add a line to the file `path`, as Lua does for prompts in which nothing looks like a secret. Blocks.

    `time` is in seconds since 1970. One write: several Neovims add lines to it.
    """
    line = json.dumps({"time": time, "text": masked(text)}) + "\n"
    try:
        make_directory(path.parent)
        descriptor = os.open(path, _FLAGS, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        log.warning("a prompt is not remembered: %s: %s", path, error.strerror)
