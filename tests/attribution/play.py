"""Plays sequences, looks whether the rules hold, and finds the shortest one that breaks the same rule."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import count
from pathlib import Path

from tests.attribution.acts import Acts
from tests.attribution.files import Files, Tree, tokens
from tests.attribution.sequence import NAMES, Sequence, Step, make
from tests.attribution.stage import LIMIT, REJECTED, RESTORED, Stage
from tests.support.sequence_runner import Broken, Play, SequenceRunner, playing, without_steps

TRIES = 40
"""Sequences that are played to find a short one that fails."""
FILES = {name: "".join(f"{name} line {number}\n" for number in range(1, 7)).encode() for name in NAMES}
BRANCH = {
    "b.txt": FILES["b.txt"].replace(b"line 3", b"line 3 of the branch"),
    "feat.txt": b"of the branch\n",
}


class Player:
    """One sequence on a stage; `done` says what was done, in words."""

    def __init__(self, stage: Stage, sequence: Sequence) -> None:
        self.stage = stage
        self._sequence = sequence
        self.done: list[str] = []
        self.files = Files()
        stage.begin(BRANCH)
        self._acts = Acts(stage, self.files)

    def play(self) -> None:
        """Play the sequence; raise `Broken` if a rule does not hold."""
        sequence = self._sequence
        for step in sequence.steps:
            self._step(step)
        self.done.append("the end")
        self._acts.end_turn()
        self._check_listed()
        before = self.stage.trees()
        rejections = self._reject(before)
        if sequence.undoes and rejections and not self.stage.is_second_session:
            self._undo(before)
        self.stage.check_said()

    def _step(self, step: Step) -> None:
        self.done.append(f"{step.number} {step.op}: ...")
        words = getattr(self._acts, step.op)(step.name, random.Random(step.roll), step.number)
        self.done[-1] = f"{step.number} {step.op}: {words or '(cannot be done now)'}"

    # The rules

    def _check_listed(self) -> None:
        """What only the agent has changed is listed as its doing, what only the user has changed is not."""
        now = self.stage.trees()
        wanted = {
            name for name, file in self.files.only_agent().items() if file.is_clear and now.get(name) != file.before
        }

        def by_agent() -> set[str]:
            return {name for name, one in self.stage.look_at_list().items() if one.by == "agent"}

        try:
            self.stage.nvim.wait_until(lambda: wanted <= by_agent(), LIMIT)
        except AssertionError:
            raise Broken("agent's", f"{sorted(wanted)} are the agent's, not {self.stage.reviews()}") from None
        self._check_blamed()

    def _check_blamed(self) -> None:
        reviews = self.stage.reviews()
        blamed = self.files.not_agent({name for name, one in reviews.items() if one.by == "agent"})
        if blamed:
            raise Broken("user's", f"{sorted(blamed)} are not the agent's: {reviews}")

    def _reject(self, before: Tree) -> list[str]:
        """What only the agent has changed is as it was before it; what only the user has changed stays."""
        buffers = self.stage.buffers(self.stage.nvim)
        said: list[str] = []
        if any(one.by == "agent" for one in self.stage.reviews().values()):
            said = self.stage.reject_all()
            clear = {name for name, file in self.files.only_agent().items() if file.is_clear}
            try:
                self.stage.nvim.wait_until(lambda: not clear & set(self.stage.reviews()), LIMIT)
            except AssertionError:
                words = f"{self.stage.reviews()} are left of {sorted(clear)}: {said}, {self.stage.trees()}"
                raise Broken("rejected", words) from None
        now = self.stage.trees()
        for name, file in self.files.only_agent().items():
            if file.is_clear and now.get(name) != file.before:
                raise Broken("rejected", f"{name} was {file.before!r} before the agent, is {now.get(name)!r} now")
        for name in self.files.not_agent(before.keys() | now.keys()):
            if now.get(name) != before.get(name):
                raise Broken("left alone", f"{name} was {before.get(name)!r}, is {now.get(name)!r} now")
        later = self.stage.buffers(self.stage.nvim)
        for name in self.files.not_agent(set(buffers)):
            had, has = buffers[name], later.get(name)
            if had["modified"] and (has is None or tokens(had["text"]) & self.files.tokens - tokens(has["text"])):
                raise Broken("left alone", f"the buffer of {name} had {had}, has now {has}")
        self._check_blamed()
        self._check_user_bytes()
        return [words for words in said if "rejected:" in words]

    def _undo(self, before: Tree) -> None:
        """One command brings back what the rejection has removed."""
        self.stage.said("AcpRestore undo", RESTORED)
        now = self.stage.trees()
        for name, file in self.files.only_agent().items():
            if file.is_clear and now.get(name) != before.get(name):
                raise Broken("undone", f"{name} was {before.get(name)!r} before the rejection, is {now.get(name)!r}")

    def _check_user_bytes(self) -> None:
        """All that the user has made is in files, in buffers, in their undo, or comes back by one command."""
        places: list[Callable[[], set[bytes]]] = [
            lambda: _in(self.stage.trees().values()),
            lambda: _in(one["text"] for one in self.stage.buffers(self.stage.nvim).values()),
            lambda: _in(self.stage.undo_texts(self.stage.nvim)),
            lambda: _in(self.stage.undo_texts(self.stage.second)),
            lambda: self._brought_back("AcpRestore undo", RESTORED),
            lambda: self._brought_back("AcpReview! rejectall", REJECTED),
        ]
        lost = set(self.files.tokens)
        for place in places:
            if lost:
                lost -= place()
        if lost:
            raise Broken("lost", f"{sorted(lost)} in {self.stage.trees()}, {self.stage.reviews()}")

    def _brought_back(self, command: str, over: re.Pattern[str]) -> set[bytes]:
        self.stage.said(command, over)
        return _in(self.stage.trees().values())


def _in(texts: object) -> set[bytes]:
    return set().union(*map(tokens, texts))  # type: ignore[call-overload]


def _shorter(sequence: Sequence) -> Iterator[Sequence]:
    for steps in without_steps(sequence.steps):
        yield replace(sequence, steps=steps)


def sequence_runner(directory: Path) -> AbstractContextManager[SequenceRunner[Sequence]]:
    """Players that are gone at the end."""
    numbers = count()
    return playing(
        Play(lambda: Stage(directory / f"stage{next(numbers)}", FILES), make, Player, _shorter, TRIES, Stage.told)
    )
