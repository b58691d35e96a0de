"""The peers: which agents there are, and which protocol version each is to speak."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.peers.find_node import find_node

HERE = Path(__file__).parent
TEE = 'tee "$0.client" | "$@" 2>"$0.stderr" | tee "$0.agent"'
"""The shell's part: all three pipes are written down as they are, byte for byte."""


@dataclass(frozen=True)
class Peer:
    """An agent of this folder; with `protocol.v2` as in `v2`, what we say to it has `version`."""

    name: str
    script: str
    version: int
    v2: bool
    schema: str = "schema.json"  # what we say to it follows this one

    def command(self, record: Path, socket: Path | None = None) -> list[str]:
        """What starts it, recorded in `record`.client, `record`.agent and `record`.stderr.

        With a `socket` of `Servers` it runs there, and what is started passes on what both say.
        """
        program = [sys.executable if self.script.endswith(".py") else find_node(), str(HERE / self.script)]
        if socket is not None:
            program = [sys.executable, "-I", "-S", str(HERE / "relay.py"), str(socket)]
        return ["sh", "-c", TEE, str(record), *program]


V1 = Peer("v1", "agent_v1.mjs", 1, v2=False)
PYTHON = Peer("python", "agent_v1.py", 1, v2=False)
V2 = Peer("v2", "agent_v2.mjs", 2, v2=True)
BOTH_AS_V1 = Peer("both-as-v1", "agent_both.mjs", 1, v2=False)
BOTH_AS_V2 = Peer("both-as-v2", "agent_both.mjs", 2, v2=True)
UNSTABLE = Peer("unstable", "agent_unstable.mjs", 1, v2=False, schema="schema.unstable.json")
V1_OFFERED_V2 = Peer("v1-offered-v2", "agent_v1.mjs", 1, v2=True)
PYTHON_OFFERED_V2 = Peer("python-offered-v2", "agent_v1.py", 1, v2=True)
V2_NOT_OFFERED = Peer("v2-not-offered", "agent_v2.mjs", 1, v2=False)

ONES = (V1, PYTHON, V2)
"""One of each SDK and version."""
