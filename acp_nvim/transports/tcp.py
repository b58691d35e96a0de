"""Agents that listen on a TCP port: lines of JSON as over stdio, with TLS or without."""

from __future__ import annotations

import ssl

import anyio
import anyio.abc
import anyio.lowlevel

from acp_nvim.agents.address import Address
from acp_nvim.process.guarding import Guard
from acp_nvim.transports.link import Link
from acp_nvim.transports.reaching import open_stream, reached_within, words_of


class TcpLink(Link):
    """A TCP connection to an agent, encrypted or not."""

    def __init__(self, address: Address, guard: Guard, stream: anyio.abc.ByteStream) -> None:
        super().__init__(address, guard)
        self._stream = stream

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        """See `ByteSource`; it does not wait until `not_before`."""
        try:
            data = await self._stream.receive(max_bytes)
        except (anyio.EndOfStream, ssl.SSLZeroReturnError) as error:  # the latter: Python 3.11.2
            self._ended("was closed by the other side")
            raise anyio.EndOfStream from error
        except (anyio.BrokenResourceError, ssl.SSLError) as error:
            cause = error.__cause__ or error.__context__ or error
            self._ended("was lost" if cause is error and not str(error) else f"was lost ({words_of(cause)})")
            raise anyio.EndOfStream from error
        self._has_heard = True
        if self.address.tls:
            await anyio.lowlevel.checkpoint()  # reading what is decrypted already does not yield to other tasks
        return data

    async def send(self, item: bytes) -> None:
        """Write all bytes. Raises `anyio.BrokenResourceError` when the other side is closed."""
        try:
            await self._stream.send(item)
        except ssl.SSLError as error:
            raise anyio.BrokenResourceError from error

    async def close(self) -> None:
        """Close the connection at once, without the farewell of TLS."""
        await self._stream.aclose()


async def connect_tcp(address: Address, tls: bool | str, guard: Guard, seconds: float) -> TcpLink:
    """Connect to an agent within `seconds`. Raises `UnreachableError`."""
    async with reached_within(address, seconds):
        return TcpLink(address, guard, await open_stream(address, tls))
