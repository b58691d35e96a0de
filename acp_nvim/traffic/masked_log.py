"""The log file without secrets: agents say them on stderr, and in what is no message."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_nvim.traffic.masking import Masker


class MaskingFormatter(logging.Formatter):
    """Masks each line as recordings are; `env` is what was configured for agents."""

    def __init__(self, layout: str, env: Mapping[str, str]) -> None:
        super().__init__(layout)
        self._env = env

    @cached_property
    def _masker(self) -> Masker:
        from acp_nvim.traffic.masking import Masker, known_secrets  # 15 ms, which the start does not wait for

        return Masker(known_secrets(self._env, os.environ))

    def format(self, record: logging.LogRecord) -> str:
        """The line, or lines, of a record."""
        return self._masker.text(super().format(record))
