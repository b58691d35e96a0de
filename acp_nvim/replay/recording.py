"""Reads a recording of a connection: the records in order, and what in the file is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

FORMAT = 1
"""The `traffic` member of a header that is understood."""

Direction = Literal["received", "sent"]


@dataclass(frozen=True, slots=True)
class Record:
    """One line that went over the wire, `time` seconds after the start; `line` when it was no JSON, else `message`."""

    number: int
    time: float
    direction: Direction
    message: Any = None
    line: str | None = None


@dataclass(slots=True)
class Recording:
    """A file: what its header says, its records, and complaints in words."""

    header: dict[str, Any] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_recording(path: Path) -> Recording:
    """A recording that `acp_nvim` wrote; one that a crash cut off is read as far as it goes. Raises `OSError`."""
    recording = Recording()
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            if not isinstance(value, dict):
                raise ValueError("no object")
            if "traffic" in value:
                _take_header(recording, value, number)
            else:
                recording.records.extend(_records(value, number))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            recording.problems.append(f"line {number} is not a record: {error!r}")
    return recording


def _take_header(recording: Recording, value: dict[str, Any], number: int) -> None:
    recording.header = recording.header or value
    if value["traffic"] != FORMAT:
        recording.problems.append(f"line {number}: the format {value['traffic']!r} is another than {FORMAT}")


def _records(value: dict[str, Any], number: int) -> Iterator[Record]:
    """A line of the file; what we sent in one array is several records."""
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
