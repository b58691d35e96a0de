"""What we tell an agent of ourselves (ACP "Initialization"): only what works."""

from __future__ import annotations

from typing import Any

from acp_nvim import __version__
from acp_nvim.protocol import v1


def initialize_params() -> dict[str, Any]:
    """The parameters of `initialize`."""
    return {
        "protocolVersion": v1.VERSION,
        "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": False},
        "clientInfo": {"name": "acp_nvim", "title": "acp_nvim for Neovim", "version": __version__},
    }
