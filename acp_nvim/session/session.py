"""One conversation: starts its agent when needed, and sends prompts one after the other."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from functools import partial
from typing import Any, Literal

import anyio
import msgspec

from acp_nvim import events
from acp_nvim.errors import Failure, FailureError
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.protocol import updates
from acp_nvim.protocol.answers import Opened
from acp_nvim.protocol.dialect import Call, Place
from acp_nvim.session import failures, status
from acp_nvim.session.cancelling import Cancelling
from acp_nvim.session.controls import Controls
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.opening import Kept, opening, usable_servers
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.prompt_queue import PromptQueue
from acp_nvim.session.requests import AgentRequests
from acp_nvim.session.shared import Shared
from acp_nvim.session.steering import Steering
from acp_nvim.session.troubles import Troubles
from acp_nvim.session.turn_changes import TurnChanges
from acp_nvim.session.turns import Turns
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.roots import Roots

log = logging.getLogger(__name__)

State = Literal["starting", "idle", "running", "waiting", "stopped", "failed"]


class Session:
    """A conversation under the key that the editor chose. `run` must be running for anything to happen."""

    def __init__(self, key: int, agent: str, place: Place, shared: Shared, seen: LastSeen) -> None:
        self.key, self.agent, self.place = key, agent, place
        self.session_id: str | None = None
        self.narrator = Narrator(key, place.cwd, shared.editor, self._publish_status)
        self.roots = Roots([place.cwd, *place.additional_directories])
        self.changes = TurnChanges(key, agent, self.roots, shared.reviews, self.narrator)
        self._shared = shared
        self._permissions = shared.permissions
        self.requests = AgentRequests(self.narrator, shared, self.roots, seen, self._publish_status, self.changes)
        self.queue = PromptQueue(self.narrator)
        self._peer: AgentPeer | None = None
        self._state: State = "stopped"
        self.turns = Turns(agent, self.narrator, self.requests, self._permissions, self.changes)
        self.cancelling = Cancelling(self.turns, self.queue, shared.reviews.spawn, self._leave_agent)
        self.steering = Steering(self.turns, self.queue, shared.reviews.spawn, self._at_work, self.open)
        self._kept: Kept | None = None
        self._troubles = Troubles()
        self._wanted = False
        self._work = anyio.Event()
        self._connecting = anyio.CancelScope()

    def __repr__(self) -> str:
        return f"<Session {self.key} {self.agent} {self.state} queue={len(self.queue)}>"

    @property
    def state(self) -> State:
        """As `status()` says it; `waiting`: for an answer of the user."""
        if self.turns.turn.requires_action or self._permissions.of_session(self.key):
            return "waiting"  # between turns, too: agents may ask then
        return "running" if self.turns.turn.running else self._state

    @property
    def controls(self) -> Controls | None:
        """Its switches, while there is an agent to switch."""
        if self._peer is None or self.session_id is None:
            return None
        return Controls(self._peer, self.session_id, self.narrator)

    # --- the user acts -----------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Make sure that the agent runs and takes prompts."""
        self._wanted = True
        if self._peer is None or not self._peer.alive:
            self._set_state("starting")
        self._work.set()

    def restore(self, session_id: str, how: Literal["load", "resume", "fork"] = "load") -> None:
        """Like `open`, with a session that the agent kept; what it fails with is told."""
        self._kept = Kept(session_id, how)
        self.open()

    def prompt(self, prompt: Prompt) -> None:
        """Send it, after those that wait already."""
        self.queue.add(prompt, show=not self.turns.turn.running)
        self.open()
        self._publish_status()

    def cancel(self, force: bool = False) -> None:
        """End the turn, by all means if need be (`session.cancelling`); a start is given up."""
        if self._peer is not None and self.session_id is not None:
            self.cancelling.cancel(self._peer, self.session_id, force)
        elif not self._cancel_start():
            self.queue.give_up()
        self._publish_status()

    def stop(self) -> None:
        """Leave the agent; its process ends with its last session. Transcript and queue stay."""
        self.queue.hold()
        if self._peer is None or self.session_id is None:
            self._cancel_start()
            return
        if self.turns.turn.running:
            self.turns.cancel(self._peer, self.session_id)
        self._leave_agent(self._peer)

    def _cancel_start(self) -> bool:
        if self._state != "starting":
            return False
        self._wanted = False
        self._connecting.cancel()
        return True

    def _leave_agent(self, peer: AgentPeer) -> None:
        """Unless it is another one by now."""
        if self._peer is peer:
            peer.leave(self.session_id)
            self.on_gone(None)

    def _at_work(self) -> tuple[AgentPeer, str] | None:
        return (self._peer, self.session_id) if self._peer and self._peer.alive and self.session_id else None

    # --- its life ----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Start, send, wait; for ever. Failures are told, and the next prompt tries again."""
        while True:
            await self._work.wait()
            self._work = anyio.Event()
            if not self._wanted:
                continue
            try:
                with anyio.CancelScope() as self._connecting:
                    await self._connect()
                if self._connecting.cancelled_caught:
                    self._give_up_start()
                await self._work_off()
            except FailureError as error:
                self._fail(error.failure)
            except Exception as error:  # a bug of ours must not silence the session for good
                log.exception("session %s failed", self.key)
                self._fail(failures.bug(self.agent, error))

    async def _work_off(self) -> None:
        """Send what is queued. A turn that the agent began by itself is waited for."""
        while self.queue.next and self._peer is not None and self._peer.alive:
            await self.cancelling.wait()
            await self.changes.settled()  # what the last turn did is told before the next one
            if self.queue.next and self._peer is not None and self._peer.alive:
                await self.turns.take(self._peer, self.session_id or "", self.queue.take())

    async def _connect(self) -> None:
        if self._peer is not None and self._peer.alive:
            return
        if self._peer is not None:
            self._leave_agent(self._peer)  # it is being ended
        self._set_state("starting")
        self.queue.show()
        definition = self._shared.find(self.agent)
        peer = await self._shared.peers.obtain(definition, self.place.cwd)
        kept = self._kept
        servers, unusable = usable_servers(definition.mcp_servers, peer.abilities)
        call = opening(peer, msgspec.structs.replace(self.place, mcp_servers=servers), kept)
        for server in unusable:
            self.narrator.notice("warn", failures.unreachable_server(server.get("name")))
        if kept is None or kept.how == "fork":
            await peer.open_session(call, partial(self._begin, peer))
        else:
            await self._take_up(peer, kept, call)
        self._kept = None if self._kept is kept else self._kept  # another may be wanted by now

    async def _take_up(self, peer: AgentPeer, kept: Kept, call: Call[Opened]) -> None:
        """A session whose id is known: what was said in it may come before the answer."""
        peer.inbox.require_free(kept.session_id, self)
        self.narrator.transcript.begin_agent()
        peer.inbox.adopt(kept.session_id, self)
        try:
            await peer.open_session(call, partial(self._begin, peer))
        except BaseException:
            peer.leave(kept.session_id)
            raise

    def _begin(self, peer: AgentPeer, opened: Opened) -> None:
        """The session lives from the moment that its answer is read: what the agent says next may be for it."""
        if self._connecting.cancel_called:
            return
        session_id = opened.session_id or (self._kept.session_id if self._kept else "")
        peer.inbox.require_free(session_id, self)
        self._peer, self.session_id = peer, session_id
        self.requests.permissions.agent_gone = lambda: peer.silent
        self.narrator.facts.begin(opened)
        if opened.commands is not None:
            self.narrator.update(updates.CommandsReplaced(opened.commands))
        self.requests.files.begin(peer.quirks, fresh=self._kept is None)
        if session_id not in peer.inbox.sessions:
            self.narrator.transcript.begin_agent()
        if self.turns.had_any:
            self.narrator.notice("warn", "The agent was started anew: it does not know what was said above.")
        for complaint in (*peer.info.complaints, *opened.complaints):
            self.on_trouble(failures.left_out(self.agent, complaint))
        self._set_state("idle")
        self.narrator.publish(events.SessionReady(session=self.key, session_id=session_id, agent=self.agent))
        peer.inbox.adopt(session_id, self)

    def _give_up_start(self) -> None:
        """The user cancelled while the agent started: prompts already on screen are not sent."""
        shown = self.queue.drop_shown()
        if self.turns.turn.running:  # the agent works in the session that was to be taken up
            self.turns.end("cancelled")
        self.narrator.notice("info", "Cancelled before it was sent." if shown else "Cancelled.")
        self.queue.hold()
        self._set_state("stopped")

    # --- the agent acts (session.peer.PeerSession) -------------------------------------------------------------------

    def on_update(self, update: updates.Update) -> None:
        """Something the agent says. Some echo the prompt: it stands in the transcript already."""
        if isinstance(update, updates.StateChanged):
            self.turns.take_state(update)
        elif self._peer is None or self.turns.turn.take_message(update, self._peer.dialect.message_ids):
            self.narrator.update(update)

    def on_caught_up(self) -> None:
        """What changed since is shown."""
        self.narrator.caught_up()

    def on_request(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """Permissions and files."""
        if self._peer is None:
            raise RpcError(INVALID_PARAMS, f"{method}: the session is not open yet")
        return self.requests.serve(self._peer.dialect, method, params)

    def on_trouble(self, failure: Failure) -> None:
        """A message was lost, or malformed: said once for each kind."""
        if self._troubles.is_news(failure):
            self.narrator.notice(failure.severity, str(failure))

    def on_gone(self, failure: Failure | None) -> None:
        """The agent is gone; `failure` is None when we left it. Who opens the session with it hears of it there."""
        if self._peer is None:
            return
        self._wanted = False
        self.turns.lose_agent("error" if failure else "cancelled")
        self._leave("failed" if failure and failure.severity == "error" else "stopped")
        self.turns.abandon()
        if failure is not None:
            self.narrator.failure(failure, failures.KEPT_QUEUE if self.queue else "")
        elif self.queue.next:
            self.open()  # said after the user had given up the agent's turn

    def _fail(self, failure: Failure) -> None:
        """The agent could not be started, or we failed with it."""
        self._wanted = False
        self.turns.lose_agent("error")
        self._leave("failed")
        kept = "Your prompt is kept, and goes out as soon as the agent starts." if self.queue else ""
        if self._kept is not None and failure.code in failures.NOT_RESTORED:
            self._kept = None
            kept = "Your next prompt begins a new session."
        self.narrator.failure(failure, kept)

    def _leave(self, state: State) -> None:
        self._permissions.cancel_session(self.key)
        self._peer = None
        self.session_id = None
        self.turns.turn.requires_action = False
        self._set_state(state)

    def _set_state(self, state: State) -> None:
        self._state = state
        self._publish_status()

    def _publish_status(self) -> None:
        view = events.StatusView(
            agent=self.agent,
            agent_title=self.agent,
            state=self.state,
            cwd=self.place.cwd,
            pending_permissions=len(self._permissions.of_session(self.key)),
            queue=len(self.queue),
            session_id=self.session_id,
            review=self.changes.counts,
            directories=self.roots.directories if self._wanted else [],
        )
        told = status.added_to(view, self._peer, self.turns.turn, self.narrator.facts)
        self.narrator.publish(events.Status(session=self.key, status=told))
