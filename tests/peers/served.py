"""Serves many clients of `agent_v1.py` in one process: importing the SDK takes longer than a test.

`python served.py SOCKET`. Each client of the socket has an agent, and so a state, of its own; its first line is its
directory.
"""

from __future__ import annotations

import asyncio
import os
import sys

import acp
from agent_v1 import Peer


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one client until it disconnects."""
    os.chdir((await reader.readline()).decode().rstrip("\n"))
    await acp.run_agent(Peer(), writer, reader, use_unstable_protocol=True)
    writer.close()


async def main() -> None:
    """Serve all clients of the socket."""
    server = await asyncio.start_unix_server(serve, sys.argv[1], limit=acp.core.DEFAULT_STDIO_BUFFER_LIMIT_BYTES)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
