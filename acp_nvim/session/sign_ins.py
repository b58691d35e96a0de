"""Where the sessions of all agents wait until the user has signed in; one attempt at a time for each agent."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Mapping
from itertools import count

import anyio

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.editor import Editor
from acp_nvim.errors import Failure, FailureError
from acp_nvim.protocol.answers import AuthMethod
from acp_nvim.session import failures
from acp_nvim.session import sign_in_words as words
from acp_nvim.session.entered import Entered, is_set
from acp_nvim.session.failures import SignInWanted
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.peers import Peers
from acp_nvim.session.sign_in import SignIn
from acp_nvim.session.sign_in_ways import ways
from acp_nvim.session.signing_in import Attempt, Means, launch
from acp_nvim.sign_in_events import MethodView, Outcome, SignInDone, VariableView
from acp_nvim.sign_in_events import SignIn as SignInEvent
from acp_nvim.tasks import Spawn, is_running
from acp_nvim.traffic.words import without_secrets

log = logging.getLogger(__name__)


class SignIns:
    """Implements `session.sign_in.Desk`. `find` knows agents as they are configured; `spawn` runs something beside."""

    def __init__(self, editor: Editor, peers: Peers, find: Callable[[str], AgentDefinition], spawn: Spawn) -> None:
        self.entered = Entered()
        self._editor = editor
        self._spawn = spawn
        self._find_configured = find
        self._means = Means(peers, self.find, self.entered, editor.publish)
        self._waiting: list[SignIn] = []
        self._attempts: dict[str, Attempt] = {}
        self._numbers = count(1)
        self._named: dict[str, tuple[AuthMethod, ...]] = {}  # by errors of an agent

    def __repr__(self) -> str:
        return f"<SignIns {self._waiting} {list(self._attempts.values())}>"

    def find(self, name: str) -> AgentDefinition:
        """That agent, with what the user entered for it. Raises `FailureError`."""
        return self.entered.added_to(self._find_configured(name))

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
        one.session.narrator.on_facts()

    def leave(self, one: SignIn) -> None:
        """Remove a session that no longer waits for the user to sign in."""
        if one in self._waiting:
            self._waiting.remove(one)
        one.session.narrator.on_facts()

    def is_busy(self, one: SignIn) -> bool:
        """Whether the user is signing in, and that session waits for it."""
        attempt = self._attempts.get(one.session.agent)
        return attempt is not None and is_running(attempt.task) and one in attempt.sessions

    async def _watch(self, one: SignIn, peer: AgentPeer) -> None:
        """Nobody tells a session that could not be opened of the end of its agent."""
        await peer.gone.wait()
        if one.peer is peer and not self.is_busy(one):
            one.session.narrator.notice("warn", words.GONE)

    def _of(self, agent: str) -> list[SignIn]:
        return [one for one in self._waiting if one.session.agent == agent]

    # --- the user acts -----------------------------------------------------------------------------------------------

    def ask(self, agent: str, cwd: str) -> None:
        """The user wants to know how to sign in; the agent is started if it does not run."""
        self._spawn(self._ask, agent, cwd)

    def begin(self, agent: str, cwd: str, method_id: str, values: Mapping[str, str], beside: SignIn | None) -> None:
        """The user wants to sign in so, and entered these `values` of variables. `beside`: a session that uses it."""
        if is_running(self._task_of(agent)):
            self._tell(agent, None, "failed", str(words.busy(agent)))
            return
        attempt = self._attempts[agent] = Attempt(next(self._numbers), agent, cwd, method_id, values)
        attempt.sessions, attempt.named = self._of(agent), self._named.get(agent, ())
        if beside is not None and beside not in attempt.sessions:
            attempt.sessions.append(beside)
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
        """Of every process of the agent, and what was entered is forgotten; `told` gets the words for its sessions."""
        self._spawn(self._sign_out, agent, cwd, told)

    # --- beside all else ---------------------------------------------------------------------------------------------

    async def _ask(self, agent: str, cwd: str) -> None:
        try:
            peer = await self._means.peers.obtain(self.find(agent), cwd)
        except FailureError as error:
            self._tell(agent, None, "failed", str(error.failure))
            return
        self._show(peer, asked=True)
        peer.release(self)

    async def _run(self, attempt: Attempt) -> None:
        def begun() -> None:
            for one in attempt.sessions:
                one.session.narrator.notice("info", words.begun(attempt.method))

        attempt.tell_status()
        peer: AgentPeer | None = None
        failure: Failure | None = None
        try:
            peer = await attempt.run(self._means, begun)
        except FailureError as error:
            failure = error.failure
        except Exception as error:
            log.exception("%r failed", attempt)
            failure = failures.bug(attempt.agent, error)
        del self._attempts[attempt.agent]
        try:
            self._over(attempt, peer, failure)
        finally:
            attempt.release()

    def _over(self, attempt: Attempt, peer: AgentPeer | None, failure: Failure | None) -> None:
        """Whoever waits by now goes on, too, when it has worked: then there is a `peer`."""
        outcome: Outcome = "failed" if failure else "done" if peer else "cancelled"
        text = words.done(attempt.agent, attempt.method) if peer else words.CANCELLED
        text = without_secrets(text if failure is None else str(failure))
        log.info("%s: signing in: %s: %s", attempt.agent, outcome, text)
        sessions = [*attempt.sessions, *(one for one in self._of(attempt.agent) if one not in attempt.sessions)]
        for one in sessions:
            with one.session.tasks.contained("telling of a sign-in"):
                if peer is None and one.session.state != "running":
                    one.session.requests.elicitations.cancel()
                one.session.narrator.notice("info" if failure is None else "error", text)
        self._tell(attempt.agent, attempt, outcome, text)
        attempt.tell_status()
        if peer is not None:
            for one in sessions:
                with one.session.tasks.contained("going on after a sign-in"):
                    one.go_on(peer, self._means.peers.known())

    async def _sign_out(self, agent: str, cwd: str, told: Callable[[str], None]) -> None:
        try:
            for peer in await self._running(agent, cwd):
                peer.hold(self._sign_out)
                try:
                    await peer.calls.logout()
                finally:
                    peer.release(self._sign_out)
        except FailureError as error:
            self._tell(agent, None, "failed", str(error.failure))
            return
        if self.entered.forget(agent):
            self._means.retire(agent)
        text = words.signed_out(agent)
        told(text)
        self._tell(agent, None, "done", text)

    async def _running(self, agent: str, cwd: str) -> list[AgentPeer]:
        running = [peer for peer in self._means.peers.known() if peer.name == agent and peer.alive]
        return running or [await self._means.peers.obtain(self.find(agent), cwd)]

    # --- words -------------------------------------------------------------------------------------------------------

    def _show(
        self, peer: AgentPeer, session: int | None = None, reason: str | None = None, asked: bool = False
    ) -> None:
        definition = self.find(peer.name)
        methods = ways(definition, peer.info.auth_methods, self._named.get(peer.name, ()))
        views = [_view(definition, peer.cwd, one) for one in methods]
        hint = None if views else words.no_way(peer.name, definition.sign_in)
        event = SignInEvent(
            agent=peer.name, cwd=peer.cwd, methods=views, asked=asked, session=session, reason=reason, hint=hint
        )
        self._editor.publish(event)

    def _tell(self, agent: str, attempt: Attempt | None, outcome: Outcome, text: str) -> None:
        number, method = (attempt.number, attempt.method.method_id) if attempt else (0, None)
        self._editor.publish(
            SignInDone(agent=agent, attempt=number, outcome=outcome, text=without_secrets(text), method=method)
        )


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
