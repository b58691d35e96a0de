"""Does with the real core what the client of a recording did, and waits for what the agent did then."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from acp_nvim.agents.catalogue import Catalogue
from acp_nvim.connection import peer as peer_module
from acp_nvim.connection.calls import send
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract import events
from acp_nvim.errors import FailureError
from acp_nvim.jsonrpc.connection import Connection
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.replay.messages import id_key, kind
from acp_nvim.replay.recording import Record, Recording
from acp_nvim.session.session import Session
from acp_nvim.transcript.switches import Switch
from tests.core.session.host import Host

OPENS = {"session/new": "new", "session/load": "load", "session/resume": "resume", "session/fork": "fork"}


class CountedStreams:
    """The two streams of a connection; counts the lines that the core has sent, and those it is done with."""

    def __init__(self) -> None:
        self.heard = 0
        self.sent = 0
        self._arrived = 0
        self._source: Any = None
        self._sink: Any = None

    def connection(self, source: Any, sink: Any, *others: Any, **more: Any) -> Connection:
        """Instead of one on the bare streams."""
        self._source, self._sink = source, sink
        return Connection(self, self, *others, **more)

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        self.heard = self._arrived  # who wants more is done with what there was
        data: bytes = await self._source.receive(max_bytes, not_before)
        self._arrived += data.count(b"\n")
        return data

    async def send(self, data: bytes) -> None:
        await self._sink.send(data)
        self.sent += data.count(b"\n")


class LiveClient:
    """Plays the user, and where the user interface has no word for it, a program with the peer in hand."""

    def __init__(self, host: Host, recording: Recording, tasks: anyio.abc.TaskGroup) -> None:
        self.host = host
        self.recording = recording
        self.peer: AgentPeer
        self._tasks = tasks
        self._keys: dict[str, int] = {}
        self._streams = CountedStreams()
        self._permissions: list[str] = []
        self._answers = {
            id_key(one.message): one.message for one in recording.records if is_of(one, "received", "answer")
        }

    def connect(self, monkeypatch: Any) -> None:
        """Lines are counted from now on."""
        monkeypatch.setattr(peer_module, "Connection", self._streams.connection)

    async def run(self) -> None:
        """Replay the whole recording."""
        heard = sent = 0
        for record in self.recording.records:
            if record.direction == "received":
                heard += 1
                self._note_permission(record)
            else:
                await self._until_heard(heard, record.number)
                await self._until_sent(sent)  # a cancel overrules what was chosen in the same moment
                await self._act(record)
                sent += record.line is None
        await self._until_heard(heard, self.recording.records[-1].number + 1)
        await self._until_sent(sent)

    @property
    def sessions(self) -> list[Session]:
        """All that were opened, oldest first."""
        return list(self.host.app.sessions.values())

    async def _until_heard(self, count: int, number: int) -> None:
        what = f"{count} lines of the agent, before line {number}"
        await self.host.until(what, lambda: self._streams.heard >= count)
        await anyio.wait_all_tasks_blocked()  # the session does what follows from them

    async def _until_sent(self, count: int) -> None:
        await self.host.until(f"{count} lines of ours", lambda: self._streams.sent >= count)

    async def _act(self, record: Record) -> None:
        message = record.message
        match kind(message):
            case "answer":
                self._answer_permission(message)
            case "notification":
                self._notify(message)
            case "request" if message["method"] == "initialize":
                self.peer = await self._start()
            case "request":
                self._request(message)

    async def _start(self) -> AgentPeer:
        catalogue = Catalogue(self.host.config["agents"], None)
        return await self.host.app.peers.obtain(catalogue.find("it"), str(self.host.cwd))

    # --- one message -------------------------------------------------------------------------------------------------

    def _note_permission(self, record: Record) -> None:
        if is_of(record, "received", "request") and record.message["method"] == "session/request_permission":
            self._permissions.append(id_key(record.message))

    def _answer_permission(self, message: Any) -> None:
        """Choose what was chosen; everything else that the agent asks for is answered by itself."""
        if id_key(message) not in self._permissions:
            return
        shown = self.host.editor.all(events.Permission)
        number = self._permissions.index(id_key(message))
        self._permissions[number] = ""  # some agents use an id again
        outcome = message["result"]["outcome"]
        asked = shown[number].request.id
        if outcome["outcome"] == "selected":
            self.host.answer(asked, outcome["optionId"])
            return
        for pending in self.host.app.permissions:
            if pending.id == asked:
                pending.cancel()

    def _notify(self, message: Any) -> None:
        session = self._session(message["params"])
        if message["method"] == "session/cancel" and session is not None and session.turns.turn.running:
            self.host.cancel(session.key)
        else:
            self.peer.notify(message["method"], message["params"])

    def _request(self, message: Any) -> None:
        method, params = message["method"], message["params"]
        session = self._session(params)
        if method in OPENS and (method == "session/new" or getattr(self.peer.abilities, OPENS[method])):
            self._open(message, OPENS[method])
        elif (
            method == "session/prompt"
            and session is not None
            and prompt_text(params)
            and not session.turns.turn.running
        ):
            if session.sign_in.state is not None:
                session.queue.take()  # who was recorded did not send again what was refused
            self.host.prompt(prompt_text(params), session.key)
        else:
            self._tasks.start_soon(self._quietly, self._call(session, method, params), method, params)

    def _open(self, message: Any, how: str) -> None:
        key = len(self.sessions) + 1
        if how == "new":
            self.host.open(key)
        else:
            kept = message["params"]["sessionId"]
            for peer in self.host.app.peers._peers.values():
                peer.router.sessions.pop(kept, None)  # the client that was recorded had no chats to mix up
            self.host.app.new_session(OpenedAs(key, str(self.host.cwd))).restore(kept, how)  # type: ignore[arg-type]
        result = self._answers.get(id_key(message), {}).get("result") or {}
        named = result.get("sessionId") or message["params"].get("sessionId")
        if "error" not in self._answers.get(id_key(message), {"error": None}):
            self._keys[named] = key

    def _call(self, session: Session | None, method: str, params: Any) -> Callable[[], Awaitable[Any]]:
        """The call as the user interface makes it; as it was, for what it does not."""
        configuration = session.configuration if session and session.at_work() else None
        peer = self.peer
        match method:
            case "session/set_mode" if configuration:
                return lambda: configuration.change(MODE, params["modeId"])
            case "session/set_model" if configuration:
                return lambda: configuration.change(MODEL, params["modelId"])
            case "session/set_config_option" if configuration:
                switch = Switch(switch_id=params["configId"], name="", kind="select")
                return lambda: configuration.change(switch, params["value"])
            case "session/list":
                return lambda: send(peer, peer.dialect.list_sessions(self._here(params.get("cwd")), None))
            case "session/close":
                return lambda: send(peer, peer.dialect.close_session(params["sessionId"]))
            case "session/delete":
                return lambda: send(peer, peer.dialect.delete_session(params["sessionId"]))
        return lambda: self._as_it_was(method, params)

    async def _quietly(self, call: Callable[[], Awaitable[Any]], method: str, params: Any) -> None:
        """What the agent refuses was refused then, too; what we do not send because of that, was sent."""
        try:
            await call()
        except FailureError as error:
            if error.failure.code == "not_offered":
                await self._as_it_was(method, params)

    async def _as_it_was(self, method: str, params: Any) -> None:
        with contextlib.suppress(RpcError, FailureError):
            await self.peer.request(method, self._here(params))

    def _session(self, params: Any) -> Session | None:
        key = self._keys.get(params.get("sessionId", ""))
        return None if key is None else self.host.app.sessions[key]

    def _here(self, value: Any) -> Any:
        """Replace the recorded directory by ours."""
        text = json.dumps(value).replace(self.recording.header["cwd"], str(self.host.cwd))
        return json.loads(text)


MODE = Switch(switch_id="mode", name="Mode", kind="select", how="mode")
MODEL = Switch(switch_id="model", name="Model", kind="select", how="model")


class OpenedAs:
    """What the app's `open` is told."""

    def __init__(self, session: int, cwd: str) -> None:
        self.session = session
        self.cwd = cwd
        self.agent = "it"
        self.additional_directories: list[str] = []
        self.returned: list[int] = []


def is_of(record: Record, direction: str, wanted: str) -> bool:
    """Whether it is a message of that kind in that direction."""
    return record.direction == direction and kind(record.message) == wanted


def prompt_text(params: Any) -> str:
    """The text of a prompt; nothing when it has none."""
    blocks = params.get("prompt") or []
    return blocks[0].get("text", "") if blocks else ""


def demo_project(directory: Path) -> None:
    """The files that the recorded prompts are about."""
    (directory / "main.py").write_text('import util\n\nprint("hello")\nprint(util.add(1, 2))\n')
    (directory / "util.py").write_text("def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n")
    (directory / "README.md").write_text("# Demo\n\nA demo project.\n")
