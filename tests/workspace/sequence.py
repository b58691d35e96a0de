"""What happens in a sequence: made from a seed, plain data, so that steps can be left out and played again."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.workspace.texts import Kind, any_kind

WEIGHTS = {
    "user_edit": 26,
    "undo": 5,
    "redo": 3,
    "save": 7,
    "edit_again": 2,
    "wipe": 2,
    "open": 6,
    "split": 2,
    "close": 2,
    "hide": 1,
    "checktime": 3,
    "focus": 3,
    "program_write": 8,
    "program_delete": 1,
    "agent_disk_write": 6,
    "agent_told": 3,
    "agent_delete": 1,
    "agent_rename": 2,
    "agent_read": 9,
    "agent_read_part": 6,
    "agent_write": 20,
}


@dataclass(frozen=True)
class Step:
    """One step: what is done, to which of the files; `roll` decides the rest, `number` names it in the texts."""

    number: int
    op: str
    file: int
    roll: int


@dataclass(frozen=True)
class Sequence:
    """Files, and what happens to them."""

    kinds: tuple[Kind, ...]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return "\n".join([f"  {kind}" for kind in self.kinds] + [f"  {step}" for step in self.steps])


def make(seed: int) -> Sequence:
    """Return the sequence of a seed."""
    rng = random.Random(seed)
    kinds = tuple(any_kind(rng) for _ in range(rng.choice([1, 1, 2])))
    ops = ["open", *rng.choices(["agent_read", "user_edit"], [3, 1])] if rng.random() < 0.9 else []
    ops += rng.choices(list(WEIGHTS), list(WEIGHTS.values()), k=rng.randint(10, 15) - len(ops))
    steps = [Step(n, op, rng.randrange(len(kinds)), rng.randrange(1 << 30)) for n, op in enumerate(ops, 1)]
    return Sequence(kinds, tuple(steps))
