"""Takes secrets out of lines of JSON, as recordings of connections have none."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_nvim.traffic.masking import Masker


class Masking:
    """`env` is what was configured for agents."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._masker: Masker | None = None

    def __call__(self, line: bytes) -> bytes:
        """A line without secrets. Not for the event loop: a long one takes milliseconds."""
        if self._masker is None:
            from acp_nvim.traffic.masking import Masker, known_secrets  # 15 ms, and nothing waits for it here

            self._masker = Masker(known_secrets(self._env, os.environ))
        if self._masker.clean(line):
            return line
        masked = self._masker.value(json.loads(line))
        try:
            return json.dumps(masked, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            return json.dumps(masked, separators=(",", ":")).encode()
