"""A client of the scripted agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.agent_scripts import AgentScript
from tests.support.raw_client import RawClient


class Started(RawClient):
    """A client of a scripted agent."""

    def __init__(self, script: AgentScript, cwd: Path) -> None:
        super().__init__(script.argv, cwd)
        self.script = script

    def open(self) -> str:
        self.request("initialize", {"protocolVersion": 1})
        answer: str = self.request("session/new", {"cwd": "/", "mcpServers": []})["sessionId"]
        return answer

    def begin(self, session: str, text: str = "hi") -> int:
        return self.start("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})

    def turn(self, text: str = "hi") -> Any:
        """Open a session, and prompt: the whole result."""
        return self.finish(self.begin(self.open(), text))
