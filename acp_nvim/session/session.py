"""One conversation: it gets its agent, sends what is queued, serves the agent, and loses it again, however it ends."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from functools import partial
from typing import Any, Final

import anyio

from acp_nvim.acp import updates
from acp_nvim.acp.answers import Asked, Opened
from acp_nvim.acp.dialect import Place
from acp_nvim.errors import Failure, FailureError
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.session import failures
from acp_nvim.session.auth.sign_ins import SignIn
from acp_nvim.session.cancelling import Cancelling
from acp_nvim.session.config.configuration import Configuration
from acp_nvim.session.connection.calls import KeptSession, ResumeWay, send
from acp_nvim.session.connection.connecting import ABOUT, Connecting
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.connection.router import PeerSession
from acp_nvim.session.journal import SessionJournal
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.queue import PromptQueue
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.session.services import Services
from acp_nvim.session.state import AT_REST, PUBLIC, Effect, Event, State, StateMachine
from acp_nvim.session.steering import Steering
from acp_nvim.session.transcript.presenter import Presenter
from acp_nvim.session.turn_changes import TurnChanges
from acp_nvim.session.turns import Turns
from acp_nvim.tasks import failed, is_running
from acp_nvim.ui import events
from acp_nvim.ui.views import PromptTypes
from acp_nvim.workspace.roots import Roots

CLOSE_SECONDS: Final = 5.0
"""For an agent to say that it has closed a session; it is left in any case."""

log = logging.getLogger(__name__)


class Session(PeerSession):
    """A conversation under the key that the editor chose."""

    def __init__(self, key: int, agent: str, place: Place, services: Services, journal: SessionJournal) -> None:
        self.key, self.agent, self.place = key, agent, place
        self.session_id: str | None = None
        self.worktree: str | None = None
        self.states = StateMachine(self._act, self._publish_status)
        self.presenter = Presenter(key, place.cwd, services.editor, self._publish_status)
        self.tasks = services.tasks.owned_by(self.on_bug)
        self.roots = Roots([place.cwd, *place.additional_directories])
        self.changes = TurnChanges(key, agent, self.roots, services.reviews, self.presenter, self.tasks)
        self.requests = AgentRequests(self.presenter, services, self._publish_status, self.changes)
        self.queue = PromptQueue(self.presenter, journal)
        self.sign_in = SignIn(self, services.sign_ins)
        self.connecting = Connecting(agent, services, self.presenter, self.sign_in, self._begin, self.tasks, self.queue)
        crash_loop = self.connecting.crash_loop
        self.turns = Turns(self.states, self.presenter, self.requests, self.changes, crash_loop)
        self.cancelling = Cancelling(self.states, self.turns, self.queue, self.tasks.spawn, self._leave_agent)
        self.steering = Steering(self.turns, self.queue, self.tasks.spawn, self.at_work, self.open)
        self.configuration = Configuration(agent, self.presenter, services, self.at_work, self.tasks, journal)
        self.peer: AgentPeer | None = None
        self._warnings = failures.WarningDeduplicator()
        self._has_work = False
        self._work: anyio.Event | None = None

    def __repr__(self) -> str:
        return f"<Session {self.key} {self.agent} {self.state} queue={len(self.queue)}>"

    @property
    def state(self) -> State:
        """The state of the session as `status()` says it, questions to the user included."""
        state = self.states.note_questions(self.turns.turn.requires_action or self.requests.waiting > 0)
        if state == "cancelling" and not self.turns.turn.prompted:
            return "background"
        return PUBLIC.get(state, state)

    def at_work(self) -> tuple[AgentPeer, str] | None:
        """Its agent, and the session there, while they can be talked to."""
        return (self.peer, self.session_id) if self.peer and self.peer.alive and self.session_id else None

    # --- the user acts -----------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Make sure that the agent runs and takes prompts."""
        self.states.on("open_again" if self.peer is not None and self.peer.alive else "open")

    def wake(self) -> None:
        """Like `open`, when the user only looks at it: an agent that dies again and again is left alone."""
        if not self.connecting.crash_loop.looping:
            self.open()

    def restore(self, session_id: str, how: ResumeWay = "load") -> None:
        """Like `open`, with a session that the agent kept; what it fails with is told."""
        self._part()
        self.connecting.wanted = KeptSession(session_id, how)
        self.open()

    def reconnect(self) -> None:
        """Go on with another process of the agent; who else uses this one keeps it."""
        if self.peer is not None:
            self.connecting.retire(self.peer)
        self._part()
        self.open()

    def prompt(self, prompt: Prompt) -> None:
        """Send it, after those that wait already."""
        self.queue.add(prompt, show=not self.turns.turn.running)
        self.open()
        self._publish_status()

    def cancel(self, force: bool = False) -> None:
        """End what goes on, as `session.state` says for each state; `force`: by all means if need be."""
        if self.sign_in.cancel() and self.states.now.turn is None and self.states.now.base in AT_REST:
            return
        self.states.on("insist" if force else "cancel")
        self._publish_status()

    def stop(self) -> None:
        """Leave the agent; its process ends with its last session. Transcript and queue stay."""
        self.queue.hold()
        self.sign_in.done()
        self._part()
        self.states.on("stop")  # also when the agent was being ended, and the next start was wanted already

    async def close(self) -> None:
        """End it for good. The agent is asked to close it, if it can (ACP "Session Setup"), for `CLOSE_SECONDS`."""
        if (at_work := self.at_work()) is not None and at_work[0].abilities.close:
            peer, session_id = at_work
            self.queue.hold()
            try:
                with anyio.move_on_after(CLOSE_SECONDS):
                    await send(peer, peer.dialect.close_session(session_id))
            except FailureError as error:
                log.warning("%r could not be closed: %s", self, error.failure)
        self.stop()

    def _act(self, effect: Effect) -> None:
        """Do what the state machine says."""
        match effect:
            case "work":
                self._has_work = True
                if not is_running(self._work):
                    self._work = self.tasks.spawn(self._run)
            case "give_up_start":
                self.connecting.cancel()
                self._give_up_start()
            case "give_up_sign_in":
                if self.peer is not None and self.session_id is not None:
                    self.turns.cancel_rest(self.peer, self.session_id)
                self.queue.give_up(held_only=False)
            case "give_up_queue":
                self.queue.give_up()
            case _ if self.peer is not None and self.session_id is not None:
                self.cancelling.act(effect, self.peer, self.session_id)
            case "ask_to_stop":  # the agent works in a session that is not open yet
                self.states.on("stop")

    # --- it works ----------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        """Start, and send, as long as there is something to do. Failures are told, and the next prompt tries again."""
        while self._has_work:
            self._has_work = False
            try:
                if self.states.now.wanted:
                    await self._connect()
                    await self.configuration.settle()
                    await self._work_off()
            except FailureError as error:
                self._fail(error.failure)
            except Exception as error:  # the session takes prompts again, and says what has failed
                failed(f"session {self.key}", error, lambda bug: self._fail(failures.bug(self.agent, bug)))

    async def _connect(self) -> None:
        if self.peer is not None and self.peer.alive:
            return
        if self.peer is not None:
            self._leave_agent(self.peer)  # it is being ended
        if self.states.now.base != "starting":
            self.states.on("open")
        self.queue.show()
        await self.connecting.run(self, self.place)
        if self.peer is None and self.turns.turn.running:
            self.turns.end("cancelled")  # it began after the start was given up
        if not self.turns.turn.running:  # of what the agent has told again nothing is going on
            self.presenter.close_calls("unfinished", set(), self.turns.turn.background)

    async def _work_off(self) -> None:
        """Send what is queued. A turn that the agent began by itself is waited for."""
        while self._next_peer() is not None:
            await self.cancelling.wait()
            await self.changes.announced()  # what the last turn did is told before the next one
            await self.configuration.settle()  # it goes out in the mode that was wanted before it
            peer = self._next_peer()
            if peer is not None:
                await self._send(peer, self.queue.take())

    def _next_peer(self) -> AgentPeer | None:
        """The agent that gets the next prompt, if both are there."""
        is_ready = self.states.now.wanted and self.queue.next and self.peer is not None and self.peer.alive
        return self.peer if is_ready else None

    async def _send(self, peer: AgentPeer, prompt: Prompt) -> None:
        """One prompt, to the end of its turn. One that is refused until the user has signed in is the next one."""
        try:
            refused = await self.turns.take(peer, self.session_id or "", prompt, self.queue.leave)
        except Exception:
            if not self.turns.turn.is_sent:
                self.queue.put_back(prompt)
            raise
        finally:
            self.queue.left(prompt)  # unless it was sent: its turn was cancelled before
        if not self.turns.turn.is_sent and self.turns.turn.stop_reason == "error":  # the agent was gone before
            prompt.shown = False
            self.queue.put_back(prompt)
        elif refused is None:
            self.sign_in.done()
        else:
            self.queue.put_back(prompt)
            self.states.on("sign_in_wanted")
            self.presenter.failure(refused, failures.KEPT_FOR_SIGN_IN)
            self.sign_in.needed(peer, refused)

    def _begin(self, peer: AgentPeer, session_id: str, opened: Opened) -> None:
        """The session is open at the agent."""
        self.peer, self.session_id = peer, session_id
        self.changes.work.lives(peer.mark, peer.began)
        self.changes.work.state = peer.state
        self.sign_in.done()
        self.requests.begin_agent(peer, self.connecting.fresh)
        self.configuration.begin(session_id, opened, self.connecting.fresh)
        if opened.commands is not None:
            self.presenter.update(updates.CommandsReplaced(opened.commands))
        if words := self.connecting.outcome(self.turns.had_any):
            self.presenter.notice(*words)
        for complaint in (*peer.info.complaints, *opened.complaints):
            self.on_trouble(failures.left_out(self.agent, complaint))
        self.states.on("opened")
        self._publish_status()
        self.presenter.publish(events.SessionReady(session=self.key, session_id=session_id, agent=self.agent))

    def _give_up_start(self) -> None:
        """The user cancelled while the agent started: prompts already on screen are not sent."""
        self.requests.elicitations.cancel()
        words = "Cancelled before it was sent." if self.queue.drop_shown() else "Cancelled."
        if self.turns.turn.running:  # the agent works in the session that was to be taken up
            self.turns.end("cancelled")
        self.presenter.notice("info", words)
        self.queue.hold()
        self._publish_status()

    # --- the agent acts (`PeerSession`) ------------------------------------------------------------------------------

    def on_update(self, update: updates.Update) -> None:
        """Something the agent says. Some echo the prompt: it stands in the transcript already."""
        if not self.connecting.replaying.takes(update):
            return
        if isinstance(update, updates.StateChanged):
            self.turns.take_state(update)
        elif self.peer is None or self.turns.turn.take_message(update, self.peer.dialect.message_ids):
            if self.peer is not None and self.connecting.replaying.is_over and not isinstance(update, ABOUT):
                answers = self.configuration.is_asking and isinstance(update, updates.MessageChunk)
                self.turns.background.heard(update, answers)
            self.presenter.update(update)

    def on_caught_up(self) -> None:
        """Show what has changed since the last call: all that the agent has sent by now was handled."""
        self.requests.refusals.caught_up()
        self.presenter.caught_up()

    def on_request(self, method: str, asked: Asked) -> Awaitable[Any]:
        """Serve a request of the agent: a permission, a file, a terminal, a question."""
        if self.peer is None:
            raise RpcError(INVALID_PARAMS, f"{method}: the session is not open yet")
        return self.requests.serve(asked)

    def on_crowd(self, what: str, most: int) -> RpcError:
        """Refuse a request, because `most` of its kind wait already; the user is told once in a turn."""
        return self.requests.refusals.refuse(what, most)

    def on_trouble(self, failure: Failure) -> None:
        """A message was lost, or malformed: said once for each kind."""
        if self._warnings.is_news(failure):
            self.presenter.notice(failure.severity, str(failure))

    def on_idle(self) -> None:
        """The agent's process was stopped, because nothing happened: the next prompt starts it again."""
        if self.peer is not None:
            self.peer.leave(self.session_id)
            self._lose("sleep", "cancelled")

    def on_bug(self, error: Exception) -> None:
        """Something of this session has failed by a bug of ours: each kind is told once."""
        failure = failures.bug(self.agent, error)
        if self._warnings.is_news(failure):
            self.presenter.failure(failure)

    @property
    def is_busy(self) -> bool:
        """Whether anything goes on that needs the agent."""
        goes_on = self.state in ("starting", "running", "background", "waiting") or self.queue.next is not None
        return goes_on or bool(self.turns.turn.background) or self.requests.terminals.running

    def on_gone(self, failure: Failure | None) -> None:
        """The agent is gone; `failure` is None when we left it. Who opens the session with it hears of it there."""
        if self.peer is None:
            return
        self._lose("lost" if failure and failure.severity == "error" else "gone", "error" if failure else "cancelled")
        if failure is not None:
            more = (self.connecting.crash_loop.note(failure), failures.KEPT_QUEUE if self.queue else "")
            self.presenter.failure(failure, "\n".join(filter(None, more)))
        elif self.queue.next:
            self.open()  # said after the user had given up the agent's turn

    def _part(self) -> bool:
        """Leave the agent, if there is one; a turn that runs is cancelled."""
        if self.peer is None or self.session_id is None:
            return False
        if self.turns.turn.running:
            self.turns.cancel(self.peer, self.session_id)
        self._leave_agent(self.peer)
        return True

    def _leave_agent(self, peer: AgentPeer) -> None:
        """Unless it is another one by now."""
        if self.peer is peer:
            peer.leave(self.session_id)
            self.on_gone(None)

    def _fail(self, failure: Failure) -> None:
        """The agent could not be started, or we failed with it."""
        works = self.at_work()
        is_refused = failure.code == "auth_required" and self.sign_in.state is not None
        self._lose("sign_in_wanted" if is_refused else "failed", "error")
        if works is not None:  # a bug of ours: the agent may still be busy with the prompt
            works[0].notify(*works[0].dialect.cancel(works[1]))
            works[0].leave(works[1])
        kept = failures.KEPT_FOR_SIGN_IN if isinstance(failure, failures.SignInWanted) else failures.KEPT_PROMPT
        more = (self.connecting.crash_loop.note(failure), kept if self.queue else "")
        if self.connecting.wanted is not None and failure.code in failures.NOT_RESTORED:
            more = (self.connecting.forget_wanted(), "")
        self.presenter.failure(failure, "\n".join(filter(None, more)))

    def _lose(self, event: Event, stop_reason: str) -> None:
        """Without the agent there is no turn, and nobody asks anything."""
        if self.turns.had_any and self.session_id:
            self.connecting.last = self.session_id
        self.tasks.all_of("losing the agent", partial(self.turns.lose_agent, stop_reason))
        self.peer, self.session_id = None, None
        self.tasks.all_of(
            "leaving the agent",
            self.requests.cancel_waiting,
            self.configuration.leave,
            partial(self.states.on, event),
            self._publish_status,
            self.turns.abandon,
        )

    def _publish_status(self) -> None:
        """Tell the editor all that the session's status says; None for what there is no agent to know it."""
        info, takes = (self.peer.info, self.peer.abilities) if self.peer else (None, None)
        told = events.StatusView(
            agent=self.agent,
            agent_title=(info.title or info.name or self.agent) if info else self.agent,
            state=self.state,
            cwd=self.place.cwd,
            pending_permissions=self.requests.permissions.count,
            queue=len(self.queue),
            pending_elicitations=self.requests.elicitations.count,
            session_id=self.session_id,
            stop_reason=self.turns.turn.stop_reason,
            sign_in=self.sign_in.state,
            review=self.changes.counts,
            worktree=self.worktree,
            directories=self.roots.directories if self.states.now.wanted else [],
            asleep=self.states.now.base == "asleep",
            takes=PromptTypes(takes.image, takes.audio, takes.embedded_context) if takes else None,
        )
        self.presenter.publish(events.Status(session=self.key, status=self.presenter.metadata.added_to(told)))
