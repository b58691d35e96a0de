"""One conversation: it connects to its agent, sends the queued prompts, serves the agent, and handles its end."""

from __future__ import annotations

import logging
from functools import partial
from typing import Final

import anyio

from acp_nvim.acp import updates
from acp_nvim.acp.answers import Opened
from acp_nvim.acp.dialect import Place
from acp_nvim.connection.calls import KeptSession, send
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract import events, views
from acp_nvim.contract.messages import ResumeWay
from acp_nvim.errors import Failure, FailureError
from acp_nvim.failures import failures
from acp_nvim.mcp.session.servers import SessionMcpServers
from acp_nvim.prompt.prompt import Prompt
from acp_nvim.session.after_turn import AfterTurn
from acp_nvim.session.auth.sign_ins import SignIn
from acp_nvim.session.cancelling import Cancelling
from acp_nvim.session.configuration import Configuration
from acp_nvim.session.connecting import ABOUT, Connecting
from acp_nvim.session.journal import SessionJournal
from acp_nvim.session.queue import PromptQueue
from acp_nvim.session.services import Services
from acp_nvim.session.state import PUBLIC, Effect, Event, State, StateMachine
from acp_nvim.session.steering import Steering
from acp_nvim.session.subagents import ParentConversation, Subagents
from acp_nvim.session.turns import Turns
from acp_nvim.tasks import failed, is_running
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.roots import Roots

CLOSE_SECONDS: Final = 5.0
"""Time for an agent to close a session; after that the session leaves it anyway."""

log = logging.getLogger(__name__)


