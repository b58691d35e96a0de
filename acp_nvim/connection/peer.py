"""One agent and its connection, which serves all sessions of this agent in this directory."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import anyio
import msgspec

from acp_nvim.acp.answers import Abilities, Initialized
from acp_nvim.acp.dialect import REFUSALS, Dialect
from acp_nvim.agents.catalogue import hint_without_name, quirks_of, state_of
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.connection.opening import open_transport
from acp_nvim.connection.router import MessageRouter
from acp_nvim.connection.startup import PeerSettings, Recording, initialize, path_map, prepare, recording
from acp_nvim.errors import Failure, FailureError
from acp_nvim.failures import failures
from acp_nvim.jsonrpc.connection import Connection
from acp_nvim.jsonrpc.messages import PeerGoneError
from acp_nvim.jsonrpc.requests import Answer
from acp_nvim.process.child import ChildProcesses
from acp_nvim.tasks import Tasks, contained, failed
from acp_nvim.transports.interface import OnRung, Transport

EXIT_SECONDS: Final = 1.0
"""Time for an agent to exit after closing its stdout, before it is stopped."""
IDLE_LOOK_SECONDS: Final = 60.0
"""Longest time between two checks for idleness: the process may have become idle, or the limit may have changed."""

log = logging.getLogger(__name__)


class AgentPeer:
    """An agent that runs somewhere (`Transport`). `start` serves it in the task group of `tasks`, until its end.

    It is ended with its last session.
    """

    def __init__(self, definition: AgentDefinition, cwd: str, settings: PeerSettings) -> None:
        self.definition = definition
        self.name = definition.name
        self.cwd = cwd
        self.mark = ""  # see `Transport`, as `began`
        self.began = 0
        self.settings = settings
        self.info = Initialized()
        self.paths = path_map(definition)
        self.router = MessageRouter(definition.name)
        self.gone = anyio.Event()
        self.remark = ""
        """What the next session is to say of the process, once."""
        self._tasks: Tasks | None = None
        self._transport: Transport | None = None
        self._connection: Connection | None = None
        self._recording: Recording | None = None
        self._holders: set[object] = set()
        self._until_used: set[object] = set()
        self._stopping = False
        self._began_to_work = False  # it has answered `initialize`
        self._last_call = 0.0
        self.started_by = ""
        """The name of the chat that it was started for."""
        self._reason: Failure | None = None  # reported to the sessions other than `_ended_by`, which ended it
        self._ended_by: set[str] = set()

    @property
    def alive(self) -> bool:
        """Whether it runs and is not being stopped."""
        return not self.gone.is_set() and not self._stopping

    @property
    def is_used(self) -> bool:
        """Whether it has a session, or somebody holds it."""
        return bool(self.router.sessions or self._holders)

    @property
    def last_word(self) -> float:
        """Time of the last message from or to it, on the clock of `anyio.current_time`."""
        return max(self._last_call, self.router.last_word)

    @property
    def pid(self) -> int | None:
        """The process id of the agent; None if it is no process of ours."""
        return None if self._transport is None else self._transport.pid

    @property
    def silent(self) -> bool:
        """Whether its connection is closed, so that no message can come."""
        return self._connection is not None and self._connection.closed

    @property
    def said_so_far(self) -> str:
        """What a process that was just started has written to stderr, and to stdout instead of messages.

        Of more than a screenful it is the beginning and the end.
        """
        said = (*self._transport.first_words(), *self._transport.last_words()) if self._transport else ()
        return "\n".join((*said, *self.router.odd_lines))

    def _words_so_far(self) -> tuple[str, ...]:
        """Return what may explain why the agent does not answer: its stdout, and the end of its stderr."""
        return (*self.router.others.last_words(False), *(self._transport.last_words() if self._transport else ()))

    @property
    def quirks(self) -> frozenset[str]:
        """Known deviations of the agent from the protocol."""
        return self.definition.quirks | quirks_of(self.info.name or "")

    @property
    def state(self) -> tuple[str, ...]:
        """The files of a project in which the agent keeps its own records."""
        return (*self.definition.state, *state_of(self.info.name or ""))

    @property
    def dialect(self) -> Dialect:
        """The protocol version agreed on in `initialize`, as a dialect."""
        return self.router.dialect

    @property
    def abilities(self) -> Abilities:
        """The abilities that the agent declared in `initialize`."""
        return self.info.abilities

    @property
    def has_begun(self) -> bool:
        """Whether the agent has answered `initialize`: before that, the process is being started for a chat."""
        return self._began_to_work

    async def start(self, tasks: Tasks, processes: ChildProcesses, started: Transport | None = None) -> None:
        """Start the process, unless it is `started`, or connect to its address; then `initialize` it.

        Raises `FailureError`; then it is gone.
        """
        definition, self._tasks, self.router.beside = self.definition, tasks.owned_by(self.router.bug), tasks.on_failure
        self.router.strays.spawn = self._tasks.spawn
        try:
            if started is None:
                transport, first = await open_transport(definition, self.cwd, self.paths, self.settings, processes)
            else:
                transport, first = started, b""
        except BaseException:
            self.gone.set()
            raise
        log.info("%s: in %s: %r", self.name, self.cwd, transport)
        self._transport, self.mark, self.began = transport, transport.mark, transport.began
        self._recording = recording(definition, self.cwd, self.settings)
        source, sink = transport.source, transport.sink
        self._connection = Connection(source, sink, self.router, self._recording, refusals=REFUSALS)
        self._tasks.spawn(self._live)
        try:
            if first:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the reader will see the end
                    await transport.sink.send(first)
            handshake = initialize(definition, self.paths, self.settings, self.request, self._words_so_far)
            self.router.dialect, self.info = await handshake
            self._began_to_work = True
            self.remark = "" if self.info.name else hint_without_name(definition)
            self.router.others.take_quirks(self.quirks)
            self._tasks.spawn(prepare)
        except BaseException:
            self._stopping = True
            await transport.stop()
            raise

    async def request(
        self,
        method: str,
        params: Any,
        on_answer: Callable[[Answer], None] | None = None,
        on_call: Callable[[int], None] | None = None,
    ) -> msgspec.Raw:
        """Call the agent and return its result. Raises `RpcError` for its error, `FailureError` if it died instead.

        `on_answer` gets the answer in the order of the agent's messages, `on_call` the id of the call for `withdraw`.
        """
        assert self._connection is not None
        self._last_call = anyio.current_time()

        def settle(answer: Answer) -> None:
            self.router.flush()
            if on_answer is not None:
                on_answer(answer)

        try:
            return await self._connection.request(method, params, settle, on_call)
        except PeerGoneError as error:
            await self.gone.wait()
            reason = None if self._began_to_work else self._reason  # a start that another chat has ended
            raise FailureError(reason or self._death()) from error

    def notify(self, method: str, params: Any) -> None:
        """Send a notification without waiting; it is dropped if the agent is gone."""
        assert self._connection is not None
        self._last_call = anyio.current_time()
        self._connection.notify(method, params)

    def withdraw(self, call_id: int) -> None:
        """Send `$/cancel_request` for the call with that id; an answer is still taken."""
        assert self._connection is not None
        self._connection.withdraw(call_id)

    async def room(self) -> None:
        """Wait until the agent has read most of our answers."""
        assert self._connection is not None
        await self._connection.room()

    def hold(self, holder: object, until_used: bool = False) -> None:
        """Keep the process running without sessions until `release`, as while the user signs in.

        With `until_used` only until somebody else holds it.
        """
        self._holders -= self._until_used
        self._until_used = {holder} if until_used else set()
        self._holders.add(holder)

    def release(self, holder: object) -> None:
        """Undo `hold`; without sessions and other holders the process is stopped."""
        self._holders.discard(holder)
        self.leave(None)

    def leave(self, session_id: str | None) -> None:
        """Remove a session; without sessions and holders the process is stopped."""
        if session_id is not None:
            self.router.forget(session_id)
        if not self.is_used:
            self._stop()

    def _stop(self) -> None:
        if self._transport is not None and self._tasks is not None and not self._stopping:
            self._stopping = True
            self._tasks.spawn(self._transport.stop)

    async def end(self, reason: Failure, by: str, on_rung: OnRung) -> None:
        """End the process for the session `by`, and wait until it is gone; report `reason` to its other sessions.

        A process that hangs in the kernel is not waited for.
        """
        self._stopping, self._reason = True, reason
        self._ended_by.add(by)
        if self._transport is not None:
            await self._transport.stop(on_rung)
        await self.wait_gone(2 * EXIT_SECONDS)

    async def wait_gone(self, seconds: float) -> None:
        """Wait until the process has ended, at most that many seconds."""
        with anyio.move_on_after(seconds):
            await self.gone.wait()

    async def stop_when_idle(self, seconds: Callable[[], float]) -> None:
        """Stop the process after `seconds()` without a message, if its sessions can be reopened; never if that is 0."""
        while self.alive:
            limit = seconds()
            left = self.last_word + limit - anyio.current_time() if limit else IDLE_LOOK_SECONDS
            sessions = list(self.router.sessions.values())
            can_reopen = self.abilities.resume or self.abilities.load
            if left <= 0 and can_reopen and not self._holders and not any(session.is_busy for session in sessions):
                log.info("%s: is stopped, nothing happened for %g s", self.name, limit)
                for session in sessions:
                    with contained("stopping an idle agent", session.on_bug):
                        session.on_idle()
                self.leave(None)
                return
            await self.wait_gone(min(left if left > 0 else limit, IDLE_LOOK_SECONDS))

    async def _live(self) -> None:
        """Serve the connection until the agent ends, then tell its sessions."""
        assert self._transport is not None
        failure: Failure | None = None
        try:
            await self._serve_until_end(self._transport)
            failure = None if self._stopping else self._death()
        except Exception as error:  # the agent is ended, and all calls to it fail
            failed(f"serving {self.name}", error, lambda bug: None if self.router.sessions else self.router.beside(bug))
            failure = failures.bug(self.name, error)
        finally:
            with contained(f"ending {self.name}", self.router.bug):
                await self._transport.stop()
            self.gone.set()
            if self._recording is not None:
                with contained("closing a recording", self.router.bug):
                    self._recording.close()
        log.info("%s: ended: %s", self.name, self._transport.ending(self._heard))
        for session_id, session in list(self.router.sessions.items()):
            with contained(f"telling of the end of {self.name}", session.on_bug):
                session.on_gone(failure if session_id in self._ended_by else failure or self._reason)
        self.router.sessions.clear()

    async def _serve_until_end(self, transport: Transport) -> None:
        assert self._connection is not None
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(transport.read_aside)
                tasks.start_soon(self._end_with, transport, scope)
                await self._connection.run()
                with anyio.move_on_after(EXIT_SECONDS):
                    await transport.wait()
                await transport.stop()

    @staticmethod
    async def _end_with(transport: Transport, scope: anyio.CancelScope) -> None:
        """After a process, end other holders of its pipes; those out of our reach are not waited for."""
        await transport.wait()
        await transport.stop()
        scope.deadline = anyio.current_time() + EXIT_SECONDS

    def _death(self) -> Failure:
        assert self._transport is not None
        is_explained = self._began_to_work and bool(self._transport.last_words(self._heard))
        said = () if is_explained else self.router.others.last_words(self._began_to_work)
        return failures.ended(self.definition, self._transport.ending(self._heard), said)

    @property
    def _heard(self) -> float | None:
        """The time of the last message, once it has answered `initialize`."""
        return self.last_word if self._began_to_work else None
