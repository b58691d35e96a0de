"""Addresses of agents that others have started: `host:port` for TCP, `ws://` and `wss://` for WebSocket."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

import msgspec

SCHEMES: dict[str, int] = {"ws": 80, "wss": 443}
"""The schemes of WebSocket addresses, each with its default port."""
EXAMPLES = '"localhost:3000" or "[::1]:3000"'


class Address(msgspec.Struct, frozen=True):
    """Where an agent listens; `url` is that of a WebSocket, empty for TCP. `tls`: its connection is encrypted."""

    text: str
    host: str
    port: int
    url: str = ""
    tls: bool = False

    def __str__(self) -> str:
        return self.text

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, so that nobody can read the connection on the way."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"


def parse_address(text: str) -> Address:
    """Return the parts of an address. Raises `ValueError`, whose text says what it should look like."""
    scheme, separator, _ = text.partition("://")
    if not separator:
        return _tcp(text)
    if scheme not in SCHEMES:
        known = ", ".join(f"{one}://" for one in SCHEMES)
        raise ValueError(f"`address` begins with {scheme}://, which is not known (known: {known}, or only {EXAMPLES})")
    parts = _split(text)
    if not parts.hostname or parts.username is not None or parts.password is not None or parts.fragment:
        raise ValueError(f"`address` must look like {scheme}://host/path, without a user, a password and a #")
    return Address(text, parts.hostname, parts.port or SCHEMES[scheme], text, scheme == "wss")


def _tcp(text: str) -> Address:
    parts = _split(f"//{text}")
    if not parts.hostname or parts.netloc != text or "@" in text:
        raise ValueError(f"`address` must look like {EXAMPLES}")
    if not parts.port:
        raise ValueError(f"`address` has no port: it must look like {EXAMPLES}")
    return Address(text, parts.hostname, parts.port)


def _split(text: str) -> Any:
    """Split a URL, whose port is a number between 1 and 65535, if there is one."""
    try:
        parts = urlsplit(text)
        is_good = parts.port != 0 and not any(char.isspace() or not char.isprintable() for char in text)
    except ValueError as error:  # a strange port, or a [ without its ]
        raise ValueError(f"`address` cannot be read ({error}): it must look like {EXAMPLES}") from error
    if not is_good:
        raise ValueError(f"`address` must look like {EXAMPLES}")
    return parts
