"""Masks secrets in messages: values under certain names, texts that look like keys, and known secrets."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final
from urllib.parse import quote

from acp_nvim.lazy import pattern
from acp_nvim.limits import ENTERED_SECRET_CHARS, SECRET_CHARS

_WORD: Final = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_SECRET_WORDS: Final = frozenset(
    {
        *("accesskey", "apikey", "apikeys", "authkey", "authorization", "authtoken", "bearer", "cookie", "cookies"),
        *("credential", "credentials", "jwt", "passcode", "passphrase", "passwd", "password", "passwords"),
        *("secret", "secrets", "token", "tokens"),
    }
)
_KINDS_OF_KEYS: Final = frozenset(
    {"access", "account", "api", "auth", "encryption", "license", "private", "secret", "signing", "ssh"}
)
_ENDS_OF_VARIABLES: Final = frozenset({"auth", "key", "keys", "pass", "pat", "pin", "pw"})
_PLACES: Final = frozenset({"dir", "directory", "file", "home", "id", "ids", "path", "sock", "socket"})
"""Last words of variables that contain the location of a secret, and not the secret."""


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Return whether the value under this name must be masked: `apiKey`, `X-Auth-Token`, `db_password`, ..."""
    words = _words(name)
    return not _SECRET_WORDS.isdisjoint(words) or any(
        second in ("key", "keys") and first in _KINDS_OF_KEYS for first, second in pairwise(words)
    )


def is_secret_variable(name: str) -> bool:
    """Return whether an environment variable is secret by its name: `OPENAI_KEY` is, `SSH_AUTH_SOCK` is not."""
    words = _words(name)
    if not words or words[-1] in _PLACES:
        return False
    return is_secret(name) or words[-1] in _ENDS_OF_VARIABLES


def _words(name: str) -> list[str]:
    """Split a name in any spelling: camelCase, PascalCase, snake_case, kebab-case, UPPER_CASE."""
    return [word.lower() for word in _WORD.findall(name)]


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


LEARNED: Final = Learned()
"""The entered secrets of this process."""

_NAMES: Final = (
    *(b"token", b"secret", b"passw", b"passphrase", b"passcode", b"apikey", b"api-key", b"accesskey", b"credential"),
    *(b"_key", b"_pat", b"_pass", b"_pwd"),
)
_ASSIGNED: Final = (
    rb"[\w-]{0,60}(?:\\?[\"'] {0,4}[:=] {0,4}\\?[\"'](?P<quoted>[^\"'\\\r\n]+)"
    rb"|=[\"']?(?P<plain>[^\s\"'();,&#<>\\]{%d,}))" % SECRET_CHARS
)
"""What may follow these parts of names: `": "value"` or `=value`."""

_ANY_CASE: Final = {
    **{name: name + _ASSIGNED for name in _NAMES},
    b"bearer": rb"bearer\s{1,4}(?P<plain>[\w.~+/=-]{%d,})" % SECRET_CHARS,
    b"authorization": rb"authorization\s{0,4}:\s{0,4}(?P<plain>[^\r\n\"'\\]+)",
    b"cookie": rb"cookie\s{0,4}:\s{0,4}(?P<plain>[^\r\n\"'\\]+)",
    b"://": rb"://(?P<plain>[^\s/?#@\"'<>\\]+)@",
    b"-----begin": rb"-----begin [a-z ]{0,40}private key-----.*?(?:-----end [a-z ]{0,40}private key-----|\Z)",
}
_EXACT: Final = {
    b"sk-": rb"(?<!\w)sk-[\w-]{8,}",
    b"k_live_": rb"k_live_\w{8,}",
    b"k_test_": rb"k_test_\w{8,}",
    **{f"gh{kind}_".encode(): rf"gh{kind}_\w{{8,}}".encode() for kind in "pousr"},
    b"github_pat_": rb"github_pat_\w{8,}",
    b"glpat-": rb"glpat-[\w-]{8,}",
    b"AIza": rb"AIza[\w-]{8,}",
    b"ya29.": rb"ya29\.[\w-]{8,}",
    b"AKIA": rb"(?<!\w)AKIA[A-Z0-9]{12,}",
    b"ASIA": rb"(?<!\w)ASIA[A-Z0-9]{12,}",
    b"xox": rb"(?<!\w)xox[a-z]-[\w-]{8,}",
    b"hf_": rb"(?<!\w)hf_\w{8,}",
    b"npm_": rb"(?<!\w)npm_\w{20,}",
    b"eyJ": rb"(?<!\w)eyJ[\w.-]{16,}",
}
"""Keys of the large services, and JSON web tokens, by their prefixes."""


_PATTERNS: Final = [
    *((front, True, pattern(secret, re.DOTALL)) for front, secret in _ANY_CASE.items()),
    *((front, False, pattern(secret)) for front, secret in _EXACT.items()),
]
"""The prefix of each kind, whether its case is ignored, and its pattern: compiled when the prefix is found."""


