"""What fails by a bug of ours costs that one thing: every handler and publisher is made to fail."""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, get_args
from unittest.mock import Mock, patch

import anyio
import pytest

import acp_nvim
from acp_nvim import events, tasks
from acp_nvim.protocol.dialect_v1 import DialectV1
from acp_nvim.protocol.dialect_v2 import DialectV2
from acp_nvim.protocol.updates import Update
from acp_nvim.review_events import Preview
from acp_nvim.session.inbox import PeerSession
from acp_nvim.session.requests import AgentRequests
from tests.core.session.hit_agent import HIT, STREAM
from tests.core.session.host import Host, running_host

pytestmark = pytest.mark.anyio

ROOT = Path(acp_nvim.__file__).parent
NOTE = tasks._note
STREAMS = 1  # the key of the session that must not notice anything


class InjectedError(Exception):
    """A bug of ours."""


class Stage:
    """A host with a session that streams; `fresh` gives the next one to be hit, at an agent of its own."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.end = host.directory / "end"
        self.keys = count(2)
        self.key = 0
        self.agent = ""
        self.cwd = host.cwd
        self.places = 0
        self.bugs: list[str] = []  # those that nobody has dealt with

    async def begin(self) -> None:
        """The stream runs."""
        self.host.script(STREAM, "streams")
        self.host.open(STREAMS, "streams")
        self.host.prompt(str(self.end), STREAMS)
        await self.host.until("the stream", lambda: self.host.text(key=STREAMS))
        self.status, self.notices = self.host.status(STREAMS), self.host.notices(STREAMS)

    def fresh(self, script: str = HIT) -> None:
        """Another session, agent and directory from now on."""
        self.key = next(self.keys)
        self.agent = f"hit{self.key}"
        self.cwd = self.host.directory / f"project{self.key}"
        self.cwd.mkdir()
        (self.cwd / "file").write_text("zero\none\n")
        self.host.script(script, self.agent)

    def open(self) -> None:
        """The session that is hit."""
        self.host.open(self.key, self.agent, str(self.cwd))

    def tell(self, method: str, **params: Any) -> None:
        """As Lua does."""
        self.host.app.receive(method, {"session": self.key, **params})

    def prompt(self, text: str, **more: Any) -> None:
        """In the session that is hit."""
        self.tell("prompt", text=text, context=more.get("context", []))

    async def until_said(self, words: str) -> None:
        """Wait for what the agent says."""
        await self.host.until(words, lambda: words in self.host.text(key=self.key))

    async def turn(self, text: str) -> None:
        """To its end."""
        self.prompt(text)
        await self.host.until("the end of the turn", lambda: self.host.of(events.TurnEnd, self.key))

    async def went_on(self, what: str, error: str, told: bool = True) -> None:
        """After a failure: it is in the log, and told unless somebody has dealt with it; the stream goes on."""
        self.places += 1
        said = len(self.host.text(key=STREAMS))
        await self.host.until(f"a log entry about {what}", lambda: error in self.host.log_path.read_text())
        if told and any(error in bug for bug in self.bugs):
            await self.host.until(f"words about {what}", lambda: error in self.words())
        await self.host.until(f"the stream after {what}", lambda: len(self.host.text(key=STREAMS)) > said)
        assert self.host.status(STREAMS) == self.status, what
        assert self.host.notices(STREAMS) == self.notices, what
        for troubles in (self.host.app._troubles, *(one._troubles for one in self.host.app._sessions.values())):
            troubles._told.clear()  # of many kinds some are only in the log

    def note(self, doing: str, error: Exception) -> None:
        """What `acp_nvim.tasks` logs."""
        self.bugs.append("".join(traceback.format_exception(error)))
        NOTE(doing, error)

    def words(self) -> str:
        """What the user was told."""
        told = [*self.host.editor.all(events.Notice), *self.host.editor.all(events.Error)]
        return "\n".join(one.text for one in told)

    async def works(self, what: str, lost: int = 0) -> None:
        """The session that was hit takes a prompt, and stops; every turn that began has ended."""
        if self.agent and self.key in self.host.app._sessions:
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
        assert self.host.text(key=STREAMS) == "".join(f"{one} " for one in range(number))
        assert await self.host.turn(str(self.end), STREAMS) == "end_turn"


@asynccontextmanager
async def staged(tmp_path: Path) -> AsyncIterator[Stage]:
    """With all that a failure must leave alone checked at the end."""
    async with running_host(tmp_path) as host:
        host.hello(protocol={"v2": True}, timeouts={"initialize": 2000, "cancel": 100})
        stage = Stage(host)
        await stage.begin()
        with patch.object(tasks, "_note", stage.note):
            yield stage
        await stage.over()


@pytest.fixture(autouse=True)
def no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots take most of the time of a turn, and nothing here is about them."""
    monkeypatch.setenv("PATH", "/nowhere")


def raising(error: str, *_: Any) -> Callable[..., Any]:
    def act(*_args: Any, **_more: Any) -> Any:
        raise InjectedError(error)

    return act


