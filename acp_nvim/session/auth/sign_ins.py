"""Sign-ins of all agents: which sessions wait for one, and at most one attempt at a time for each agent."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Collection, Mapping
from itertools import count
from typing import Any, Final, Literal, Protocol

from acp_nvim.acp.answers import AuthMethod
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.connection.calls import account, send
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.connection.peers import Peers
from acp_nvim.contract.editor import Editor
from acp_nvim.contract.request_events import MethodView, SignInDone, SignInOutcome, VariableView
from acp_nvim.contract.request_events import SignIn as SignInEvent
from acp_nvim.errors import Failure, FailureError
from acp_nvim.failures import failures
from acp_nvim.failures.failures import SignInWanted
from acp_nvim.session.auth.sign_in_attempt import (
    Attempt,
    Credentials,
    SignInServices,
    failed,
    is_set,
    launch,
    sign_in_methods,
)
from acp_nvim.tasks import Spawn, Tasks, is_running
from acp_nvim.traffic.masking import without_secrets
from acp_nvim.transcript.presenter import Presenter

GONE: Final = "The agent has ended while it waited for you to sign in. :AcpLogin, or your next prompt, starts it again."
CANCELLED: Final = "Signing in was given up. :AcpLogin tries again."
BUSY: Final = "you are signing in to it already; :AcpCancel in its chat gives that up."

log = logging.getLogger(__name__)


class SigningSession(Protocol):
    """The part of a session that signing in uses; `Session` itself would be a cyclic import."""

    key: int
    agent: str
    presenter: Presenter
    tasks: Tasks
    requests: Any  # `AgentRequests`, also cyclic

    @property
    def state(self) -> str:
        """See `Session.state`."""

    def open(self) -> None:
        """See `Session.open`."""

    def reconnect(self) -> None:
        """See `Session.reconnect`."""

    def at_work(self) -> tuple[AgentPeer, str] | None:
        """See `Session.at_work`."""


class SignIn:
    """The sign-in of one session: holds the agent's process until then; the prompt waits in the queue."""

    def __init__(self, session: SigningSession, sign_ins: SignIns) -> None:
        self.session = session
        self.peer: AgentPeer | None = None
        """Held until the session is open, or stopped."""
        self._sign_ins = sign_ins

    @property
    def state(self) -> Literal["needed", "running"] | None:
        """The field `sign_in` of the session's status."""
        if self._sign_ins.is_busy(self):
            return "running"
        return "needed" if self in self._sign_ins.waiting else None

    def needed(self, peer: AgentPeer, failure: Failure) -> None:
        """Wait for a sign-in after the agent refused to open the session or a prompt; the caller shows the failure."""
        self._hold(peer)
        self._sign_ins.wait(self, failure)

    def done(self) -> None:
        """Stop waiting: the session is open, or no longer wanted."""
        self._let_go()
        self._leave()

    def cancel(self) -> bool:
        """Cancel the attempt that this session takes part in; False when there is none."""
        return self._sign_ins.is_busy(self) and self._sign_ins.cancel(self.session.agent)

    def resume(self, peer: AgentPeer, known: Collection[AgentPeer]) -> None:
        """Continue after a sign-in at `peer`; processes that are not in `known` are being replaced."""
        works = self.session.at_work()
        if works is not None and works[0] in known:
            self._leave()
            self.session.open()
        elif self in self._sign_ins.waiting or self.session.state == "idle":
            # its own process may not know of the sign-in
            self._hold(peer)
            self._leave()
            self.session.reconnect()

    def _leave(self) -> None:
        if self in self._sign_ins.waiting:
            self._sign_ins.waiting.remove(self)
            self.session.presenter.publish_status()

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
    """Sessions of all agents that wait for a sign-in; `find` returns configured agents and raises `FailureError`."""

    def __init__(self, editor: Editor, peers: Peers, find: Callable[[str], AgentDefinition], spawn: Spawn) -> None:
        self.credentials = Credentials()
        self.waiting: list[SignIn] = []
        self._editor = editor
        self._spawn = spawn
        self._find_configured = find
        self._peers = peers
        self._services = SignInServices(peers, self.find, self.credentials, editor.publish)
        self._attempts: dict[str, Attempt] = {}
        self._participants: dict[str, list[SignIn]] = {}  # sessions that continue after the attempt at an agent
        self._numbers = count(1)
        self._from_errors: dict[str, tuple[AuthMethod, ...]] = {}  # methods that errors of an agent named

    def find(self, name: str) -> AgentDefinition:
        """Return the agent's definition with the variables that the user entered. Raises `FailureError`."""
        return self.credentials.added_to(self._find_configured(name))

    def wait(self, one: SignIn, failure: Failure) -> None:
        """Ask the user to sign in before the session continues."""
        peer = one.peer
        assert peer is not None
        if one not in self.waiting:
            self.waiting.append(one)
        self._spawn(self._watch, one, peer)
        self._from_errors[peer.name] = failure.methods if isinstance(failure, SignInWanted) else ()
        self._show(peer, session=one.session.key, reason=without_secrets(failure.what))
        one.session.presenter.publish_status()

    def is_busy(self, one: SignIn) -> bool:
        """Whether an attempt runs that this session takes part in."""
        attempt = self._attempts.get(one.session.agent)
        return attempt is not None and is_running(attempt.task) and one in self._participants[attempt.agent]

    async def _watch(self, one: SignIn, peer: AgentPeer) -> None:
        """Report the end of the agent: a session that is not open does not hear of it from its peer."""
        await peer.gone.wait()
        if one.peer is peer and not self.is_busy(one):
            one.session.presenter.notice("warn", GONE)

    def _waiting_at(self, agent: str) -> list[SignIn]:
        return [one for one in self.waiting if one.session.agent == agent]

    def ask(self, agent: str, cwd: str) -> None:
        """Show the user how to sign in; start the agent if it does not run."""
        self._spawn(self._ask, agent, cwd)

    def begin(self, agent: str, cwd: str, method_id: str, values: Mapping[str, str], beside: SignIn | None) -> None:
        """Start an attempt with the entered `values`. The session `beside` continues after it even if none waits."""
        running = self._attempts.get(agent)
        if running is not None and is_running(running.task):
            self._publish_done(agent, None, "failed", str(failed(agent, BUSY)))
            return
        attempt = self._attempts[agent] = Attempt(next(self._numbers), agent, cwd, method_id, values, self._services)
        attempt.from_error, sessions = self._from_errors.get(agent, ()), self._waiting_at(agent)
        self._participants[agent] = [*sessions, *([beside] if beside is not None and beside not in sessions else [])]
        attempt.task = self._spawn(self._run, attempt)

    def cancel(self, agent: str) -> bool:
        """Cancel the attempt at an agent; False when there is none."""
        attempt = self._attempts.get(agent)
        if attempt is not None:
            attempt.cancel()
        return attempt is not None

    def terminal_ended(self, number: int, code: int | None, problem: str | None) -> None:
        """Pass on the end of a terminal, by exit code or `problem`, to the attempt with that number."""
        for attempt in self._attempts.values():
            if attempt.number == number:
                attempt.terminal_ended(code, problem)

    def sign_out(self, agent: str, cwd: str, show: Callable[[str], None]) -> None:
        """Sign out at all processes of the agent, and forget the entered values; `show` gets a notice for chats."""
        self._spawn(self._sign_out, agent, cwd, show)

    async def _ask(self, agent: str, cwd: str) -> None:
        try:
            peer = await self._peers.obtain(self.find(agent), cwd)
        except FailureError as error:
            self._publish_done(agent, None, "failed", str(error.failure))
            return
        holder = object()
        peer.hold(holder)
        try:
            await account(peer)
            self._show(peer, asked=True)
        finally:
            peer.release(holder)

    async def _run(self, attempt: Attempt) -> None:
        sessions = self._participants[attempt.agent]

        def begun() -> None:
            for one in sessions:
                one.session.presenter.notice("info", _begun(attempt.method))

        _publish_status(sessions)
        peer: AgentPeer | None = None
        failure: Failure | None = None
        try:
            peer = await attempt.run(begun)
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

    def _over(
        self, attempt: Attempt, participants: list[SignIn], peer: AgentPeer | None, failure: Failure | None
    ) -> None:
        """Report the outcome. After a success, with a `peer`, sessions that began to wait meanwhile continue, too."""
        outcome: SignInOutcome = "failed" if failure else "done" if peer else "cancelled"
        text = f"Signed in to {attempt.agent!r} with {attempt.method.name!r}." if peer else CANCELLED
        text = without_secrets(text if failure is None else str(failure))
        log.info("%s: signing in: %s: %s", attempt.agent, outcome, text)
        sessions = [*participants, *(one for one in self._waiting_at(attempt.agent) if one not in participants)]
        for one in sessions:
            with one.session.tasks.contained("telling of a sign-in"):
                if peer is None and one.session.state != "running":
                    one.session.requests.elicitations.cancel()
                one.session.presenter.notice("info" if failure is None else "error", text)
        self._publish_done(attempt.agent, attempt, outcome, text)
        _publish_status(participants)
        if peer is not None:
            for one in sessions:
                with one.session.tasks.contained("going on after a sign-in"):
                    one.resume(peer, self._peers.known())

    async def _sign_out(self, agent: str, cwd: str, show: Callable[[str], None]) -> None:
        try:
            running = [peer for peer in self._peers.known() if peer.name == agent and peer.alive]
            for peer in running or [await self._peers.obtain(self.find(agent), cwd)]:
                peer.hold(self._sign_out)
                try:
                    await send(peer, peer.dialect.logout())
                finally:
                    peer.release(self._sign_out)
        except FailureError as error:
            self._publish_done(agent, None, "failed", str(error.failure))
            return
        if self.credentials.forget(agent):
            self._services.retire(agent)
        text = f"Signed out of {agent!r}: it may refuse prompts until you sign in again (:AcpLogin)."
        show(text)
        self._publish_done(agent, None, "done", text)

    def _show(
        self, peer: AgentPeer, session: int | None = None, reason: str | None = None, asked: bool = False
    ) -> None:
        """Publish the methods of the agent, or a hint if it has none."""
        definition, hint = self.find(peer.name), None
        methods = sign_in_methods(definition, peer.info.auth_methods, self._from_errors.get(peer.name, ()))
        if not methods:
            said = (definition.sign_in or "Sign in with its own program, in a shell").rstrip(".")
            hint = f"Agent {peer.name!r} does not say how to sign in. {said}. Your next prompt tries again."
        event = SignInEvent(
            agent=peer.name,
            cwd=peer.cwd,
            methods=[_view(definition, peer.cwd, one) for one in methods],
            asked=asked,
            session=session,
            reason=reason,
            hint=hint,
            account=without_secrets(peer.router.others.account) if peer.router.others.account else None,
        )
        self._editor.publish(event)

    def _publish_done(self, agent: str, attempt: Attempt | None, outcome: SignInOutcome, text: str) -> None:
        number, method = (attempt.number, attempt.method.method_id) if attempt else (0, None)
        self._editor.publish(
            SignInDone(agent=agent, attempt=number, outcome=outcome, text=without_secrets(text), method=method)
        )


def _publish_status(sessions: Collection[SignIn]) -> None:
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
        from acp_nvim.traffic.masking import Masker  # 15 ms, rarely needed

        command = without_secrets(shlex.join(Masker().lines(launch(definition, cwd, method).argv)))
    return MethodView(method.method_id, method.name, method.kind, method.description, command, variables, method.link)


def _begun(method: AuthMethod) -> str:
    where = {"terminal": "in the terminal that opens", "env_var": "with environment variables"}.get(method.kind)
    how = where or "the agent sees to it: it may open a browser, or tell here what to do"
    return f"Signing in with {method.name!r}: {how}. :AcpCancel gives up."
