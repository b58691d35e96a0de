"""What we say of ourselves in `initialize`."""

from __future__ import annotations

import json

import msgspec

from acp_nvim import __version__
from acp_nvim.protocol.capabilities import initialize_params


def test_only_what_works_is_offered() -> None:
    params = initialize_params()
    assert params["protocolVersion"] == 1
    assert params["clientCapabilities"] == {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": False}
    assert params["clientInfo"] == {"name": "acp_nvim", "title": "acp_nvim for Neovim", "version": __version__}


def test_it_is_json_and_new_each_time() -> None:
    assert json.loads(msgspec.json.encode(initialize_params())) == initialize_params()
    initialize_params()["clientCapabilities"]["terminal"] = True
    assert initialize_params()["clientCapabilities"]["terminal"] is False
