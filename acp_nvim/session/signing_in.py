"""One attempt of the user to sign in to an agent, in the way that they chose; it takes as long as it takes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import NoReturn

import anyio

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import FailureError
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from acp_nvim.protocol.answers import AuthMethod
from acp_nvim.protocol.auth_methods import API_KEY, key_along
from acp_nvim.session import sign_in_words as words
from acp_nvim.session.entered import Entered, is_set
from acp_nvim.session.launch import Launch, in_terminal, path_map
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.peers import Peers
from acp_nvim.session.sign_in import SignIn
from acp_nvim.session.sign_in_ways import OWN, ways
from acp_nvim.sign_in_events import SignInTerminal
from acp_nvim.traffic.learned import LEARNED

log = logging.getLogger(__name__)


class Means:
    """What an attempt needs of the host."""

    def __init__(
        self,
        peers: Peers,
        find: Callable[[str], AgentDefinition],
        entered: Entered,
        show: Callable[[SignInTerminal], None],
    ) -> None:
        self.peers = peers
        self.find = find
        self.entered = entered
        self.show = show

    def retire(self, agent: str) -> None:
        """Who wants the agent gets a new process from now on."""
        for peer in self.peers.known():
            if peer.name == agent:
                self.peers.retire(peer)


class Attempt:
    """At an agent that may run in several directories: `cwd` says which one is asked. `number` is unique in the host.

    `sessions` are those that go on with it.
    """

    def __init__(self, number: int, agent: str, cwd: str, method_id: str, values: Mapping[str, str]) -> None:
        self.number = number
        self.agent = agent
        self.cwd = cwd
        self.method = AuthMethod(method_id=method_id, name=method_id)
        self.sessions: list[SignIn] = []
        self.named: tuple[AuthMethod, ...] = ()  # by an error of the agent
        self.task: anyio.Event | None = None  # the end of what runs it
        self._values = values
        self._held: list[AgentPeer] = []
        self._scope = anyio.CancelScope()
        self._ended = anyio.Event()
        self._exit: int | None = None
        self._problem: str | None = None

    def __repr__(self) -> str:
        return f"<Attempt {self.number} to sign in to {self.agent} with {self.method.method_id}>"

    def cancel(self) -> None:
        """The user gives it up."""
        self._scope.cancel()

    def tell_status(self) -> None:
        """It begins, or is over."""
        for one in self.sessions:
            with one.session.tasks.contained("telling of a sign-in"):
                one.session.narrator.on_facts()

    def terminal_ended(self, code: int | None, problem: str | None) -> None:
        """The terminal of this attempt is over; `problem`: there was none."""
        self._exit, self._problem = code, problem
        self._ended.set()

    async def run(self, means: Means, on_method: Callable[[], None]) -> AgentPeer | None:
        """The process that knows the user then, held until `release`; None: it was given up. Raises `FailureError`.

        `on_method`: it is known by now which method it is.
        """
        with anyio.CancelScope() as self._scope:
            peer = await self._obtain(means)
            self.method = self._chosen(means, peer)
            on_method()
            await self._sign_in(means, peer)
        return None if self._scope.cancelled_caught else self._held[-1]

    def release(self) -> None:
        """Its sessions have gone on."""
        for peer in self._held:
            peer.release(self)

    async def _obtain(self, means: Means) -> AgentPeer:
        peer = await means.peers.obtain(means.find(self.agent), self.cwd)
        peer.hold(self)
        self._held.append(peer)
        return peer

    def _chosen(self, means: Means, peer: AgentPeer) -> AuthMethod:
        for method in ways(means.find(self.agent), peer.info.auth_methods, self.named):
            if method.method_id == self.method.method_id:
                return method
        raise FailureError(words.no_such_method(self.agent, self.method.method_id))

    async def _sign_in(self, means: Means, peer: AgentPeer) -> None:
        match self.method.kind:
            case "agent":
                await self._authenticate(peer)
            case "api_key":
                await self._authenticate(peer, self._values.get(API_KEY))
            case "terminal":
                await self._in_terminal(means)
            case "env_var":
                await self._with_variables(means, peer)
            case _:
                self._fail(words.unknown_kind(self.method))

    async def _authenticate(self, peer: AgentPeer, key: str | None = None) -> None:
        """`authenticate`, `auth/login`: the agent does the rest, with the user's browser for example."""
        LEARNED.learn([key] if key else [])
        meta = key_along(key, "api_key_is_text" in peer.quirks) if key else None
        call = peer.dialect.authenticate(self.method.method_id, meta)
        try:
            await peer.request(call.method, call.params)
        except RpcError as error:
            raise FailureError(words.refused(self.agent, error)) from error

    async def _in_terminal(self, means: Means) -> None:
        """ACP "Authentication", Terminal authentication: another process of the agent's program, which is not asked."""
        run = launch(means.find(self.agent), self.cwd, self.method)
        event = SignInTerminal(
            agent=self.agent,
            attempt=self.number,
            name=self.method.name,
            argv=run.argv,
            cwd=self.cwd,
            env=dict(run.env),
        )
        means.show(event)
        await self._ended.wait()
        if self._problem is not None or self._exit != 0:
            self._fail(words.terminal_failed(self._exit, self._problem))
        means.retire(self.agent)
        await self._obtain(means)

    async def _with_variables(self, means: Means, peer: AgentPeer) -> None:
        """The agent gets what was entered when it is started again; some want to hear which of it they are to use."""
        is_news = means.entered.take(self.agent, self.method, self._values)
        definition = means.find(self.agent)
        wanted = [one.name for one in self.method.variables if not one.optional]
        missing = [name for name in wanted if not is_set(definition, name)]
        if missing:
            self._fail(words.missing(self.agent, missing, self.method.link))
        if is_news:
            means.retire(self.agent)
            peer = await self._obtain(means)
        if self.method.method_id != OWN:
            await self._tell_to_use_them(peer)
        elif not is_news:
            self._fail(words.NOTHING_NEW)

    async def _tell_to_use_them(self, peer: AgentPeer) -> None:
        """To have them is enough for most: methods of this type (gone since 2026-07) need no `authenticate`."""
        try:
            await self._authenticate(peer)
        except FailureError as error:
            cause = error.__cause__
            if not (isinstance(cause, RpcError) and cause.code in (METHOD_NOT_FOUND, INVALID_PARAMS)):
                raise
            log.info("%s: needs no call to sign in with variables: %r", self.agent, cause)

    def _fail(self, reason: str) -> NoReturn:
        raise FailureError(words.failed(self.agent, reason))


def launch(definition: AgentDefinition, cwd: str, method: AuthMethod) -> Launch:
    """What a terminal runs to sign in. Raises `FailureError`: nobody knows where `cwd` is there."""
    command = method.command or [*definition.command, *method.args]
    return in_terminal(definition, cwd, path_map(definition), command, method.env)
