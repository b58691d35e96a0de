"""Async tests run on asyncio, which is what the host runs on; property tests try the same examples every time."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("core", deadline=None, derandomize=True, database=None)
settings.load_profile("core")


@pytest.fixture
def anyio_backend() -> str:
    """Only asyncio: pynvim brings its loop."""
    return "asyncio"
