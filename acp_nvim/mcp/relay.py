"""Connects the standard streams of an MCP server to the host: run as `python -I -S relay.py`, needs nothing else.

`ACP_NVIM_SOCKET` is the path of the host's socket, `ACP_NVIM_TOKEN` the token of the session. The host answers the
token with a line: `ok`, or the reason why it refuses the connection. Then the first request is answered with it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading

BYTES = 65_536
LINE_BYTES = 1_000
"""Longest line that the host sends in answer to the token."""


def main() -> int:
    """Relay until either side closes. Return the exit status."""
    connection = socket.socket(socket.AF_UNIX)
    token = os.environ.pop("ACP_NVIM_TOKEN", "")
    try:
        connection.connect(os.environ.pop("ACP_NVIM_SOCKET", ""))
        connection.sendall(token.encode() + b"\n")
        refusal, rest = greeting(connection)
    except OSError as error:
        refusal, rest = f"Neovim, or the session of this server, has ended ({error.strerror or error})", b""
    if refusal:
        refuse(f"acp_nvim: {refusal}.")
        return 1
    threading.Thread(target=send, args=(connection,), daemon=True).start()
    receive(connection, rest)
    return 0


def greeting(connection: socket.socket) -> tuple[str, bytes]:
    """Return why the host refuses the connection ("": it does not), and what it has sent after that."""
    line = b""
    while b"\n" not in line and len(line) < LINE_BYTES:
        data = connection.recv(BYTES)
        if not data:
            return "the host has closed the connection", b""
        line += data
    first, _, rest = line.partition(b"\n")
    return ("" if first == b"ok" else first.decode("utf-8", "replace")), rest


def refuse(words: str) -> None:
    """Tell the reason on stderr, and to the first request."""
    print(words, file=sys.stderr, flush=True)
    try:
        request = json.loads(sys.stdin.buffer.readline(BYTES))
        request_id = request["id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    answer = {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32603, "message": words}}
    write(json.dumps(answer).encode() + b"\n")


def send(connection: socket.socket) -> None:
    """Pass on what the client says. At its end the host closes the connection, when it has answered."""
    try:
        while data := os.read(0, BYTES):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the other thread sees the end, too


def receive(connection: socket.socket, data: bytes) -> None:
    """Pass on what the host says, beginning with `data`, until it closes the connection."""
    try:
        while True:
            write(data)
            data = connection.recv(BYTES)
            if not data:
                return
    except OSError:
        return


def write(data: bytes) -> None:
    """Write all of `data` to stdout, in as many pieces as the pipe takes."""
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    status = main()
    os._exit(status)  # the other thread may still read
