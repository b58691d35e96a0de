"""A running host for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.core.session.host import Host, running_host


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    """The whole core, with a fake editor."""
    async with running_host(tmp_path) as host:
        yield host
