"""Which protocol version an agent and we speak (ACP "Initialization", Version Negotiation)."""

from __future__ import annotations

import msgspec

from acp_nvim.protocol.dialect import Dialect
from acp_nvim.protocol.dialect_v1 import DialectV1
from acp_nvim.wire import open_unions

NEWEST = 2
"""The latest version that we know."""


class _Answer(msgspec.Struct, rename="camel"):
    protocol_version: int


class VersionError(Exception):
    """The agent speaks a version that we do not, or that is switched off."""

    def __init__(self, version: int) -> None:
        super().__init__(f"protocol version {version}")
        self.version = version


def choose_dialect(answer: msgspec.Raw, v2: bool) -> Dialect:
    """The dialect of an agent that answered `initialize` so. Raises `VersionError`, or `msgspec.DecodeError`."""
    version = open_unions.decode(answer, msgspec.json.Decoder(_Answer)).protocol_version  # 1.0 is 1
    if version == DialectV1.version:
        return DialectV1()
    if version == NEWEST and v2:
        from acp_nvim.protocol.dialect_v2 import DialectV2  # its types take time, and few need them

        return DialectV2()
    raise VersionError(version)
