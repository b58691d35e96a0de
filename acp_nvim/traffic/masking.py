"""Masks secrets in messages: values under certain names, texts that look like keys, and known secrets."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import quote

from acp_nvim.limits import ENTERED_SECRET_CHARS, SECRET_CHARS
from acp_nvim.traffic.secret_kinds import find_secrets, may_have_secrets
from acp_nvim.traffic.secret_names import is_count, is_secret, is_secret_variable, strength

Path = tuple[str, ...]
"""The names of the members around a value in JSON, the outermost first."""


class Learned:
    """The secrets that the user has entered, in memory only; every `Masker` masks them from then on."""

    def __init__(self) -> None:
        self.secrets: frozenset[str] = frozenset()

    def learn(self, secrets: Iterable[str], shortest: int = ENTERED_SECRET_CHARS) -> None:
        """Add secrets of at least `shortest` characters; the others are ignored."""
        self.secrets |= {one for one in secrets if len(one) >= shortest}


def secret_values(env: Mapping[str, str]) -> list[str]:
    """Return the values of the environment variables that are secret by their names."""
    return [value for name, value in env.items() if is_secret_variable(name) and len(value) >= SECRET_CHARS]


def public_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that are not secret by their names."""
    return {name: value for name, value in env.items() if not is_secret_variable(name)}


LEARNED: Final = Learned()
"""The entered secrets of this process."""

MASK: Final = "[masked]"
_MASK: Final = MASK.encode()

_SUSPICIOUS: Final = (b'"env"', b'"headers"', b"\\u", b"\\/")
"""Members of JSON whose values are masked, and escapes, which could hide anything."""


