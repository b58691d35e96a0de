"""What the user wants new sessions of an agent to begin with: one file in the state directory, for all Neovims."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.workspace.private_file import SharedJson

DEFAULTS_BYTES: Final = 1024 * 1024
"""Of the file of kept defaults: a larger one was not written by us."""

Values = dict[str, str | bool]
"""By the ids of switches."""


class _File(msgspec.Struct):
    """All of it, by the names of agents."""

    agents: dict[str, Values] = {}


class KeptDefaults:
    """`directory` is where the file is; without one nothing is kept. `is_news` says each thing once in this Neovim."""

    def __init__(self) -> None:
        self.directory: Path | None = None
        self._said: set[tuple[str, ...]] = set()

    def __repr__(self) -> str:
        return f"<KeptDefaults in {self.directory}>"

    def is_news(self, *about: str) -> bool:
        """Whether this is asked for the first time in this Neovim; notes that it was."""
        news = about not in self._said
        self._said.add(about)
        return news

    async def of(self, agent: str) -> Values:
        """Return the kept values of an agent. Raises `OSError`, once for each file that is broken."""
        return await anyio.to_thread.run_sync(lambda: self._load().agents.get(agent, {}))

    async def keep(self, agent: str, switch_id: str, value: str | bool) -> None:
        """Keep a value for all new sessions of the agent. Raises `OSError` when it cannot be written."""

        def change(known: _File) -> None:
            known.agents.setdefault(agent, {})[switch_id] = value

        await anyio.to_thread.run_sync(self._change, change)

    async def forget(self, agent: str) -> Values:
        """Nothing of that agent any more: what there was. Raises `OSError`."""
        forgotten: Values = {}

        def change(known: _File) -> None:
            forgotten.update(known.agents.pop(agent, {}))

        await anyio.to_thread.run_sync(self._change, change)
        return forgotten

    def _load(self) -> _File:
        return self._file().load() or _File()

    def _change(self, change: Callable[[_File], None]) -> None:
        def changed(known: _File | None) -> _File:
            known = known or _File()
            change(known)
            return known

        self._file().change(changed)

    def _file(self) -> SharedJson[_File]:
        if self.directory is None:
            raise OSError(0, "there is no state directory")
        return SharedJson(self.directory / "defaults.json", _File, DEFAULTS_BYTES)
