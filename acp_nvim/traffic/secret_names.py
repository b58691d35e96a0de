"""Decides by a name whether its value is a secret: names of members, variables, headers and options."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from acp_nvim.lazy import pattern

_WORD: Final = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_PASSWORDS: Final = frozenset(
    {
        *("accesskey", "accountkey", "apikey", "apikeys", "authkey", "authorization", "authtoken", "passcode"),
        *("passphrase", "passwd", "password", "passwords"),
    }
)
_SECRET_WORDS: Final = _PASSWORDS | {
    *("bearer", "cookie", "cookies", "credential", "credentials", "jwt", "secret", "secrets", "token", "tokens")
}
_ENDS_OF_WORDS: Final = ("password", "passwd", "passphrase", "apikey", "secret", "token")
"""Ends of words that nothing divides, as in `PGPASSWORD`."""
_KINDS_OF_KEYS: Final = frozenset(
    {"access", "account", "api", "auth", "encryption", "license", "private", "secret", "signing", "ssh", "subscription"}
)
_ENDS_OF_VARIABLES: Final = frozenset({"auth", "key", "keys", "pass", "pat", "pin", "pw", "pwd"})
_PLACES: Final = frozenset({"dir", "directory", "file", "home", "id", "ids", "path", "sock", "socket"})
"""Last words of variables that contain the location of a secret, and not the secret."""
_ABOUT: Final = _PLACES | {
    *(
        "at",
        "budget",
        "count",
        "endpoint",
        "env",
        "expiration",
        "expires",
        "expiry",
        "field",
        "header",
        "hint",
        "index",
    ),
    *("input", "kind", "label", "len", "length", "limit", "max", "min", "mode", "name", "names", "policy", "prefix"),
    *("prompt", "provider", "required", "reset", "rotation", "size", "stdin", "store", "ttl", "type", "types", "uri"),
    *("url", "usage", "used", "valid", "var", "variable", "window"),
}
"""Last words of names in texts whose values only describe a secret."""


def words(name: str) -> list[str]:
    """Split a name in any spelling: camelCase, PascalCase, snake_case, kebab-case, UPPER_CASE."""
    return [word.lower() for word in _WORD.findall(name)]


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Return whether the value under this name must be masked: `apiKey`, `X-Auth-Token`, `db_password`, ..."""
    parts = words(name)
    return (
        not _SECRET_WORDS.isdisjoint(parts)
        or any(second in ("key", "keys") and first in _KINDS_OF_KEYS for first, second in pairwise(parts))
        or any(part.endswith(_ENDS_OF_WORDS) for part in parts)
    )


def is_secret_variable(name: str) -> bool:
    """Return whether an environment variable is secret by its name: `OPENAI_KEY` is, `SSH_AUTH_SOCK` is not."""
    parts = words(name)
    if len(parts) < 1 + (parts[-1:] == ["pwd"]) or parts[-1] in _PLACES:  # `PWD` is a directory, `DB_PWD` is none
        return False
    return is_secret(name) or parts[-1] in _ENDS_OF_VARIABLES


def is_count(name: str) -> bool:
    """Return whether a number under this secret name is a count: that of `inputTokens` is."""
    return not {"token", "tokens"}.isdisjoint(words(name))


Strength = Literal["none", "weak", "strong"]


@lru_cache(maxsize=4096)
def strength(name: str) -> Strength:
    """Return how surely what is assigned to that name in a text is a secret.

    "strong": a password, whatever it looks like. "weak": it must look random, as the `token` of a parser does not.
    """
    parts = words(name)
    if not parts or parts[-1] in _ABOUT:
        return "none"
    if not is_secret(name):
        is_variable = name.upper() == name and is_secret_variable(name)
        if len(parts) > 1 and parts[-1] in ("pass", "pwd"):
            return "strong"
        return "weak" if is_variable or parts == ["pwd"] else "none"
    if not _PASSWORDS.isdisjoint(parts) or any(one.endswith(("password", "passwd")) for one in parts):
        return "strong"
    is_key = any(second == "key" and first in _KINDS_OF_KEYS for first, second in pairwise(parts))
    is_named_secret = len(parts) > 1 and parts[-1] == "secret"
    return "strong" if is_key or is_named_secret else "weak"
