"""Prompts that an agent suggests to the user: `_meta.promptSuggestions`, and their text for one line."""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET, UnsetType

SUGGESTION_CHARS: Final = 1000
"""Longest suggestion that is shown: nobody would type a longer one, and half of it would say something else."""
SUGGESTIONS: Final = 20
"""Suggestions of one message that are looked at, of which the first usable one is shown."""
_JOINERS: Final = "\u200c\u200d"
"""Invisible, but parts of words in some scripts, and of emoji."""


def suggested(meta: Any) -> str | UnsetType | None:
    """Return the first usable suggestion in the `_meta` of an update (ACP RFD "Prompt Suggestions").

    None: the agent withdraws its suggestions, or none can be shown. UNSET: the update says nothing about them.
    """
    if not isinstance(meta, dict) or "promptSuggestions" not in meta:
        return UNSET
    found = meta["promptSuggestions"]
    several = found if isinstance(found, list) else [found]
    return next(filter(None, (cleaned(_text(one)) for one in several[:SUGGESTIONS])), None)


def cleaned(text: str) -> str | None:
    """Return a suggestion as one line without control characters, None if it is empty or too long."""
    if len(text) > SUGGESTION_CHARS:
        return None
    words = "".join(one if one.isprintable() or one in _JOINERS else " " for one in text)
    return " ".join(words.split()) or None


def _text(said: Any) -> str:
    """Return the text of a suggestion: a text, an object with one, or content blocks that are all texts."""
    if isinstance(said, list) and all(isinstance(one, dict) and one.get("type") == "text" for one in said):
        return "".join(one["text"] for one in said if isinstance(one.get("text"), str))
    if isinstance(said, dict):
        said = next((said[name] for name in ("prompt", "text", "suggestion") if name in said), "")
        return said if isinstance(said, str) else _text(said) if isinstance(said, list) else ""
    return said if isinstance(said, str) else ""
