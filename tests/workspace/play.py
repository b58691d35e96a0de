"""Plays sequences, and finds the shortest one that breaks the same rule."""

from __future__ import annotations

import contextlib
import random
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.workspace.agent_files import AgentFiles
from tests.workspace.others import Others
from tests.workspace.sequence import Sequence, Step, make
from tests.workspace.stage import Broken, Stage
from tests.workspace.user import User
from tests.workspace.watched import Watched, check_file, check_undo_tree

TRIES = 80
"""Sequences that are played to find a short one that fails."""


class Player:
    """One sequence on a stage; `done` says what was done, in words."""

    def __init__(self, stage: Stage, sequence: Sequence) -> None:
        self.stage = stage
        directory = stage.clear()
        self.done: list[str] = []
        self.files: list[Watched] = []
        for number, kind in enumerate(sequence.kinds):
            path = directory / f"file{number}.txt"
            path.write_bytes(kind.data())
            self.files.append(Watched(path, kind))
        self._actors = (User(stage), Others(stage, self.files), AgentFiles(stage))

    def play(self, steps: tuple[Step, ...]) -> None:
        """Raises `Broken`."""
        for step in steps:
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
        """Nothing has changed since the end of the last step."""
        for file in self.files:
            if file.stale:
                file.look_again(self.stage)
                continue
            buffer = self.stage.buffer(file.path)
            if file.last is not None and (buffer is None or buffer.text != file.last):
                raise Broken("left alone", f"{file.path.name} had {file.last!r} after the last step, has now {buffer}")


class Failure(AssertionError):
    """A sequence that breaks a rule, made as short as it could be."""


class Company:
    """Plays sequences one after the other; a new stage when the old one was damaged."""

    def __init__(self, open_stage: Callable[[], Stage]) -> None:
        self._open = open_stage
        self._stage: Stage | None = None

    def play_seeds(self, seeds: range) -> None:
        """Raises `Failure` for the first that breaks a rule."""
        for seed in seeds:
            sequence = make(seed)
            broken, done = self.attempt(sequence)
            if broken is not None:
                raise Failure(self.report(seed, sequence, broken, done))

    def attempt(self, sequence: Sequence) -> tuple[Broken | None, list[str]]:
        """What was broken, and what was done until then."""
        if self._stage is None:
            self._stage = self._open()
        player = Player(self._stage, sequence)
        try:
            player.play(sequence.steps)
        except Broken as broken:
            self.close()
            return broken, player.done
        except Exception as error:  # of a request to Neovim, or of the agent
            with contextlib.suppress(Exception):
                self.close()
            return Broken(type(error).__name__, traceback.format_exc()), player.done
        return None, player.done

    def close(self) -> None:
        if self._stage is not None:
            stage, self._stage = self._stage, None
            stage.close()

    def shortest(self, sequence: Sequence, broken: Broken) -> Sequence:
        """Leaves out steps as long as the same rule breaks."""
        tries = TRIES
        again = True
        while again:
            again = False
            for shorter in _shorter(sequence):
                tries -= 1
                found, _ = self.attempt(shorter)
                if found is not None and found.rule == broken.rule:
                    sequence, again = shorter, True
                    break
                if tries <= 0:
                    return sequence
        return sequence

    def report(self, seed: int, sequence: Sequence, broken: Broken, done: list[str]) -> str:
        """What was broken and by which steps; fewer, where fewer break it as well."""
        short = self.shortest(sequence, broken)
        found, steps = self.attempt(short)
        lines = [f"SEED={seed} breaks a rule: {broken}", "by these steps:", *(f"  {words}" for words in done)]
        if found is not None and short != sequence:
            lines += [f"fewer steps break it, too: {found}", str(short), *(f"  {words}" for words in steps)]
        elif found is None:
            lines.append("but not when they are done again")
        return "\n".join(lines)


def _shorter(sequence: Sequence) -> Iterator[Sequence]:
    steps = sequence.steps
    for size in (4, 2, 1):
        for at in range(len(steps) - size, -1, -1):
            yield replace(sequence, steps=steps[:at] + steps[at + size :])
    for number, kind in enumerate(sequence.kinds):
        for lines in range(min(kind.lines, 6)):
            kinds = list(sequence.kinds)
            kinds[number] = replace(kind, lines=lines)
            yield replace(sequence, kinds=tuple(kinds))


@contextlib.contextmanager
def company(directory: Path, write: str = "save") -> Iterator[Company]:
    """Players that are gone at the end."""
    found = Company(lambda: Stage(directory, write))
    try:
        yield found
    finally:
        found.close()
