"""What the dialects have in common: what was asked, and what is answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Asked:
    """A request: what users said, oldest first, how many tools have answered since then, and the tools on offer.

    The messages behind the one with the last scene begin at number `scene`.

    `tools` are JSON schemas of arguments by name; None stands for a tool that takes any text. `subagent` is the id of
    one that works beside the model, which has to wait for it; where a tool answers when it is done there is none.
    """

    model: str
    said: list[str] = field(default_factory=list)
    results: int = 0
    scene: int = 0
    subagent: str = ""
    tools: dict[str, Any] = field(default_factory=dict)

    def user(self, text: str) -> None:
        """A message of the user's; one without a scene (a reminder of the agent's own) changes nothing."""
        self.said.append(text)
        if "scene:" in text:
            self.results, self.scene = 0, len(self.said)


@dataclass(frozen=True)
class Think:
    """A thought of the model."""

    text: str


@dataclass(frozen=True)
class Say:
    """A text that comes in `count` pieces."""

    text: str
    count: int = 12

    def pieces(self) -> Iterator[str]:
        """All of the text, bit by bit."""
        return pieces(self.text, self.count)


@dataclass(frozen=True)
class Call:
    """A call of a tool; arguments that are text are for a tool that takes any text."""

    name: str
    arguments: dict[str, Any] | str


Part = Think | Say | Call


@dataclass(frozen=True)
class Reply:
    """An answer, and how long to pause between its pieces, in seconds."""

    parts: Sequence[Part]
    pause: float = 0.0

    @property
    def calls(self) -> bool:
        """Whether the model waits for tools."""
        return any(isinstance(part, Call) for part in self.parts)

    @property
    def text(self) -> str:
        """The whole text of the reply."""
        return "".join(part.text for part in self.parts if isinstance(part, Say))


def pieces(text: str, count: int) -> Iterator[str]:
    """About `count` pieces of a text."""
    size = max(1, -(-len(text) // count))
    for start in range(0, len(text), size):
        yield text[start : start + size]


def text_of(content: Any) -> str:
    """The text of a message, whichever way it is written down."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def kinds(content: Any) -> list[Any]:
    """The `type` of each part of a message."""
    return [part.get("type") for part in content] if isinstance(content, list) else []
