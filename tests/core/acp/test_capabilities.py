"""What we say of ourselves in `initialize`."""

from __future__ import annotations

import json

import msgspec

from acp_nvim import __version__
from acp_nvim.acp.negotiation import initialize_params


def test_only_what_works_is_offered() -> None:
    assert initialize_params(v2=False) == {
        "protocolVersion": 1,
        "clientInfo": {"name": "acp_nvim", "title": "acp_nvim for Neovim", "version": __version__},
        "clientCapabilities": {
            "fs": {"readTextFile": True, "writeTextFile": True},
            "terminal": True,
            "auth": {"terminal": True},
            "elicitation": {"form": {}, "url": {}},
            "plan": {},
            "subagents": {},
            "_meta": {"terminal_output": True, "terminal-auth": True},
            "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
        },
    }


def test_with_version_2_both_versions_can_read_it() -> None:
    first, both = initialize_params(v2=False), initialize_params(v2=True)
    assert both["protocolVersion"] == 2
    assert both["info"] == both["clientInfo"] == first["clientInfo"]
    assert both["capabilities"] == {"auth": {"terminal": {}}, "elicitation": {"form": {}, "url": {}}}
    assert both["clientCapabilities"] == first["clientCapabilities"]


def test_it_is_json() -> None:
    assert json.loads(msgspec.json.encode(initialize_params(v2=True))) == initialize_params(v2=True)
