"""Messages of the Model Context Protocol, in its two eras: with a handshake (until 2025-11-25), and stateless since."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from acp_nvim import __version__, decoders
from acp_nvim.jsonrpc.messages import CancelRules

HANDSHAKE_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions that a client selects with `initialize`, newest first."""
STATELESS_VERSIONS: Final = ("2026-07-28",)
"""Versions that a client names in the `_meta` of each request, newest first."""

VERSION: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"

UNSUPPORTED_VERSION: Final = -32022

CANCELLED: Final = CancelRules("notifications/cancelled", is_answered=False)
"""A cancelled request gets no answer (both eras, "Cancellation")."""

LIST_CHANGED: Final = "notifications/tools/list_changed"

INFO: Final = {"name": "nvim", "title": "Neovim", "version": __version__}

INSTRUCTIONS: Final = (
    "The user's Neovim. Its tools know what files and shell do not: unsaved text, diagnostics and language servers, "
    "and what the user looks at. Paths are relative to the working directory, or absolute. Lines count from 1. Use "
    "`diagnostics` after edits, `rename` instead of replacing names in text, and `definition` and `references` "
    "instead of searching for a symbol."
)


PROGRESS: Final = "notifications/progress"


class Params(msgspec.Struct):
    """The parameters that every request may have."""

    meta: dict[str, msgspec.Raw] | None = msgspec.field(name="_meta", default=None)

    @property
    def progress_token(self) -> str | int | None:
        """What notices of progress are to name; None if the client wants none (both eras, "Progress")."""
        token = (self.meta or {}).get("progressToken")
        value: object = None if token is None else decoders.decode(token, object)
        return value if isinstance(value, str | int) and not isinstance(value, bool) else None


class InitializeParams(msgspec.Struct):
    """The parameters of `initialize`, as far as they matter here."""

    version: str = msgspec.field(name="protocolVersion")


class CallParams(Params, kw_only=True):
    """The parameters of `tools/call`: a tool by its name, and its arguments."""

    name: str
    arguments: dict[str, Any] | None = None


def progress(token: str | int, count: int) -> dict[str, Any]:
    """Return the parameters of a notice of progress; `count` grows with each."""
    return {"progressToken": token, "progress": count, "message": "Neovim works on it, or waits for the user."}


def initialized(version: str) -> dict[str, Any]:
    """Return the result of `initialize`; a version that is not known gets the newest one as a counter-offer."""
    return {
        "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0],
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": INFO,
        "instructions": INSTRUCTIONS,
    }


def discovered() -> dict[str, Any]:
    """Return the result of `server/discover`: the versions and capabilities of this server."""
    return {
        "supportedVersions": list(STATELESS_VERSIONS),
        "capabilities": {"tools": {}},
        "instructions": INSTRUCTIONS,
        "ttlMs": 3_600_000,
        "cacheScope": "private",
    }


def listed(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the result of `tools/list` for a stateless client, which asks again: it is not told of changes."""
    return {"tools": tools, "ttlMs": 60_000, "cacheScope": "private"}


def called(text: str, is_error: bool) -> dict[str, Any]:
    """Return the result of `tools/call`; `is_error`: the text says why the tool has failed.

    Bytes of a buffer that are not UTF-8 (half a pair of surrogates here) become replacement characters.
    """
    sendable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return {"content": [{"type": "text", "text": sendable}], "isError": is_error}


def stateless(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result as the stateless versions want it."""
    return {"resultType": "complete", **result, "_meta": {**result.get("_meta", {}), SERVER_INFO: INFO}}
