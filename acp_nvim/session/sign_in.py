"""What a session does while its agent wants the user to sign in first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, Protocol

from acp_nvim.errors import Failure
from acp_nvim.protocol.dialect import Place
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.peer import AgentPeer
from acp_nvim.tasks import Tasks

State = Literal["needed", "running"]


class Desk(Protocol):
    """Where the sessions of all agents wait (`session.sign_ins`)."""

    def wait(self, one: SignIn, failure: Failure) -> None:
        """The user has to sign in before it goes on."""

    def leave(self, one: SignIn) -> None:
        """Remove a session that no longer waits for the user to sign in."""

    def is_busy(self, one: SignIn) -> bool:
        """Whether the user is signing in, and it goes on then."""

    def cancel(self, agent: str) -> bool:
        """The user gives that up; False when there is nothing to give up."""


class Questions(Protocol):
    """What the agent asks the user."""

    def cancel(self) -> None:
        """Nobody answers them any more."""


class Requests(Protocol):
    """What the agent wants in a session."""

    @property
    def elicitations(self) -> Questions:
        """It may ask while the user signs in."""


class Waiting(Protocol):
    """What it needs of its session."""

    key: int
    agent: str
    place: Place
    narrator: Narrator
    tasks: Tasks

    @property
    def requests(self) -> Requests:
        """The requests of the session's agent."""

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
    """Of one session. The agent's process stays while somebody may sign in; the prompt waits in the queue."""

    def __init__(self, session: Waiting, desk: Desk) -> None:
        self.session = session
        self.peer: AgentPeer | None = None
        """Held, until the session is open, or not wanted any more."""
        self._waits = False
        self._desk = desk

    def __repr__(self) -> str:
        return f"<SignIn of {self.session.key} at {self.peer}>"

    @property
    def state(self) -> State | None:
        """The session's state, in the words of `status()`."""
        if self._desk.is_busy(self):
            return "running"
        return "needed" if self._waits else None

    def needed(self, peer: AgentPeer, failure: Failure) -> None:
        """`session/new|load|resume|fork` or `session/prompt` was refused; the session tells the failure itself."""
        self._hold(peer)
        self._waits = True
        self._desk.wait(self, failure)

    def done(self) -> None:
        """The session is open, or not wanted any more: nobody signs in."""
        self._let_go()
        self._stop_waiting()

    def cancel(self) -> bool:
        """The user wants no more to happen; False when they were not signing in."""
        return self._desk.is_busy(self) and self._desk.cancel(self.session.agent)

    def go_on(self, peer: AgentPeer, known: Collection[AgentPeer]) -> None:
        """The user has signed in at `peer`; `known` are the processes that are not to be replaced by others."""
        works = self.session.at_work()
        if works is not None and works[0] in known:
            self._stop_waiting()
            self.session.open()
        elif self._waits or self.session.state == "idle":  # it works at a process that may know nothing of it
            self._hold(peer)
            self._stop_waiting()
            self.session.reconnect()

    def _stop_waiting(self) -> None:
        if self._waits:
            self._waits = False
            self._desk.leave(self)

    def _hold(self, peer: AgentPeer) -> None:
        if self.peer is not peer:
            peer.hold(self)
            self._let_go()
            self.peer = peer

    def _let_go(self) -> None:
        peer, self.peer = self.peer, None
        if peer is not None:
            peer.release(self)
