"""Where the sessions of all agents wait until the user has signed in; one attempt at a time for each agent."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Collection, Mapping
from itertools import count
from typing import Any, Final, Literal, Protocol

import anyio

from acp_nvim.acp.answers import AuthMethod
from acp_nvim.acp.dialect import Place
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import Failure, FailureError
from acp_nvim.session import failures
from acp_nvim.session.auth.sign_in_attempt import Attempt, Credentials, SignInServices, failed, is_set, launch, ways
from acp_nvim.session.connection.calls import send
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.connection.peers import Peers
from acp_nvim.session.failures import SignInWanted
from acp_nvim.session.transcript.presenter import Presenter
from acp_nvim.tasks import Spawn, Tasks, is_running
from acp_nvim.traffic.masking import without_secrets
from acp_nvim.ui.editor import Editor
from acp_nvim.ui.request_events import MethodView, SignInDone, SignInOutcome, VariableView
from acp_nvim.ui.request_events import SignIn as SignInEvent

GONE: Final = "The agent has ended while it waited for you to sign in. :AcpLogin, or your next prompt, starts it again."
CANCELLED: Final = "Signing in was given up. :AcpLogin tries again."
BUSY: Final = "you are signing in to it already; :AcpCancel in its chat gives that up."

log = logging.getLogger(__name__)


State = Literal["needed", "running"]


class SigningSession(Protocol):
    """What signing in needs of a session."""

    key: int
    agent: str
    place: Place
    presenter: Presenter
    tasks: Tasks
    requests: Any  # `AgentRequests`, which this cannot import: it imports this

    @property
    def state(self) -> str:
        """The session's state, in the words of `status()`."""

    def open(self) -> None:
        """Go on with the agent that it has, or get one."""

    def reconnect(self) -> None:
        """Go on at another process of the agent."""

    def at_work(self) -> tuple[AgentPeer, str] | None:
        """Its agent, and the session there, while they can be talked to."""


class SignIn:
    """The sign-in of one session: the agent's process stays meanwhile, and the prompt waits in the queue."""

    def __init__(self, session: SigningSession, sign_ins: SignIns) -> None:
        self.session = session
        self.peer: AgentPeer | None = None
        """Held, until the session is open, or not wanted any more."""
        self._sign_ins = sign_ins

    def __repr__(self) -> str:
        return f"<SignIn of {self.session.key} at {self.peer}>"

    @property
    def state(self) -> State | None:
        """The session's state, in the words of `status()`."""
        if self._sign_ins.is_busy(self):
            return "running"
        return "needed" if self._sign_ins.is_waiting(self) else None

    def needed(self, peer: AgentPeer, failure: Failure) -> None:
        """`session/new|load|resume|fork` or `session/prompt` was refused; the session tells the failure itself."""
        self._hold(peer)
        self._sign_ins.wait(self, failure)

    def done(self) -> None:
        """The session is open, or not wanted any more: nobody signs in."""
        self._let_go()
        self._sign_ins.leave(self)

    def cancel(self) -> bool:
        """The user wants no more to happen; False when they were not signing in."""
        return self._sign_ins.is_busy(self) and self._sign_ins.cancel(self.session.agent)

    def go_on(self, peer: AgentPeer, known: Collection[AgentPeer]) -> None:
        """The user has signed in at `peer`; `known` are the processes that are not to be replaced by others."""
        works = self.session.at_work()
        if works is not None and works[0] in known:
            self._sign_ins.leave(self)
            self.session.open()
        elif self._sign_ins.is_waiting(self) or self.session.state == "idle":
            # its process may know nothing of it
            self._hold(peer)
            self._sign_ins.leave(self)
            self.session.reconnect()

    def _hold(self, peer: AgentPeer) -> None:
        if self.peer is not peer:
            peer.hold(self)
            self._let_go()
            self.peer = peer

    def _let_go(self) -> None:
        peer, self.peer = self.peer, None
        if peer is not None:
            peer.release(self)


