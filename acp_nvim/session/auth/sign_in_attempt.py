"""One attempt of the user to sign in to an agent, in the way that they chose; it takes as long as it takes."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NoReturn

import anyio
import msgspec

from acp_nvim.acp.answers import AuthMethod, AuthVariable
from acp_nvim.acp.auth_methods import API_KEY, key_along
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import Failure, FailureError
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.connection.peers import Peers
from acp_nvim.session.connection.startup import Launch, in_terminal, path_map
from acp_nvim.traffic.masking import LEARNED, is_secret_variable
from acp_nvim.ui.request_events import SignInTerminal

log = logging.getLogger(__name__)


class Credentials:
    """By the name of the agent; they end with the host."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, str]] = {}

    def __repr__(self) -> str:
        return f"<Credentials { ({agent: sorted(values) for agent, values in self._values.items()}) }>"

    def added_to(self, definition: AgentDefinition) -> AgentDefinition:
        """The agent as it is to be started."""
        values = self._values.get(definition.name)
        return msgspec.structs.replace(definition, env={**definition.env, **values}) if values else definition

    def take(self, agent: str, method: AuthMethod, values: Mapping[str, str]) -> bool:
        """What the user entered for that method, empty ones left out; whether anything is different then."""
        open_ones = {one.name for one in method.variables if not one.secret}
        wanted = {one.name: values[one.name] for one in method.variables if values.get(one.name)}
        LEARNED.learn(value for name, value in wanted.items() if name not in open_ones)
        before = self._values.get(agent, {})
        self._values[agent] = before | wanted
        return self._values[agent] != before

    def forget(self, agent: str) -> bool:
        """The user signs out; whether there was anything."""
        return bool(self._values.pop(agent, None))


def is_set(definition: AgentDefinition, name: str) -> bool:
    """Whether an agent that is started so has that variable."""
    return bool(definition.env.get(name) or os.environ.get(name))


OWN: Final = "acp_nvim/environment"
"""The id of the way that is ours: no agent hears of it."""


def ways(definition: AgentDefinition, told: Sequence[AuthMethod], named: Sequence[AuthMethod]) -> list[AuthMethod]:
    """Return the ways that `initialize` has `told`, else those an error has `named`; ours last, for other variables."""
    theirs = list(told or named)
    known = {variable.name for method in theirs for variable in method.variables}
    needed = {name: what for name, what in definition.env_needed.items() if name not in known}
    return [*theirs, _own(needed)] if needed else theirs


def _own(needed: dict[str, str]) -> AuthMethod:
    """Any of them may be enough."""
    variables = [AuthVariable(name, what, is_secret_variable(name), optional=True) for name, what in needed.items()]
    return AuthMethod(method_id=OWN, name="A key in the environment", kind="env_var", variables=variables)


class SignInServices:
    """What a sign-in attempt needs of the host: agents' processes, credentials, and a terminal to show."""

    def __init__(
        self,
        peers: Peers,
        find: Callable[[str], AgentDefinition],
        credentials: Credentials,
        show: Callable[[SignInTerminal], None],
    ) -> None:
        self.peers = peers
        self.find = find
        self.credentials = credentials
        self.show = show

    def retire(self, agent: str) -> None:
        """Give new processes to sessions that start the agent from now on."""
        for peer in self.peers.known():
            if peer.name == agent:
                self.peers.retire(peer)


