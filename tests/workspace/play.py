"""Plays sequences, and finds the shortest one that breaks the same rule."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.support.sequence_runner import Broken, Play, SequenceRunner, playing, without_steps
from tests.workspace.agent_files import AgentFiles
from tests.workspace.others import Others
from tests.workspace.sequence import Sequence, Step, make
from tests.workspace.stage import Stage
from tests.workspace.user import User
from tests.workspace.watched import Watched, check_file, check_undo_tree

TRIES = 80
"""Sequences that are played to find a short one that fails."""


class Player:
    """One sequence on a stage; `done` says what was done, in words."""

    def __init__(self, stage: Stage, sequence: Sequence) -> None:
        self.stage = stage
        self._steps = sequence.steps
        directory = stage.clear()
        self.done: list[str] = []
        self.files: list[Watched] = []
        for number, kind in enumerate(sequence.kinds):
            path = directory / f"file{number}.txt"
            path.write_bytes(kind.data())
            self.files.append(Watched(path, kind))
        self._actors = (User(stage), Others(stage, self.files), AgentFiles(stage))

    def play(self) -> None:
        """Play the sequence; raise `Broken` if a rule does not hold."""
        for step in self._steps:
            self._step(step)
        for file in self.files:
            check_undo_tree(self.stage, file)

    def _step(self, step: Step) -> None:
        file = self.files[step.file]
        self._check_left_alone()
        if step.op != "undo":
            file.undo_to = None
        act = next(getattr(actor, step.op) for actor in self._actors if hasattr(actor, step.op))
        self.done.append(f"{step.number} {step.op} of {file.path.name}: ...")
        hidden = self._hidden()
        words = act(file, random.Random(step.roll), step.number)
        self.done[-1] = f"{step.number} {step.op} of {file.path.name}: {words or '(cannot be done now)'}"
        if step.op == "undo":
            file.undo_to = None
        self._wait_noticed(hidden)
        self.stage.check_unblocked()
        self.stage.check_said()
        for file in self.files:
            check_file(self.stage, file)

    def _hidden(self) -> set[int]:
        """Buffers of the files that no window shows."""
        buffers = (self.stage.buffer(file.path) for file in self.files)
        return {buffer.number for buffer in buffers if buffer is not None and not buffer.windows}

    def _wait_noticed(self, hidden: set[int]) -> None:
        """When the user has come to a hidden buffer, Neovim has looked at its file."""
        for file in self.files:
            buffer = self.stage.buffer(file.path)
            if file.stale and buffer is not None and buffer.windows and buffer.number in hidden:
                self.stage.wait(partial(file.look_again, self.stage), "come to", f"news of {file.path} to be noticed")

    def _check_left_alone(self) -> None:
        """Check that nothing has changed since the end of the last step."""
        for file in self.files:
            if file.stale:
                file.look_again(self.stage)
                continue
            buffer = self.stage.buffer(file.path)
            if file.last is not None and (buffer is None or buffer.text != file.last):
                raise Broken("left alone", f"{file.path.name} had {file.last!r} after the last step, has now {buffer}")


def _shorter(sequence: Sequence) -> Iterator[Sequence]:
    for steps in without_steps(sequence.steps):
        yield replace(sequence, steps=steps)
    for number, kind in enumerate(sequence.kinds):
        for lines in range(min(kind.lines, 6)):
            kinds = list(sequence.kinds)
            kinds[number] = replace(kind, lines=lines)
            yield replace(sequence, kinds=tuple(kinds))


def sequence_runner(directory: Path, write: str = "save") -> AbstractContextManager[SequenceRunner[Sequence]]:
    """Players that are gone at the end."""
    return playing(Play(lambda: Stage(directory, write), make, Player, _shorter, TRIES))