class SignIns:
    """Where the sessions of all agents wait.

    `find` knows agents as they are configured and raises `FailureError`; `spawn` runs something beside.
    """

    def __init__(self, editor: Editor, peers: Peers, find: Callable[[str], AgentDefinition], spawn: Spawn) -> None:
        self.credentials = Credentials()
        self._editor = editor
        self._spawn = spawn
        self._find_configured = find
        self._services = SignInServices(peers, self.find, self.credentials, editor.publish)
        self._waiting: list[SignIn] = []
        self._attempts: dict[str, Attempt] = {}
        self._takes_part: dict[str, list[SignIn]] = {}  # the sessions that go on with the attempt at an agent
        self._numbers = count(1)
        self._named: dict[str, tuple[AuthMethod, ...]] = {}  # by errors of an agent

    def __repr__(self) -> str:
        return f"<SignIns {self._waiting} {list(self._attempts.values())}>"

    def find(self, name: str) -> AgentDefinition:
        """Return the agent's definition, with what the user entered for it. Raises `FailureError`."""
        return self.credentials.added_to(self._find_configured(name))

    # --- sessions wait -----------------------------------------------------------------------------------------------

    def wait(self, one: SignIn, failure: Failure) -> None:
        """The user has to sign in before it goes on."""
        peer = one.peer
        assert peer is not None
        if one not in self._waiting:
            self._waiting.append(one)
        self._spawn(self._watch, one, peer)
        self._named[peer.name] = failure.methods if isinstance(failure, SignInWanted) else ()
        self._show(peer, session=one.session.key, reason=without_secrets(failure.what))
        one.session.presenter.publish_status()

    def leave(self, one: SignIn) -> None:
        """Remove a session that no longer waits for the user to sign in."""
        if one in self._waiting:
            self._waiting.remove(one)
            one.session.presenter.publish_status()

    def is_waiting(self, one: SignIn) -> bool:
        """Whether the session waits for the user to sign in."""
        return one in self._waiting

    def is_busy(self, one: SignIn) -> bool:
        """Whether the user is signing in, and that session waits for it."""
        attempt = self._attempts.get(one.session.agent)
        return attempt is not None and is_running(attempt.task) and one in self._takes_part[attempt.agent]

    async def _watch(self, one: SignIn, peer: AgentPeer) -> None:
        """Nobody tells a session that could not be opened of the end of its agent."""
        await peer.gone.wait()
        if one.peer is peer and not self.is_busy(one):
            one.session.presenter.notice("warn", GONE)

    def _of(self, agent: str) -> list[SignIn]:
        return [one for one in self._waiting if one.session.agent == agent]

    # --- the user acts -----------------------------------------------------------------------------------------------

    def ask(self, agent: str, cwd: str) -> None:
        """The user wants to know how to sign in; the agent is started if it does not run."""
        self._spawn(self._ask, agent, cwd)

    def begin(self, agent: str, cwd: str, method_id: str, values: Mapping[str, str], beside: SignIn | None) -> None:
        """The user wants to sign in so, and entered these `values` of variables. `beside`: a session that uses it."""
        if is_running(self._task_of(agent)):
            self._tell(agent, None, "failed", str(failed(agent, BUSY)))
            return
        attempt = self._attempts[agent] = Attempt(next(self._numbers), agent, cwd, method_id, values)
        attempt.named, sessions = self._named.get(agent, ()), self._of(agent)
        self._takes_part[agent] = [*sessions, *([beside] if beside is not None and beside not in sessions else [])]
        attempt.task = self._spawn(self._run, attempt)

    def _task_of(self, agent: str) -> anyio.Event | None:
        attempt = self._attempts.get(agent)
        return attempt.task if attempt is not None else None

    def cancel(self, agent: str) -> bool:
        """The user gives that up; False when there is nothing to give up."""
        attempt = self._attempts.get(agent)
        if attempt is not None:
            attempt.cancel()
        return attempt is not None

    def terminal_ended(self, number: int, code: int | None, problem: str | None) -> None:
        """The terminal of that attempt is over."""
        for attempt in self._attempts.values():
            if attempt.number == number:
                attempt.terminal_ended(code, problem)

    def sign_out(self, agent: str, cwd: str, told: Callable[[str], None]) -> None:
        """Sign out of all processes of the agent, and forget what was entered; `told` gets words for its chats."""
        self._spawn(self._sign_out, agent, cwd, told)

    # --- beside all else ---------------------------------------------------------------------------------------------

    async def _ask(self, agent: str, cwd: str) -> None:
        try:
            peer = await self._services.peers.obtain(self.find(agent), cwd)
        except FailureError as error:
            self._tell(agent, None, "failed", str(error.failure))
            return
        self._show(peer, asked=True)
        peer.release(self)

    async def _run(self, attempt: Attempt) -> None:
        sessions = self._takes_part[attempt.agent]

        def begun() -> None:
            for one in sessions:
                one.session.presenter.notice("info", _begun(attempt.method))

        _tell_status(sessions)
        peer: AgentPeer | None = None
        failure: Failure | None = None
        try:
            peer = await attempt.run(self._services, begun)
        except FailureError as error:
            failure = error.failure
        except Exception as error:
            log.exception("%r failed", attempt)
            failure = failures.bug(attempt.agent, error)
        del self._attempts[attempt.agent]
        try:
            self._over(attempt, sessions, peer, failure)
        finally:
            attempt.release()

    def _over(self, attempt: Attempt, told: list[SignIn], peer: AgentPeer | None, failure: Failure | None) -> None:
        """Whoever waits by now goes on, too, when it has worked: then there is a `peer`."""
        outcome: SignInOutcome = "failed" if failure else "done" if peer else "cancelled"
        text = f"Signed in to {attempt.agent!r} with {attempt.method.name!r}." if peer else CANCELLED
        text = without_secrets(text if failure is None else str(failure))
        log.info("%s: signing in: %s: %s", attempt.agent, outcome, text)
        sessions = [*told, *(one for one in self._of(attempt.agent) if one not in told)]
        for one in sessions:
            with one.session.tasks.contained("telling of a sign-in"):
                if peer is None and one.session.state != "running":
                    one.session.requests.elicitations.cancel()
                one.session.presenter.notice("info" if failure is None else "error", text)
        self._tell(attempt.agent, attempt, outcome, text)
        _tell_status(told)
        if peer is not None:
            for one in sessions:
                with one.session.tasks.contained("going on after a sign-in"):
                    one.go_on(peer, self._services.peers.known())

    async def _sign_out(self, agent: str, cwd: str, told: Callable[[str], None]) -> None:
        try:
            for peer in await self._running(agent, cwd):
                peer.hold(self._sign_out)
                try:
                    await send(peer, peer.dialect.logout())
                finally:
                    peer.release(self._sign_out)
        except FailureError as error:
            self._tell(agent, None, "failed", str(error.failure))
            return
        if self.credentials.forget(agent):
            self._services.retire(agent)
        text = f"Signed out of {agent!r}: it may refuse prompts until you sign in again (:AcpLogin)."
        told(text)
        self._tell(agent, None, "done", text)

    async def _running(self, agent: str, cwd: str) -> list[AgentPeer]:
        running = [peer for peer in self._services.peers.known() if peer.name == agent and peer.alive]
        return running or [await self._services.peers.obtain(self.find(agent), cwd)]

    # --- words -------------------------------------------------------------------------------------------------------

    def _show(
        self, peer: AgentPeer, session: int | None = None, reason: str | None = None, asked: bool = False
    ) -> None:
        definition = self.find(peer.name)
        methods = ways(definition, peer.info.auth_methods, self._named.get(peer.name, ()))
        views = [_view(definition, peer.cwd, one) for one in methods]
        hint = None if views else _no_way(peer.name, definition.sign_in)
        event = SignInEvent(
            agent=peer.name, cwd=peer.cwd, methods=views, asked=asked, session=session, reason=reason, hint=hint
        )
        self._editor.publish(event)

    def _tell(self, agent: str, attempt: Attempt | None, outcome: SignInOutcome, text: str) -> None:
        number, method = (attempt.number, attempt.method.method_id) if attempt else (0, None)
        self._editor.publish(
            SignInDone(agent=agent, attempt=number, outcome=outcome, text=without_secrets(text), method=method)
        )


