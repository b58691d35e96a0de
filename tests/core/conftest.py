"""Async tests run on asyncio, which is what the host runs on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from acp_nvim.traffic.masking import LEARNED
from tests.support import contract


@pytest.fixture
def anyio_backend() -> str:
    """Only asyncio: pynvim brings its loop."""
    return "asyncio"


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
