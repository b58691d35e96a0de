"""Turns raw traffic of an agent into a recording for the tests: `python -m tests.tools.convert_recording --help`.

Raw traffic is JSON Lines, `{"t": seconds, "dir": "c2a" or "a2c", "line": text}`, or a recording that acp_nvim made.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from acp_nvim.traffic.masking import Masker

LONGEST_TEXT = 16_000
"""A longer string is output of a command or a file; its middle shows nothing new."""
KEPT_HEAD, KEPT_TAIL = 8_000, 1_000
LONGEST_DESCRIPTION = 80
MOST_CHUNKS = 200
"""Pieces of text between two messages of the client; more of them come from agents that try a broken stream again."""

DIRECTIONS = {"c2a": "sent", "a2c": "received"}


def replaced(text: str, replacements: Sequence[tuple[re.Pattern[str], str]]) -> str:
    """The text with what names a machine or a person replaced."""
    for pattern, instead in replacements:
        text = pattern.sub(instead, text)
    return text


def shortened(value: Any) -> Any:
    """A JSON value whose texts are not longer than they need to be."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        cut = len(value) - KEPT_HEAD - KEPT_TAIL
        return f"{value[:KEPT_HEAD]}\n[{cut} characters cut from the recording]\n{value[-KEPT_TAIL:]}"
    if isinstance(value, list):
        return [shortened(one) for one in value]
    if isinstance(value, dict):
        return {name: _description(one) if name == "description" else shortened(one) for name, one in value.items()}
    return value


def _description(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_DESCRIPTION:
        return value[: LONGEST_DESCRIPTION - 1] + "…"
    return shortened(value)


def raw_records(path: Path) -> Iterator[tuple[float, str, str]]:
    """Time, direction and text of each line of raw traffic; notes of who recorded it are no traffic."""
    for line in path.read_text(encoding="utf-8").split("\n"):
        raw = json.loads(line) if line else {}
        if "direction" in raw:
            text = raw["line"] if "line" in raw else json.dumps(raw["message"], ensure_ascii=False)
            yield raw["time"], raw["direction"], text
        elif raw.get("dir") in DIRECTIONS:
            yield raw["t"], DIRECTIONS[raw["dir"]], raw["line"]


def is_chunk(message: Any) -> bool:
    """Whether it is a piece of what the agent says."""
    if not isinstance(message, dict) or message.get("method") != "session/update":
        return False
    update: dict[str, Any] = message["params"]["update"]
    return update.get("sessionUpdate") == "agent_message_chunk"


def convert(path: Path, replacements: Sequence[tuple[re.Pattern[str], str]]) -> Iterator[dict[str, Any]]:
    """The records of a recording, in order."""
    masker, chunks = Masker(), 0
    for seconds, direction, text in raw_records(path):
        record: dict[str, Any] = {"time": round(seconds, 3), "direction": direction}
        text = replaced(text, replacements)
        try:
            message = json.loads(text)
        except ValueError:
            yield record | {"line": masker.text(text)}
            continue
        chunks = 0 if direction == "sent" else chunks + is_chunk(message)
        if chunks <= MOST_CHUNKS or not is_chunk(message):
            yield record | {"message": shortened(masker.value(message))}


def replacement(text: str) -> tuple[re.Pattern[str], str]:
    """Read an argument of the form PATTERN=TEXT."""
    pattern, _, instead = text.partition("=")
    return re.compile(pattern), instead


def main() -> int:
    """Convert the recording."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.convert_recording", description=__doc__)
    parser.add_argument("raw", type=Path)
    parser.add_argument("recording", type=Path)
    parser.add_argument("--agent", required=True, help="its name and version")
    parser.add_argument("--cwd", default="/project", help="where the agent ran, as the recording is to say it")
    parser.add_argument(
        "--replace",
        type=replacement,
        action="append",
        default=[],
        metavar="PATTERN=TEXT",
        help="in order, as often as need be",
    )
    options = parser.parse_args()
    header = {"traffic": 1, "agent": options.agent, "command": [options.agent], "cwd": options.cwd}
    lines = [header, *convert(options.raw, options.replace)]
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    options.recording.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