class Masker:
    """Replaces secrets by `[masked]`; searches every string for the `known` and the `LEARNED` ones, too."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._given = frozenset(secret for secret in known if len(secret) >= SECRET_CHARS)
        self._learned: frozenset[str] | None = None
        self._forms: list[bytes] = []

    @property
    def known(self) -> list[bytes]:
        """The encoded forms of all known secrets, the longest first."""
        if self._learned is not LEARNED.secrets:
            learned = LEARNED.secrets
            forms = {encoded(form) for secret in self._given | learned for form in _forms(secret)}
            self._forms = sorted(forms, key=len, reverse=True)
            self._learned = learned
        return self._forms

    def clean(self, line: bytes) -> bool:
        """Return whether a line of JSON certainly contains nothing to mask; a quick check."""
        return not (
            any(word in line for word in _SUSPICIOUS)
            or any(secret in line for secret in self.known)
            or may_have_secrets(line)
        )

    def value(self, value: Any, strings: Callable[[Path, str], str] | None = None) -> Any:
        """Return a copy of a JSON value with secrets masked in all its names and strings.

        `strings`, if given, masks the strings instead of `text`; it gets the names above each of them.
        """
        return self._value(value, (), strings or self._string)

    def _value(self, value: Any, path: Path, strings: Callable[[Path, str], str]) -> Any:
        if isinstance(value, str):
            return strings(path, value)
        if isinstance(value, list):
            if len(value) > 1 and all(isinstance(one, str) for one in value):
                return self.lines(value)
            return [self._value(one, path, strings) for one in value]
        if isinstance(value, dict):
            return {self.text(name): self._member(name, one, path, strings) for name, one in value.items()}
        return value

    def _string(self, path: Path, text: str) -> str:
        return self.text(text)

    def lines(self, lines: Sequence[str]) -> list[str]:
        """Return lines, or the words of a command, with secrets masked, also those of several lines."""
        fronts = ["", *lines]
        hidden = [MASK if _is_option(front) else self.hide(one) for front, one in zip(fronts, lines, strict=False)]
        parts = [encoded(one) for one in hidden]
        spans = sorted(find_secrets(b"\n".join(parts)))
        if not spans:
            return hidden
        masked, start = [], 0
        for part in parts:
            end = start + len(part)
            inside = [(max(one, start) - start, min(other, end) - start) for one, other in spans]
            masked.append(decoded(cut(part, [one for one in inside if one[0] < one[1]])))
            start = end + 1
        return masked

    def text(self, text: str, *, grows: bool = False) -> str:
        """Return the text with all known secrets, and what looks like one, masked.

        If the text `grows`, or was cut, the beginning of what looks like one is masked at its end, too.
        """
        if len(text) < ENTERED_SECRET_CHARS:
            return self.hide(text)
        data = encoded(text)
        masked = self._hide(data)
        masked = cut(masked, sorted(find_secrets(masked, grows=grows)))
        return text if masked is data else decoded(masked)

    def hide(self, text: str) -> str:
        """Return the text with the known secrets masked, but not what only looks like one."""
        return decoded(self._hide(encoded(text)))

    def _hide(self, text: bytes) -> bytes:
        """Mask the known secrets; short ones only as whole words, because parts of other words are the same."""
        for secret in self.known:
            if len(secret) < ENTERED_SECRET_CHARS:
                text = re.sub(rb"(?<!\w)%b(?!\w)" % re.escape(secret), _MASK, text)
            else:
                text = text.replace(secret, _MASK)
        return text

    def _member(self, name: str, value: Any, path: Path, strings: Callable[[Path, str], str]) -> Any:
        if name in ("env", "headers"):
            return self._assigned(value)
        if not is_secret(name):
            return self._value(value, (*path, name), strings)
        return _hidden(value, is_count(name))

    def _assigned(self, value: Any) -> Any:
        """Mask the values of `env` and `headers`, of MCP servers and of terminals: each may be a secret."""
        if isinstance(value, dict):
            return {self.text(name): MASK if isinstance(one, str) else self.value(one) for name, one in value.items()}
        if not isinstance(value, list):
            return self.value(value)
        return [self._one_assigned(one) for one in value]

    def _one_assigned(self, one: Any) -> Any:
        if isinstance(one, dict) and "value" in one:
            return {**self.value(one), "value": MASK}
        if isinstance(one, str) and "=" in one:
            return f"{self.text(one.partition('=')[0])}={MASK}"
        return self.value(one)


def _is_option(word: str) -> bool:
    """Return whether the word after this one of a command is a secret: that after `--api-key` is."""
    return word.startswith("-") and "=" not in word and " " not in word and strength(word) != "none"


def known_secrets(configured: Mapping[str, str], environment: Mapping[str, str]) -> list[str]:
    """Return what must be masked: the `configured` variables of agents, and the secrets of the own `environment`.

    Configured paths and URLs are needed to understand a recording: they are secret only by their names.
    """
    own = [value for name, value in environment.items() if is_secret_variable(name)]
    return own + [value for name, value in configured.items() if is_secret_variable(name) or not _is_address(value)]


def _is_address(value: str) -> bool:
    return value.startswith(("http://", "https://")) or (os.path.isabs(value) and os.path.exists(value))


def _forms(secret: str) -> set[str]:
    """Return a secret as strings may contain it: plain, as JSON, or URL-quoted."""
    return {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="")}


def _hidden(value: Any, counts: bool) -> Any:
    """Mask all strings, and all numbers unless they are a count, of the value under a secret name."""
    if isinstance(value, list):
        return [_hidden(one, counts) for one in value]
    if isinstance(value, dict):
        return {name: _hidden(one, counts) for name, one in value.items()}
    if value is None or isinstance(value, bool) or value == "":
        return value
    return value if counts and not isinstance(value, str) else MASK


def cut(text: bytes, spans: list[tuple[int, int]]) -> bytes:
    """Return the text with a mask in place of each span; spans are sorted, and may overlap."""
    if not spans:
        return text
    parts, done = [], 0
    for start, end in spans:
        if start >= done:
            parts += [text[done:start], _MASK]
        done = max(done, end)
    return b"".join([*parts, text[done:]])


def encoded(text: str) -> bytes:
    """Encode as UTF-8, with lone surrogates, which stand for undecodable bytes of the environment, too."""
    return text.encode("utf-8", "surrogatepass")


def decoded(text: bytes) -> str:
    """Decode UTF-8, with lone surrogates, as `encoded` returns it."""
    return text.decode("utf-8", "surrogatepass")


def has_secret(text: str) -> bool:
    """Return whether the text contains a secret that the user has entered."""
    return without_secrets(text) != text


def without_secrets(text: str) -> str:
    """Return the text with the secrets masked that the user has entered, but not what only looks like one."""
    return Masker().hide(text) if LEARNED.secrets else text


def masked(text: str, *, grows: bool = False) -> str:
    """Mask a text that is stored: known secrets, and what looks like one, as `Masker.text` does.

    Must not be called on the event loop: a long text takes milliseconds.
    """
    return _masker().text(text, grows=grows)


@cache
def _masker() -> Masker:
    return Masker(known_secrets({}, os.environ))