async def test_handlers_of_what_lua_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with staged(tmp_path) as stage:
        stage.fresh()
        stage.open()
        methods = stage.host.app._methods
        for name in list(methods):
            error, whole = f"injected into {name}", methods[name]
            methods[name] = (dict, raising(error))
            stage.tell(name)
            methods[name] = whole
            await stage.went_on(name, error)
        await stage.works("all of them")
        assert stage.places == len(methods)
    report(capsys, stage.places, "handlers of what Lua says")


@pytest.mark.parametrize("when", ["at once", "later"])
async def test_handlers_of_what_an_agent_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str], when: str) -> None:
    async with staged(tmp_path) as stage:
        stage.fresh()
        stage.open()
        asked = sorted(DialectV1.requests | DialectV2.requests)
        for turn, method in enumerate(asked, 1):
            error = f"injected into {method}"

            async def later(error: str = error) -> None:
                await anyio.lowlevel.checkpoint()
                raise InjectedError(error)

            fault = raising(error) if when == "at once" else lambda *_, later=later: later()
            with patch.object(AgentRequests, "serve", fault):
                stage.prompt(f"request {method}")
                codes = await stage.host.until_note("code", turn, stage.agent)
                await stage.host.until("the turn", lambda n=turn: len(stage.host.of(events.TurnEnd, stage.key)) == n)
            assert codes[-1] == -32603
            await stage.went_on(method, error)
        answers = [one for one in stage.host.sent_answers(stage.agent) if "error" in one]
        assert len(answers) == len(asked)
        await stage.works("all of them")
    report(capsys, stage.places, f"handlers of what an agent asks, {when}")


async def test_handlers_of_what_an_agent_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every kind of update, and everything that an agent's process tells its sessions."""
    async with staged(tmp_path) as stage:
        stage.fresh()
        stage.open()
        await stage.host.until_state("idle", stage.key)
        session = stage.host.app._sessions[stage.key]
        works = session.at_work()
        assert works is not None
        peer, session_id = works
        beside = stage.key
        stage.key = next(stage.keys)  # at the same process
        stage.open()
        await stage.host.until_state("idle", stage.key)
        for kind in get_args(Update):
            error = f"injected into {kind.__name__}"
            with patch.object(session, "on_update", raising(error)):
                peer.inbox._deliver(session_id, Mock(spec=kind))
            await stage.went_on(kind.__name__, error)
        told = [name for name in vars(PeerSession) if name.startswith("on_") and name not in ("on_update", "on_bug")]
        calls = {"on_caught_up": peer.inbox.caught_up, "on_trouble": lambda: peer.inbox.lost("words")}
        calls |= {"on_request": lambda: None, "on_idle": lambda: None, "on_gone": lambda: None}
        assert sorted(calls) == sorted(told)
        for name in ("on_caught_up", "on_trouble"):
            error = f"injected into {name}"
            heard: list[str] = []
            other = stage.host.app._sessions[stage.key]
            with (
                patch.object(session, name, raising(error)),
                patch.object(other, name, lambda *_, heard=heard: heard.append("once")),
            ):
                calls[name]()
            assert heard, name
            await stage.went_on(name, error)
        error = "injected into on_gone"
        with patch.object(session, "on_gone", raising(error)):
            stage.host.app._peers.retire(peer)
            peer._stop()
            await stage.host.until_state("stopped", stage.key)
        await stage.went_on("on_gone", error)
        await stage.works("the end")
        stage.key = beside
        await stage.works("the end")
    report(capsys, stage.places, "handlers of what an agent says")


def kinds(of: type[Any]) -> list[type[Any]]:
    """All events that there are."""
    below = [one for kind in of.__subclasses__() for one in kinds(kind)]
    return below or [of]


async def test_publishers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The editor fails on each kind of event that a whole conversation publishes."""
    async with staged(tmp_path) as stage:
        seen: dict[type[Any], None] = {}
        waiting: list[type[Any]] = []
        publish, error = stage.host.editor.publish, ""

        def faulty(event: Any) -> None:
            mine = getattr(event, "session", None) == stage.key
            if mine:
                seen.setdefault(type(event))
            if mine and type(event) in waiting:
                waiting.clear()
                raise InjectedError(error)
            publish(event)

        async def converse() -> None:
            stage.fresh()
            stage.open()
            stage.prompt("edit")
            stage.prompt("ask")
            stage.prompt("command true")

        with patch.object(stage.host.editor, "publish", faulty):
            await converse()
            await stage.host.until("a preview", lambda: stage.host.of(Preview, stage.key))
            await stage.works("nothing")
            for kind in list(seen):
                error, waiting[:] = f"injected into {kind.__name__}", [kind]
                await converse()
                if kind.__name__.endswith("Done"):
                    await stage.host.until("a preview", lambda: stage.host.of(Preview, stage.key))
                    stage.tell("stop")
                await stage.host.until(f"a {kind.__name__}", lambda: not waiting)
                await stage.went_on(kind.__name__, error, told=kind not in (events.Notice, events.Error))
                await stage.works(kind.__name__, lost=int(kind in (events.TurnStart, events.TurnEnd)))
    report(capsys, stage.places, "publishers")


def report(capsys: pytest.CaptureFixture[str], number: int, what: str) -> None:
    with capsys.disabled():
        print(f"\ninjected into {number} {what}")
