"""One conversation: what the user does in it, and what its agent says."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import Any

import msgspec

from acp_nvim.errors import Failure
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.protocol import updates
from acp_nvim.session import failures
from acp_nvim.session.life import Life
from acp_nvim.session.opening import How, Kept
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.replaying import ABOUT

log = logging.getLogger(__name__)


class Session(Life):
    """A conversation under the key that the editor chose."""

    # --- the user acts -----------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Like `open`, for who only looks at it: an agent that dies again and again is left alone."""
        if not self.connecting.deaths.looping:
            self.open()

    def restore(self, session_id: str, how: How = "load") -> None:
        """Like `open`, with a session that the agent kept; what it fails with is told."""
        self._part()
        self.connecting.wanted = Kept(session_id, how)
        self.open()

    def prompt(self, prompt: Prompt) -> None:
        """Send it, after those that wait already."""
        self.queue.add(prompt, show=not self.turns.turn.running)
        self.open()
        self._publish_status()

    def cancel(self, force: bool = False) -> None:
        """End the turn, by all means if need be (`session.cancelling`); a start, and signing in, is given up."""
        if self.sign_in.cancel():
            return
        if self._peer is not None and self.session_id is not None:
            self.cancelling.cancel(self._peer, self.session_id, force)
        elif not self._cancel_start():
            self.queue.give_up()
        self._publish_status()

    def stop(self) -> None:
        """Leave the agent; its process ends with its last session. Transcript and queue stay."""
        self.queue.hold()
        self.sign_in.done()
        self.asleep = False
        if not self._part():
            self._cancel_start()

    def end(self) -> None:
        """The chat is closed for good: nothing more happens."""
        self.stop()
        self._is_over = True
        self._work.set()

    # --- the agent acts (session.peer.PeerSession) -------------------------------------------------------------------

    def on_update(self, update: updates.Update) -> None:
        """Something the agent says. Some echo the prompt: it stands in the transcript already."""
        if not self.connecting.replaying.takes(update):
            return
        if isinstance(update, updates.StateChanged):
            self.turns.take_state(update)
        elif self._peer is None or self.turns.turn.take_message(update, self._peer.dialect.message_ids):
            if self._peer is not None and self.connecting.replaying.is_over and not isinstance(update, ABOUT):
                answers = self.configuration.is_asking and isinstance(update, updates.MessageChunk)
                self.turns.background.heard(update, answers)
            self.narrator.update(update)

    def on_caught_up(self) -> None:
        """What changed since is shown."""
        self.requests.refusals.caught_up()
        self.narrator.caught_up()

    def on_request(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """Serve a request of the agent: a permission, a file, a terminal, a question."""
        if self._peer is None:
            raise RpcError(INVALID_PARAMS, f"{method}: the session is not open yet")
        return self.requests.serve(self._peer.dialect, method, params)

    def on_crowd(self, what: str, most: int) -> RpcError:
        """Too many wait: said once in a turn."""
        return self.requests.refusals.refuse(what, most)

    def on_trouble(self, failure: Failure) -> None:
        """A message was lost, or malformed: said once for each kind."""
        if self._troubles.is_news(failure):
            self.narrator.notice(failure.severity, str(failure))

    def on_idle(self) -> None:
        """Its process is stopped, because nothing happens: the next prompt goes on."""
        if self._peer is not None:
            self._leave_agent(self._peer)
            self.asleep = True
            self._publish_status()

    def on_bug(self, error: Exception) -> None:
        """Something of this session has failed by a bug of ours: each kind is told once."""
        failure = failures.bug(self.agent, error)
        if self._troubles.is_news(failure):
            self.narrator.failure(failure)

    @property
    def is_busy(self) -> bool:
        """Whether anything goes on that needs the agent."""
        goes_on = self.state in ("starting", "running", "background", "waiting") or self.queue.next is not None
        return goes_on or bool(self.turns.turn.background) or self.requests.terminals.running
