"""One agent process and its connection; it serves all sessions that this agent has in this directory."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import anyio
import anyio.abc
import msgspec

from acp_nvim.agents.definition import QUIRKS, AgentDefinition
from acp_nvim.errors import Failure, FailureError
from acp_nvim.jsonrpc.connection import Connection
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, METHOD_NOT_FOUND, PeerGoneError, RpcError
from acp_nvim.jsonrpc.pending import Answer
from acp_nvim.limits import EARLY_UPDATES, EXIT_SECONDS
from acp_nvim.process.child import Child
from acp_nvim.process.guarding import Guard
from acp_nvim.protocol import v1
from acp_nvim.protocol.capabilities import initialize_params
from acp_nvim.protocol.translate_v1 import decode_update
from acp_nvim.protocol.updates import Update
from acp_nvim.session import failures

log = logging.getLogger(__name__)


class PeerSession(Protocol):
    """What a session must be for its agent process."""

    def on_update(self, update: Update) -> None:
        """Something the agent says."""

    def on_request(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """A request of the agent; raises or awaits to `RpcError` for what it cannot have."""

    def on_gone(self, failure: Failure | None) -> None:
        """The process ended; `failure` is None when we ended it."""


class _Envelope(msgspec.Struct, rename="camel"):
    session_id: str


class AgentPeer:
    """A running agent. Make it with `start`; it lives in the task group given there."""

    def __init__(self, definition: AgentDefinition, cwd: str, initialize_seconds: float) -> None:
        self.definition = definition
        self.cwd = cwd
        self.info = v1.InitializeResponse(protocol_version=v1.VERSION)
        self.sessions: dict[str, PeerSession] = {}
        self.gone = anyio.Event()
        self._initialize_seconds = initialize_seconds
        self._tasks: anyio.abc.TaskGroup | None = None
        self._child: Child | None = None
        self._connection: Connection | None = None
        self._left: set[str] = set()
        self._early: dict[str, list[Update]] = {}
        self._opening = 0
        self._stopping = False

    def __repr__(self) -> str:
        return f"<AgentPeer {self.definition.name} {self._child!r} sessions={list(self.sessions)}>"

    @property
    def alive(self) -> bool:
        """Whether it can still be talked to."""
        return not self.gone.is_set() and not self._stopping

    @property
    def quirks(self) -> frozenset[str]:
        """The deviations known of the program that answered."""
        info = self.info.agent_info
        return QUIRKS.get(info.name, frozenset()) if info else frozenset()

    async def start(self, tasks: anyio.abc.TaskGroup, guard: Guard) -> None:
        """Spawn and `initialize`. Raises `FailureError`; then nothing of it is left running."""
        definition, self._tasks = self.definition, tasks
        try:
            self._child = await Child.spawn(definition.name, definition.command, self.cwd, definition.env, guard)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the command or its environment
            self.gone.set()
            raise FailureError(failures.cannot_start(definition, self.cwd, error)) from error
        log.info("%s: started %s as %d in %s", definition.name, definition.command, self._child.pid, self.cwd)
        self._connection = Connection(self._child.source, self._child.sink, self)
        tasks.start_soon(self._live)
        try:
            await self._initialize()
        except BaseException:
            self._stopping = True
            await self._child.stop()
            raise

    async def _initialize(self) -> None:
        name = self.definition.name
        try:
            with anyio.fail_after(self._initialize_seconds):
                answer = await self.request("initialize", initialize_params())
        except TimeoutError as error:
            raise FailureError(failures.silent(name, self._initialize_seconds, self._last_words())) from error
        except RpcError as error:
            raise FailureError(failures.refused(name, "initialize", error)) from error
        try:
            self.info = msgspec.json.decode(answer, type=v1.InitializeResponse)
        except msgspec.ValidationError as error:
            raise FailureError(failures.malformed_answer(name, "initialize", error)) from error
        if self.info.protocol_version != v1.VERSION:
            raise FailureError(failures.wrong_version(name, self.info.protocol_version))

    async def request(self, method: str, params: dict[str, Any], on_answer: Any = None) -> msgspec.Raw:
        """Call the agent. Raises `RpcError` for its error, `FailureError` in words when it died instead."""
        assert self._connection is not None
        try:
            return await self._connection.request(method, params, on_answer)
        except PeerGoneError as error:
            await self.gone.wait()
            raise FailureError(self._death()) from error

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell the agent."""
        assert self._connection is not None
        self._connection.notify(method, params)

    def adopt(self, session_id: str, session: PeerSession) -> None:
        """From now on `session` gets what the agent says under that id, and what it said before we knew the id."""
        self.sessions[session_id] = session
        for update in self._early.pop(session_id, []):
            session.on_update(update)

    async def new_session(self, params: dict[str, Any], begin: Callable[[v1.NewSessionResponse], None]) -> None:
        """Open a session; `begin` is called when the answer is read, before anything that follows it is looked at.

        Raises `FailureError`. A process that gave us no session at all is not left running.
        """
        malformed: list[msgspec.DecodeError] = []

        def on_answer(answer: Answer) -> None:
            if not isinstance(answer, Exception):
                try:
                    begin(msgspec.json.decode(answer, type=v1.NewSessionResponse))
                except msgspec.DecodeError as error:
                    malformed.append(error)

        self._opening += 1
        try:
            await self.request("session/new", params, on_answer)
        except RpcError as error:
            raise FailureError(failures.refused(self.definition.name, "session/new", error)) from error
        finally:
            self._opening -= 1
            self.leave(None)
        if malformed:
            raise FailureError(failures.malformed_answer(self.definition.name, "session/new", malformed[0]))

    def leave(self, session_id: str | None, force: bool = False) -> None:
        """The session needs the agent no more; without any session, or with `force`, the process is stopped."""
        if session_id is not None:
            self.sessions.pop(session_id, None)
            self._left.add(session_id)
        if force or not (self.sessions or self._opening):
            self._stop()

    def _stop(self) -> None:
        """End the process and all it started, in the background; its sessions are told then."""
        if self._child is not None and self._tasks is not None and not self._stopping:
            self._stopping = True
            self._tasks.start_soon(self._child.stop)

    # --- the agent speaks (jsonrpc.connection.Handler) ---------------------------------------------------------------

    def notification(self, method: str, params: msgspec.Raw) -> None:
        """`session/update`; other notifications are logged."""
        if method != "session/update":
            log.info("%s: notification %s passed over", self.definition.name, method)
            return
        try:
            session_id, update = decode_update(params)
        except msgspec.DecodeError as error:
            self.odd(str(failures.bad_message(self.definition.name, method, error)))
            return
        session = self.sessions.get(session_id)
        if session is not None:
            session.on_update(update)
        elif session_id not in self._left:
            self._keep_early(session_id, update)

    def _keep_early(self, session_id: str, update: Update) -> None:
        if sum(map(len, self._early.values())) < EARLY_UPDATES:
            self._early.setdefault(session_id, []).append(update)
        else:
            self.odd(f"an update for the unknown session {session_id!r} was dropped: too many wait already")

    def serve(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """Requests of a session go to it; there are no others."""
        if method not in ("session/request_permission", "fs/read_text_file", "fs/write_text_file"):
            raise RpcError(METHOD_NOT_FOUND, f"acp_nvim does not offer {method}", {"method": method})
        try:
            session_id = msgspec.json.decode(params, type=_Envelope).session_id
        except msgspec.DecodeError as error:
            raise RpcError(INVALID_PARAMS, f"{method}: {error}") from error
        session = self.sessions.get(session_id)
        if session is None:
            raise RpcError(INVALID_PARAMS, f"{method}: unknown sessionId {session_id!r}")
        return session.on_request(method, params)

    def odd(self, words: str) -> None:
        """Logged; a peer's nonsense is not the user's concern until something fails."""
        log.warning("%s: %s", self.definition.name, words)

    # --- its life ----------------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        assert self._child is not None
        failure: Failure | None = None
        try:
            await self._serve_until_end(self._child)
            failure = None if self._stopping else self._death()
        except Exception as error:  # a bug of ours must not take the other agents along
            log.exception("%s: serving it failed", self.definition.name)
            failure = failures.bug(self.definition.name, error)
        finally:
            await self._child.stop()
            self.gone.set()
        log.info("%s: ended with %s", self.definition.name, self._child.returncode)
        for session in list(self.sessions.values()):
            session.on_gone(failure)
        self.sessions.clear()

    async def _serve_until_end(self, child: Child) -> None:
        assert self._connection is not None
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child.read_stderr)
                tasks.start_soon(self._end_with, child, scope)
                await self._connection.run()
                with anyio.move_on_after(EXIT_SECONDS):
                    await child.wait()
                await child.stop()

    @staticmethod
    async def _end_with(child: Child, scope: anyio.CancelScope) -> None:
        """The process is gone: so must be who holds its pipes; who is out of our reach is not waited for."""
        await child.wait()
        await child.stop()
        scope.deadline = anyio.current_time() + EXIT_SECONDS

    def _death(self) -> Failure:
        assert self._child is not None
        return failures.exited(self.definition.name, self._child.returncode, self._last_words())

    def _last_words(self) -> tuple[str, ...]:
        return self._child.stderr.lines() if self._child else ()
