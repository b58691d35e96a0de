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


class Stages:
    """One stage for many tests, and another after a test that has failed."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self._factory = factory
        self._stage: Stage | None = None

    def stage(self) -> Stage:
        if self._stage is None:
            self._stage = Stage(self._factory.mktemp("stage"))
        return self._stage

    def close(self) -> None:
        """End the stage, if there is one."""
        if self._stage is not None:
            stage, self._stage = self._stage, None
            stage.close()


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stages]:
    """Stages that tests share: to start one takes as long as ten tests on it."""
    stages = Stages(tmp_path_factory)
    yield stages
    stages.close()


@pytest.fixture
def scenery(stages: Stages, request: pytest.FixtureRequest) -> Iterator[Callable[[int], Scenery]]:
    """Opens a file of that many lines; the agent has read it."""
    stage = stages.stage()
    stage.type(r"<C-\><C-n>")
    failed = request.session.testsfailed

    def make(count: int) -> Scenery:
        path = stage.clear() / "file.txt"
        lines = [f"line {number} of the file" for number in range(1, count + 1)]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        stage.type(f":edit {path}<CR>")
        stage.agent.tell("read", path=str(path))
        return Scenery(stage, path, lines)

    yield make
    if request.session.testsfailed > failed:
        stages.close()
