"""One prompt turn: sends updates, makes requests and waits; each step raises once the turn was cancelled."""

import math
import os
import re
import threading
from typing import Any

from acp_nvim.demo_agent.child import Child
from acp_nvim.demo_agent.wire import Call, Json, Peer, RpcError

CHUNK_DELAY = 0.015  # seconds between two pieces of text: about the rhythm of a real model
STEP_DELAY = 0.35  # seconds that a tool call seems to take

ADVERTISED: list[Json] = [
    {"name": "edits", "description": "Two changes in one file: keep one, reject the other"},
    {"name": "form", "description": "A question with a form"},
    {"name": "image", "description": "A picture"},
    {"name": "terminal", "description": "A command in a terminal of the editor"},
    {"name": "slow", "description": "Ten seconds of text: try to cancel it"},
    {"name": "markdown", "description": "Headings, lists, code and a table; touches no file"},
    {"name": "fail", "description": "A tool call that fails"},
    {"name": "crash", "description": "The agent's process dies in the middle of the turn"},
]

PERMISSION_OPTIONS: list[Json] = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "allow-always", "name": "Allow for this session", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]


MODES: list[Json] = [
    {"id": "ask", "name": "Ask", "description": "Asks before each edit and each command"},
    {"id": "auto", "name": "Accept edits", "description": "Edits without asking"},
    {"id": "plan", "name": "Plan", "description": "Reads only, changes nothing"},
]


class CancelledTurn(Exception):
    """The client has cancelled the turn: nothing but the answer to the prompt may be sent."""


class Session:
    """The state of one conversation, in memory only."""

    def __init__(self, session_id: str, cwd: str) -> None:
        self.id = session_id
        self.cwd = cwd
        self.always: set[str] = set()  # kinds of tool call that the user has always allowed
        self.mode = "ask"
        self.turn: Turn | None = None
        self.tool_calls = 0

    @property
    def modes(self) -> Json:
        """The modes as the answers to `session/new` and `session/fork` have them."""
        return {"currentModeId": self.mode, "availableModes": MODES}


class Turn:
    """A turn, used by its own thread; only `cancel` may be called from another one."""

    def __init__(self, peer: Peer, session: Session, fs: Json) -> None:
        self.session = session
        self.fs = fs
        self._peer = peer
        self._speed = _speed()
        self._cancelled = threading.Event()
        self._call: Call | None = None
        self._child: Child | None = None

    def cancel(self) -> None:
        """End the pending request or command; the turn's thread gets `CancelledTurn` at the next step."""
        self._cancelled.set()
        if self._call is not None:
            self._call.settle(None)
        if self._child is not None:
            self._child.kill()

    def check(self) -> None:
        """Raise `CancelledTurn` if the client has cancelled this turn."""
        if self._cancelled.is_set():
            raise CancelledTurn

    def pause(self, seconds: float) -> None:
        """Wait that long, times `ACP_NVIM_DEMO_SPEED`. Raises `CancelledTurn` as soon as the turn is cancelled."""
        if self._cancelled.wait(seconds * self._speed):
            raise CancelledTurn

    def update(self, name: str, /, **fields: Any) -> None:
        """Send a `session/update` of the kind `name`. Raises `CancelledTurn` instead, once the turn is cancelled."""
        self.check()
        update = {"sessionUpdate": name, **fields}
        self._peer.notify("session/update", {"sessionId": self.session.id, "update": update})

    def say(self, text: str, delay: float = CHUNK_DELAY, kind: str = "agent_message_chunk") -> None:
        """Stream a text as updates of that kind, in pieces of about one word, with `delay` seconds after each."""
        for piece in re.findall(r"\s*\S+(?:[ \t]+\S{1,3}(?=\s))?\s*", text):
            self.update(kind, content={"type": "text", "text": piece})
            self.pause(delay)

    def request(self, method: str, /, **params: Any) -> Any:
        """Send a request and return its result. Raises `CancelledTurn` when the turn is cancelled meanwhile."""
        call = self._call = self._peer.new_call()
        try:
            self.check()
            self._peer.send_call(call, method, {"sessionId": self.session.id, **params})
            result = call.wait()
            self.check()
            return result
        finally:
            self._call = None
            self._peer.forget(call)

    def run(self, argv: list[str]) -> tuple[int, str]:
        """Run a command in the project; return its exit code and output. A cancel kills it."""
        self.check()
        child = self._child = Child(argv, self.session.cwd)
        if self._cancelled.is_set():
            child.kill()
        try:
            result = child.output()
        finally:
            self._child = None
        self.check()
        return result


class ToolCall:
    """One tool call of a turn; the constructor announces it to the client."""

    def __init__(self, turn: Turn, kind: str, title: str, **fields: Any) -> None:
        turn.session.tool_calls += 1
        self._turn = turn
        self._kind = kind
        self._shown = {"toolCallId": f"call_{turn.session.tool_calls}", "title": title, "kind": kind, **fields}
        turn.update("tool_call", **self._shown, status="pending")

    def allowed(self) -> bool:
        """Ask the user for permission, unless all calls of this kind, or the mode, allow it; return the answer."""
        always = self._turn.session.always
        if self._kind in always or (self._kind == "edit" and self._turn.session.mode == "auto"):
            return True
        shown = {**self._shown, "status": "pending"}
        try:
            answer = self._turn.request("session/request_permission", toolCall=shown, options=PERMISSION_OPTIONS)
        except RpcError:
            return False
        option = _chosen(answer)
        if option == "allow-always":
            always.add(self._kind)
        return option in ("allow", "allow-always")

    def start(self) -> None:
        """Show that the call is in progress, and wait as long as a real one takes (`STEP_DELAY`)."""
        self._update(status="in_progress")
        self._turn.pause(STEP_DELAY)

    def end(self, status: str, text: str | None = None) -> None:
        """End the call as `completed` or `failed`; `text`, if given, replaces its content."""
        content = {} if text is None else {"content": [{"type": "content", "content": {"type": "text", "text": text}}]}
        self._update(status=status, **content)

    def show_terminal(self, number: str) -> None:
        """Show that the call is in progress, and a terminal of the client as its content."""
        self._update(status="in_progress", content=[{"type": "terminal", "terminalId": number}])

    def _update(self, **fields: Any) -> None:
        self._turn.update("tool_call_update", toolCallId=self._shown["toolCallId"], **fields)


def _chosen(answer: Any) -> str:
    """Return the chosen option's id. Raises `CancelledTurn` for the outcome `cancelled`."""
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    if not isinstance(outcome, dict):
        return ""
    if outcome.get("outcome") == "cancelled":
        raise CancelledTurn
    return str(outcome.get("optionId", ""))


def _speed() -> float:
    """Return the factor for all delays; 0 for none."""
    try:
        factor = float(os.environ.get("ACP_NVIM_DEMO_SPEED", "1"))
    except ValueError:
        return 1.0
    return 1.0 if math.isnan(factor) else min(max(factor, 0.0), 100.0)
