"""What fails by a bug of ours costs that one thing: every handler and publisher is made to fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args
from unittest.mock import Mock, patch

import anyio
import msgspec
import pytest

from acp_nvim.acp.dialect import Dialect
from acp_nvim.acp.updates import Update
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.acp.v2 import DialectV2
from acp_nvim.connection.peer_session import PeerSession
from acp_nvim.contract import events
from acp_nvim.contract.review_events import Preview
from acp_nvim.session.requests.requests import AgentRequests
from tests.core.session.stage import InjectedError, report, staged

pytestmark = pytest.mark.anyio


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
        methods = stage.host.app.methods
        for name in list(methods):
            error, whole = f"injected into {name}", methods[name]
            methods[name] = (dict, raising(error))
            stage.tell(name)
            methods[name] = whole
            await stage.went_on(name, error)
        await stage.works("all of them")
        assert stage.places == len(methods)
    report(capsys, stage.places, "handlers of what Lua says")


def readable(_dialect: Dialect, _method: str, params: msgspec.Raw) -> tuple[str, Mock]:
    """Decode any parameters, in place of `Dialect.asked`."""
    return msgspec.json.decode(params)["sessionId"], Mock()


@pytest.mark.parametrize("when", ["at once", "later"])
async def test_handlers_of_what_an_agent_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str], when: str) -> None:
    async with staged(tmp_path) as stage:
        stage.fresh()
        stage.open()
        asked = sorted(DialectV1.requests | DialectV2.requests)
        for turn, method in enumerate(asked, 1):
            error = f"injected into {method.replace('/', ' ')}"  # users are told of no methods

            async def later(error: str = error) -> None:
                await anyio.lowlevel.checkpoint()
                raise InjectedError(error)

            fault = raising(error) if when == "at once" else lambda *_, later=later: later()
            with patch.object(AgentRequests, "serve", fault), patch.object(Dialect, "asked", readable):
                stage.prompt(f"request {method}")
                codes = await stage.host.until_note("code", turn, stage.agent)
                await stage.host.until("the turn", lambda n=turn: len(stage.host.of(events.TurnEnd, stage.key)) == n)
            assert codes[-1] == ("cancelled" if method == "session/request_permission" else -32603)
            await stage.went_on(method, error)
        answers = [one for one in stage.host.sent_answers(stage.agent) if "error" in one]
        assert len(answers) == len(asked) - 1
        await stage.works("all of them")
    report(capsys, stage.places, f"handlers of what an agent asks, {when}")


async def test_handlers_of_what_an_agent_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every kind of update, and everything that an agent's process tells its sessions."""
    async with staged(tmp_path) as stage:
        stage.fresh()
        stage.open()
        await stage.host.until_state("idle", stage.key)
        session = stage.host.app.sessions[stage.key]
        works = session.at_work()
        assert works is not None
        peer, session_id = works
        beside = stage.key
        stage.key = next(stage.keys)  # in the same process
        stage.open()
        await stage.host.until_state("idle", stage.key)
        for kind in get_args(Update):
            error = f"injected into {kind.__name__}"
            with patch.object(session, "on_update", raising(error)):
                peer.router.flush((session_id, Mock(spec=kind)))
            await stage.went_on(kind.__name__, error)
        told = [name for name in vars(PeerSession) if name.startswith("on_") and name not in ("on_update", "on_bug")]
        calls = {"on_caught_up": peer.router.caught_up, "on_trouble": lambda: peer.router.lost("words")}
        # what fails in these two fails the request: see the test of requests
        calls |= {"on_request": lambda: None, "on_crowd": lambda: None}
        calls |= {"on_idle": lambda: None, "on_gone": lambda: None}
        assert sorted(calls) == sorted(told)
        for name in ("on_caught_up", "on_trouble"):
            error = f"injected into {name}"
            heard: list[str] = []
            other = stage.host.app.sessions[stage.key]
            with (
                patch.object(session, name, raising(error)),
                patch.object(other, name, lambda *_, heard=heard: heard.append("once")),
            ):
                calls[name]()
            assert heard, name
            await stage.went_on(name, error)
        error = "injected into on_gone"
        with patch.object(session, "on_gone", raising(error)):
            stage.host.app.peers.retire(peer)
            peer._stop()
            await stage.host.until_state("stopped", stage.key)
        await stage.went_on("on_gone", error)
        await stage.works("the end")
        stage.key = beside
        await stage.works("the end")
    report(capsys, stage.places, "handlers of what an agent says")


def kinds(of: type[Any]) -> list[type[Any]]:
    """Return all types of events."""
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
