"""A host in which sessions are hit by injected bugs while another one streams and must not notice."""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from acp_nvim import tasks
from acp_nvim.contract import events
from tests.core.session.hit_agent import HIT, STREAM
from tests.core.session.host import Host, running_host

NOTE = tasks._note
STREAMS = 1  # the key of the session that must not notice anything


class InjectedError(Exception):
    """An error that the test injects."""


RESTORED = range(1001, 1021)
"""Sessions of which an earlier host has left a prompt."""


class Stage:
    """A host with a session that streams; `fresh` gives the next one to be hit, at an agent of its own."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.end = host.directory / "end"
        self.keys = count(2)
        self.restored = iter(RESTORED)
        self.key = 0
        self.agent = ""
        self.cwd = host.cwd
        self.places = 0
        self.logged = 0  # so long was the log before
        self.streamed = ""  # what the stream has said before the session came that is hit
        self.bugs: list[str] = []  # those that nobody has dealt with

    async def begin(self) -> None:
        """Start the session that streams."""
        self.host.script(STREAM, "streams")
        self.host.open(STREAMS, "streams")
        self.host.prompt(str(self.end), STREAMS)
        await self.host.until("the stream", lambda: self.host.text(key=STREAMS))
        self.status, self.notices = self.host.status(STREAMS), self.host.notices(STREAMS)

    def fresh(self, script: str = HIT) -> None:
        """Use another session, agent and directory from now on."""
        self.key = next(self.keys)
        seen = self.host.editor.events  # each wait looks at all: what nobody asks for any more goes
        self.streamed += self.host.text(key=STREAMS)
        seen[:] = [
            one
            for one in seen
            if getattr(one, "session", None) in (STREAMS, self.key) and not isinstance(one, events.Append)
        ]
        self.logged = self.host.log_path.stat().st_size
        self.agent = f"hit{self.key}"
        self.cwd = self.host.directory / f"project{self.key}"
        self.cwd.mkdir()
        (self.cwd / "file").write_text("zero\none\n")
        self.host.script(script, self.agent)

    def open(self) -> None:
        """Open the session that gets the errors."""
        self.host.open(self.key, self.agent, str(self.cwd))

    def tell(self, method: str, **params: Any) -> None:
        """Send a message of Lua for that session."""
        self.host.app.receive(method, {"session": self.key, **params})

    def prompt(self, text: str, **more: Any) -> None:
        """Send a prompt in the session that gets the errors."""
        self.tell("prompt", text=text, context=more.get("context", []))

    async def until_said(self, words: str) -> None:
        """Wait for what the agent says."""
        await self.host.until(words, lambda: words in self.host.text(key=self.key))

    async def turn(self, text: str) -> None:
        """Send a prompt and wait for the end of its turn."""
        self.prompt(text)
        await self.host.until("the end of the turn", lambda: self.host.of(events.TurnEnd, self.key))

    async def went_on(self, what: str, error: str, told: bool = True) -> None:
        """After a failure: it is in the log, and told unless somebody has dealt with it; the stream goes on."""
        self.places += 1
        said = len(self.host.text(key=STREAMS))
        await self.host.until(f"a log entry about {what}", lambda: error in self.log())
        if told and any(error in bug for bug in self.bugs):
            await self.host.until(f"words about {what}", lambda: error in self.words())
        await self.host.until(f"the stream after {what}", lambda: len(self.host.text(key=STREAMS)) > said)
        assert self.host.status(STREAMS) == self.status, what
        assert self.host.notices(STREAMS) == self.notices, what
        for warnings in (self.host.app.warnings, *(one._warnings for one in self.host.app.sessions.values())):
            warnings._reported.clear()  # of many kinds some are only in the log

    def note(self, doing: str, error: Exception) -> None:
        """Keep the error, and log it like `acp_nvim.tasks`."""
        self.bugs.append("".join(traceback.format_exception(error)))
        NOTE(doing, error)

    def log(self) -> str:
        """What was written into it since the session came that is hit."""
        with self.host.log_path.open("rb") as file:
            file.seek(self.logged)
            return file.read().decode()

    def words(self) -> str:
        """Return all notices and errors that the user was shown."""
        told = [*self.host.editor.all(events.Notice), *self.host.editor.all(events.Error)]
        return "\n".join(one.text for one in told)

    async def works(self, what: str, lost: int = 0) -> None:
        """The session that was hit takes a prompt, and stops; every turn that began has ended."""
        if self.agent and self.key in self.host.app.sessions:
            (self.cwd / "open").touch()
            (self.cwd / "enough").touch()
            self.tell("stop")
            gone = ("stopped", "failed")
            await self.host.until("the end", lambda: (told := self.host.status(self.key)) and told.state in gone)
            self.tell("cancel", force=False)  # what was queued is not wanted any more
            self.open()
            self.prompt("say again")
            await self.host.until(f"a prompt after {what}", lambda: "said: again" in self.host.text(key=self.key))
            await self.host.until_state("idle", self.key)
            self.tell("stop")
            begun, ended = (self.host.of(kind, self.key) for kind in (events.TurnStart, events.TurnEnd))
            assert abs(len(begun) - len(ended)) <= lost, what

    async def over(self) -> None:
        """The stream ends as it should, with all of its words; another prompt of it is answered."""
        self.end.touch()
        await self.host.until("the end of the stream", lambda: self.host.of(events.TurnEnd, STREAMS))
        assert self.host.of(events.TurnEnd, STREAMS)[0].stop_reason == "end_turn"
        [number] = self.host.scripts["streams"].notes("said")
        assert self.streamed + self.host.text(key=STREAMS) == "".join(f"{one} " for one in range(number))
        assert await self.host.turn(str(self.end), STREAMS) == "end_turn"


@asynccontextmanager
async def staged(tmp_path: Path) -> AsyncIterator[Stage]:
    """Run a stage; check at the end everything that a failure must leave alone."""
    async with running_host(tmp_path) as host:
        prompt = {
            "id": 1,
            "text": "say again",
            "context": [{"type": "file", "uri": "file:///f", "name": "f", "path": "f"}],
        }
        for key in RESTORED:
            host.left_behind(key, prompts=[prompt])
        host.hello(protocol={"v2": True}, timeouts={"initialize": 2000, "cancel": 100})
        stage = Stage(host)
        await stage.begin()
        with patch.object(tasks, "_note", stage.note):
            yield stage
        await stage.over()


def report(capsys: pytest.CaptureFixture[str], number: int, what: str) -> None:
    """Say how much a test has covered."""
    with capsys.disabled():
        print(f"\ninjected into {number} {what}")