class Attempt:
    """At an agent that may run in several directories: `cwd` says which one is asked.

    `number` is unique in the host.
    """

    def __init__(self, number: int, agent: str, cwd: str, method_id: str, values: Mapping[str, str]) -> None:
        self.number = number
        self.agent = agent
        self.cwd = cwd
        self.method = AuthMethod(method_id=method_id, name=method_id)
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
        """Give the attempt up, wherever it is: `run` then returns None."""
        self._scope.cancel()

    def terminal_ended(self, code: int | None, problem: str | None) -> None:
        """The terminal of this attempt is over; `problem`: there was none."""
        self._exit, self._problem = code, problem
        self._ended.set()

    async def run(self, services: SignInServices, on_method: Callable[[], None]) -> AgentPeer | None:
        """The process that knows the user then, held until `release`; None: it was given up. Raises `FailureError`.

        `on_method`: it is known by now which method it is.
        """
        with anyio.CancelScope() as self._scope:
            peer = await self._obtain(services)
            self.method = self._chosen(services, peer)
            on_method()
            await self._sign_in(services, peer)
        return None if self._scope.cancelled_caught else self._held[-1]

    def release(self) -> None:
        """Let go of the processes that were kept for its sessions, once these have gone on."""
        for peer in self._held:
            peer.release(self)

    async def _obtain(self, services: SignInServices) -> AgentPeer:
        peer = await services.peers.obtain(services.find(self.agent), self.cwd)
        peer.hold(self)
        self._held.append(peer)
        return peer

    def _chosen(self, services: SignInServices, peer: AgentPeer) -> AuthMethod:
        for method in ways(services.find(self.agent), peer.info.auth_methods, self.named):
            if method.method_id == self.method.method_id:
                return method
        raise FailureError(failed(self.agent, f"it names no way to sign in with the id {self.method.method_id!r}."))

    async def _sign_in(self, services: SignInServices, peer: AgentPeer) -> None:
        match self.method.kind:
            case "agent":
                await self._authenticate(peer)
            case "api_key":
                await self._authenticate(peer, self._values.get(API_KEY))
            case "terminal":
                await self._in_terminal(services)
            case "env_var":
                await self._with_variables(services, peer)
            case _:
                self._fail(_unknown_kind(self.method))

    async def _authenticate(self, peer: AgentPeer, key: str | None = None) -> None:
        """`authenticate`, `auth/login`: the agent does the rest, with the user's browser for example."""
        LEARNED.learn([key] if key else [])
        meta = key_along(key, "api_key_is_text" in peer.quirks) if key else None
        call = peer.dialect.authenticate(self.method.method_id, meta)
        try:
            await peer.request(call.method, call.params)
        except RpcError as error:
            raise FailureError(failed(self.agent, f"{error.describe()} (code {error.code}).")) from error

    async def _in_terminal(self, services: SignInServices) -> None:
        """ACP "Authentication", Terminal authentication: another process of the agent's program, which is not asked."""
        run = launch(services.find(self.agent), self.cwd, self.method)
        event = SignInTerminal(
            agent=self.agent,
            attempt=self.number,
            name=self.method.name,
            argv=run.argv,
            cwd=self.cwd,
            env=dict(run.env),
        )
        services.show(event)
        await self._ended.wait()
        if self._problem is not None or self._exit != 0:
            self._fail(_terminal_failed(self._exit, self._problem))
        services.retire(self.agent)
        await self._obtain(services)

    async def _with_variables(self, services: SignInServices, peer: AgentPeer) -> None:
        """The agent gets what was entered when it is started again; some want to hear which of it they are to use."""
        is_news = services.credentials.take(self.agent, self.method, self._values)
        definition = services.find(self.agent)
        wanted = [one.name for one in self.method.variables if not one.optional]
        missing = [name for name in wanted if not is_set(definition, name)]
        if missing:
            self._fail(_missing(self.agent, missing, self.method.link))
        if is_news:
            services.retire(self.agent)
            peer = await self._obtain(services)
        if self.method.method_id != OWN:
            await self._tell_to_use_them(peer)
        elif not is_news:
            self._fail("nothing was entered that the agent did not have already.")

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
        raise FailureError(failed(self.agent, reason))


def launch(definition: AgentDefinition, cwd: str, method: AuthMethod) -> Launch:
    """What a terminal runs to sign in. Raises `FailureError`: nobody knows where `cwd` is there."""
    command = method.command or [*definition.command, *method.args]
    return in_terminal(definition, cwd, path_map(definition), command, method.env)


# --- what failed -----------------------------------------------------------------------------------------------------


def failed(agent: str, reason: str) -> Failure:
    """The failure of signing in to that agent; `reason` is a sentence that goes on."""
    return Failure("sign_in_failed", f"Signing in to {agent!r} failed: {reason}", ":AcpLogin tries again.", agent)


def _unknown_kind(method: AuthMethod) -> str:
    said = f" ({method.description})" if method.description else ""
    return (
        f"acp_nvim does not know ways to sign in of the type {method.kind!r}: {method.name!r}{said}. "
        "Do it as the agent's own documentation says; your next prompt tries again."
    )


def _terminal_failed(code: int | None, problem: str | None) -> str:
    if problem is not None:
        return f"{problem}."
    return "the terminal was closed." if code is None or code < 0 else f"its program ended with exit code {code}."


def _missing(agent: str, names: list[str], link: str | None) -> str:
    where = f" You get it at {link}." if link else ""
    return (
        f"{', '.join(names)} must be set.{where} :AcpLogin asks for it, and keeps it in memory only; to set it for "
        f"good do so in the shell that starts Neovim, or in agents.{agent}.env of your configuration."
    )
