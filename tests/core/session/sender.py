"""Sends prompts with attachments to a scripted agent of either version, and sees what it gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acp_nvim.contract import events
from tests.core.session.host import Host

EVERYTHING = {"image": True, "audio": True, "embeddedContext": True}

V1 = """
    INITIALIZE = {{
        "protocolVersion": 1,
        "agentInfo": {{"name": "{name}", "version": "1"}},
        "agentCapabilities": {{"promptCapabilities": {takes}}},
    }}
    def turn(agent, prompt):
        prompt.say("ok")
"""
V2 = """
    INITIALIZE = {{
        "protocolVersion": 2,
        "info": {{"name": "{name}", "version": "1"}},
        "capabilities": {{"session": {{"prompt": {takes}}}}},
    }}
    def turn(agent, prompt):
        prompt.update("state_update", state="running")
        prompt.update("state_update", state="idle", stopReason="end_turn")
        return {{}}
"""


class Sender:
    """Sends prompts to an agent of one version, and sees what it gets."""

    def __init__(self, host: Host, version: int) -> None:
        self.host = host
        self.version = version

    def takes(self, agent_name: str = "it", **abilities: bool) -> None:
        """What the agent takes, and calls itself."""
        if self.version == 1:
            source = V1.format(takes=abilities, name=agent_name)
        else:
            source = V2.format(takes={name: {} for name, there in abilities.items() if there}, name=agent_name)
        self.host.hello(protocol={"v2": self.version == 2})
        self.host.script(source)

    async def send(self, *items: dict[str, Any], text: str = "look") -> list[dict[str, Any]]:
        """The blocks that come after the text."""
        if not self.host.of(events.Status):
            self.host.open()
        before = len(self.host.of(events.TurnEnd))
        self.host.prompt(text, context=list(items))
        await self.host.until("the end of the turn", lambda: len(self.host.of(events.TurnEnd)) > before)
        blocks = list(self.host.scripts["it"].received("session/prompt")[-1]["params"]["prompt"])
        if text == "look":
            assert blocks.pop(0) == {"type": "text", "text": text}
        return blocks


def file_item(path: Path, **more: Any) -> dict[str, Any]:
    return {"type": "file", "uri": path.as_uri(), "name": path.name, "path": str(path), **more}


def link(path: Path, **more: Any) -> dict[str, Any]:
    return {"type": "resource_link", "uri": path.as_uri(), "name": path.name, **more}
