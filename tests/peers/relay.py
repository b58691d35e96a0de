"""Passes stdio on to a socket and back, byte for byte: what a client starts for an agent that `served.*` runs.

`python -I -S relay.py SOCKET`, with the standard library only. It says first in which directory it was started.
"""

from __future__ import annotations

import os
import select
import socket
import sys


def main() -> None:
    """Until the agent is gone; when stdin ends, the agent is told so."""
    with socket.socket(socket.AF_UNIX) as agent:
        agent.connect(sys.argv[1])
        agent.sendall(os.fsencode(os.getcwd()) + b"\n")
        sources = [0, agent.fileno()]
        while True:
            ready = select.select(sources, [], [])[0]
            if 0 in ready:
                data = os.read(0, 1 << 16)
                agent.sendall(data)
                if not data:
                    sources.remove(0)
                    agent.shutdown(socket.SHUT_WR)
            if agent.fileno() in ready:
                data = agent.recv(1 << 16)
                if not data:
                    return
                while data:
                    data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