def find_secrets(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each secret, in no particular order; they may overlap."""
    lowered = text.lower()
    for front, any_case, secret in _PATTERNS:
        searched = lowered if any_case else text
        at = searched.find(front)  # much faster than a search for the pattern
        while at >= 0:
            found = secret.match(searched, at)
            if found:
                yield found.span(found.lastgroup or 0)
            at = searched.find(front, found.end() if found else at + len(front))


MASK: Final = "[masked]"
_MASK: Final = MASK.encode()

_SUSPICIOUS: Final = frozenset(
    {
        *(front.lower() for front in (*_ANY_CASE, *_EXACT)),
        *(b"key", b"authorization", b"jwt", b'"env"', b'"headers"', b"\\u", b"\\/"),
    }
)
"""A line of JSON without any of these, and without a known secret, needs no masking; escapes could hide anything."""


class Masker:
    """Replaces secrets by `[masked]`; searches every string for the `known` and the `LEARNED` ones, too."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._given = frozenset(secret for secret in known if len(secret) >= SECRET_CHARS)
        self._learned: frozenset[str] | None = None
        self._forms: list[bytes] = []

    @property
    def _known(self) -> list[bytes]:
        """The encoded forms of all known secrets, the longest first."""
        if self._learned is not LEARNED.secrets:
            learned = LEARNED.secrets
            forms = {_bytes(form) for secret in self._given | learned for form in _forms(secret)}
            self._forms = sorted(forms, key=len, reverse=True)
            self._learned = learned
        return self._forms

    def clean(self, line: bytes) -> bool:
        """Return whether a line of JSON certainly contains nothing to mask; a quick check."""
        lowered = line.lower()
        return not (any(word in lowered for word in _SUSPICIOUS) or any(secret in line for secret in self._known))

    def value(self, value: Any) -> Any:
        """Return a copy of a JSON value with secrets masked in all its names and strings."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(one) for one in value]
        if isinstance(value, dict):
            return {self.text(name): self._member(name, one) for name, one in value.items()}
        return value

    def text(self, text: str) -> str:
        """Return the text with all known secrets, and what looks like one, masked."""
        if len(text) < ENTERED_SECRET_CHARS:
            return self.hide(text)
        data = _bytes(text)
        masked = self._hide(data)
        masked = _cut(masked, sorted(find_secrets(masked)))
        return text if masked is data else masked.decode("utf-8", "surrogatepass")

    def hide(self, text: str) -> str:
        """Return the text with the known secrets masked, but not what only looks like one."""
        return self._hide(_bytes(text)).decode("utf-8", "surrogatepass")

    def _hide(self, text: bytes) -> bytes:
        """Mask the known secrets; short ones only as whole words, because parts of other words are the same."""
        for secret in self._known:
            if len(secret) < ENTERED_SECRET_CHARS:
                text = re.sub(rb"(?<!\w)%b(?!\w)" % re.escape(secret), _MASK, text)
            else:
                text = text.replace(secret, _MASK)
        return text

    def command(self, argv: Sequence[str]) -> list[str]:
        """Return a command line with secrets masked, also after an option with a secret name (`--api-key xyz`)."""
        fronts = ["", *argv]
        return [
            MASK if front.startswith("-") and "=" not in front and is_secret(front) else self.text(one)
            for front, one in zip(fronts, argv, strict=False)
        ]

    def _member(self, name: str, value: Any) -> Any:
        if name in ("env", "headers"):
            return self._assigned(value)
        if not is_secret(name):
            return self.value(value)
        is_count = any(word in ("token", "tokens") for word in _words(name))  # `inputTokens` is not a secret
        return _hidden(value, is_count)

    def _assigned(self, value: Any) -> Any:
        """Mask the values of `env` and `headers`, of MCP servers and of terminals: each may be a secret."""
        if isinstance(value, dict):
            return {self.text(name): MASK if isinstance(one, str) else self.value(one) for name, one in value.items()}
        if not isinstance(value, list):
            return self.value(value)
        return [
            {**self.value(one), "value": MASK} if isinstance(one, dict) and "value" in one else self.value(one)
            for one in value
        ]


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


def _hidden(value: Any, is_count: bool) -> Any:
    """Mask all strings, and all numbers unless they are a count, of the value under a secret name."""
    if isinstance(value, list):
        return [_hidden(one, is_count) for one in value]
    if isinstance(value, dict):
        return {name: _hidden(one, is_count) for name, one in value.items()}
    if value is None or isinstance(value, bool) or value == "":
        return value
    return value if is_count and not isinstance(value, str) else MASK


def _cut(text: bytes, spans: list[tuple[int, int]]) -> bytes:
    """Return the text with a mask in place of each span; spans are sorted, and may overlap."""
    if not spans:
        return text
    parts, done = [], 0
    for start, end in spans:
        if start >= done:
            parts += [text[done:start], _MASK]
        done = max(done, end)
    return b"".join([*parts, text[done:]])


def _bytes(text: str) -> bytes:
    """Encode as UTF-8, with lone surrogates, which stand for undecodable bytes of the environment, too."""
    return text.encode("utf-8", "surrogatepass")


def has_secret(text: str) -> bool:
    """Return whether the text contains a secret that the user has entered."""
    return without_secrets(text) != text


def without_secrets(text: str) -> str:
    """Return the text with the secrets masked that the user has entered, but not what only looks like one."""
    return Masker().hide(text) if LEARNED.secrets else text


def masked(text: str) -> str:
    """Mask a text for a recording or a transcript: known secrets, and what looks like one.

    Must not be called on the event loop: a long text takes milliseconds.
    """
    return _masker().text(text)


@cache
def _masker() -> Masker:
    return Masker(known_secrets({}, os.environ))
