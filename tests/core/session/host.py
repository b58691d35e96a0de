"""A host between a fake editor and scripted agents: tests send it the messages of Lua, and look at its events."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from acp_nvim import decoders
from acp_nvim.agents.first_agent import FirstAgent
from acp_nvim.app import App
from acp_nvim.contract import events
from acp_nvim.contract.messages import Hello
from acp_nvim.evidence.work import TURN_LATE_NS
from acp_nvim.file_time import now
from acp_nvim.process.guarding import guard_of_host
from tests.agents.in_process import InProcessAgents, look_at
from tests.core.guards import close_log, release_guard, share_guard
from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.fake_editor import FakeEditor
from tests.support.processes import open_files
from tests.support.waiting import PATIENT, wait_until

GIT_NS = 100_000_000
"""Time after git's work: more than the slacks with which it is compared with that of a scan."""


class Host:
    """The app; agents are added with `script` before `open` or `prompt` names them."""

    def __init__(self, directory: Path, tasks: anyio.abc.TaskGroup) -> None:
        self.directory = directory
        self.cwd = directory / "project"
        self.cwd.mkdir(parents=True)
        self.editor = FakeEditor()
        share_guard(guard_of_host())
        self.agents = InProcessAgents(guard_of_host())
        self._tasks = tasks
        self._app: App | None = None
        self.first: FirstAgent | None = None
        self.scripts: dict[str, AgentScript] = {}
        self.config: dict[str, Any] = {"agents": {}, "mcp": {"enabled": False}}
        self.log_path = directory / "log" / "acp_nvim.log"
        self.instance = ""  # of a Neovim: nothing is journaled without it

    @property
    def app(self) -> App:
        """The app, which `hello` has made."""
        assert self._app is not None
        return self._app

    # --- messages from Lua -------------------------------------------------------------------------------------------

    def hello(self, **config: Any) -> None:
        """Send `hello` with more configuration. The first one makes the app."""
        self.config |= config
        hello = {
            "version": "0",
            "log_path": str(self.log_path),
            "state_path": str(self.log_path.parent.with_name("state")),
            "cache_path": str(self.log_path.parent.with_name("cache")),
            "instance": self.instance,
            "config": {**self.config, "timeouts": {**PATIENT, **self.config.get("timeouts", {})}},
        }
        if self._app is None:
            self._app = App(self.editor, self._tasks, self.agents, decoders.convert(hello, Hello), self.first)
        else:
            self._app.receive("hello", hello)

    def left_behind(self, key: int = 1, **entry: Any) -> Path:
        """Write the journal that an earlier host has left of a session, before `hello`. Return its path."""
        self.instance = "machine-1-"
        path = self.log_path.parent.with_name("state") / "journal" / self.instance / f"{key}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(entry))
        self.begin_again()
        return path

    def begin_again(self, first: FirstAgent | None = None) -> None:
        """Make another app with the next `hello`; `first` is an agent that was started before it."""
        if self._app is not None:
            self._app.close()
        self._app, self.first = None, first

    def script(self, source: str, name: str = "it", is_process: bool = False) -> AgentScript:
        """Write a script, and configure it as the agent of that name; `is_process`: it gets one in any case."""
        if is_process:
            self.agents.with_process.add(name)
        script = self.scripts[name] = agent_script(self.directory, source, name)
        self.config["agents"][name] = {"command": script.argv}
        self.hello()
        return script

    def open(self, key: int = 1, agent: str = "it", cwd: str | None = None) -> None:
        """Open a session, once the latest work of git in its directory is past: what is not would be in doubt."""
        repository = Path(cwd or self.cwd) / ".git"
        if repository.is_dir():
            past = repository.stat().st_mtime_ns + GIT_NS
            wait_until(lambda: now() > past, what="time to pass")
        self.app.receive("open", {"session": key, "agent": agent, "cwd": cwd or str(self.cwd)})

    def prompt(self, text: str, key: int = 1, context: list[dict[str, str]] | None = None) -> None:
        """Send a prompt."""
        self.app.receive("prompt", {"session": key, "text": text, "context": context or []})

    def cancel(self, key: int = 1, force: bool = False) -> None:
        """Cancel the turn."""
        self.app.receive("cancel", {"session": key, "force": force})

    def stop(self, key: int = 1) -> None:
        """End the agent."""
        self.app.receive("stop", {"session": key})

    def answer(self, permission: int, option: str) -> None:
        """Answer a permission request."""
        self.app.receive("answer", {"id": permission, "option_id": option})

    # --- what the host and its agents do -----------------------------------------------------------------------------

    async def turn(self, text: str = "hi", key: int = 1) -> str:
        """Send a prompt, in a new session if there is none; wait for the end of its turn. Return the stop reason."""
        if not any(one.key == key for one in self.app.sessions.values()):
            self.open(key)
        before = len(self.of(events.TurnEnd, key))
        self.prompt(text, key)
        await self.until("the end of the turn", lambda: len(self.of(events.TurnEnd, key)) > before)
        return self.of(events.TurnEnd, key)[-1].stop_reason

    async def until(self, what: str, condition: Callable[[], object]) -> None:
        """Wait until the condition holds."""
        await self.editor.until(what, condition)

    async def nothing_comes_late(self) -> None:
        """Wait until what is changed from now on is not taken for late work of a turn that is over."""
        later = time.time_ns() + TURN_LATE_NS
        await self.until("that moment to be over", lambda: now() > later)

    async def until_state(self, state: str, key: int = 1) -> events.StatusView:
        """Wait until a session has that state, and return its status."""
        await self.until(f"the state {state}", lambda: (shown := self.status(key)) is not None and shown.state == state)
        status = self.status(key)
        assert status is not None
        return status

    async def until_received(self, method: str, count: int = 1, name: str = "it") -> list[Any]:
        """Wait until an agent got that many messages of a method, and return them."""
        script = self.scripts[name]
        await self.until(f"{count} {method} at the agent", lambda: len(script.received(method)) >= count)
        return script.received(method)

    async def until_note(self, note: str, count: int = 1, name: str = "it") -> list[Any]:
        """Wait until a script has noted that so many times, and return the values."""
        script = self.scripts[name]
        await self.until(f"the note {note}", lambda: len(script.notes(note)) >= count)
        return script.notes(note)

    def of(self, kind: type[Any], key: int = 1) -> list[Any]:
        """Return the events of a kind in one session."""
        return [event for event in self.editor.all(kind) if event.session == key]

    def status(self, key: int = 1) -> events.StatusView | None:
        """Return the last status of a session."""
        shown = self.of(events.Status, key)
        return shown[-1].status if shown else None

    def text(self, kind: str = "agent", key: int = 1) -> str:
        """Return all text of that kind in one session."""
        return "".join(event.text for event in self.of(events.Append, key) if event.kind == kind)

    def notices(self, key: int = 1) -> list[str]:
        """Return the texts of all notices in one session."""
        return [event.text for event in self.of(events.Notice, key)]

    def calls(self, key: int = 1) -> dict[int, events.CallView]:
        """Return the tool calls of a session as they are shown now, by block."""
        return {event.block: event.call for event in self.of(events.ToolCall, key)}

    def sent_answers(self, name: str = "it") -> list[Any]:
        """Return the answers that an agent got to its requests."""
        return [one for one in self.scripts[name].received() if "method" not in one]

    def close(self, is_last: bool = True) -> None:
        """After the app has ended: nothing that it started is left. The guard is of all hosts, until the last ends."""
        self.app.close()
        if is_last:
            release_guard(guard_of_host())
        close_log()
        pids = [
            pid for script in self.scripts.values() for name in ("started", "spawned") for pid in script.notes(name)
        ]
        assert [process for pid in pids if (process := look_at(pid))] == []


@asynccontextmanager
async def running_host(directory: Path, beside: Host | None = None) -> AsyncIterator[Host]:
    """Run a host until the end of the block, with the project and the state directory of `beside`, if given."""
    host: Host | None = None
    try:
        async with anyio.create_task_group() as tasks:
            host = Host(directory, tasks)
            if beside is not None:
                host.cwd, host.log_path = beside.cwd, beside.log_path
            host.hello()
            try:
                yield host
            finally:
                tasks.cancel_scope.cancel()
    finally:
        if host is not None:
            host.close(is_last=beside is None)
            if beside is None:  # a thread whose task was cancelled may just be reading
                state = host.log_path.parent.with_name("state")
                wait_until(lambda: open_files(state) == [])
