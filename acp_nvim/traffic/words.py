"""Words for the user without the secrets that were learned: an agent may have quoted what it was given."""

from __future__ import annotations

from acp_nvim.traffic.learned import LEARNED


def has_secret(text: str) -> bool:
    """Whether something in it was learned to be a secret."""
    return without_secrets(text) != text


def without_secrets(text: str) -> str:
    """What only looks like a secret stays."""
    if not LEARNED.secrets:
        return text
    from acp_nvim.traffic.masking import Masker  # 15 ms, which nobody pays who has entered nothing

    return Masker().hide(text)
