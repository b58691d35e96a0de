"""Answers the client's ACP requests: initialization, sessions, and prompts, each prompt in its own thread."""

import sys
import threading
from collections.abc import Callable
from typing import Any

from acp_nvim import __version__
from acp_nvim.demo_agent import wire
from acp_nvim.demo_agent.child import leave
from acp_nvim.demo_agent.turn import ADVERTISED, MODES, CancelledTurn, Session, Turn
from acp_nvim.demo_agent.wire import Json, Peer, RpcError


class DemoAgent:
    """Answers the requests of one client, each prompt in its own thread; all sessions are in memory."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._fs: Json = {}
        self._sessions: dict[str, Session] = {}
        self._methods: dict[str, Callable[[Any, Json], None]] = {
            "initialize": self._initialize,
            "session/new": self._new_session,
            "session/fork": self._fork,
            "session/set_mode": self._set_mode,
            "session/prompt": self._prompt,
        }

    def receive(self, line: bytes) -> None:
        """Take one line from the client: a request is answered, with an error if it is malformed."""
        if not line.strip():
            return
        try:
            message = wire.decode(line)
        except RpcError as error:
            self._peer.fail(None, error.code, error.message)
            return
        if "method" not in message:
            self._peer.settle(message)
        elif "id" in message:
            self._request(message)
        elif message["method"] == "session/cancel":
            self._cancel(message.get("params"))

    def _request(self, message: Json) -> None:
        method, params = message["method"], message.get("params")
        try:
            if not isinstance(method, str) or method not in self._methods:
                raise RpcError(wire.METHOD_NOT_FOUND, f"The demo agent has no method {method!r}.")
            if not isinstance(params, dict):
                raise RpcError(wire.INVALID_PARAMS, f"{method}: params have to be an object.")
            self._methods[method](message["id"], params)
        except RpcError as error:
            self._peer.fail(message["id"], error.code, error.message)

    def _initialize(self, request_id: Any, params: Json) -> None:
        _needed(params, "protocolVersion", int)
        capabilities = params.get("clientCapabilities")
        fs = capabilities.get("fs") if isinstance(capabilities, dict) else None
        self._fs = fs if isinstance(fs, dict) else {}
        result = {
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": False,
                "promptCapabilities": {"embeddedContext": True, "image": True},
                "sessionCapabilities": {"fork": {}},
            },
            "authMethods": [],
            "agentInfo": {"name": "acp_nvim-demo", "title": "Demo agent", "version": __version__},
        }
        self._peer.answer(request_id, result)

    def _new_session(self, request_id: Any, params: Json) -> None:
        self._begin(request_id, params, "ask")

    def _fork(self, request_id: Any, params: Json) -> None:
        self._begin(request_id, params, self._session(params).mode)

    def _begin(self, request_id: Any, params: Json, mode: str) -> None:
        """Answer with a new session in that mode, and tell its commands."""
        cwd = _needed(params, "cwd", str)
        _needed(params, "mcpServers", list)
        if not cwd.startswith("/") or "\0" in cwd:
            raise RpcError(wire.INVALID_PARAMS, "cwd has to be an absolute path.")
        session = Session(f"demo-{len(self._sessions) + 1}", cwd)
        session.mode = mode
        self._sessions[session.id] = session
        self._peer.answer(request_id, {"sessionId": session.id, "modes": session.modes})
        update = {"sessionUpdate": "available_commands_update", "availableCommands": ADVERTISED}
        self._peer.notify("session/update", {"sessionId": session.id, "update": update})

    def _set_mode(self, request_id: Any, params: Json) -> None:
        session, mode = self._session(params), _needed(params, "modeId", str)
        if all(one["id"] != mode for one in MODES):
            raise RpcError(wire.INVALID_PARAMS, f"There is no mode {mode!r}.")
        session.mode = mode
        self._peer.answer(request_id, {})

    def _session(self, params: Json) -> Session:
        session = self._sessions.get(_needed(params, "sessionId", str))
        if session is None:
            raise RpcError(wire.RESOURCE_NOT_FOUND, f"There is no session {params['sessionId']!r}.")
        return session

    def _prompt(self, request_id: Any, params: Json) -> None:
        session = self._session(params)
        blocks = _needed(params, "prompt", list)
        if not all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in blocks):
            raise RpcError(wire.INVALID_PARAMS, "prompt has to be a list of content blocks.")
        if session.turn is not None:
            raise RpcError(wire.INVALID_REQUEST, "This session still answers its last prompt.")
        session.turn = Turn(self._peer, session, self._fs)
        threading.Thread(target=self._run, args=(request_id, session.turn, blocks), daemon=True).start()

    def _cancel(self, params: Any) -> None:
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        session = self._sessions.get(session_id) if isinstance(session_id, str) else None
        turn = session.turn if session is not None else None
        if turn is not None:
            turn.cancel()

    def _run(self, request_id: Any, turn: Turn, blocks: list[Json]) -> None:
        """Run a turn in its thread, and answer the prompt exactly once."""
        reason, trouble = "end_turn", ""
        try:
            from acp_nvim.demo_agent import commands  # here, not above: the client gets its first answer sooner

            commands.answer(turn, blocks)
            turn.check()
        except CancelledTurn:
            reason = "cancelled"
        except BrokenPipeError:
            leave(0)
        except Exception as error:  # a bug of the demo agent: the client must still get its answer
            print(f"demo agent: {error!r}", file=sys.stderr, flush=True)
            trouble = f"The demo agent has a bug: {error!r}"
        turn.session.turn = None
        try:
            if trouble:
                self._peer.fail(request_id, wire.INTERNAL_ERROR, trouble)
            else:
                self._peer.answer(request_id, {"stopReason": reason})
        except BrokenPipeError:
            leave(0)


def _needed(params: Json, name: str, kind: type) -> Any:
    value = params.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RpcError(wire.INVALID_PARAMS, f"{name} is missing, or not of type {kind.__name__}.")
    return value
