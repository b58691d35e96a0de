"""A small blocking msgpack-RPC client, each request of which has a limit in time."""

from __future__ import annotations

import select
import socket
import time
from pathlib import Path
from typing import Any

import msgpack

from tests.support.waiting import LIMIT

REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2


class RpcError(Exception):
    """Neovim answered with an error."""


class Rpc:
    """One connection to a Neovim that listens on a socket; buffers and windows are plain numbers."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._unpacker = msgpack.Unpacker(
            raw=False, unicode_errors="surrogateescape", strict_map_key=False, ext_hook=_handle, max_buffer_size=0
        )
        self._ready = select.poll()  # `select` knows no descriptor above 1023
        self._ready.register(self._socket, select.POLLIN)
        self._last = 0

    def request(self, method: str, *args: Any, limit: float = LIMIT) -> Any:
        """Send a request and return its answer."""
        self._last += 1
        packed = msgpack.packb([REQUEST, self._last, method, args], unicode_errors="surrogateescape")
        self._socket.sendall(packed)
        end = time.monotonic() + limit
        while True:
            message = self._next(end, method)
            if message[0] == RESPONSE and message[1] == self._last:
                break
            if message[0] == REQUEST:
                self._socket.sendall(msgpack.packb([RESPONSE, message[1], "tests answer no requests", None]))
        if message[2] is not None:
            error = message[2]
            raise RpcError(error[1] if isinstance(error, list) else error)
        return message[3]

    def notify(self, method: str, *args: Any) -> None:
        """A request that nobody answers: also while Neovim waits for a key."""
        self._socket.sendall(msgpack.packb([NOTIFICATION, method, args], unicode_errors="surrogateescape"))

    def _next(self, end: float, method: str) -> list[Any]:
        while True:
            for message in self._unpacker:
                return list(message)
            left = end - time.monotonic()
            if left <= 0 or not self._ready.poll(left * 1000):
                raise AssertionError(f"Neovim did not answer {method} in time: it is blocked")
            data = self._socket.recv(1 << 16)
            if not data:
                raise ConnectionError(f"Neovim is gone, and with it the answer to {method}")
            self._unpacker.feed(data)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


def _handle(_code: int, data: bytes) -> Any:
    return msgpack.unpackb(data)
