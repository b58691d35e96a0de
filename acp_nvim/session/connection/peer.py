"""One agent process and its connection; it serves all sessions that this agent has in this directory."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import anyio
import msgspec

from acp_nvim.acp.answers import Abilities, Initialized
from acp_nvim.acp.dialect import Dialect
from acp_nvim.agents.builtin_agents import quirks_of, state_of
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import Failure, FailureError
from acp_nvim.jsonrpc.connection import Connection
from acp_nvim.jsonrpc.messages import PeerGoneError
from acp_nvim.jsonrpc.requests import Answer
from acp_nvim.process.child import Child
from acp_nvim.process.guarding import Guard
from acp_nvim.process.stopping import Rung
from acp_nvim.session import failures
from acp_nvim.session.connection.router import MessageRouter
from acp_nvim.session.connection.startup import Launch, PeerSettings, Recording, greet, launch, path_map, recording
from acp_nvim.tasks import Tasks, contained, failed

EXIT_SECONDS: Final = 1.0
"""Time for an agent to exit after it closed its stdout, before it is stopped."""

log = logging.getLogger(__name__)


class AgentPeer:
    """A running agent. Make it with `start`; it lives in the task group given there."""

    def __init__(self, definition: AgentDefinition, cwd: str, settings: PeerSettings) -> None:
        self.definition = definition
        self.cwd = cwd
        self.settings = settings
        self.info = Initialized()
        self.paths = path_map(definition)
        self.router = MessageRouter(definition.name)
        self.gone = anyio.Event()
        self._tasks: Tasks | None = None
        self._child: Child | None = None
        self._connection: Connection | None = None
        self._recording: Recording | None = None
        self._holders: set[object] = set()
        self._stopping = False
        self._last_call = 0.0
        self._told: Failure | None = None  # what its sessions hear when it is ended because of these:
        self._ended_by: set[str] = set()

    def __repr__(self) -> str:
        return f"<AgentPeer {self.definition.name} {self._child!r} {self.router!r}>"

    @property
    def alive(self) -> bool:
        """Whether it can still be talked to."""
        return not self.gone.is_set() and not self._stopping

    @property
    def mark(self) -> str:
        """What all processes of this one have in their environment, and no others; "" before it was started."""
        return self._child.mark if self._child is not None else ""

    @property
    def began(self) -> int:
        """When its process was started (nanoseconds since 1970); 0 before."""
        return self._child.began if self._child is not None else 0

    @property
    def held(self) -> bool:
        """Whether somebody beside its sessions needs it."""
        return bool(self._holders)

    @property
    def last_word(self) -> float:
        """When it was spoken to, or spoke; on the clock of `anyio.current_time`."""
        return max(self._last_call, self.router.last_word)

    @property
    def silent(self) -> bool:
        """Whether it has said all that it ever will."""
        return self._connection is not None and self._connection.closed

    @property
    def quirks(self) -> frozenset[str]:
        """The deviations known of the program that answered."""
        return self.definition.quirks | quirks_of(self.info.name or "")

    @property
    def state(self) -> tuple[str, ...]:
        """The files of a project in which the program keeps its own records."""
        return (*self.definition.state, *state_of(self.info.name or ""))

    @property
    def dialect(self) -> Dialect:
        """The protocol version that was agreed on with `initialize`."""
        return self.router.dialect

    @property
    def name(self) -> str:
        """The name by which the user configured the agent."""
        return self.definition.name

    @property
    def abilities(self) -> Abilities:
        """What the agent has said in `initialize` that it can do."""
        return self.info.abilities

    async def start(self, tasks: Tasks, guard: Guard) -> None:
        """Spawn and `initialize`. Raises `FailureError`; then nothing of it is left running."""
        definition, self._tasks, self.router.beside = self.definition, tasks.owned_by(self.router.bug), tasks.on_failure
        how = await self._spawn(guard)
        assert self._child is not None
        self._recording = recording(definition, self.cwd, self.settings)
        self._connection = Connection(self._child.source, self._child.sink, self.router, self._recording)
        self._tasks.spawn(self._live)
        try:
            if how.first:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # whoever reads will see the end
                    await self._child.sink.send(how.first)
            met = greet(definition, self.paths, self.settings, self.request, self._last_words)
            self.router.dialect, self.info = await met
        except BaseException:
            self._stopping = True
            await self._child.stop()
            raise

    async def _spawn(self, guard: Guard) -> Launch:
        definition = self.definition
        try:
            how = launch(definition, self.cwd, self.paths)
            self._child = await Child.spawn(definition.name, how.argv, self.cwd, how.env, guard)
        except FailureError:
            self.gone.set()
            raise
        except (OSError, ValueError) as error:  # ValueError: a NUL in the command or its environment
            self.gone.set()
            raise FailureError(failures.cannot_start(definition, self.cwd, error)) from error
        log.info("%s: started %s as %d in %s", definition.name, how.argv, self._child.pid, self.cwd)
        return how

    async def request(
        self,
        method: str,
        params: Any,
        on_answer: Callable[[Answer], None] | None = None,
        on_call: Callable[[int], None] | None = None,
    ) -> msgspec.Raw:
        """Call the agent. Raises `RpcError` for its error, `FailureError` in words when it died instead.

        `on_answer` sees the answer after all that the agent said before it, and before what it says next; `on_call`
        hears what `withdraw` wants.
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
            raise FailureError(self._death()) from error

    def notify(self, method: str, params: Any) -> None:
        """Send a notification to the agent; never waits, and nothing happens when the agent is gone."""
        assert self._connection is not None
        self._last_call = anyio.current_time()
        self._connection.notify(method, params)

    def withdraw(self, call_id: int) -> None:
        """The answer to that call is not wanted any more; if one comes it is taken."""
        assert self._connection is not None
        self._connection.withdraw(call_id)

    async def room(self) -> None:
        """Wait until it has read most of what it was answered."""
        assert self._connection is not None
        await self._connection.room()

    def hold(self, holder: object) -> None:
        """The process is not stopped for want of sessions until `release`: one is being opened, the user signs in."""
        self._holders.add(holder)

    def release(self, holder: object) -> None:
        """Without any session, and held by nobody else, the process is stopped."""
        self._holders.discard(holder)
        self.leave(None)

    def leave(self, session_id: str | None) -> None:
        """The session needs the agent no more; without any session the process is stopped."""
        if session_id is not None:
            self.router.forget(session_id)
        if not (self.router.sessions or self._holders):
            self._stop()

    async def end(self, told: Failure, by: str, on_rung: Callable[[Rung], None]) -> None:
        """End the process, whoever uses it: the sessions other than `by` are told. Returns when it is gone.

        Who hangs in the kernel is not waited for.
        """
        self._stopping, self._told = True, told
        self._ended_by.add(by)
        if self._child is not None:
            await self._child.stop(on_rung)
        with anyio.move_on_after(2 * EXIT_SECONDS):
            await self.gone.wait()

    def _stop(self) -> None:
        """End the process and all it started, in the background; its sessions are told then."""
        if self._child is not None and self._tasks is not None and not self._stopping:
            self._stopping = True
            self._tasks.spawn(self._child.stop)

    # --- its life ----------------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        assert self._child is not None
        failure: Failure | None = None
        try:
            await self._serve_until_end(self._child)
            failure = None if self._stopping else self._death()
        except Exception as error:  # all that was said to it fails with it
            failed(f"serving {self.name}", error, lambda bug: None if self.router.sessions else self.router.beside(bug))
            failure = failures.bug(self.name, error)
        finally:
            with contained(f"ending {self.name}", self.router.bug):
                await self._child.stop()
            self.gone.set()
            if self._recording is not None:
                with contained("closing a recording", self.router.bug):
                    self._recording.close()
        log.info("%s: ended with %s", self.name, self._child.returncode)
        for session_id, session in list(self.router.sessions.items()):
            with contained(f"telling of the end of {self.name}", session.on_bug):
                session.on_gone(failure if session_id in self._ended_by else failure or self._told)
        self.router.sessions.clear()

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