def _tell_status(sessions: Collection[SignIn]) -> None:
    """An attempt begins, or is over."""
    for one in sessions:
        with one.session.tasks.contained("telling of a sign-in"):
            one.session.presenter.publish_status()


def _view(definition: AgentDefinition, cwd: str, method: AuthMethod) -> MethodView:
    variables = [
        VariableView(one.name, one.label, one.secret, one.optional, is_set(definition, one.name))
        for one in method.variables
    ]
    command = None
    if method.kind == "terminal":
        from acp_nvim.traffic.masking import Masker  # 15 ms, which few need

        command = without_secrets(shlex.join(Masker().command(launch(definition, cwd, method).argv)))
    return MethodView(method.method_id, method.name, method.kind, method.description, command, variables, method.link)


def _begun(method: AuthMethod) -> str:
    where = {"terminal": "in the terminal that opens", "env_var": "with environment variables"}.get(method.kind)
    how = where or "the agent sees to it: it may open a browser, or tell here what to do"
    return f"Signing in with {method.name!r}: {how}. :AcpCancel gives up."


def _no_way(agent: str, hint: str | None) -> str:
    said = hint or "Sign in with its own program, in a shell"
    return f"Agent {agent!r} does not say how to sign in. {said.rstrip('.')}. Your next prompt tries again."
