"""One attempt to sign in to an agent with the method that the user chose. It has no time limit."""

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
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.connection.peers import Peers
from acp_nvim.connection.startup import Launch, in_terminal, path_map
from acp_nvim.contract.request_events import SignInTerminal
from acp_nvim.errors import Failure, FailureError
from acp_nvim.failures.plain_words import reason
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from acp_nvim.traffic.masking import LEARNED
from acp_nvim.traffic.secret_names import is_secret_variable

log = logging.getLogger(__name__)


class Credentials:
    """The values of variables that the user entered, by agent; kept in memory only, until the host ends."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, str]] = {}

    def added_to(self, definition: AgentDefinition) -> AgentDefinition:
        """Return the agent's definition with the entered values in its environment."""
        values = self._values.get(definition.name)
        return msgspec.structs.replace(definition, env={**definition.env, **values}) if values else definition

    def take(self, agent: str, method: AuthMethod, values: Mapping[str, str]) -> bool:
        """Keep the values entered for a method, except empty ones. Return whether any of them is new."""
        open_ones = {one.name for one in method.variables if not one.secret}
        wanted = {one.name: values[one.name] for one in method.variables if values.get(one.name)}
        LEARNED.learn(value for name, value in wanted.items() if name not in open_ones)
        before = self._values.get(agent, {})
        self._values[agent] = before | wanted
        return self._values[agent] != before

    def forget(self, agent: str) -> bool:
        """Drop the agent's values, for a sign-out. Return whether there were any."""
        return bool(self._values.pop(agent, None))


def is_set(definition: AgentDefinition, name: str) -> bool:
    """Whether the agent's process would have that environment variable."""
    return bool(definition.env.get(name) or os.environ.get(name))


OWN: Final = "acp_nvim/environment"
"""The id of our own method, which is never sent to an agent."""


def sign_in_methods(
    definition: AgentDefinition, initialized: Sequence[AuthMethod], from_error: Sequence[AuthMethod]
) -> list[AuthMethod]:
    """Return the methods of `initialize`, else those that an error named; then ours, for variables they leave out."""
    methods = list(initialized or from_error)
    known = {variable.name for method in methods for variable in method.variables}
    variables = [
        AuthVariable(name, what, is_secret_variable(name), optional=True)  # any of them may be enough
        for name, what in definition.env_needed.items()
        if name not in known and definition.address is None  # the environment of others is not ours to set
    ]
    if variables:
        own = AuthMethod(method_id=OWN, name="A key in the environment", kind="env_var", variables=variables)
        methods.append(own)
    return methods


class SignInServices(msgspec.Struct, frozen=True):
    """What an attempt needs of the host; `find` raises `FailureError`, `show` opens a terminal in the editor."""

    peers: Peers
    find: Callable[[str], AgentDefinition]
    credentials: Credentials
    show: Callable[[SignInTerminal], None]

    def retire(self, agent: str) -> None:
        """Give new processes to sessions that start the agent from now on."""
        for peer in self.peers.known():
            if peer.name == agent:
                self.peers.retire(peer)


