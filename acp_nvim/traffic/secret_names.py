"""Says which names (of JSON members, variables, options, headers) promise that their value is a secret."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

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
