"""What an agent does right now, in a word or the title of a tool call."""

from __future__ import annotations

from acp_nvim.limits.status import ACTIVITY_CHARS
from acp_nvim.protocol.tool_call import ToolCall
from acp_nvim.protocol.updates import Role

WORDS = {"agent": "writing", "thought": "thinking"}


class Activity:
    """What began last and goes on. `voice` is the role of the message that grows, if one does."""

    def __init__(self) -> None:
        self.voice: Role | None = None
        self._running = False
        self._open: dict[str, str] = {}  # tool call -> its title

    def __repr__(self) -> str:
        return f"<Activity {self.words!r}>"

    @property
    def words(self) -> str | None:
        """For the status; None: nothing that could be named, or no turn runs."""
        return self._now()

    def _now(self) -> str | None:
        if not self._running:
            return None
        if self.voice is not None:
            return WORDS.get(self.voice)
        return next(reversed(self._open.values()), None)

    def begin(self) -> None:
        """A turn begins."""
        self.voice, self._running = None, True
        self._open.clear()

    def end(self) -> None:
        """It is over."""
        self.voice, self._running = None, False
        self._open.clear()

    def speak(self, role: Role) -> bool:
        """A message grows, of another kind than what grew before; whether the status is different now."""
        before, self.voice = self._now(), role
        return self._now() != before

    def call(self, call: ToolCall) -> bool:
        """News of a tool call: one that begins is what the agent does now. Whether the status is different."""
        before = self._now()
        if call.finished:
            self._open.pop(call.tool_call_id, None)
        else:
            if call.tool_call_id not in self._open:
                self.voice = None
            self._open[call.tool_call_id] = _line(call.title or call.name or call.kind)
        return self._now() != before


def _line(title: str) -> str:
    """As much of a title as the status says, and as is kept of it."""
    return title.strip().partition("\n")[0][:ACTIVITY_CHARS].rstrip()
