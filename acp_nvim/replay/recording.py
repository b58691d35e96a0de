"""Reads a recording of a connection: its records in order, and complaints about lines that are not records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

FORMAT = 1
"""The supported value of a header's member `traffic`."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line on the wire, `time` seconds after the start: a JSON `message`, or the `line` if it was not JSON."""

    number: int
    time: float
    direction: Literal["received", "sent"]
    message: Any = None
    line: str | None = None


@dataclass(slots=True)
class Recording:
    """The content of a file: its header, its records, and complaints for the user."""

    header: dict[str, Any] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_recording(path: Path) -> Recording:
    """Read a recording that `acp_nvim` wrote; a truncated one is read up to its end. Raises `OSError`."""
    recording = Recording()
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            if not isinstance(value, dict):
                raise ValueError("no object")
            if "traffic" not in value:
                recording.records.extend(_records(value, number))
                continue
            recording.header = recording.header or value
            if value["traffic"] != FORMAT:
                words = f"line {number}: the format {value['traffic']!r} is another than {FORMAT}"
                recording.problems.append(words)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            recording.problems.append(f"line {number} is not a record: {error!r}")
    return recording


def _records(value: dict[str, Any], number: int) -> Iterator[Record]:
    """Yield the records of a line of the file: several for a batch array that the client sent."""
    seconds, direction = float(value["time"]), value["direction"]
    if direction not in ("received", "sent"):
        raise ValueError(f"direction {direction!r}")
    if "omitted" in value:
        raise ValueError(f"a message of {value['omitted']} bytes was left out")
    if "line" in value:
        yield Record(number, seconds, direction, line=str(value["line"]))
    elif direction == "sent" and isinstance(value["message"], list):
        for message in value["message"]:
            yield Record(number, seconds, direction, message)
    else:
        yield Record(number, seconds, direction, value["message"])