class Session(ParentConversation):
    """A conversation of the user with an agent."""

    def __init__(self, key: int, agent: str, place: Place, services: Services, journal: SessionJournal) -> None:
        self.worktree: str | None = None
        self.states = StateMachine(self._act, self.publish_status)
        presenter = Presenter(key, place.cwd, services.editor, self.publish_status)
        super().__init__(key, agent, agent, place, Roots(place.directories), None, presenter, services)
        services.reviews.on_trouble.append(self.changes.show_trouble)
        self.subagents = Subagents(self, services)
        self.queue = PromptQueue(self.presenter, journal)
        self.sign_in = SignIn(self, services.sign_ins)
        self.mcp = SessionMcpServers(presenter, self.requests, self.changes, services.mcp, self.publish_status)
        self.connecting = Connecting(
            agent, services, presenter, self.sign_in, self._begin, self.tasks, self._forget_transcript, self.mcp.of
        )
        crash_loop = self.connecting.crash_loop
        self.turns = Turns(self.states, self.presenter, self.requests, self.changes, crash_loop, self.subagents)
        self.cancelling = Cancelling(self.states, self.turns, self.queue, self.tasks.spawn, self._leave_peer)
        self.steering = Steering(self.turns, self.queue, self.tasks.spawn, self.at_work, self.open)
        self.configuration = Configuration(agent, self.presenter, services, self.at_work, self.tasks, journal)
        self.after_turn = AfterTurn(self.turns, self.changes, self.queue, self.blocks, services, self.prompt)
        self._has_work = False
        self._task: anyio.Event | None = None

    def __repr__(self) -> str:
        return f"<Session {self.key} {self.agent} {self.state} queue={len(self.queue)}>"

    @property
    def state(self) -> State:
        """The state of the session as in `status()`, where a question to the user is `waiting`."""
        state = self.states.note_questions(self.turns.turn.requires_action or self.requests.waiting > 0)
        is_own = state == "cancelling" and not self.turns.turn.prompted
        is_own = is_own or (state == "idle" and bool(self.changes.left.shown))
        return "background" if is_own else PUBLIC.get(state, state)

    def at_work(self) -> tuple[AgentPeer, str] | None:
        """Return the agent and the id of the session there; None if it is not open."""
        return (self.peer, self.session_id) if self.peer and self.peer.alive and self.session_id else None

    def open(self) -> None:
        """Start the agent if necessary, open the session there, and send the queue."""
        self.states.on("open_again" if self.peer is not None and self.peer.alive else "open")

    def wake(self) -> None:
        """Like `open`, except for an agent in a crash loop: the user only looks at the chat."""
        if not self.connecting.crash_loop.looping:
            self.open()

    def restore(self, session_id: str, how: ResumeWay = "load") -> None:
        """Like `open`, with a session that the agent kept; failures are shown in the chat."""
        self._leave_agent()
        self.connecting.wanted = KeptSession(session_id, how)
        self.open()

    def reconnect(self) -> None:
        """Continue with a new process of the agent; other sessions keep the old one."""
        if self.peer is not None:
            self._services.peers.retire(self.peer)
        self._leave_agent()
        self.open()

    def prompt(self, prompt: Prompt) -> None:
        """Send a prompt after those in the queue."""
        self.queue.add(prompt, show=not self.turns.turn.running)
        self.open()
        if (at_work := self.at_work()) is not None:
            self.cancelling.make_way(*at_work)
        self.publish_status()

    def cancel(self, force: bool = False) -> None:
        """Cancel what is in progress, see `session/state.py`; with `force`, end the agent's process if necessary."""
        if self.after_turn.cancel() or (self.sign_in.cancel() and self.states.is_at_rest):
            return
        self.states.on("insist" if force and not self.connecting.insist() else "cancel")
        self.publish_status()

    def stop(self) -> None:
        """Leave the agent, whose process ends with its last session. Transcript and queue stay."""
        self.queue.hold()
        self.sign_in.done()
        self._leave_agent()
        self.states.on("stop")  # also when the agent was being ended and a new start was requested

    async def close(self) -> None:
        """Close the session, also at the agent if it can (ACP "Session Setup"), within `CLOSE_SECONDS`."""
        if (at_work := self.at_work()) is not None and at_work[0].abilities.close:
            peer, session_id = at_work
            self.queue.hold()
            try:
                with anyio.move_on_after(CLOSE_SECONDS):
                    await send(peer, peer.dialect.close_session(session_id))
            except FailureError as error:
                log.warning("%r could not be closed: %s", self, error.failure)
        self.stop()
        self.subagents.discard()

    def _act(self, effect: Effect) -> None:
        """Carry out an effect of the state machine."""
        match effect:
            case "work":
                self._has_work = True
                if not is_running(self._task):
                    self._task = self.tasks.spawn(self._run)
            case "give_up_start":
                was_shown = self.queue.drop_shown()
                self._leave_start("Cancelled before it was sent." if was_shown else "Cancelled.")
            case "leave_start":
                self._leave_start("The start was cancelled.")
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

    async def _run(self) -> None:
        """Connect and send the queue until there is no work. The next prompt tries again after a failure."""
        while self._has_work:
            self._has_work = False
            try:
                if self.states.now.wanted:
                    await self._connect()
                    await self.configuration.settle()
                    await self._send_queue()
            except FailureError as error:
                self._fail(error.failure)
            except Exception as error:  # the session still takes prompts
                failed(f"session {self.key}", error, lambda bug: self._fail(failures.bug(self.agent, bug)))

    async def _connect(self) -> None:
        if self.peer is not None and self.peer.alive:
            return
        if self.peer is not None:  # it is being ended
            self._leave_peer(self.peer)
        if self.states.now.base != "starting":
            self.states.on("open")
        self.queue.show()
        await self.connecting.run(self, self.place)
        self.subagents.replayed()
        if self.peer is None and self.turns.turn.running:
            self.turns.end("cancelled")  # it began after the start was cancelled
        if not self.turns.turn.running:  # calls of a replay are over
            self.presenter.close_calls("unfinished", set(), self.turns.turn.background)

    async def _send_queue(self) -> None:
        while self._next_peer() is not None:
            await self.cancelling.wait()
            await self.after_turn.stopped()
            await self.changes.wait_before_prompt()  # show what the last turn did before the next one
            await self.configuration.settle()  # the prompt gets the mode that was set before it
            peer = self._next_peer()
            if peer is not None:
                await self._send(peer, self.queue.take())

    def _next_peer(self) -> AgentPeer | None:
        """Return the agent that gets the next prompt, if there are both."""
        is_ready = self.states.now.wanted and self.queue.next and self.peer is not None and self.peer.alive
        return self.peer if is_ready else None

    async def _send(self, peer: AgentPeer, prompt: Prompt) -> None:
        """Send a prompt and wait for the end of its turn; put it back if it was not sent, or needs a sign-in."""
        try:
            refused = await self.turns.run_prompt(peer, self.session_id or "", prompt, self.queue.leave)
        except Exception:
            if not self.turns.turn.is_sent:
                self.queue.put_back(prompt)
            raise
        finally:
            self.queue.left(prompt)  # if it was not sent, because its turn was cancelled before
        if not self.turns.turn.is_sent and self.turns.turn.stop_reason == "error":  # the agent ended before
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
        """Take over a session that was opened at the agent."""
        self.peer, self.session_id = peer, session_id
        self.changes.begin_agent(peer.pid, peer.mark, peer.began)
        self.changes.work.state = peer.state
        self.sign_in.done()
        self.turns.begin_agent(peer, self.connecting.fresh)
        self.configuration.begin(session_id, opened, self.connecting.fresh)
        if opened.commands is not None:
            self.presenter.update(updates.CommandsReplaced(opened.commands))
        if words := self.connecting.outcome(self.turns.turn.count > 0):
            self.presenter.notice(*words)
        for complaint in (*peer.info.complaints, *opened.complaints):
            self.on_trouble(failures.left_out(self.agent, complaint))
        self.subagents.attach(peer)
        self.states.on("opened")
        self.publish_status()
        self.presenter.publish(events.SessionReady(session=self.key, session_id=session_id, agent=self.agent))

    def _leave_start(self, words: str) -> None:
        """Cancel the start, with a notice, and hold the queue."""
        self.connecting.cancel()
        self.requests.elicitations.cancel()
        if self.turns.turn.running:  # the agent works in the session that is being reopened
            self.turns.end("cancelled")
        self.presenter.notice("info", words)
        self.queue.hold()
        self.publish_status()

    def on_update(self, update: updates.Update) -> None:
        """Show an update of the agent, except echoes of prompts and replays of what is shown."""
        if isinstance(update, updates.SubagentChanged):
            self.subagents.take(update)
            return
        if not self.connecting.replaying.takes(update):
            return
        if isinstance(update, updates.StateChanged):
            self.turns.take_state(update)
        elif self.peer is None or self.turns.turn.take_message(update, self.peer.dialect.message_ids):
            if self.peer is not None and self.connecting.replaying.is_over and type(update) not in ABOUT:
                self.turns.background.heard(update, self.configuration.is_asking)
            if isinstance(update, (updates.SessionMessage, updates.SessionMessageChunk)):
                self.messages.take(update)
            else:
                self.presenter.update(update)

    def takes(self, update: updates.Update) -> bool:
        """Whether to show an update: not if it repeats what is shown already."""
        return self.connecting.replaying.takes(update)

    @property
    def is_replaying(self) -> bool:
        """Whether the agent may be repeating an earlier conversation."""
        return not self.connecting.replaying.is_over

    def name_of(self, session_id: str) -> str:
        """Return the name of another session of the agent, for the user."""
        name = "this session" if session_id == self.session_id else self.subagents.named(session_id)
        return name or f"session {session_id}"

    def _forget_transcript(self) -> None:
        """Clear the transcript, which the agent replays: also what is shown of its child sessions."""
        self.presenter.forget()
        self.subagents.discard()
        self.messages.forget()
        self.queue.unshow()

    def redraw(self, after: bool) -> None:
        """See `Conversation.redraw`; its options and its queue, too."""
        self.presenter.redraw(after)
        self.configuration.publish()
        self.publish_status()
        self.requests.previews.tell_again()
        if self.queue:
            self.queue.publish(again=True)

    def on_idle(self) -> None:
        """Leave the idle process, which is stopped; the next prompt starts it again."""
        if self.peer is not None:
            self.peer.leave(self.session_id)
            self._lose("sleep", "cancelled")

    @property
    def is_busy(self) -> bool:
        """Whether anything is in progress that needs the agent."""
        goes_on = self.state in ("starting", "running", "background", "waiting") or self.queue.next is not None
        works = bool(self.turns.turn.background) or self.subagents.is_busy or self.after_turn.is_checking
        return goes_on or works or self.requests.terminals.running or self.changes.left.is_busy

    def on_gone(self, failure: Failure | None) -> None:
        """Handle the end of the agent; `failure` is None if we left it. While opening, `Connecting` reports it."""
        if self.peer is None:
            return
        self._lose("lost" if failure and failure.severity == "error" else "gone", "error" if failure else "cancelled")
        if failure is not None:
            kept = "Queued prompts are kept, and are sent as soon as the agent starts." if self.queue else ""
            self.presenter.failure(failure, "\n".join(filter(None, (self.connecting.crash_loop.note(failure), kept))))
        elif self.queue.next:
            self.open()  # it was sent after the user had cancelled the agent's turn

    def _leave_agent(self) -> None:
        """Cancel a running turn and leave the agent, if there is one."""
        if self.peer is None or self.session_id is None:
            return
        if self.turns.turn.running:
            self.turns.cancel(self.peer, self.session_id)
        self._leave_peer(self.peer)

    def _leave_peer(self, peer: AgentPeer) -> None:
        """Leave that process, unless the session has another by now."""
        if self.peer is peer:
            peer.leave(self.session_id)
            self.on_gone(None)

    def _fail(self, failure: Failure) -> None:
        """Handle a failure to start the agent, or a bug of ours."""
        works = self.at_work()
        is_refused = failure.code == "auth_required" and self.sign_in.state is not None
        self._lose("sign_in_wanted" if is_refused else "failed", "error")
        if works is not None:  # after a bug the agent may still be busy with the prompt
            works[0].notify(*works[0].dialect.cancel(works[1]))
            works[0].leave(works[1])
        kept = "Your prompt is kept, and is sent as soon as the agent starts."
        if isinstance(failure, failures.SignInWanted):
            kept = failures.KEPT_FOR_SIGN_IN
        more = (self.connecting.crash_loop.note(failure), kept if self.queue else "")
        if self.connecting.wanted is not None and failure.code in failures.NOT_RESTORED:
            more = (self.connecting.forget_wanted(), "")
        self.presenter.failure(failure, "\n".join(filter(None, more)))

    def _lose(self, event: Event, stop_reason: str) -> None:
        """Reset everything that needs the agent: the turn, its requests, changes of options."""
        if self.turns.turn.count and self.session_id:
            self.connecting.last = self.session_id
        self.tasks.all_of("losing the agent", partial(self.turns.lose_agent, stop_reason))
        self.peer, self.session_id = None, None
        self.tasks.all_of(
            "leaving the agent",
            self.requests.cancel_waiting,
            self.subagents.leave,
            self.configuration.leave,
            self.mcp.close,
            self.after_turn.stop,
            partial(self.states.on, event),
            self.publish_status,
            self.turns.abandon,
        )

    def publish_status(self) -> None:
        """Publish the status of the session; fields about the agent are None without one."""
        info, takes = (self.peer.info, self.peer.abilities) if self.peer else (None, None)
        status = events.StatusView(
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
            mcp=self.mcp.views,
            checks=self.after_turn.state,
            directories=self.roots.directories if self.states.now.wanted else [],
            watched=self.reviewed.outside if self.states.now.wanted else [],
            asleep=self.states.now.base == "asleep",
            takes=views.PromptTypes(takes.image, takes.audio, takes.embedded_context) if takes else None,
        )
        self.presenter.publish(events.Status(session=self.key, status=self.presenter.metadata.added_to(status)))
