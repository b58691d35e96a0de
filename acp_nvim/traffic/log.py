"""Records all that goes over one connection into a file, without secrets; `acp_nvim.replay` plays it again."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from acp_nvim import __version__
from acp_nvim.limits import TRAFFIC_MESSAGE_BYTES
from acp_nvim.traffic.files import RecordFile, new_file, remove_old
from acp_nvim.traffic.masking import Masker, known_secrets

logger = logging.getLogger(__name__)

FORMAT = 1
"""The `traffic` member of a header; another number is another format."""

Direction = Literal["received", "sent"]


class TrafficLog:
    """A recording that grows (jsonrpc.connection.Tap). Nothing here raises: what cannot be written is given up.

    The file is JSON Lines. First a header: `{"traffic": 1, "agent", "command", "cwd", "started", "version"}`. Then
    records `{"time": seconds since the start, "direction": "received" or "sent", ...}` with one of `"message"`: the
    JSON value, `"line"`: text that is no JSON, `"omitted"`: the size in bytes of a message that is too long.
    """

    def __init__(self, masker: Masker, file: RecordFile | None) -> None:
        self._masker = masker
        self._file = file
        self._start = time.monotonic()

    def __repr__(self) -> str:
        return f"<TrafficLog {self._file!r}>"

    @classmethod
    def open(cls, directory: Path, agent: str, command: Sequence[str], cwd: str, env: Mapping[str, str]) -> TrafficLog:
        """A new recording in `directory` of an agent with that command line, working directory and configured `env`."""
        masker = Masker(known_secrets(env, os.environ))
        header = {
            "traffic": FORMAT,
            "agent": masker.text(agent),
            "command": masker.command(command),
            "cwd": masker.text(cwd),
            "started": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "version": __version__,
        }
        file = None
        try:
            remove_old(directory)
            file = new_file(directory, agent, _encode(header) + b"\n")
        except OSError as error:
            logger.warning("traffic with %s is not recorded: %s", agent, error)
        return cls(masker, file)

    @property
    def path(self) -> Path | None:
        """The file; None when nothing is recorded (any more)."""
        return self._file.path if self._file else None

    def received(self, line: bytes) -> None:
        """The agent sent it."""
        self._record("received", line)

    def sent(self, line: bytes) -> None:
        """We sent it."""
        self._record("sent", line)

    def close(self) -> None:
        """The connection is gone."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _record(self, direction: Direction, line: bytes) -> None:
        if self._file is None:
            return
        seconds = time.monotonic() - self._start
        try:
            name, value = self._shown(line)
            record = b'{"time":%.3f,"direction":"%b","%b":%b}\n' % (seconds, direction.encode(), name, value)
            self._file.write(record)
        except Exception as error:  # whatever is wrong here, the conversation goes on
            logger.warning("traffic is no longer recorded in %s: %s", self.path, error)
            self.close()

    def _shown(self, line: bytes) -> tuple[bytes, bytes]:
        """A line as a member of a record."""
        line = line.strip()
        if len(line) > TRAFFIC_MESSAGE_BYTES:
            return b"omitted", b"%d" % len(line)
        try:
            value = json.loads(line.decode())
            if b"\r" not in line and self._masker.clean(line):
                return b"message", line
            return b"message", _encode(self._masker.value(value))
        except (ValueError, RecursionError):
            return b"line", _encode(self._masker.text(line.decode("utf-8", "replace")))


def _encode(value: Any) -> bytes:
    """As JSON; half characters, which UTF-8 does not have, stay escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
