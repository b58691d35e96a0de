"""Masks secrets in messages: by the names they stand under, by their shapes, and those known beforehand."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final
from urllib.parse import quote

from acp_nvim.limits import ENTERED_SECRET_CHARS, SECRET_CHARS

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_SECRET_WORD: Final = re.compile(
    r"authorization|bearer|cookies?|credentials?|jwt|passcode|passphrase|passwd|passwords?|secrets?|tokens?"
    r"|apikeys?|accesskey|authkey|authtoken"
)
_KIND_OF_KEY: Final = re.compile(r"access|account|api|auth|encryption|license|private|secret|signing|ssh")
_END_OF_VARIABLE: Final = re.compile(r"auth|keys?|pass|pat|pin|pw")
_PLACE: Final = re.compile(r"dir|directory|file|home|ids?|path|sock|socket")
"""A variable that ends like this says where a secret is, not which."""


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether the value under this name is to be masked: `apiKey`, `X-Auth-Token`, `db_password`, ..."""
    words = _words(name)
    return any(_SECRET_WORD.fullmatch(word) for word in words) or any(
        second in ("key", "keys") and _KIND_OF_KEY.fullmatch(first) for first, second in pairwise(words)
    )


def counts(name: str) -> bool:
    """Whether a number under this name tells how many: `inputTokens` is no secret."""
    return any(word in ("token", "tokens") for word in _words(name))


def is_secret_variable(name: str) -> bool:
    """Whether an environment variable of this name holds a secret: `OPENAI_KEY` does, `SSH_AUTH_SOCK` does not."""
    words = _words(name)
    if not words or _PLACE.fullmatch(words[-1]):
        return False
    return is_secret(name) or _END_OF_VARIABLE.fullmatch(words[-1]) is not None


def _words(name: str) -> list[str]:
    """The words of a name in any spelling: camelCase, PascalCase, snake_case, kebab-case, UPPER_CASE."""
    return [word.lower() for word in _WORD.findall(name)]


class Learned:
    """Secrets that the user has entered, in memory only; every `Masker` masks what is in it from that moment on."""

    def __init__(self) -> None:
        self.secrets: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<Learned {len(self.secrets)} secrets>"

    def learn(self, secrets: Iterable[str]) -> None:
        """These must not be written from now on, nor shown in words of ours."""
        self.secrets |= {one for one in secrets if len(one) >= ENTERED_SECRET_CHARS}


def secret_values(env: Mapping[str, str]) -> list[str]:
    """The values of environment variables whose names say secret."""
    return [value for name, value in env.items() if is_secret_variable(name) and len(value) >= SECRET_CHARS]


LEARNED: Final = Learned()
"""What this process has learned."""


_NAMES: Final = (
    *(b"token", b"secret", b"passw", b"passphrase", b"passcode", b"apikey", b"api-key", b"accesskey", b"credential"),
    *(b"_key", b"_pat", b"_pass", b"_pwd"),
)
_ASSIGNED: Final = (
    rb"[\w-]{0,60}(?:\\?[\"'] {0,4}[:=] {0,4}\\?[\"'](?P<quoted>[^\"'\\\r\n]+)"
    rb"|=[\"']?(?P<plain>[^\s\"'();,&#<>\\]{%d,}))" % SECRET_CHARS
)
"""What may follow such a part of a name: `": "value"` or `=value`."""

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
"""Keys of the large services, and JSON web tokens; each by how it begins."""


@cache
def _patterns() -> list[tuple[bytes, bool, re.Pattern[bytes]]]:
    """How each kind begins, whether in any case, and its pattern; to make them takes 15 ms."""
    return [
        *((front, True, re.compile(pattern, re.DOTALL)) for front, pattern in _ANY_CASE.items()),
        *((front, False, re.compile(pattern)) for front, pattern in _EXACT.items()),
    ]


def find_secrets(text: bytes) -> Iterator[tuple[int, int]]:
    """Where secrets begin and end; in no order, and they may overlap."""
    lowered = text.lower()
    for front, any_case, pattern in _patterns():
        yield from _matches(lowered if any_case else text, front, pattern)


def _matches(text: bytes, front: bytes, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
    """A search for the front is much faster than one for the pattern."""
    at = text.find(front)
    while at >= 0:
        found = pattern.match(text, at)
        if found:
            yield found.span(found.lastgroup or 0)
        at = text.find(front, found.end() if found else at + len(front))


MASK: Final = "[masked]"
_MASK: Final = MASK.encode()

_SUSPICIOUS: Final = frozenset(
    {
        *(front.lower() for front in (*_ANY_CASE, *_EXACT)),
        *(b"key", b"authorization", b"jwt", b'"env"', b'"headers"', b"\\u", b"\\/"),
    }
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
        """Return a copy of a JSON value with secrets masked in all its names and texts."""
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
            return text
        data = _bytes(text)
        masked = self._hide(data)
        masked = _cut(masked, sorted(find_secrets(masked)))
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


def has_secret(text: str) -> bool:
    """Whether something in it was learned to be a secret."""
    return without_secrets(text) != text


def without_secrets(text: str) -> str:
    """A text without what was learned to be a secret; what only looks like one stays."""
    if not LEARNED.secrets:
        return text
    return Masker().hide(text)


def masked(text: str) -> str:
    """A text that is written down, as recordings and transcripts have it: also without what looks like a secret.

    Not for the event loop: a long one takes milliseconds.
    """
    return _masker().text(text)


@cache
def _masker() -> Masker:
    return Masker(known_secrets({}, os.environ))
