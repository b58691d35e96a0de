"""Words for the user without the secrets that were learned: an agent may have quoted what it was given."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from acp_nvim.traffic.learned import LEARNED

if TYPE_CHECKING:
    from acp_nvim.traffic.masking import Masker


def has_secret(text: str) -> bool:
    """Whether something in it was learned to be a secret."""
    return without_secrets(text) != text


def without_secrets(text: str) -> str:
    """What only looks like a secret stays."""
    if not LEARNED.secrets:
        return text
    from acp_nvim.traffic.masking import Masker  # 15 ms, which nobody pays who has entered nothing

    return Masker().hide(text)


def masked(text: str) -> str:
    """A text that is written down, as recordings and transcripts have it: also without what looks like a secret.

    Not for the event loop: a long one takes milliseconds.
    """
    return _masker().text(text)


@cache
def _masker() -> Masker:
    from acp_nvim.traffic.masking import Masker, known_secrets

    return Masker(known_secrets({}, os.environ))
