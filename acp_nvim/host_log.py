"""The host's log file: masks secrets, and limits how many entries of one kind are written."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from acp_nvim.contract.settings import Config
from acp_nvim.process import umask
from acp_nvim.traffic.masking import Masker, known_secrets
from acp_nvim.traffic.pieces import Pieces

LOG_BYTES: Final = 4 * 1024 * 1024
"""Size at which the log file is rotated; one older file is kept."""
LOGGED_AT_ONCE: Final = 500
"""Entries of one kind that are written within `LOGGED_SECONDS`; others are counted. A long traceback has 100."""
LOGGED_SECONDS: Final = 60.0
"""Period of that limit: an agent that complains all day must not displace all older entries."""
LOGGED_KINDS: Final = 200
"""Kinds of entries that are counted separately."""


def configured_env(config: Config) -> dict[str, str]:
    """Return the environment variables of all agents, which contain keys; numbered, since agents share names."""
    agents = config.agents.values() if isinstance(config.agents, dict) else ()
    settings = [one.get("env") for one in agents if isinstance(one, dict)]
    return {
        f"{number} {name}": value
        for number, env in enumerate(settings)
        if isinstance(env, dict)
        for name, value in env.items()
        if isinstance(value, str)
    }


def start_log(path: str, env: Mapping[str, str]) -> None:
    """Write the log to the file at `path`, which is rotated; mask secrets, including those in `env`."""
    logger = logging.getLogger("acp_nvim")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    umask.narrow(Path(path))
    handler = LogFile(path)
    handler.addFilter(LogRate())
    handler.setFormatter(MaskingFormatter("%(asctime)s [%(process)d] %(levelname)s %(name)s: %(message)s", env))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


class LogFile(logging.FileHandler):
    """Appends entries to a file. One that reaches `LOG_BYTES` is kept as `.1` beside it, and another one is begun.

    It is like `logging.handlers.RotatingFileHandler`, which formats each entry twice, and loads `pickle` and more.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, encoding="utf-8", errors="backslashreplace")

    def emit(self, record: logging.LogRecord) -> None:
        """Write an entry; never raises, see `logging.Handler.handleError`."""
        super().emit(record)
        try:
            if self.stream and os.path.isfile(self.baseFilename) and self.stream.tell() >= LOG_BYTES:
                self.stream.close()
                self.stream = None  # the next entry opens another one
                os.replace(self.baseFilename, f"{self.baseFilename}.1")
        except Exception:
            self.handleError(record)


class MaskingFormatter(logging.Formatter):
    """Masks secrets in each line; `env` contains the variables that were configured for agents."""

    def __init__(self, layout: str, env: Mapping[str, str]) -> None:
        super().__init__(layout)
        self._env = env
        self._lines: dict[tuple[str, str, str], Pieces] = {}

    @cached_property
    def _masker(self) -> Masker:
        return Masker(known_secrets(self._env, os.environ))

    def format(self, record: logging.LogRecord) -> str:
        """Return the masked line, or lines, of a record.

        What agents say comes line by line, and a private key has several lines.
        """
        args = record.args
        if isinstance(args, tuple) and len(args) > 1 and isinstance(said := args[-1], str):
            kind = _kind(record)
            lines = self._lines.pop(kind, None) or Pieces(self._masker)
            self._lines[kind] = lines  # the newest is the last
            if len(self._lines) > LOGGED_KINDS:
                del self._lines[next(iter(self._lines))]
            record = copy(record)
            record.args = (*args[:-1], lines.line(said))
        return self._masker.text(super().format(record))


def _kind(record: logging.LogRecord) -> tuple[str, str, str]:
    """Return what is the same in similar entries: logger, message before formatting, and first argument.

    The first argument is the agent's name in all entries about agents, so that they are told apart.
    """
    first = record.args[0] if isinstance(record.args, tuple) and record.args else ""
    return record.name, str(record.msg)[:200], str(first)[:100]


class LogRate(logging.Filter):
    """Limits the entries of one kind (`_kind`), so that one agent does not silence another."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[tuple[str, str, str], _Kind] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for an entry that is only counted; the next one that is written has the count."""
        key = _kind(record)
        now = time.monotonic()
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= LOGGED_KINDS:
                self._kinds.clear()
            kind = self._kinds[key] = _Kind(now)
        if now - kind.since >= LOGGED_SECONDS:
            kind.since, kind.count = now, 0
        kind.count += 1
        if kind.count > LOGGED_AT_ONCE:
            kind.left_out += 1
            return False
        if kind.left_out:
            record.msg = f"{record.getMessage()} (and {kind.left_out:,} like it, which were left out before it)"
            record.args = ()
            kind.left_out = 0
        return True


class _Kind(msgspec.Struct):
    """The number of entries since a time, and of those left out that the log does not mention yet."""

    since: float
    count: int = 0
    left_out: int = 0
