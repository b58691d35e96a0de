"""Masks secrets in messages: by the names they stand under, by their shapes, and those known beforehand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from acp_nvim.limits import ENTERED_SECRET_CHARS, SECRET_CHARS
from acp_nvim.traffic import shapes
from acp_nvim.traffic.learned import LEARNED
from acp_nvim.traffic.secret_names import counts, is_secret, is_secret_variable

MASK: Final = "[masked]"
_MASK: Final = MASK.encode()

_SUSPICIOUS: Final = frozenset(
    {*shapes.FRONTS, b"key", b"authorization", b"jwt", b'"env"', b'"headers"', b"\\u", b"\\/"}
)
"""A line of JSON without any of these, and without a known secret, has nothing to mask; escapes could hide anything."""


class Masker:
    """Replaces secrets by `[masked]`; `known` are looked for in every string, and so are those that were `LEARNED`."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._given = frozenset(secret for secret in known if len(secret) >= SECRET_CHARS)
        self._learned: frozenset[str] | None = None
        self._forms: list[bytes] = []

    @property
    def _known(self) -> list[bytes]:
        """The longest first."""
        if self._learned is not LEARNED.secrets:
            learned = LEARNED.secrets
            forms = {_bytes(form) for secret in self._given | learned for form in _forms(secret)}
            self._forms = sorted(forms, key=len, reverse=True)
            self._learned = learned
        return self._forms

    def clean(self, line: bytes) -> bool:
        """Whether a line of JSON surely holds nothing to mask; a quick look."""
        lowered = line.lower()
        return not (any(word in lowered for word in _SUSPICIOUS) or any(secret in line for secret in self._known))

    def value(self, value: Any) -> Any:
        """A JSON value without its secrets."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(one) for one in value]
        if isinstance(value, dict):
            return {self.text(name): self._member(name, one) for name, one in value.items()}
        return value

    def text(self, text: str) -> str:
        """A text without its secrets."""
        if len(text) < ENTERED_SECRET_CHARS:
            return text
        data = _bytes(text)
        masked = self._hide(data)
        masked = _cut(masked, sorted(shapes.find(masked)))
        return text if masked is data else masked.decode("utf-8", "surrogatepass")

    def hide(self, text: str) -> str:
        """A text without the secrets that are known; what only looks like one stays."""
        return self._hide(_bytes(text)).decode("utf-8", "surrogatepass")

    def _hide(self, text: bytes) -> bytes:
        for secret in self._known:
            text = text.replace(secret, _MASK)
        return text

    def command(self, argv: Sequence[str]) -> list[str]:
        """A command line; what follows an option with a secret name (`--api-key xyz`) is masked too."""
        fronts = ["", *argv]
        return [
            MASK if front.startswith("-") and "=" not in front and is_secret(front) else self.text(one)
            for front, one in zip(fronts, argv, strict=False)
        ]

    def _member(self, name: str, value: Any) -> Any:
        if name in ("env", "headers"):
            return self._assigned(value)
        return _hidden(value, counts(name)) if is_secret(name) else self.value(value)

    def _assigned(self, value: Any) -> Any:
        """`env` and `headers`, of MCP servers and of terminals: every value may be a secret."""
        if isinstance(value, dict):
            return {self.text(name): MASK if isinstance(one, str) else self.value(one) for name, one in value.items()}
        if not isinstance(value, list):
            return self.value(value)
        return [
            {**self.value(one), "value": MASK} if isinstance(one, dict) and "value" in one else self.value(one)
            for one in value
        ]


def known_secrets(configured: Mapping[str, str], environment: Mapping[str, str]) -> list[str]:
    """What must not be written: all that was configured for an agent, and the secrets of our own environment.

    Configured paths and addresses are needed to understand a recording; they are kept unless their names say secret.
    """
    own = [value for name, value in environment.items() if is_secret_variable(name)]
    return own + [value for name, value in configured.items() if is_secret_variable(name) or not _is_place(value)]


def _is_place(value: str) -> bool:
    return value.startswith(("http://", "https://")) or (os.path.isabs(value) and os.path.exists(value))


def _forms(secret: str) -> set[str]:
    """A secret as it may stand in a string: plain, inside JSON, inside a URL."""
    return {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="")}


def _hidden(value: Any, counted: bool) -> Any:
    """Everything below a secret name; numbers are, unless they only count."""
    if isinstance(value, list):
        return [_hidden(one, counted) for one in value]
    if isinstance(value, dict):
        return {name: _hidden(one, counted) for name, one in value.items()}
    if value is None or isinstance(value, bool) or value == "":
        return value
    return value if counted and not isinstance(value, str) else MASK


def _cut(text: bytes, spans: list[tuple[int, int]]) -> bytes:
    """The text with a mask in place of each span; they are sorted, and may overlap."""
    if not spans:
        return text
    parts, done = [], 0
    for start, end in spans:
        if start >= done:
            parts += [text[done:start], _MASK]
        done = max(done, end)
    return b"".join([*parts, text[done:]])


def _bytes(text: str) -> bytes:
    """As UTF-8; half characters, and the bytes of an environment that are no UTF-8, as Python keeps them."""
    return text.encode("utf-8", "surrogatepass")
