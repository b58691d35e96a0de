"""One conversation: starts its agent when needed, and sends prompts one after the other."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Literal

import anyio
import msgspec

from acp_nvim import events
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.editor import Editor
from acp_nvim.errors import Failure, FailureError
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.jsonrpc.pending import Answer
from acp_nvim.permissions.pending import PendingPermissions
from acp_nvim.protocol import updates, v1
from acp_nvim.session import failures
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.peers import Peers
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.requests import AgentRequests

log = logging.getLogger(__name__)

State = Literal["starting", "idle", "running", "waiting", "stopped", "failed"]


class Session:
    """A conversation under the key that the editor chose. `run` must be running for anything to happen."""

    def __init__(
        self,
        key: int,
        agent: str,
        cwd: str,
        find: Callable[[str], AgentDefinition],
        editor: Editor,
        peers: Peers,
        permissions: PendingPermissions,
    ) -> None:
        self.key = key
        self.agent = agent
        self.cwd = cwd
        self.session_id: str | None = None
        self.narrator = Narrator(key, cwd, editor, self._publish_status)
        self.requests = AgentRequests(self.narrator.transcript, cwd, editor, permissions, self._publish_status)
        self._find = find
        self._editor = editor
        self._peers = peers
        self._permissions = permissions
        self._queue: deque[Prompt] = deque()
        self._peer: AgentPeer | None = None
        self._state: State = "stopped"
        self._stop_reason: str | None = None
        self._in_turn = False
        self._had_turns = False
        self._wanted = False
        self._work = anyio.Event()
        self._connecting = anyio.CancelScope()
        self._turn = anyio.CancelScope()

    def __repr__(self) -> str:
        return f"<Session {self.key} {self.agent} {self.state} queue={len(self._queue)}>"

    @property
    def state(self) -> State:
        """As `status()` says it; `waiting`: for an answer of the user."""
        if self._permissions.of_session(self.key):  # agents may ask between turns, too
            return "waiting"
        return "running" if self._in_turn else self._state

    # --- the user acts -----------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Make sure that the agent runs and takes prompts."""
        if self._peer is None or not self._peer.alive:
            self._set_state("starting")
        self._wanted = True
        self._work.set()

    def prompt(self, prompt: Prompt) -> None:
        """Send it, after those that wait already."""
        self._queue.append(prompt)
        if not self._in_turn and len(self._queue) == 1:
            self.narrator.prompt(prompt)
        self.open()
        self._publish_status()

    def cancel(self) -> None:
        """Ask the agent to stop its turn (ACP "Prompt Turn", Cancellation); a start is given up."""
        if self._in_turn and self.requests.refusing:
            self.narrator.notice("info", "The agent was asked to stop already. :AcpCancel! ends its process.")
        self._give_up()

    def stop(self, force: bool) -> None:
        """Leave the agent; its process ends with its last session, or at once (`force`). Transcript and queue stay."""
        self._give_up()
        peer, session_id = self._peer, self.session_id
        if peer is None:
            return
        self.on_gone(None)
        peer.leave(session_id, force)

    def _give_up(self) -> None:
        """Of a turn, or of a start."""
        if self._in_turn and self._peer is not None:
            self.requests.refusing = True
            self._peer.notify("session/cancel", {"sessionId": self.session_id})
            self._settle_turn("cancelled")
        elif self._state == "starting":
            self._wanted = False
            self._connecting.cancel()

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
                while self._queue and self._peer is not None:
                    await self._take_turn(self._peer, self._queue.popleft())
            except FailureError as error:
                self._fail(error.failure)
            except Exception as error:  # a bug of ours must not silence the session for good
                log.exception("session %s failed", self.key)
                self._fail(failures.bug(self.agent, error))

    async def _connect(self) -> None:
        if self._peer is not None and self._peer.alive:
            return
        self._set_state("starting")
        if self._queue:
            self.narrator.prompt(self._queue[0])
        definition = self._find(self.agent)
        peer = await self._peers.obtain(definition, self.cwd)
        params = {"cwd": self.cwd, "mcpServers": definition.mcp_servers}
        await peer.new_session(params, partial(self._begin, peer))

    def _begin(self, peer: AgentPeer, response: v1.NewSessionResponse) -> None:
        """The session lives from the moment that its answer is read: what the agent says next may be for it."""
        if self._connecting.cancel_called:
            return
        self._peer, self.session_id = peer, response.session_id
        self.narrator.facts.begin(response)
        self.requests.quirks = peer.quirks
        self.narrator.transcript.begin_agent()
        if self._had_turns:
            self.narrator.notice("warn", "The agent was started anew: it does not know what was said above.")
        self._set_state("idle")
        self._editor.publish(events.SessionReady(session=self.key, session_id=response.session_id, agent=self.agent))
        peer.adopt(response.session_id, self)

    def _give_up_start(self) -> None:
        """The user cancelled while the agent started: prompts already on screen are not sent."""
        shown = any(prompt.shown for prompt in self._queue)
        self._queue = deque(prompt for prompt in self._queue if not prompt.shown)
        self.narrator.notice("info", "Cancelled before it was sent." if shown else "Cancelled.")
        self._set_state("stopped")

    async def _take_turn(self, peer: AgentPeer, prompt: Prompt) -> None:
        self.narrator.prompt(prompt)
        self._begin_turn()
        blocks = prompt.blocks(peer.info.agent_capabilities.prompt_capabilities.embedded_context)
        params = {"sessionId": self.session_id, "prompt": blocks}
        try:
            with anyio.CancelScope() as self._turn:
                await peer.request("session/prompt", params, self._on_turn_answer)
        except RpcError as error:
            if self._stop_reason == "error":
                self.narrator.failure(failures.turn_failed(self.agent, error))
        except FailureError:
            return  # on_gone has told it

    def _begin_turn(self) -> None:
        self.narrator.transcript.begin_turn()
        self.requests.refusing = False
        self.requests.rejected.clear()
        self._in_turn, self._had_turns = True, True
        self._stop_reason, self.narrator.facts.plan = None, None
        self._editor.publish(events.TurnStart(session=self.key))
        self._publish_status()

    def _on_turn_answer(self, answer: Answer) -> None:
        """The turn is over the moment its answer is read, before any later message."""
        if not self._in_turn:
            return
        if isinstance(answer, RpcError):
            self._end_turn("cancelled" if self.requests.refusing else "error")
        elif isinstance(answer, Exception):
            return  # the agent is gone: on_gone ends the turn
        else:
            self._end_turn(self._read_stop_reason(answer))

    def _read_stop_reason(self, answer: msgspec.Raw) -> str:
        try:
            return msgspec.json.decode(answer, type=v1.PromptResponse).stop_reason
        except msgspec.DecodeError as error:
            self.narrator.failure(failures.malformed_answer(self.agent, "session/prompt", error))
            return "error"

    def _end_turn(self, stop_reason: str) -> None:
        self._in_turn = False
        self._stop_reason = stop_reason
        self._settle_turn("cancelled" if stop_reason == "cancelled" else "unfinished")
        if stop_reason not in ("end_turn", "error"):
            self.narrator.notice("info" if stop_reason == "cancelled" else "warn", f"Stopped: {stop_reason}")
        self._editor.publish(events.TurnEnd(session=self.key, stop_reason=stop_reason))
        self._editor.publish(events.FilesMaybeChanged(session=self.key, cwd=self.cwd))
        self._publish_status()

    def _settle_turn(self, status: str) -> None:
        """Nothing of the turn stays open: neither tool calls nor questions."""
        self.narrator.close_calls(status, self.requests.rejected)
        self._permissions.cancel_where(lambda pending: pending.session == self.key)
        self._publish_status()

    # --- the agent acts (session.peer.PeerSession) -------------------------------------------------------------------

    def on_update(self, update: updates.Update) -> None:
        """Something the agent says. Some echo the prompt: it stands in the transcript already."""
        if self._in_turn and isinstance(update, updates.MessageChunk) and update.role == "user":
            return
        self.narrator.update(update)

    def on_request(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """Permissions and files."""
        return self.requests.serve(method, params)

    def on_gone(self, failure: Failure | None) -> None:
        """The agent is gone; `failure` is None when we left it."""
        self._wanted = False
        if self._in_turn:
            self._end_turn("error" if failure else "cancelled")
        self._leave("failed" if failure else "stopped")
        self._turn.cancel()
        if failure is not None:
            kept = "What is queued is kept, and goes out as soon as the agent starts." if self._queue else ""
            self.narrator.failure(failure, kept)

    def _fail(self, failure: Failure) -> None:
        """The agent could not be started, or we failed with it."""
        self._wanted = False
        if self._in_turn:
            self._end_turn("error")
        self._leave("failed")
        kept = "Your prompt is kept, and goes out as soon as the agent starts." if self._queue else ""
        self.narrator.failure(failure, kept)

    def _leave(self, state: State) -> None:
        self._permissions.cancel_where(lambda pending: pending.session == self.key)
        self._peer = None
        self.session_id = None
        self._set_state(state)

    def _set_state(self, state: State) -> None:
        self._state = state
        self._publish_status()

    def _publish_status(self) -> None:
        info = self._peer.info.agent_info if self._peer else None
        facts = self.narrator.facts
        view = events.StatusView(
            agent=self.agent,
            agent_title=(info.title or info.name) if info else self.agent,
            state=self.state,
            cwd=self.cwd,
            pending_permissions=len(self._permissions.of_session(self.key)),
            queue=len(self._queue),
            session_id=self.session_id,
            stop_reason=self._stop_reason,
            title=facts.title,
            mode=facts.mode,
            model=facts.model,
            usage=facts.usage,
            plan=facts.plan,
        )
        self._editor.publish(events.Status(session=self.key, status=view))
