"""What today's adapters say of their commands in the `_meta` of a tool call (version 1 has no display terminals).

They do so for clients with `_meta.terminal_output` among their capabilities: `terminal_info`, `terminal_output` or
`terminal_output_delta` (both are more output), `terminal_exit`. The terminal usually goes by the id of the tool call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from acp_nvim.protocol.terminal import Exit, TerminalPatch
from acp_nvim.protocol.updates import TerminalChanged, TerminalNews, TerminalPrinted

CAPABILITY = {"terminal_output": True}
"""Among the `_meta` of the client's capabilities."""


def terminal_news(tool_call_id: str, meta: Any) -> tuple[TerminalNews, ...]:
    """What `meta` says of terminals, in order; what is not in shape says nothing."""
    return tuple(_news(tool_call_id, meta)) if isinstance(meta, dict) else ()


def _news(tool_call_id: str, meta: dict[str, Any]) -> Iterator[TerminalNews]:
    info, ended = meta.get("terminal_info"), meta.get("terminal_exit")
    if isinstance(info, dict):
        cwd, terminal_id = info.get("cwd"), _id(info, tool_call_id)
        yield TerminalChanged(TerminalPatch(terminal_id=terminal_id, cwd=cwd if isinstance(cwd, str) else UNSET))
    for name in ("terminal_output", "terminal_output_delta"):
        more = meta.get(name)
        if isinstance(more, dict) and isinstance(data := more.get("data"), str):
            yield TerminalPrinted(_id(more, tool_call_id), data.encode("utf-8", "replace"))
    if isinstance(ended, dict):
        yield TerminalChanged(TerminalPatch(terminal_id=_id(ended, tool_call_id), exit=_exit(ended)))


def _id(said: dict[str, Any], tool_call_id: str) -> str:
    named = said.get("terminal_id")
    return named if isinstance(named, str) else tool_call_id


def _exit(said: dict[str, Any]) -> Exit:
    code, signal = said.get("exit_code"), said.get("signal")
    return Exit(code if isinstance(code, int) else None, signal if isinstance(signal, str) else None)
