"""Fixtures for the demo agent: a copy of the sample project, and clients in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import acp_nvim
from tests.agents.acp_shapes import check_message
from tests.agents.demo_client import DemoClient

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
