"""How much text the messages of one turn may have."""

from __future__ import annotations

from acp_nvim.limits.growth import TURN_TEXT_BYTES

TOO_LONG = f"\n… and more: of the messages of one turn {TURN_TEXT_BYTES // 1024 // 1024} MB are kept\n"


class TurnText:
    """Counts the bytes of the agent's messages since the user's last prompt."""

    def __init__(self) -> None:
        self._size = 0

    def __repr__(self) -> str:
        return f"<TurnText {self._size} bytes>"

    def begin(self) -> None:
        """The user prompts: count anew."""
        self._size = 0

    def take(self, text: str, replaced: int = 0) -> str:
        """As much of `text` as is kept, in the place of so many bytes; the last text that is kept says that more came.

        Empty when nothing is kept of it: then what it would have replaced stays.
        """
        room = TURN_TEXT_BYTES - self._size + replaced
        if room < 0:
            return ""
        size = len(text.encode("utf-8", "surrogatepass"))
        self._size += size - replaced
        return text if size <= room else text[:room] + TOO_LONG
