"""Fixtures: the demo agent in a copy of the sample project, and scripted agents."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import acp_nvim
from tests.agents.acp_shapes import check_message
from tests.agents.demo_client import DemoClient
from tests.agents.scripted_client import Started
from tests.support.agent_scripts import agent_script
from tests.support.processes import look_at

SAMPLE = Path(acp_nvim.__file__).parent / "demo_project"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "project"))


@pytest.fixture
def connect(project: Path) -> Iterator[Callable[..., DemoClient]]:
    """Starts demo agents in the project; all that they sent is checked against the protocol at the end."""
    clients: list[DemoClient] = []

    def start(cwd: Path = project, **given: Any) -> DemoClient:
        clients.append(DemoClient(cwd, **given))
        return clients[-1]

    yield start
    for client in clients:
        with client:
            for message in client.messages:
                check_message(message)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Started]]:
    """Starts agents with a script; they, and what they spawned, are killed at the end."""
    started: list[Started] = []

    def begin(source: str) -> Started:
        started.append(Started(agent_script(tmp_path, source, f"agent{len(started)}"), tmp_path))
        return started[-1]

    yield begin
    for client in started:
        client.process.kill()
        for pid in client.script.notes("spawned"):
            if look_at(pid):
                os.kill(pid, signal.SIGKILL)
        with client:
            pass
