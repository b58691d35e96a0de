"""A client of the demo agent, with a user who answers, and files that are on the disk."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.raw_client import AnswerError, RawClient

ARGV = [sys.executable, "-P", "-m", "acp_nvim.demo_agent"]
FS = {"readTextFile": True, "writeTextFile": True}


class DemoClient(RawClient):
    """A client of the demo agent with one session, whose user allows everything, and whose fs is the disk."""

    def __init__(self, cwd: Path, fs: dict[str, bool] | None = None, env: dict[str, str] | None = None) -> None:
        super().__init__(ARGV, cwd, {"ACP_NVIM_DEMO_SPEED": "0", **(env or {})})
        self.cwd = cwd
        self.choose("allow")
        self.handlers["fs/read_text_file"] = lambda params: {"content": Path(params["path"]).read_text()}
        self.handlers["fs/write_text_file"] = self._write
        capabilities = {"fs": FS if fs is None else fs}
        self.initialized = self.request("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities})
        self.session = self.new_session()

    def new_session(self) -> str:
        answer: str = self.request("session/new", {"cwd": str(self.cwd), "mcpServers": []})["sessionId"]
        return answer

    def choose(self, option: str | None) -> None:
        """What the user answers from now on; None cancels."""
        outcome = {"outcome": "cancelled"} if option is None else {"outcome": "selected", "optionId": option}
        self.handlers["session/request_permission"] = lambda params: {"outcome": outcome}

    def begin(self, text: str, *blocks: dict[str, Any]) -> int:
        prompt = [{"type": "text", "text": text}, *blocks]
        return self.start("session/prompt", {"sessionId": self.session, "prompt": prompt})

    def prompt(self, text: str, *blocks: dict[str, Any]) -> str:
        """One whole turn: its stop reason."""
        reason: str = self.finish(self.begin(text, *blocks))["stopReason"]
        return reason

    def cancel(self) -> None:
        self.notify("session/cancel", {"sessionId": self.session})

    def tool_calls(self) -> dict[str, dict[str, Any]]:
        """Each tool call by its kind, with its updates put together; the last of a kind counts."""
        calls: dict[str, dict[str, Any]] = {}
        for update in self.updates():
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                calls.setdefault(update["toolCallId"], {}).update(update)
        return {call["kind"]: call for call in calls.values()}

    def statuses(self) -> dict[str, str]:
        return {kind: call["status"] for kind, call in self.tool_calls().items()}

    def _write(self, params: dict[str, Any]) -> dict[str, Any]:
        Path(params["path"]).write_text(params["content"])
        return {}


def refuse(code: int, message: str) -> Callable[[dict[str, Any]], Any]:
    def handler(params: dict[str, Any]) -> Any:
        raise AnswerError(code, message)

    return handler
