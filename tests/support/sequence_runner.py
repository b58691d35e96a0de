"""Plays random sequences one after the other, and finds the shortest one that breaks the same rule."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar


class Broken(AssertionError):
    """A rule does not hold."""

    def __init__(self, rule: str, words: str) -> None:
        super().__init__(f"{rule}: {words}")
        self.rule = rule


class Failure(AssertionError):
    """A sequence that breaks a rule, made as short as it could be."""


class Stage(Protocol):
    """Where sequences are played: processes that `close` ends."""

    def close(self) -> None: ...


class Player(Protocol):
    """Plays one sequence; `done` says what was done, in words."""

    done: list[str]

    def play(self) -> None:
        """Play the sequence; raise `Broken` if a rule does not hold."""


Sequence = TypeVar("Sequence")


@dataclass(frozen=True)
class Play(Generic[Sequence]):
    """What is played: `make` gives the sequence of a seed, `player` begins it on a stage, `shorter` leaves out steps.

    `tries` is the number of sequences that are played to find a short one that fails; `told`: what the user was told.
    """

    open_stage: Callable[[], Any]
    make: Callable[[int], Sequence]
    player: Callable[[Any, Sequence], Player]
    shorter: Callable[[Sequence], Iterator[Sequence]]
    tries: int
    told: Callable[[Any], str] | None = None


class SequenceRunner(Generic[Sequence]):
    """Plays sequences one after the other; a new stage when the old one was damaged."""

    def __init__(self, play: Play[Sequence]) -> None:
        self._play = play
        self._stage: Stage | None = None

    def play_seeds(self, seeds: range) -> None:
        """Raises `Failure` for the first that breaks a rule."""
        for seed in seeds:
            sequence = self._play.make(seed)
            broken, done = self.attempt(sequence)
            if broken is not None:
                raise Failure(self.report(seed, sequence, broken, done))

    def attempt(self, sequence: Sequence) -> tuple[Broken | None, list[str]]:
        """What was broken, and what was done until then."""
        if self._stage is None:
            self._stage = self._play.open_stage()
        done: list[str] = []
        try:
            player = self._play.player(self._stage, sequence)
            done = player.done
            player.play()
        except Exception as error:
            if self._play.told is not None:
                with contextlib.suppress(Exception):
                    done.append(f"the user was told:\n{self._play.told(self._stage)}")
            with contextlib.suppress(Exception):
                self.close()
            if isinstance(error, Broken):
                return error, done
            return Broken(type(error).__name__, traceback.format_exc()), done  # of a request to Neovim, or of the agent
        return None, done

    def close(self) -> None:
        """End what is there of a stage."""
        if self._stage is not None:
            stage, self._stage = self._stage, None
            stage.close()

    def shortest(self, sequence: Sequence, broken: Broken) -> Sequence:
        """Leaves out steps as long as the same rule breaks."""
        tries = self._play.tries
        again = True
        while again:
            again = False
            for shorter in self._play.shorter(sequence):
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


def without_steps(steps: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """These steps without some that follow each other: four, two or one, the last ones first."""
    for size in (4, 2, 1):
        for at in range(len(steps) - size, -1, -1):
            yield steps[:at] + steps[at + size :]


@contextlib.contextmanager
def playing(play: Play[Sequence]) -> Iterator[SequenceRunner[Sequence]]:
    """Players that are gone at the end."""
    found = SequenceRunner(play)
    try:
        yield found
    finally:
        found.close()
