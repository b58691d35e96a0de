"""Conversations with peers: each test checks all that it made the client send."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.peers.peers import ONES, Peer
from tests.peers.talk import Talk, talking


@pytest.fixture
def anyio_backend() -> str:
    """Only asyncio: pynvim brings its loop."""
    return "asyncio"


@pytest.fixture(params=ONES, ids=lambda peer: peer.name)
def peer(request: pytest.FixtureRequest) -> Peer:
    """One of each, unless the test chooses."""
    return request.param


@pytest.fixture
async def talk(tmp_path: Path, peer: Peer) -> AsyncIterator[Talk]:
    """A host, and the peer as its agent."""
    async with talking(tmp_path, peer) as talk:
        yield talk
