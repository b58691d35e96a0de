"""An end of TLS is the end of the connection, however Python tells it: 3.11.2 raises `SSLZeroReturnError`."""

from __future__ import annotations

import ssl

import anyio
import pytest

from acp_nvim.agents.address import parse_address
from acp_nvim.process.guarding import Guard
from acp_nvim.transports.interface import Disconnected
from acp_nvim.transports.reaching import UnreachableError, reached_within
from acp_nvim.transports.tcp import TcpLink
from tests.support.waiting import LIMIT

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("told", [anyio.EndOfStream(), ssl.SSLZeroReturnError(6, "closed (EOF)")]),
]
ADDRESS = parse_address("localhost:1")


class Ended:
    """A stream that tells its end by raising an error."""

    def __init__(self, told: Exception) -> None:
        self.told = told

    async def receive(self, max_bytes: int) -> bytes:
        raise self.told


async def test_while_messages_are_read(told: Exception) -> None:
    link = TcpLink(ADDRESS, Guard(), Ended(told))  # type: ignore[arg-type]
    with pytest.raises(anyio.EndOfStream):
        await link.receive(100)
    assert link.ending() == Disconnected("localhost:1", "was closed by the other side", False)


async def test_while_the_connection_is_set_up(told: Exception) -> None:
    with pytest.raises(UnreachableError) as raised:
        async with reached_within(ADDRESS, LIMIT):
            raise told
    words = "localhost:1 closed the connection before TLS was set up"
    assert (raised.value.cause, str(raised.value)) == ("not_tls", words)
