"""The unix socket on which the relays of agents' MCP servers connect, each with the token of its session."""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import anyio
import anyio.lowlevel

from acp_nvim.jsonrpc.connection import ByteSink, ByteSource
from acp_nvim.state.private_file import remove_directory
from acp_nvim.tasks import Tasks, is_running

TOKEN_SECONDS: Final = 5.0
"""Time for a client to send its token."""
TOKEN_BYTES: Final = 200
"""Longest line with a token."""
UNKNOWN_CLIENTS: Final = 16
"""Connections that have not sent a token yet; more are closed."""
SECOND_SECONDS: Final = 2.0
"""Time that a second client waits for the end of the first one: agents restart their servers."""
PATH_BYTES: Final = 100
"""Longest path of a socket that all systems accept."""

log = logging.getLogger(__name__)

Serve = Callable[[ByteSource, ByteSink], Awaitable[None]]
"""Serves a client until it leaves."""


class _Session:
    """Who may connect with one token: one client at a time."""

    def __init__(self, serve: Serve) -> None:
        self.serve = serve
        self.free = anyio.Event()
        self.free.set()
        self.scope = anyio.CancelScope()
        self.is_open = True


class Listener:
    """Listens on a socket in a new directory that only this user may enter, from the first session on.

    `parent` is where that directory is made; without it, or if that fails, in the system's temporary directory. Only
    processes of the user `uid` are served, which is the owner of this process.
    """

    def __init__(self, tasks: Tasks, parent: str | None) -> None:
        self.parent = parent
        self.uid = os.getuid()
        self._tasks = tasks
        self._own: str | None = None
        self._path: str | None = None
        self._sessions: dict[str, _Session] = {}
        self._unknown = 0
        self._server: asyncio.Server | None = None
        self._clients: dict[_Client, anyio.Event] = {}

    def __repr__(self) -> str:
        return f"<Listener {self._path} sessions={len(self._sessions)}>"

    async def open(self, serve: Serve) -> tuple[str, str]:
        """Return the path of the socket, and a new token; clients that have it are passed to `serve`.

        Raises `OSError` if there can be no socket.
        """
        if self._path is None or not await anyio.Path(self._path).exists():
            await self._listen()
        assert self._path is not None
        token = os.urandom(32).hex()
        self._sessions[token] = _Session(serve)
        return self._path, token

    def close(self, token: str) -> None:
        """End the client with that token, and let no other one connect."""
        session = self._sessions.pop(token, None)
        if session is not None:
            session.is_open = False
            session.scope.cancel()

    def stop(self) -> None:
        """Stop listening, close all connections, and remove the socket."""
        for client in self._clients:
            client.close()
        self._stop_listening()

    def _stop_listening(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._own is not None:
            remove_directory(self._own)
        self._own, self._path = None, None

    async def _listen(self) -> None:
        self._stop_listening()  # the clients that have connected need no socket any more
        last: OSError | None = None
        for parent in (self.parent, None):
            try:
                self._own = _make_directory(parent)
                path = os.path.join(self._own, "mcp")
                if len(os.fsencode(path)) > PATH_BYTES:
                    raise OSError(f"the path {path} is too long for a socket")
                self._server = await asyncio.start_unix_server(self._connected, path)
                os.chmod(path, 0o600)
            except OSError as error:
                last = error
                self._stop_listening()
            else:
                self._path = path
                return
        assert last is not None
        raise last

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._close_ended()
        client = _Client(reader, writer)
        self._clients[client] = self._tasks.spawn(self._greet, client)

    def _close_ended(self) -> None:
        """Close the clients that are not served any more, also those whose task has failed."""
        for client in [one for one, task in self._clients.items() if not is_running(task)]:
            client.close()
            del self._clients[client]

    async def _greet(self, client: _Client) -> None:
        """Serve a client that has a token of a session; tell any other why it is refused."""
        try:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                try:
                    session = await self._known(client)
                    await self._serve(session, client)
                except RefusedError as error:
                    log.warning("an MCP client was refused: %s", error)
                    await client.send(f"{error}\n".encode())
        finally:
            client.close()

    async def _known(self, client: _Client) -> _Session:
        """Return the session whose token a client sends. Raises `RefusedError`."""
        if client.uid != self.uid:
            raise RefusedError("this Neovim belongs to another user")
        if self._unknown >= UNKNOWN_CLIENTS:
            raise RefusedError("too many clients connect at once, try again")
        self._unknown += 1
        try:
            line = await client.first_line()
        finally:
            self._unknown -= 1
        for token, session in self._sessions.items():
            if hmac.compare_digest(token.encode(), line):
                return session
        raise RefusedError("the token is of no open session, it ends with the session that it was made for")

    async def _serve(self, session: _Session, client: _Client) -> None:
        """Serve the only client of a session. Raises `RefusedError`."""
        with anyio.move_on_after(SECOND_SECONDS):
            await session.free.wait()
        if not session.is_open:
            raise RefusedError("the session has ended")
        if not session.free.is_set():
            raise RefusedError("another client of this session is connected")
        session.free, session.scope = anyio.Event(), anyio.CancelScope()
        try:
            with session.scope:
                await client.send(b"ok\n")
                await session.serve(client, client)
        finally:
            session.free.set()


class RefusedError(Exception):
    """A client is not served; the text tells it why."""


class _Client:
    """A client on the socket (`ByteSource`, `ByteSink`).

    Not the streams of anyio: a unix socket of theirs that is cancelled while data arrives reports an error to the loop.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._rest = b""

    @property
    def uid(self) -> int:
        """The user id of the client's process."""
        return peer_uid(self._writer.get_extra_info("socket"))

    async def first_line(self) -> bytes:
        """Return the first line, without its end. Raises `RefusedError` if there is none in time."""
        data = b""
        with anyio.move_on_after(TOKEN_SECONDS):
            while b"\n" not in data and len(data) <= TOKEN_BYTES:
                data += await self.receive(TOKEN_BYTES)
        line, newline, self._rest = data.partition(b"\n")
        if not newline:
            raise RefusedError("the client sends no token")
        return line

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        """See `ByteSource`."""
        data, self._rest = self._rest[:max_bytes], self._rest[max_bytes:]
        await anyio.lowlevel.checkpoint()
        if data:
            return data
        try:
            data = await self._reader.read(max_bytes)
        except OSError as error:
            raise anyio.BrokenResourceError from error
        if not data:
            raise anyio.EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        """See `ByteSink`."""
        try:
            self._writer.write(item)
            await self._writer.drain()
        except OSError as error:
            raise anyio.BrokenResourceError from error

    def close(self) -> None:
        """Close the connection, after what was sent."""
        self._writer.close()


def _make_directory(parent: str | None) -> str:
    """Make a directory with a random name that only this user may enter. Raises `OSError`."""
    if parent is None:
        import tempfile  # here: the host starts without it

        return tempfile.mkdtemp(prefix="acp_nvim-")
    path = os.path.join(parent, f"acp_nvim-{os.urandom(4).hex()}")
    os.mkdir(path, 0o700)
    return path


def peer_uid(connection: socket.socket) -> int:
    """Return the user id of the process at the other end of a unix socket; -1 if the system does not tell it."""
    try:
        if hasattr(socket, "SO_PEERCRED"):  # Linux
            data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", data)[1])
        local_peercred, size = 1, 76  # struct xucred of macOS: version, uid, groups
        return int(struct.unpack_from("2I", connection.getsockopt(0, local_peercred, size))[1])
    except (OSError, struct.error):
        return -1
