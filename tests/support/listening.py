"""Agents that listen on a TCP port, as real processes: `python -m tests.support.listening [options] -- AGENT ...`.

Each connection gets an agent of its own, whose stdin and stdout it is. Options: `--port N` (0: any), `--tls CERTIFICATE
KEY`, `--piece BYTES` (what the agent says goes out in such pieces), `--reset` (the connection is reset with the agent's
end), `--websocket` (each line is a frame, at the path /acp), `--token TOKEN` (which that wants, and says that it got).
The first line on stdout is the port.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tests.support.waiting import LIMIT

if TYPE_CHECKING:  # not needed, and slow to load, in the process that listens
    from tests.support.certificates import Certificate

ROOT = Path(__file__).parents[2]


class Listener:
    """A running server; `host` is the name by which the client is to call it."""

    def __init__(self, agent: Sequence[str], *options: str, tls: Certificate | None = None, port: int = 0) -> None:
        self.host = "localhost" if tls else "127.0.0.1"
        self._scheme = ("wss" if tls else "ws") if "--websocket" in options else ""
        more = ["--tls", str(tls.file), str(tls.key)] if tls else []
        argv = [sys.executable, "-m", "tests.support.listening", "--port", str(port), *more, *options, "--", *agent]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    @property
    def address(self) -> str:
        place = f"{self.host}:{self.port}"
        return f"{self._scheme}://{place}/acp" if self._scheme else place

    def kill(self) -> None:
        """Kill the server; its agents see the end of their input."""
        self.process.kill()
        self.process.wait(LIMIT)

    def close(self) -> None:
        """End the server with all its agents."""
        self.process.terminate()
        self.process.wait(LIMIT)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def listening(agent: Sequence[str], *options: str, tls: Certificate | None = None, port: int = 0) -> Iterator[Listener]:
    """A server for the time of a test."""
    listener = Listener(agent, *options, tls=tls, port=port)
    try:
        yield listener
    finally:
        listener.close()


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])


async def _serve(options: argparse.Namespace) -> None:
    context = None
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
    agents: list[subprocess.Popen[bytes]] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        agent = _start(options.agent)
        agents.append(agent)
        hears = asyncio.create_task(_to_agent(reader, agent))
        with contextlib.suppress(OSError):
            while data := await asyncio.to_thread(_read, agent, options.piece):
                writer.write(data)
                await writer.drain()
        hears.cancel()
        await asyncio.to_thread(agent.wait)
        if options.reset:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
        writer.close()

    def stop() -> None:
        for agent in agents:
            agent.kill()
            agent.wait()
        os._exit(0)  # without waiting for threads that read

    if options.websocket:
        server: Any = await _websocket_server(options, context, agents)
    else:
        server = await asyncio.start_server(connected, "127.0.0.1", options.port, ssl=context)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _websocket_server(
    options: argparse.Namespace, context: ssl.SSLContext | None, agents: list[subprocess.Popen[bytes]]
) -> Any:
    from websockets.asyncio.server import serve

    def check(connection: Any, request: Any) -> Any:
        if request.path != "/acp":
            return connection.respond(404, "not here")
        wanted = f"Bearer {options.token}" if options.token else None
        return None if request.headers.get("Authorization") == wanted else connection.respond(401, "who is it?")

    async def framed(connection: Any) -> None:
        agent = _start(options.agent)
        agents.append(agent)
        assert agent.stdin is not None
        assert agent.stdout is not None
        says = asyncio.create_task(_to_frames(agent, connection))
        with contextlib.suppress(OSError), agent.stdin:
            async for message in connection:
                await asyncio.to_thread(agent.stdin.write, message.encode() + b"\n")
        await says

    return await serve(framed, "127.0.0.1", options.port, ssl=context, process_request=check, max_size=None)


async def _to_frames(agent: subprocess.Popen[bytes], connection: Any) -> None:
    assert agent.stdout is not None
    with contextlib.suppress(OSError), io.BufferedReader(cast(io.RawIOBase, agent.stdout)) as lines:
        while line := await asyncio.to_thread(lines.readline):
            await connection.send(line.rstrip(b"\n"), text=True)
    await connection.close(1001, "the agent has left")


def _start(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def _read(agent: subprocess.Popen[bytes], size: int) -> bytes:
    assert agent.stdout is not None
    return agent.stdout.read(size) or b""


async def _to_agent(reader: asyncio.StreamReader, agent: subprocess.Popen[bytes]) -> None:
    assert agent.stdin is not None
    with contextlib.suppress(OSError), agent.stdin:
        while data := await reader.read(65536):
            await asyncio.to_thread(agent.stdin.write, data)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--piece", type=int, default=65536)
    parser.add_argument("--reset", action="store_true")
    parser.add_argument("--websocket", action="store_true")
    parser.add_argument("--token")
    parser.add_argument("agent", nargs="+")
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
