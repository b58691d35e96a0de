"""Values that new sessions of an agent begin with: one file in the state directory, for all Neovims."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.state.private_file import SharedJson

DEFAULTS_BYTES: Final = 1024 * 1024
"""Limit of the file's size: a larger one was not written by us."""

Values = dict[str, str | bool]
"""Values by the ids of switches."""


class _File(msgspec.Struct):
    """The content of the file, by the names of agents."""

    agents: dict[str, Values] = {}


class KeptDefaults:
    """The kept values of all agents, in a file in `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._seen: set[tuple[str, ...]] = set()

    def is_news(self, *about: str) -> bool:
        """Return whether this is the first call with these arguments in this Neovim."""
        news = about not in self._seen
        self._seen.add(about)
        return news

    async def of(self, agent: str) -> Values:
        """Return the kept values of an agent. Raises `OSError`, once for each file that is broken."""

        def load() -> Values:
            known = self._file().load()
            return known.agents.get(agent, {}) if known else {}

        return await anyio.to_thread.run_sync(load)

    async def keep(self, agent: str, switch_id: str, value: str | bool) -> None:
        """Keep a value for all new sessions of the agent. Raises `OSError` if it cannot be written."""

        def change(known: _File | None) -> _File:
            known = known or _File()
            known.agents.setdefault(agent, {})[switch_id] = value
            return known

        await anyio.to_thread.run_sync(self._file().change, change)

    async def forget(self, agent: str) -> Values:
        """Remove and return the kept values of an agent. Raises `OSError` if the file cannot be written."""
        forgotten: Values = {}

        def change(known: _File | None) -> _File:
            known = known or _File()
            forgotten.update(known.agents.pop(agent, {}))
            return known

        await anyio.to_thread.run_sync(self._file().change, change)
        return forgotten

    def _file(self) -> SharedJson[_File]:
        return SharedJson(self._directory / "defaults.json", _File, DEFAULTS_BYTES)
