"""Records connections into files of bounded size, and keeps the newest of these."""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

from acp_nvim import __version__
from acp_nvim.traffic.masking import Masker, known_secrets
from acp_nvim.traffic.pieces import MessagePieces

TRAFFIC_FILE_BYTES: Final = 32 * 1024 * 1024
"""Size at which a recording is rotated: days of work, and still small enough to be sent by mail."""
TRAFFIC_FILES: Final = 20
"""Recordings kept, the newest; each connection makes one, or two when it is long."""
TRAFFIC_BYTES: Final = 200 * 1024 * 1024
"""Size of all recordings that are kept when a new one begins."""
TRAFFIC_MESSAGE_BYTES: Final = 512 * 1024
"""Size of the largest message that is recorded: to search it for secrets takes 0.1 s of the host, at worst 0.6 s."""
TRAFFIC_STRINGS: Final = 6000
"""Names and texts of a message that is recorded: each is searched for itself, which takes 50 microseconds."""
FORMAT: Final = 1
"""The value of a header's member `traffic`: the version of the format."""

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)

logger = logging.getLogger(__name__)


class RecordFile:
    """An append-only file that is rotated to `<name>.1` at a size; the new file begins with the same header.

    Records are not buffered: the last one before a crash is in the file.
    """

    def __init__(self, path: Path, header: bytes) -> None:
        self.path = path
        self._header = header
        self._size = 0
        self._file = self._begin()

    def write(self, record: bytes) -> None:
        """Append a record, which ends with a newline. Raises `OSError`."""
        if self._size + len(record) > TRAFFIC_FILE_BYTES and self._size > len(self._header):
            self.close()
            self.path.replace(f"{self.path}.1")
            self._begin()
        self._put(record)

    def close(self) -> None:
        """Close the file; it cannot be written any more."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _begin(self) -> int:
        self._file, self._size = os.open(self.path, _FLAGS, 0o600), 0
        try:
            self._put(self._header)
        except OSError:
            self.close()
            raise
        return self._file

    def _put(self, data: bytes) -> None:
        self._size += len(data)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._file, rest) :]


def new_file(directory: Path, agent: str, header: bytes) -> RecordFile:
    """Create an empty recording `<agent>-<UTC time>-<pid>-<n>.jsonl` that only the user can read. Raises `OSError`."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]", "_", agent)[:60].lstrip(".") or "agent"
    stem = f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}"
    for number in count(1):
        with suppress(FileExistsError):
            return RecordFile(directory / f"{stem}-{number}.jsonl", header)
    raise AssertionError("unreachable")


def remove_old(directory: Path) -> None:
    """Remove old recordings, beyond `TRAFFIC_FILES` and `TRAFFIC_BYTES`, so that one more can be added."""
    found = []
    for path in [*directory.glob("*.jsonl"), *directory.glob("*.jsonl.1")]:
        with suppress(OSError):  # another Neovim may have removed it
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size, path))
    room, kept = TRAFFIC_BYTES, 1
    for _, size, path in sorted(found, key=lambda one: one[0], reverse=True):
        room, kept = room - size, kept + 1
        if room < 0 or kept > TRAFFIC_FILES:
            with suppress(OSError):
                path.unlink()


class TrafficLog:
    """Records a connection (`jsonrpc.connection.Tap`). Never raises: recording stops when a write fails.

    The file is JSON Lines. First a header: `{"traffic": 1, "agent", "command", "cwd", "started", "version"}`. Then
    records `{"time": seconds since the start, "direction": "received" or "sent", ...}` with one of `"message"`: the
    JSON value, `"line"`: a text that is not JSON, `"omitted"`: the size in bytes of a message that is too much.
    """

    def __init__(self, masker: Masker, file: RecordFile | None) -> None:
        self._pieces = MessagePieces(masker)
        self._file = file
        self._start = time.monotonic()

    @classmethod
    def open(cls, directory: Path, agent: str, command: Sequence[str], cwd: str, env: Mapping[str, str]) -> TrafficLog:
        """Begin a recording in `directory` of an agent with that command line, directory and configured `env`."""
        masker = Masker(known_secrets(env, os.environ))
        header = {
            "traffic": FORMAT,
            "agent": masker.text(agent),
            "command": masker.lines(command),
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
        """The path of the file; None when nothing is recorded (any more)."""
        return self._file.path if self._file else None

    def received(self, line: bytes) -> None:
        """Record a line of the agent, with secrets masked; do nothing while traffic is not recorded."""
        self._record("received", line)

    def sent(self, line: bytes) -> None:
        """Record a line to the agent, with secrets masked; do nothing while traffic is not recorded."""
        self._record("sent", line)

    def close(self) -> None:
        """End the recording of this connection; later lines are not recorded."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _record(self, direction: Literal["received", "sent"], line: bytes) -> None:
        if self._file is None:
            return
        seconds = time.monotonic() - self._start
        try:
            name, value = self._member(direction, line)
            record = b'{"time":%.3f,"direction":"%b","%b":%b}\n' % (seconds, direction.encode(), name, value)
            self._file.write(record)
        except Exception as error:  # must not end the connection
            logger.warning("traffic is no longer recorded in %s: %s", self.path, error)
            self.close()

    def _member(self, direction: Literal["received", "sent"], line: bytes) -> tuple[bytes, bytes]:
        """Return the name and the encoded value of the record's member for a line."""
        said, line = line.rstrip(), line.strip()
        quotes = line.count(b'"') - line.count(b'\\"')  # each string begins with one
        if len(line) > TRAFFIC_MESSAGE_BYTES or quotes > 2 * TRAFFIC_STRINGS:
            return b"omitted", b"%d" % len(line)
        try:
            value = json.loads(line.decode())
            masked = self._pieces.message(direction, value)
            if masked == value and b"\r" not in line:
                return b"message", line
            return b"message", _encode(masked)
        except (ValueError, RecursionError):
            return b"line", _encode(self._pieces.line(direction, said.decode("utf-8", "replace")))


def _encode(value: Any) -> bytes:
    """Encode as JSON; lone surrogates, which UTF-8 does not allow, are escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
