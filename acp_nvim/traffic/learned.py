"""The secrets that become known while the host runs: the user enters them, or configures them for an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from acp_nvim.limits import ENTERED_SECRET_CHARS, SECRET_CHARS
from acp_nvim.traffic.secret_names import is_secret_variable


class Learned:
    """Only grows; in memory only. Every `Masker` masks what is in it, from the moment that it is there."""

    def __init__(self) -> None:
        self.secrets: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<Learned {len(self.secrets)} secrets>"

    def learn(self, secrets: Iterable[str]) -> None:
        """These must not be written from now on, nor shown in words of ours."""
        self.secrets |= {one for one in secrets if len(one) >= ENTERED_SECRET_CHARS}


def secret_values(env: Mapping[str, str]) -> list[str]:
    """Those of variables whose names say secret."""
    return [value for name, value in env.items() if is_secret_variable(name) and len(value) >= SECRET_CHARS]


LEARNED: Final = Learned()
"""Of this process."""