class Attempt:
    """One attempt to sign in to the agent's process in `cwd`. `number` is unique in the host."""

    def __init__(
        self, number: int, agent: str, cwd: str, method_id: str, values: Mapping[str, str], services: SignInServices
    ) -> None:
        self.number = number
        self.agent = agent
        self.cwd = cwd
        self.method = AuthMethod(method_id=method_id, name=method_id)
        self.from_error: tuple[AuthMethod, ...] = ()  # methods that an error of the agent named
        self.task: anyio.Event | None = None  # set when the task that runs it has ended
        self._values = values
        self._services = services
        self._held: list[AgentPeer] = []
        self._scope = anyio.CancelScope()
        self._ended = anyio.Event()
        self._exit: int | None = None
        self._problem: str | None = None

    def __repr__(self) -> str:
        return f"<Attempt {self.number} to sign in to {self.agent} with {self.method.method_id}>"

    def cancel(self) -> None:
        """Give up the attempt at any point: `run` then returns None."""
        self._scope.cancel()

    def terminal_ended(self, code: int | None, problem: str | None) -> None:
        """Take the exit code of the terminal's program, or the `problem` that kept it from starting."""
        self._exit, self._problem = code, problem
        self._ended.set()

    async def run(self, on_method: Callable[[], None]) -> AgentPeer | None:
        """Sign in; return the signed-in process, held until `release`, or None if cancelled. Raises `FailureError`.

        Calls `on_method` when `method` is complete, before the sign-in itself.
        """
        with anyio.CancelScope() as self._scope:
            peer = await self._obtain()
            self.method = self._chosen(peer)
            on_method()
            await self._sign_in(peer)
        return None if self._scope.cancelled_caught else self._held[-1]

    def release(self) -> None:
        """Release the processes that were held until their sessions continued."""
        for peer in self._held:
            peer.release(self)

    async def _obtain(self) -> AgentPeer:
        peer = await self._services.peers.obtain(self._services.find(self.agent), self.cwd)
        peer.hold(self)
        self._held.append(peer)
        return peer

    def _chosen(self, peer: AgentPeer) -> AuthMethod:
        for method in sign_in_methods(self._services.find(self.agent), peer.info.auth_methods, self.from_error):
            if method.method_id == self.method.method_id:
                return method
        raise FailureError(failed(self.agent, f"it names no way to sign in with the id {self.method.method_id!r}."))

    async def _sign_in(self, peer: AgentPeer) -> None:
        address = peer.definition.address
        match self.method.kind:
            case "agent":
                await self._authenticate(peer)
            case "terminal" | "env_var" if address is not None:
                said = self.method.description or "see the agent's own documentation"
                self._fail(f"{self.method.name!r} is done where the agent runs ({address}): {said.rstrip('.')}.")
            case "api_key":
                await self._authenticate(peer, self._values.get(API_KEY))
            case "terminal":
                await self._in_terminal()
            case "env_var":
                await self._with_variables(peer)
            case _:
                said = f" ({self.method.description})" if self.method.description else ""
                self._fail(
                    f"acp_nvim does not know ways to sign in of the type {self.method.kind!r}: {self.method.name!r}"
                    f"{said}. Do it as the agent's own documentation says; your next prompt tries again."
                )

    async def _authenticate(self, peer: AgentPeer, key: str | None = None) -> None:
        """Send `authenticate` or `auth/login`: the agent does the rest, for example with the user's browser."""
        LEARNED.learn([key] if key else [])
        meta = key_along(key, "api_key_is_text" in peer.quirks) if key else None
        call = peer.dialect.authenticate(self.method.method_id, meta)
        try:
            await peer.request(call.method, call.params)
        except RpcError as error:
            log.info("%s: %s was refused: %r", self.agent, call.method, error)
            why = reason(error) or "the agent refuses, :AcpLog shows what it said"
            said = (self.method.description or "").rstrip(".")  # it may be what the user has to type
            about = f" The agent says about it: {said}." if said else ""
            raise FailureError(failed(self.agent, f"{why}.{about}")) from error

    async def _in_terminal(self) -> None:
        """Run the agent's program in a terminal (ACP "Authentication", Terminal authentication)."""
        run = launch(self._services.find(self.agent), self.cwd, self.method)
        event = SignInTerminal(
            agent=self.agent,
            attempt=self.number,
            name=self.method.name,
            argv=run.argv,
            cwd=self.cwd,
            env=dict(run.env),
        )
        self._services.show(event)
        await self._ended.wait()
        if self._problem is not None:
            self._fail(f"{self._problem}.")
        if self._exit is None or self._exit < 0:
            self._fail("the terminal was closed.")
        if self._exit != 0:
            self._fail(f"its program ended with exit code {self._exit}.")
        self._services.retire(self.agent)
        await self._obtain()

    async def _with_variables(self, peer: AgentPeer) -> None:
        """Start the agent again with the entered variables, then send `authenticate` to those that want it."""
        is_news = self._services.credentials.take(self.agent, self.method, self._values)
        definition = self._services.find(self.agent)
        missing = [one.name for one in self.method.variables if not (one.optional or is_set(definition, one.name))]
        if missing:
            where = f" You get it at {self.method.link}." if self.method.link else ""
            self._fail(
                f"{', '.join(missing)} must be set.{where} :AcpLogin asks for it, and keeps it in memory only; to set "
                "it for good do so in the shell that starts Neovim, or in "
                f"agents.{self.agent}.env of your configuration."
            )
        if is_news:
            self._services.retire(self.agent)
            peer = await self._obtain()
        if self.method.method_id == OWN:
            if not is_news:
                self._fail("nothing was entered that the agent did not have already.")
            return
        try:
            await self._authenticate(peer)
        except FailureError as error:
            cause = error.__cause__  # methods of this type (removed from ACP in 2026-07) need no `authenticate`
            if not (isinstance(cause, RpcError) and cause.code in (METHOD_NOT_FOUND, INVALID_PARAMS)):
                raise
            log.info("%s: needs no call to sign in with variables: %r", self.agent, cause)

    def _fail(self, reason: str) -> NoReturn:
        raise FailureError(failed(self.agent, reason))


def launch(definition: AgentDefinition, cwd: str, method: AuthMethod) -> Launch:
    """Return the command for the terminal. Raises `FailureError` if `cwd` is unknown on the agent's machine."""
    command = method.command or [*definition.command, *method.args]
    return in_terminal(definition, cwd, path_map(definition), command, method.env)


def failed(agent: str, reason: str) -> Failure:
    """Return the failure of a sign-in; `reason` ends the sentence, with its full stop."""
    return Failure("sign_in_failed", f"Signing in to {agent!r} failed: {reason}", ":AcpLogin tries again.", agent)
