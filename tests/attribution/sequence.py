"""What happens in a sequence: made from a seed, plain data, so that steps can be left out and played again."""

from __future__ import annotations

import random
from dataclasses import dataclass

NAMES = ("a.txt", "b.txt", "c.txt")

AGENT = {
    "agent_fs": 10,
    "agent_tool": 10,
    "agent_command": 12,
    "agent_terminal": 6,
    "agent_background": 5,
    "begin_command": 4,
    "end_command": 3,
    "end_turn": 8,
}
USER = {
    "user_types": 7,
    "user_saves": 4,
    "user_writes": 10,
    "user_undoes": 4,
    "second_writes": 8,
    "other_program": 4,
    "git_checkout": 5,
    "git_stash": 4,
    "git_pop": 3,
    "git_reset": 4,
    "git_branch": 5,
    "git_rebase": 3,
    "git_commit": 4,
}
ENDS = {
    "kill_agent": 3,
    "kill_host": 2,
    "kill_nvim": 1,
    "kill_guard": 2,
    "kill_git": 2,
    "restart": 1,
}
"""Rare: each costs a second or two."""
END_CHANCE = 0.06
"""Of a sequence, that there is one of them in it."""


@dataclass(frozen=True)
class Step:
    """One step: what is done, to which of the files; `roll` decides the rest, `number` names it in the texts."""

    number: int
    op: str
    name: str
    roll: int


@dataclass(frozen=True)
class Sequence:
    """What happens; `undoes`: in the end the rejection is taken back, too."""

    steps: tuple[Step, ...]
    undoes: bool

    def __str__(self) -> str:
        return "\n".join(f"  {step}" for step in self.steps)


def make(seed: int, end_chance: float = END_CHANCE) -> Sequence:
    """Return the sequence of a seed."""
    rng = random.Random(f"whose {seed}")
    weights = AGENT | USER
    ops = [rng.choice(["agent_fs", "agent_tool", "agent_command"])] if rng.random() < 0.5 else []
    ops += rng.choices(list(weights), list(weights.values()), k=rng.randint(4, 8) - len(ops))
    if rng.random() < end_chance:
        ops.insert(rng.randint(1, len(ops)), *rng.choices(list(ENDS), list(ENDS.values())))
    steps = [Step(n, op, rng.choice(NAMES), rng.randrange(1 << 30)) for n, op in enumerate(ops, 1)]
    return Sequence(tuple(steps), rng.random() < 0.3)
