"""What a sequence knows of its files: who has changed them, and what the user has made."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Tree = dict[str, bytes]
TOKEN = re.compile(rb"U\d+;")


def tokens(data: bytes | str) -> set[bytes]:
    """The marks of what the user has written there."""
    return set(TOKEN.findall(data.encode() if isinstance(data, str) else data))


@dataclass
class File:
    """`before` is what the agent found when it changed the file first."""

    before: bytes | None = None
    agent: list[str] = field(default_factory=list)
    """In which ways the agent has changed it."""
    user: bool = False
    """The user has changed it, or git has for the user."""
    is_clear: bool = True
    """What there is to see shows that what the agent did is the agent's doing."""


class Files:
    """The files of a sequence, by name."""

    def __init__(self) -> None:
        self.all: dict[str, File] = {}
        self.tokens: set[bytes] = set()
        """What the user has made, and has not thrown away."""

    def of(self, name: str) -> File:
        return self.all.setdefault(name, File())

    def agent(self, name: str, way: str, before: bytes | None) -> None:
        """The agent has changed a file."""
        file = self.of(name)
        if not file.agent:
            file.before = before
        file.agent.append(way)

    def user(self, before: Tree, after: Tree) -> None:
        """The user has changed files on disk: what is not there any more the user has thrown away."""
        for name in before.keys() | after.keys():
            if before.get(name) != after.get(name):
                self.of(name).user = True
        self.tokens -= _all(before) - _all(after)

    def only_agent(self) -> dict[str, File]:
        return {name: file for name, file in self.all.items() if file.agent and not file.user}

    def not_agent(self, names: set[str]) -> set[str]:
        """Return the names whose files no agent has changed."""
        return {name for name in names if not self.of(name).agent}


def _all(tree: Tree) -> set[bytes]:
    return set().union(*map(tokens, tree.values()))
