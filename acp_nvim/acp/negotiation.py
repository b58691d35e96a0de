"""The start of a connection (ACP "Initialization"): the client's capabilities, and the choice of the version."""

from __future__ import annotations

from typing import Any

import msgspec

from acp_nvim import __version__
from acp_nvim.acp.auth_methods import LAUNCH
from acp_nvim.acp.decoding import decode
from acp_nvim.acp.dialect import Dialect
from acp_nvim.acp.v1 import TERMINAL_OUTPUT, DialectV1

NEWEST = 2
"""The latest supported version."""

CLIENT_INFO = {"name": "acp_nvim", "title": "acp_nvim for Neovim", "version": __version__}

ELICITATION: dict[str, Any] = {"form": {}, "url": {}}

CAPABILITIES_V2: dict[str, Any] = {"auth": {"terminal": {}}, "elicitation": ELICITATION}


def initialize_params(v2: bool, terminal: bool = True) -> dict[str, Any]:
    """Return the parameters of `initialize`; `terminal`: the client runs commands for the agent.

    With `v2` they are valid in both versions, so that an agent of version 1 can answer with its own version and still
    knows the client's capabilities.
    """
    params: dict[str, Any] = {
        "protocolVersion": DialectV1.version,
        "clientInfo": CLIENT_INFO,
        "clientCapabilities": {
            "fs": {"readTextFile": True, "writeTextFile": True},
            "terminal": terminal,
            "auth": {"terminal": True},
            "elicitation": ELICITATION,
            "plan": {},
            "subagents": {},
            "_meta": {**TERMINAL_OUTPUT, LAUNCH: True},
            "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
        },
    }
    if v2:
        params |= {"protocolVersion": NEWEST, "info": CLIENT_INFO, "capabilities": CAPABILITIES_V2}
    return params


class _Answer(msgspec.Struct, rename="camel"):
    protocol_version: int


class VersionError(Exception):
    """The agent's protocol version is not supported, or is disabled."""

    def __init__(self, version: int) -> None:
        super().__init__(f"protocol version {version}")
        self.version = version


def choose_dialect(answer: msgspec.Raw, v2: bool) -> Dialect:
    """Return the dialect for an answer to `initialize`. Raises `VersionError` or `msgspec.DecodeError`."""
    version = decode(answer, _Answer).protocol_version
    if version == DialectV1.version:
        return DialectV1()
    if version == NEWEST and v2:
        from acp_nvim.acp.v2 import DialectV2  # imported here: its types take time, and are rarely needed

        return DialectV2()
    raise VersionError(version)
