"""Agents behind a WebSocket: each message is a text frame (a draft of the protocol, "Streamable HTTP & WebSocket").

`websockets` parses and writes the frames; it is an optional package, and this module cannot be imported without it.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Final

import anyio
import anyio.abc
import anyio.lowlevel
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, PayloadTooBig
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from acp_nvim import __version__
from acp_nvim.agents.address import Address
from acp_nvim.jsonrpc.framing import MAX_LINE_BYTES
from acp_nvim.limits import READ_BYTES
from acp_nvim.process.guarding import Guard
from acp_nvim.transports.reaching import Cause, UnreachableError, open_stream, reached_within
from acp_nvim.transports.tcp import TcpLink

PARSED_BYTES: Final = 2048
"""Bytes parsed at once: a thousand empty frames, which take 10 ms."""
CLOSE_SECONDS: Final = 0.5
"""Time to send the farewell when the connection is closed here; its answer is not waited for."""

log = logging.getLogger(__name__)


class WebSocketLink(TcpLink):
    """A WebSocket to an agent: a frame of text is a line, other frames are ignored. `open` comes first."""

    def __init__(self, address: Address, guard: Guard, stream: anyio.abc.ByteStream) -> None:
        super().__init__(address, guard, stream)
        self._protocol = ClientProtocol(parse_uri(address.url), max_size=MAX_LINE_BYTES)
        self._unparsed = b""
        self._said = bytearray()
        self._in_text = False
        self._reply = b""  # the latest answer to a ping or a farewell: earlier ones are not needed any more
        self._has_reply = anyio.Event()
        self._sending = anyio.Lock()

    async def open(self, token: str | None) -> None:
        """Perform the handshake of WebSocket, with the token if there is one. Raises `UnreachableError`."""
        request = self._protocol.connect()
        request.headers["User-Agent"] = f"acp_nvim/{__version__}"
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"
        self._protocol.send_request(request)
        await super().send(b"".join(self._protocol.data_to_send()))
        while self._protocol.state is State.CONNECTING and self._protocol.handshake_exc is None:
            try:
                self._protocol.receive_data(await super().receive(READ_BYTES))
            except anyio.EndOfStream:
                self._protocol.receive_eof()
        error = self._protocol.handshake_exc
        if isinstance(error, InvalidStatus):
            status = error.response.status_code
            cause: Cause = "token" if status in (401, 403) else "status"
            raise UnreachableError(cause, f"{self.address} answers with the HTTP status {status}") from error
        if error is not None:
            raise UnreachableError("no_websocket", f"{self.address} does not speak WebSocket ({error})") from error
        response, *frames = self._protocol.events_received()
        log.info("connection %s: %s", getattr(response, "headers", {}).get("Acp-Connection-Id"), self.address)
        self._take([frame for frame in frames if isinstance(frame, Frame)])

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        """See `ByteSource`; it does not wait until `not_before`."""
        await anyio.lowlevel.checkpoint()
        while not self._said:
            self._check_end()
            if self._unparsed:
                await anyio.lowlevel.checkpoint()
            else:
                self._unparsed = await super().receive(READ_BYTES)
            part, self._unparsed = self._unparsed[:PARSED_BYTES], self._unparsed[PARSED_BYTES:]
            self._protocol.receive_data(part)
            self._take([frame for frame in self._protocol.events_received() if isinstance(frame, Frame)])
        data = bytes(self._said[:max_bytes])
        del self._said[:max_bytes]
        return data

    async def send(self, item: bytes) -> None:
        """Send a line as a frame. Raises `anyio.BrokenResourceError` when the connection is being closed."""
        async with self._sending:
            if self._protocol.state is not State.OPEN:
                raise anyio.BrokenResourceError
            self._protocol.send_text(item.removesuffix(b"\n"))
            await super().send(b"".join(self._protocol.data_to_send()))

    async def read_aside(self) -> None:
        """Answer pings, until the end: beside reading, because the other side may not read what is sent."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while self._reply or not self._over.is_set():
                await self._has_reply.wait()
                self._has_reply = anyio.Event()
                async with self._sending:
                    reply, self._reply = self._reply, b""
                    await super().send(reply)

    async def close(self) -> None:
        """Say farewell, if that is possible at once, and close the connection."""
        if self._protocol.state is State.OPEN and not self._sending.locked():
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError), anyio.move_on_after(CLOSE_SECONDS):
                self._protocol.send_close(1000)
                await super().send(b"".join(self._protocol.data_to_send()))
        await super().close()

    def _take(self, frames: list[Frame]) -> None:
        for frame in frames:
            if frame.opcode is Opcode.TEXT or frame.opcode is Opcode.BINARY:
                self._in_text = frame.opcode is Opcode.TEXT
            elif frame.opcode is not Opcode.CONT:
                continue
            if self._in_text:
                self._said += bytes(frame.data).replace(b"\n", b" ")  # between the parts of a JSON value
                self._said += b"\n" if frame.fin else b""
        for reply in filter(None, self._protocol.data_to_send()):  # an empty one stands for the end
            self._reply = reply
            self._has_reply.set()

    def _check_end(self) -> None:
        """Raise `anyio.EndOfStream` if the other side has said farewell, or something that is no WebSocket."""
        error, close = self._protocol.parser_exc, self._protocol.close_rcvd
        if error is not None:
            too_big = f"the agent sent more than {MAX_LINE_BYTES:,} bytes at once"
            self._ended(f"was lost ({too_big if isinstance(error, PayloadTooBig) else error})")
        elif close is not None:
            self._ended("was closed by the other side", "".join(char for char in close.reason if char.isprintable()))
        else:
            return
        raise anyio.EndOfStream

    def _ended(self, how: str, why: str = "") -> None:
        super()._ended(how, why)
        self._has_reply.set()


async def connect_websocket(
    address: Address, tls: bool | str, token: str | None, guard: Guard, seconds: float
) -> WebSocketLink:
    """Connect to an agent within `seconds`. Raises `UnreachableError`."""
    async with reached_within(address, seconds):
        link = WebSocketLink(address, guard, await open_stream(address, tls))
        try:
            await link.open(token)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await link.close()
            raise
    return link
