"""Each agent goes through all steps, in one Neovim and then in others; what came of it is a table, doc/interop.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.agent_file import AgentFile, agents
from tests.interop.model.server import ModelServer
from tests.interop.stage import NotOfferedError, Stage
from tests.interop.steps import STEPS, Step
from tests.interop.table import Results


@pytest.fixture(scope="module", params=agents(), ids=lambda agent: agent.name)
def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, results: Results
) -> Iterator[Stage]:
    agent: AgentFile = request.param
    directory: Path = tmp_path_factory.mktemp("p")
    model = ModelServer()
    stage = Stage(directory, agent, model)
    try:
        yield stage
    finally:
        stage.abandon()
        model.close()
        results.about(agent, stage.offers)


def run(stage: Stage, step: Step) -> str:
    """Takes the step; one that the agent is known to fail has to fail."""
    reason = stage.agent.broken.get(step.name)
    if not reason:
        return step.run(stage)
    with pytest.raises(AssertionError):
        step.run(stage)
    return f"broken: {reason}"


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name.replace(" ", "-"))
def test_step(stage: Stage, step: Step, results: Results) -> None:
    missing = [name for name in step.needs if name in stage.failed]
    try:
        if missing:
            pytest.fail(f"not tried, because of: {', '.join(missing)}")
        results.add(stage.agent, step, run(stage, step))
    except NotOfferedError as error:
        results.add(stage.agent, step, f"not offered{f' ({error})' if str(error) else ''}")
    except BaseException:
        stage.failed.append(step.name)
        results.add(stage.agent, step, "not tried" if missing else "FAILED")
        raise
