"""One agent: how to start it, and how it deviates from the protocol."""

from __future__ import annotations

from typing import Any

import msgspec


class AgentDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that can be started.

    `command` is an argument list; `env` is set on top of the user's environment; `mcp_servers` are as
    they go over the wire; what may be left out is added, and who cannot be reached is left out.
    """

    name: str
    command: list[str]
    env: dict[str, str] = {}
    mcp_servers: list[dict[str, Any]] = []


class AgentSettings(msgspec.Struct, forbid_unknown_fields=True):
    """What a user writes about an agent: `agents.<name>` of the configuration."""

    command: list[str]
    env: dict[str, str] = {}
    mcp_servers: list[dict[str, Any]] = []


QUIRKS: dict[str, frozenset[str]] = {
    # stringifies every error of fs/read_text_file, and then refuses to create the file
    "gemini-cli": frozenset({"missing_file_reads_empty"}),
}
"""Deviations by the name an agent gives itself in `initialize` (`agentInfo.name`)."""
