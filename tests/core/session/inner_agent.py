"""An agent inside the test: it takes the place of the child process, and says just what and when the test wants."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio

from acp_nvim import decoders
from acp_nvim.app import App
from acp_nvim.contract.messages import Hello
from acp_nvim.process.child import ChildProcesses, Exited, StderrTail
from acp_nvim.process.guarding import Guard
from acp_nvim.process.stopping import Rung, ignore_rung
from acp_nvim.review.turn.turn_changes import TurnChanges
from tests.core.guards import close_guard, close_log
from tests.core.jsonrpc.peer import Source
from tests.support.fake_editor import FakeEditor

V1 = {"protocolVersion": 1, "agentCapabilities": {}, "_meta": {"steering": {"supported": True}}}
V2 = {"protocolVersion": 2, "info": {"name": "inner", "version": "1"}, "capabilities": {"session": {}}}


class InnerAgent:
    """Answers what opens a session; the rest is the test's. It is the `Child` of its peer, too."""

    def __init__(self, v2: bool) -> None:
        self.v2 = v2
        self.heard: list[Any] = []
        self.source = Source()
        self.stderr = StderrTail()
        self.pid = 0
        self.mark, self.began = "", 0
        self.returncode: int | None = None
        self._ended = anyio.Event()

    # --- what the test does with it ----------------------------------------------------------------------------------

    def say(self, *messages: dict[str, Any], batch: bool = False) -> None:
        """Send messages in one write; with `batch` as one line."""
        said = [{"jsonrpc": "2.0", **message} for message in messages]
        lines = [said] if batch else said
        self.source.put(b"".join(json.dumps(line).encode() + b"\n" for line in lines))

    def update(self, **update: Any) -> None:
        """Send a `session/update`."""
        self.say({"method": "session/update", "params": {"sessionId": "s", "update": update}})

    def end_turn(self, stop_reason: str) -> None:
        """End the turn of the last prompt."""
        if self.v2:
            self.update(sessionUpdate="state_update", state="idle", stopReason=stop_reason)
        else:
            self.say({"id": self.heard_of("session/prompt")[-1]["id"], "result": {"stopReason": stop_reason}})

    def die(self) -> None:
        """End like a process that was killed."""
        if self.returncode is None:
            self.returncode = -9
            self._ended.set()
            self.source.end()

    def heard_of(self, method: str) -> list[Any]:
        """Return the messages of one method that it got."""
        return [one for one in self.heard if one.get("method") == method]

    def answers(self) -> list[Any]:
        """Return the answers to its requests, in order; a batch of answers counts as many."""
        return [one for one in self.heard if "method" not in one]

    # --- acp_nvim.process.child.Child --------------------------------------------------------------------------------

    @property
    def sink(self) -> InnerAgent:
        return self

    async def send(self, item: bytes) -> None:
        """Take what the host writes."""
        if self.returncode is not None:
            raise anyio.BrokenResourceError
        for line in item.splitlines():
            message = json.loads(line)
            for one in message if isinstance(message, list) else [message]:
                self.heard.append(one)
                self.react(one)

    def react(self, message: Any) -> None:
        """Answer a message; a test may replace this."""
        match message.get("method"):
            case "initialize":
                self.say({"id": message["id"], "result": V2 if self.v2 else V1})
            case "session/new":
                self.say({"id": message["id"], "result": {"sessionId": "s"}})
            case "session/prompt" if self.v2:
                self.say({"id": message["id"], "result": {"messageId": f"p{message['id']}"}})
                self.update(sessionUpdate="state_update", state="running")

    @property
    def ending(self) -> Exited:
        """Return how it ended."""
        return Exited(self.returncode, ())

    def last_words(self) -> tuple[str, ...]:
        """Return nothing: it has no stderr."""
        return ()

    def first_words(self) -> tuple[str, ...]:
        """Return nothing: it has no stderr."""
        return ()

    async def read_aside(self) -> None:
        """Wait for its end: it has no stderr."""
        await self._ended.wait()

    async def wait(self) -> int:
        """Wait for its end; return its exit code."""
        await self._ended.wait()
        return self.returncode or 0

    async def stop(self, _on_rung: Callable[[Rung], None] = ignore_rung) -> None:
        """End it."""
        self.die()


class InnerHost:
    """The app with a fake editor, and an inner agent that works on a prompt."""

    def __init__(self, app: App, editor: FakeEditor, agent: InnerAgent) -> None:
        self.app, self.editor, self.agent = app, editor, agent

    def say(self, method: str, **params: Any) -> None:
        """Send a message of Lua for the only session."""
        self.app.receive(method, {"session": 1, **params})

    def of(self, kind: type[Any]) -> list[Any]:
        """Return the events of a kind."""
        return self.editor.all(kind)


class _OnlyAgent(ChildProcesses):
    """Has the agent in place of each process."""

    def __init__(self, agent: InnerAgent) -> None:
        super().__init__(Guard())
        self._agent = agent

    async def start(self, *_: Any) -> Any:
        """See `ChildProcesses`."""
        return self._agent


@contextmanager
def _without_review() -> Iterator[None]:
    """No snapshot is taken, which would double the time of the tests that try many orders of events."""

    async def begin(changes: TurnChanges, prompt: str) -> None:
        pass

    with (
        patch.object(TurnChanges, "prepare", lambda _: None),
        patch.object(TurnChanges, "begin", begin),
        patch.object(TurnChanges, "begun", lambda *_: None),
        patch.object(TurnChanges, "end", lambda *_, **__: None),
    ):
        yield


@asynccontextmanager
async def inner_host(directory: Path, v2: bool, **config: Any) -> AsyncIterator[InnerHost]:
    """Run a host in which a turn has begun, until the end of the block."""
    agent, editor = InnerAgent(v2), FakeEditor()
    processes = _OnlyAgent(agent)
    with _without_review():
        async with anyio.create_task_group() as tasks:
            agents = {"inner": {"command": ["inner"]}}
            names = {"log": "log/acp_nvim.log", "state": "state", "cache": "cache"}
            places = {f"{one}_path": str(directory / name) for one, name in names.items()}
            wanted = {"agents": agents, "protocol": {"v2": v2}, **config}
            hello = decoders.convert({"version": "0", **places, "config": wanted}, Hello)
            app = App(editor, tasks, processes, hello)
            app.receive("open", {"session": 1, "agent": "inner", "cwd": str(directory)})
            app.receive("prompt", {"session": 1, "text": "go"})
            await editor.until("the prompt", lambda: agent.heard_of("session/prompt"))
            try:
                yield InnerHost(app, editor, agent)
            finally:
                tasks.cancel_scope.cancel()
    agent.die()
    agent.source.close()
    app.close()
    close_guard(processes.guard)
    close_log()
