"""Fixtures: a stage with one file of many lines, which the agent knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.workspace.stage import Buffer, Stage


@dataclass
class Scenery:
    """A stage, and a file `line 1` ... `line n` that is open in Neovim."""

    stage: Stage
    path: Path
    lines: list[str]

    @property
    def buffer(self) -> Buffer:
        found = self.stage.buffer(self.path)
        assert found is not None
        return found

    def agent_writes(self, lines: list[str], meanwhile: str = "") -> None:
        """The agent writes these lines; the user types keys while it does."""
        self.lines = lines
        self.stage.agent.begin("write", path=str(self.path), content="".join(f"{line}\n" for line in lines))
        self.stage.nvim.api("input", meanwhile)
        self.stage.agent.finish()

    def lua(self, expression: str) -> object:
        return self.stage.nvim.lua(f"return {expression}")


@pytest.fixture
def scenery(tmp_path: Path) -> Iterator[Callable[[int], Scenery]]:
    """Opens a file of that many lines; the agent has read it."""
    stage = Stage(tmp_path)

    def make(count: int) -> Scenery:
        path = stage.clear() / "file.txt"
        lines = [f"line {number} of the file" for number in range(1, count + 1)]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        stage.type(f":edit {path}<CR>")
        stage.agent.tell("read", path=str(path))
        return Scenery(stage, path, lines)

    yield make
    stage.close()
