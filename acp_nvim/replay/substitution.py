"""Puts the live client's session ids and directories in the place of the recorded ones."""

from __future__ import annotations

import re
from typing import Any

from acp_nvim.replay.messages import Json


class Substitution:
    """Learns from each request that the live client makes as recorded; `apply` changes what the agent said then."""

    def __init__(self) -> None:
        self._sessions: dict[str, str] = {}
        self._directories: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def session(self, recorded: str) -> str | None:
        """What the client calls that session; None when it has not spoken of it."""
        return self._sessions.get(recorded)

    def learn_session(self, recorded: Any, live: Any) -> None:
        """The client has another id for it, or the same."""
        if isinstance(recorded, str) and isinstance(live, str):
            self._sessions[recorded] = live

    def learn_directory(self, recorded: Any, live: Any) -> None:
        """The client's session is in another directory, or the same."""
        if isinstance(recorded, str) and isinstance(live, str) and recorded.rstrip("/"):
            self._directories[recorded.rstrip("/")] = live.rstrip("/") or "/"
            longest_first = sorted(map(re.escape, self._directories), key=len, reverse=True)
            # a part of a longer path or name is something else; a full stop may end a sentence
            self._pattern = re.compile(rf"(?<![\w.~-])(?:{'|'.join(longest_first)})(?![\w-]|\.\w)")

    def learn(self, recorded: Json, live: Json) -> None:
        """From the params of one request, as it was and as it is now."""
        self.learn_session(recorded.get("sessionId"), live.get("sessionId"))
        self.learn_directory(recorded.get("cwd"), live.get("cwd"))

    def apply(self, value: Any) -> Any:
        """A JSON value as the live client is to get it."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.apply(one) for one in value]
        if isinstance(value, dict):
            return {self._text(name): self.apply(one) for name, one in value.items()}
        return value

    def _text(self, text: str) -> str:
        session = self._sessions.get(text)
        if session is not None:
            return session
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._directories[found[0]], text)
