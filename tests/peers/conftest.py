"""Conversations with peers: each test checks all that it made the client send."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.peers.peers import ONES, Peer
from tests.peers.servers import Servers
from tests.peers.talk import Talk, talking


@pytest.fixture
def anyio_backend() -> str:
    """Use asyncio only, whose loop pynvim brings."""
    return "asyncio"


@pytest.fixture(params=ONES, ids=lambda peer: peer.name)
def peer(request: pytest.FixtureRequest) -> Peer:
    """One of each, unless the test chooses."""
    return request.param


@pytest.fixture(scope="package")
def servers() -> Iterator[Servers]:
    """The processes of the agents, for all tests of this folder."""
    with tempfile.TemporaryDirectory() as directory:
        servers = Servers(Path(directory))
        yield servers
        servers.close()


@pytest.fixture
def is_served() -> bool:
    """Whether the agent runs in a process for many tests; a test says no to have a process and stdio of its own."""
    return True


@pytest.fixture
async def talk(tmp_path: Path, peer: Peer, servers: Servers, is_served: bool) -> AsyncIterator[Talk]:
    """A host, and the peer as its agent."""
    async with talking(tmp_path, peer, servers if is_served else None) as talk:
        yield talk
