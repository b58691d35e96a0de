"""How a session lives: it gets its agent, sends what is queued, and loses the agent again, however it ends."""

from __future__ import annotations

import logging
from functools import partial

import anyio

from acp_nvim import events
from acp_nvim.errors import Failure, FailureError
from acp_nvim.protocol import updates
from acp_nvim.protocol.answers import Opened
from acp_nvim.protocol.dialect import Place
from acp_nvim.session import failures, status
from acp_nvim.session.cancelling import Cancelling
from acp_nvim.session.configuration import Configuration
from acp_nvim.session.connecting import Connecting
from acp_nvim.session.controls import Controls
from acp_nvim.session.elicitations import Asker
from acp_nvim.session.inbox import PeerSession
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.prompt_queue import PromptQueue
from acp_nvim.session.requests import AgentRequests
from acp_nvim.session.shared import Shared
from acp_nvim.session.sign_in import SignIn
from acp_nvim.session.status import State
from acp_nvim.session.steering import Steering
from acp_nvim.session.troubles import Troubles
from acp_nvim.session.turn_changes import TurnChanges
from acp_nvim.session.turns import Turns
from acp_nvim.tasks import failed
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.roots import Roots

log = logging.getLogger(__name__)


class Life(PeerSession):
    """What a `Session` is built on. `open` starts the task in which everything happens."""

    def __init__(self, key: int, agent: str, place: Place, shared: Shared, seen: LastSeen) -> None:
        self.key, self.agent, self.place = key, agent, place
        self.session_id: str | None = None
        self.narrator = Narrator(key, place.cwd, shared.editor, self._publish_status)
        self.tasks = shared.tasks.owned_by(self.on_bug)
        self.roots = Roots([place.cwd, *place.additional_directories])
        self.changes = TurnChanges(key, agent, self.roots, shared.reviews, self.narrator, self.tasks)
        self._permissions = shared.permissions
        self.requests = AgentRequests(self.narrator, shared, self.roots, seen, self._publish_status, self.changes)
        self.queue = PromptQueue(self.narrator)
        self._peer: AgentPeer | None = None
        self._state: State = "stopped"
        self.turns = Turns(agent, self.narrator, self.requests, self._permissions, self.changes, self.tasks)
        self.cancelling = Cancelling(self.turns, self.queue, self.tasks.spawn, self._leave_agent)
        self.steering = Steering(self.turns, self.queue, self.tasks.spawn, self.at_work, self.open)
        self.sign_in = SignIn(self, shared.sign_ins)
        self.connecting = Connecting(agent, shared, self.narrator, self.sign_in, self._begin, self.tasks)
        self.configuration = Configuration(agent, self.narrator, shared, lambda: self.controls, self.tasks)
        self.turns.on_finished = self.connecting.deaths.turn_done
        self.connecting.replaying.on_anew = self.queue.unshow
        self.asleep = False
        self._troubles = Troubles()
        self.worktree: str | None = None
        self._wanted = self._is_over = self._is_running = False
        self._work = anyio.Event()

    def __repr__(self) -> str:
        return f"<Session {self.key} {self.agent} {self.state} queue={len(self.queue)}>"

    @property
    def state(self) -> State:
        """As `status()` says it; `waiting`: for an answer of the user."""
        if self.turns.turn.requires_action or self._permissions.count(self.key) or self.requests.elicitations.count:
            return "waiting"  # between turns, too: agents may ask then
        if not self.turns.turn.running:
            return self._state
        return "running" if self.turns.turn.prompted else "background"

    @property
    def controls(self) -> Controls | None:
        """Its switches, while there is an agent to switch."""
        if self._peer is None or self.session_id is None:
            return None
        return Controls(self._peer, self.session_id, self.narrator)

    def at_work(self) -> tuple[AgentPeer, str] | None:
        """Its agent, and the session there, while they can be talked to."""
        return (self._peer, self.session_id) if self._peer and self._peer.alive and self.session_id else None

    def open(self) -> None:
        """Make sure that the agent runs and takes prompts."""
        self._wanted, self.asleep = True, False
        if self._peer is None or not self._peer.alive:
            self._set_state("starting")
        elif self._state == "failed":
            self._set_state("idle")  # the user has signed in, or tries without
        self._work.set()
        if not self._is_running:
            self.tasks.spawn(self._run)

    def reconnect(self) -> None:
        """Go on with another process of the agent; who else uses this one keeps it."""
        if self._peer is not None:
            self.connecting.retire(self._peer)
        self._part()
        self.open()

    async def _run(self) -> None:
        """Start, send, wait, until the end. Failures are told, and the next prompt tries again."""
        if self._is_running:
            return
        self._is_running = True
        try:
            while not self._is_over:
                await self._work.wait()
                self._work = anyio.Event()
                if self._wanted:
                    await self._go_on()
        finally:
            self._is_running = False

    async def _go_on(self) -> None:
        try:
            await self._connect()
            await self.configuration.settle()
            await self._work_off()
        except FailureError as error:
            self._fail(error.failure)
        except Exception as error:  # the session takes prompts again, and says what has failed
            failed(f"session {self.key}", error, lambda bug: self._fail(failures.bug(self.agent, bug)))

    async def _work_off(self) -> None:
        """Send what is queued. A turn that the agent began by itself is waited for."""
        while self._wanted and self.queue.next and self._peer is not None and self._peer.alive:
            await self.cancelling.wait()
            await self.changes.announced()  # what the last turn did is told before the next one
            await self.configuration.settle()  # it goes out in the mode that was wanted before it
            if self.queue.next and self._peer is not None and self._peer.alive:
                await self._send(self._peer, self.queue.take())

    async def _send(self, peer: AgentPeer, prompt: Prompt) -> None:
        """One prompt, to the end of its turn. One that is refused until the user has signed in is the next one."""
        try:
            refused = await self.turns.take(peer, self.session_id or "", prompt)
        except Exception:
            if not self.turns.is_sent:
                self.queue.put_back(prompt)
            raise
        if refused is None:
            self.sign_in.done()
        else:
            self.queue.put_back(prompt)
            self._wanted = False
            self._set_state("failed")
            self.narrator.failure(refused, failures.KEPT_FOR_SIGN_IN)
            self.sign_in.needed(peer, refused)

    async def _connect(self) -> None:
        if self._peer is not None and self._peer.alive:
            return
        if self._peer is not None:
            self._leave_agent(self._peer)  # it is being ended
        self._set_state("starting")
        self.queue.show()
        if not await self.connecting.run(self, self.place):
            self._give_up_start()

    def _begin(self, peer: AgentPeer, session_id: str, opened: Opened) -> None:
        """The session is open at the agent."""
        self._peer, self.session_id = peer, session_id
        self.changes.work.lives(peer.mark, peer.began)
        self.changes.work.state = peer.state
        self.sign_in.done()
        self.requests.permissions.agent_gone = lambda: peer.silent
        self.requests.elicitations.asker = Asker(peer.inbox.open_urls, lambda: peer.silent)
        self.configuration.begin(session_id, opened, self.connecting.fresh)
        if opened.commands is not None:
            self.narrator.update(updates.CommandsReplaced(opened.commands))
        self.requests.share.room = peer.room
        self.requests.files.begin(peer.quirks, fresh=self.connecting.fresh)
        self.requests.granted.quirks = peer.quirks
        if words := self.connecting.outcome(self.turns.had_any):
            self.narrator.notice(*words)
        for complaint in (*peer.info.complaints, *opened.complaints):
            self.on_trouble(failures.left_out(self.agent, complaint))
        self._set_state("idle")
        self.narrator.publish(events.SessionReady(session=self.key, session_id=session_id, agent=self.agent))

    def _give_up_start(self) -> None:
        """The user cancelled while the agent started: prompts already on screen are not sent."""
        self.requests.elicitations.cancel()
        shown = self.queue.drop_shown()
        if self.turns.turn.running:  # the agent works in the session that was to be taken up
            self.turns.end("cancelled")
        self.narrator.notice("info", "Cancelled before it was sent." if shown else "Cancelled.")
        self.queue.hold()
        self._set_state("stopped")

    # --- its end -----------------------------------------------------------------------------------------------------

    def on_gone(self, failure: Failure | None) -> None:
        """The agent is gone; `failure` is None when we left it. Who opens the session with it hears of it there."""
        if self._peer is None:
            return
        self._wanted = False
        self.tasks.all_of(
            "losing the agent",
            partial(self.turns.lose_agent, "error" if failure else "cancelled"),
            partial(self._leave, "failed" if failure and failure.severity == "error" else "stopped"),
            self.turns.abandon,
        )
        if failure is not None:
            more = (self.connecting.deaths.note(failure), failures.KEPT_QUEUE if self.queue else "")
            self.narrator.failure(failure, "\n".join(filter(None, more)))
        elif self.queue.next:
            self.open()  # said after the user had given up the agent's turn

    def _part(self) -> bool:
        """Leave the agent, if there is one; a turn that runs is cancelled."""
        if self._peer is None or self.session_id is None:
            return False
        if self.turns.turn.running:
            self.turns.cancel(self._peer, self.session_id)
        self._leave_agent(self._peer)
        return True

    def _cancel_start(self) -> bool:
        if self._state != "starting":
            return False
        self._wanted = False
        if not self.connecting.cancel():
            self._give_up_start()  # before the task of the session has begun with it
        return True

    def _leave_agent(self, peer: AgentPeer) -> None:
        """Unless it is another one by now."""
        if self._peer is peer:
            peer.leave(self.session_id)
            self.on_gone(None)

    def _fail(self, failure: Failure) -> None:
        """The agent could not be started, or we failed with it."""
        self._wanted = False
        works = self.at_work()
        with self.tasks.contained("losing the agent"):
            self.turns.lose_agent("error")
        self._leave("failed")
        if works is not None:  # a bug of ours: the agent may still be busy with the prompt
            works[0].notify(*works[0].dialect.cancel(works[1]))
            works[0].leave(works[1])
        waits = isinstance(failure, failures.SignInWanted)
        kept = failures.KEPT_FOR_SIGN_IN if waits else failures.KEPT_PROMPT
        more = (self.connecting.deaths.note(failure), kept if self.queue else "")
        if self.connecting.wanted is not None and failure.code in failures.NOT_RESTORED:
            more = (self.connecting.forget_wanted(), "")
        self.narrator.failure(failure, "\n".join(filter(None, more)))

    def _leave(self, state: State) -> None:
        if self.turns.had_any and self.session_id:
            self.connecting.last = self.session_id
        self._peer = None
        self.session_id = None
        self.turns.turn.requires_action = False
        self.tasks.all_of(
            "leaving the agent",
            partial(self._permissions.cancel_session, self.key),
            self.requests.elicitations.cancel,
            self.configuration.leave,
            partial(self._set_state, state),
        )

    def _set_state(self, state: State) -> None:
        self._state = state
        self._publish_status()

    def _publish_status(self) -> None:
        told = events.StatusView(
            agent=self.agent,
            agent_title=self.agent,
            state=self.state,
            cwd=self.place.cwd,
            pending_permissions=self._permissions.count(self.key),
            queue=len(self.queue),
            pending_elicitations=self.requests.elicitations.count,
            session_id=self.session_id,
            sign_in=self.sign_in.state,
            review=self.changes.counts,
            worktree=self.worktree,
            directories=self.roots.directories if self._wanted else [],
            asleep=self.asleep,
        )
        whole = status.added_to(told, self._peer, self.turns.turn, self.narrator.facts)
        self.narrator.publish(events.Status(session=self.key, status=whole))
