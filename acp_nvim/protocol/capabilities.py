"""What we tell an agent of ourselves (ACP "Initialization"): only what works."""

from __future__ import annotations

from typing import Any

from acp_nvim import __version__
from acp_nvim.protocol.auth_methods import LAUNCH
from acp_nvim.protocol.dialect_v1 import DialectV1
from acp_nvim.protocol.negotiation import NEWEST
from acp_nvim.protocol.terminal_meta import CAPABILITY

CLIENT_INFO = {"name": "acp_nvim", "title": "acp_nvim for Neovim", "version": __version__}

ELICITATION: dict[str, Any] = {"form": {}, "url": {}}

CAPABILITIES_V2: dict[str, Any] = {"auth": {"terminal": {}}, "elicitation": ELICITATION}


def initialize_params(v2: bool, terminal: bool = True) -> dict[str, Any]:
    """The parameters of `initialize`; `terminal`: whether commands are run for the agent.

    With `v2` they are readable in both versions, so that an agent of version 1 can answer with its own version and
    still knows what we can do.
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
            "_meta": {**CAPABILITY, LAUNCH: True},
            "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
        },
    }
    if v2:
        params |= {"protocolVersion": NEWEST, "info": CLIENT_INFO, "capabilities": CAPABILITIES_V2}
    return params
