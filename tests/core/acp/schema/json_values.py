"""JSON of every kind by chance, and its comparison."""

from __future__ import annotations

import base64
from random import Random
from typing import Any

from hypothesis import strategies as st

TEXTS = ("", "a", "main.py", "two words", "é漢🙂", 'quote " and \\', "nul \0 and\nmore", "acp_nvim/unknown")
FORMATS = {
    "uri": ("file:///a%20b.py", "https://example.org/x?y=1#z", "data:text/plain;base64,AA=="),
    "date-time": ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678+09:00"),
    "regex": ("^a+$", "[0-9]{3}", ""),
}
RANGES = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}


class Seeded(Random):
    """Python's own random numbers, several times as fast as hypothesis's; a failed test says the seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._seed = seed

    def __repr__(self) -> str:
        return f"Seeded({self._seed})"


RANDOMS = st.integers(0, 2**63).map(Seeded)


def text(random: Random, schema: dict[str, Any]) -> str:
    """A string as the schema wants it."""
    if schema.get("contentEncoding") == "base64":
        return base64.b64encode(random.randbytes(random.randrange(6))).decode()
    words = random.choice(FORMATS.get(schema.get("format", ""), TEXTS))
    return words.ljust(schema.get("minLength", 0), "x")


def integer(random: Random, schema: dict[str, Any]) -> int:
    """An integer as the schema wants it, the least and the greatest among them."""
    least, greatest = RANGES[schema["format"]]
    least, greatest = max(least, schema.get("minimum", least)), min(greatest, schema.get("maximum", greatest))
    return random.choice((least, greatest, random.randint(least, greatest), min(greatest, least + 7)))


def number(random: Random, schema: dict[str, Any]) -> float:
    """A number as the schema wants it; also one that is written without a fraction."""
    least, greatest = schema.get("minimum", -1e9), schema.get("maximum", 1e9)
    return random.choice((least, greatest, random.uniform(least, greatest), 1, 0.25))


def anything(random: Random, depth: int = 2) -> Any:
    """Return a random JSON value."""
    kind = random.randrange(7 if depth else 5)
    if kind == 5:
        return [anything(random, depth - 1) for _ in range(random.randrange(3))]
    if kind == 6:
        return members(random, depth - 1)
    return (None, random.choice((True, False)), random.randint(-9, 9), random.random(), random.choice(TEXTS))[kind]


def members(random: Random, depth: int = 1) -> dict[str, Any]:
    """An object with members that no schema knows, some of which look like ours."""
    names = random.sample(("x-a", "x.b", "original", "é", ""), random.randrange(3))
    found = {name: anything(random, depth) for name in names}
    if not random.randrange(4):
        found["x-mask"] = {"type": "acp_nvim/unknown", "original": {"type": "text"}, "sessionUpdate": "odd"}
    return found


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: numbers by value, but true is not 1, and the order of members is of no interest."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(item, other[name]) for name, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
