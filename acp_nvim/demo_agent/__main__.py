"""Starts the demo agent on stdin and stdout: `python -P -m acp_nvim.demo_agent`."""

import os
import sys

from acp_nvim.demo_agent import child
from acp_nvim.demo_agent.agent import DemoAgent
from acp_nvim.demo_agent.wire import Peer


def main() -> None:
    """Serve until stdin ends; then exit at once, whatever still runs."""
    agent = DemoAgent(Peer(sys.stdout.buffer))
    try:
        for line in sys.stdin.buffer:
            agent.receive(line)
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the client is gone
    child.kill_all()
    os._exit(0)  # turns run in threads, which must not keep the process alive


if __name__ == "__main__":
    main()
