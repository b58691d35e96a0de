"""What the user wants new sessions of an agent to begin with: one file in the state directory, for all Neovims."""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio.to_thread
import msgspec

from acp_nvim.limits.configuring import DEFAULTS_BYTES
from acp_nvim.workspace.private_file import make_directory, write_new

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
        """False when that was asked before."""
        news = about not in self._said
        self._said.add(about)
        return news

    async def of(self, agent: str) -> Values:
        """Those of an agent. Raises `OSError`, once for each file that is broken."""
        return await anyio.to_thread.run_sync(lambda: self._load().agents.get(agent, {}))

    async def keep(self, agent: str, switch_id: str, value: str | bool) -> None:
        """From now on. Raises `OSError`."""

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

    @property
    def _path(self) -> Path:
        if self.directory is None:
            raise OSError(0, "there is no state directory")
        return self.directory / "defaults.json"

    def _load(self) -> _File:
        try:
            with self._path.open("rb") as file:
                return msgspec.json.decode(file.read(DEFAULTS_BYTES), type=_File)
        except FileNotFoundError:
            return _File()
        except msgspec.MsgspecError as error:
            aside = self._path.with_name(f"defaults.broken-{uuid.uuid4().hex[:6]}")
            self._path.rename(aside)
            raise OSError(0, f"it was not written by acp_nvim ({error}), and is {aside} now") from error

    def _change(self, change: Callable[[_File], None]) -> None:
        make_directory(self._path.parent)
        with self._alone():
            known = self._load()
            change(known)
            temporary = self._path.with_name(f"defaults.new-{uuid.uuid4().hex[:6]}")
            write_new(temporary, msgspec.json.format(msgspec.json.encode(known)))
            try:
                temporary.replace(self._path)
            except OSError:
                with suppress(OSError):
                    temporary.unlink()
                raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other Neovim changes the file meanwhile."""
        descriptor = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
