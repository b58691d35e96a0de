"""Plays a recording as an agent on stdin and stdout: `python -P -m acp_nvim.replay [--pace] [--strict] FILE`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from acp_nvim.replay.player import Action, Player, Remark, Write
from acp_nvim.replay.recording import read_recording


class Stage:
    """Performs the player's actions: writes lines to the client, and remarks to stderr."""

    def __init__(self, output: BinaryIO, pace: bool) -> None:
        self._output = output
        self._pace = pace
        self.deviations = 0

    def perform(self, actions: Iterable[Action]) -> None:
        """Perform the actions in order, and flush the output at the end. Raises `BrokenPipeError`."""
        for action in actions:
            match action:
                case Write():
                    if self._pace:
                        self._output.flush()
                        time.sleep(action.seconds)
                    self._output.write(action.line.encode("utf-8", "surrogatepass") + b"\n")
                case Remark():
                    self.say(action.words)
                    self.deviations += action.deviation
        self._output.flush()

    def say(self, words: str) -> None:
        """Print a remark to stderr: stdout belongs to the client."""
        print(f"replay: {words}", file=sys.stderr, flush=True)


def decode(line: bytes) -> list[Any]:
    """Return the messages in a line of the client; `[None]` for a line that is not JSON."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return [None]
    return value if isinstance(value, list) else [value]


def play(path: Path, stage: Stage, source: Iterable[bytes]) -> None:
    """Replay to the client until its input ends. Raises `OSError` when the recording cannot be read."""
    recording = read_recording(path)
    for problem in recording.problems:
        stage.say(problem)
    player = Player(recording.records)
    stage.perform(player.advance())
    for line in source:
        for message in decode(line):
            stage.perform(player.take(message))
    if player.left:
        number = player.left[0].number
        stage.perform([Remark(f"the client left at line {number} of the recording, before its end", deviation=True)])


def main() -> int:
    """Return 0 on success, 1 for a client that deviated under --strict, 2 when the file cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m acp_nvim.replay", description=__doc__)
    parser.add_argument("file", type=Path, help="a recording (:help acp_nvim-recordings)")
    parser.add_argument("--pace", action="store_true", help="as slow as it was; else as fast as the client takes it")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when the client does not do as recorded")
    options = parser.parse_args()
    stage = Stage(sys.stdout.buffer, options.pace)
    try:
        play(options.file, stage, sys.stdin.buffer)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discard what is left to be written
        stage.perform([Remark("the client does not listen any more", deviation=True)])
    except OSError as error:
        stage.say(f"{options.file} cannot be read: {error}")
        return 2
    return 1 if options.strict and stage.deviations else 0


if __name__ == "__main__":
    sys.exit(main())
