"""A work tree and what happens in it: made from a seed, plain data, so that steps can be left out and played again."""

from __future__ import annotations

import random
from dataclasses import dataclass

FORMATS = {"sha1": 12, "sha256": 3, "none": 2}
PLACES = {"top": 12, "below": 3, "linked": 2, "bare": 1}
"""Where the session works: at the top of the repository, in a directory of it, in a linked work tree of a repository
with files, or of a bare one."""
INDEXES = {"plain": 10, "split": 2, "sparse": 2, "sparse index": 2, "version 4": 1, "assumed": 1, "none": 2}
"""`none`: nothing was ever added or committed."""
EXTRAS = ("packed refs", "submodule", "clone inside", "staged", "changed", "attributes", "info/exclude")

DEEDS = {
    "edit": 14,
    "edit_atomically": 5,
    "edit_with_old_time": 2,
    "add": 10,
    "add_below": 5,
    "delete": 7,
    "delete_directory": 3,
    "rename": 7,
    "rename_directory": 8,
    "hide_directory": 3,
    "rename_and_edit": 4,
    "rename_and_link": 2,
    "swap": 3,
    "swap_directories": 4,
    "copy_directory": 2,
    "move_from_outside": 2,
    "move_outside": 2,
    "hard_link": 2,
    "executable": 3,
    "permissions": 3,
    "file_to_link": 3,
    "link_to_file": 2,
    "file_to_directory": 4,
    "directory_to_file": 4,
    "ignore": 4,
    "ignore_new": 3,
    "exclude": 2,
    "change_ignored": 3,
    "move_in": 2,
    "git_add": 2,
    "git_mv": 3,
    "git_rm": 2,
    "git_stash": 2,
    "git_commit": 2,
    "git_checkout": 2,
    "git_gone": 1,
    "in_background": 3,
}
"""What the agent does, and how often."""
USERS = {"user_edits": 3, "user_adds": 2, "user_changes_ignored": 2}
"""What the user does between turns, with a program that nobody watches."""
MIDDLE = {"end_turn": 4, **USERS}


@dataclass(frozen=True)
class Step:
    """One step: what is done; `roll` decides the rest, `number` names it in the texts."""

    number: int
    op: str
    roll: int


@dataclass(frozen=True)
class Sequence:
    """A kind of work tree, the `roll` of its files, and what happens in it."""

    format: str
    place: str
    index: str
    extras: tuple[str, ...]
    roll: int
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        kind = f"  {self.format}, {self.place}, index {self.index}, {', '.join(self.extras) or 'nothing else'}"
        return "\n".join([kind, *(f"  {step}" for step in self.steps)])


def make(seed: int) -> Sequence:
    """Return the sequence of a seed."""
    rng = random.Random(f"trees {seed}")
    weights = DEEDS | MIDDLE
    ops = rng.choices(list(weights), list(weights.values()), k=rng.randint(2, 5))
    ops.insert(rng.randint(0, len(ops)), *rng.choices(list(DEEDS), list(DEEDS.values())))
    steps = tuple(Step(number, op, rng.randrange(1 << 30)) for number, op in enumerate(ops, 1))
    extras = tuple(one for one in EXTRAS if rng.random() < 0.2)
    kinds = (_choice(rng, FORMATS), _choice(rng, PLACES), _choice(rng, INDEXES))
    return Sequence(*kinds, extras, rng.randrange(1 << 30), steps)


def _choice(rng: random.Random, weights: dict[str, int]) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]
