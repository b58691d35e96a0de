"""Async tests run on asyncio, which is what the host runs on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from acp_nvim.traffic.masking import LEARNED
from tests.support import contract
from tests.support.virtual_clock import VirtualClockLoop


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """Only asyncio: pynvim brings its loop. Where nothing is awaited but time, none passes for who runs the tests."""
    return "asyncio", {"loop_factory": VirtualClockLoop}


@pytest.fixture(autouse=True)
def only_events_of_the_contract() -> Iterator[None]:
    """What is published to a fake editor must be an event of `acp_nvim.contract`, with the types that it declares."""
    contract.problems.clear()
    yield
    assert contract.problems == []


@pytest.fixture(autouse=True)
def no_secrets_of_others() -> Iterator[None]:
    """What one test enters as a secret is not masked in another, which may be about such a word."""
    yield
    LEARNED.secrets = frozenset()
