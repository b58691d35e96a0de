"""Starts terminals that end with the host, however that ends."""

from __future__ import annotations

from acp_nvim.process.guarding import Guard
from acp_nvim.terminals.command_line import Command
from acp_nvim.terminals.terminal import Terminal


class Launcher:
    """Starts commands in terminals, and has the guard end them when this process dies."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def __repr__(self) -> str:
        return f"<Launcher {self._guard!r}>"

    async def start(self, command: Command, limit: int) -> Terminal:
        """Start it; whoever gets it lets it `run`. Raises `OSError`, `ValueError`."""
        return await Terminal.start(command, limit, self._guard)
