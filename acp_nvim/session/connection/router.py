"""What an agent process says: each message goes to the session it names, in order."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

import anyio
import msgspec

from acp_nvim.acp import elicitation
from acp_nvim.acp.answers import Asked
from acp_nvim.acp.dialect import Dialect
from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.updates import MessageChunk, ToolCallChanged, ToolCallContentAdded, Update
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.elicitation.pending import OpenUrls
from acp_nvim.errors import Failure, FailureError
from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from acp_nvim.session import failures
from acp_nvim.tasks import OnFailure, contained, failed

log = logging.getLogger(__name__)


EARLY_UPDATES: Final = 10_000
"""Updates kept for a session whose id the agent has not told us yet; whole replays arrive like this."""
UNANSWERED_REQUESTS: Final = 1000
"""Requests of one agent that are served at once; further ones are refused. A fast agent reads 100 files at once."""
UNANSWERED_BYTES: Final = 16 * 1024 * 1024
"""Of all these together, unless there is only one: each takes some times as much memory until it is answered."""
CONTAINER_BYTES: Final = 150
"""Of memory that an object or array takes beside what is in it: 56 to 232 bytes."""
VALUE_BYTES: Final = 50
"""The same of a value in it: 24 to 100 bytes."""
EARLY_BYTES: Final = 32 * 1024 * 1024
"""Messages kept for sessions whose ids the agent has not told us yet: a conversation that is told again has 10 MB."""


class PeerSession(Protocol):
    """What a session must be for its agent process."""

    def on_update(self, update: Update) -> None:
        """Take what a `session/update` of the agent says, in the words of the model."""

    def on_request(self, method: str, asked: Asked) -> Awaitable[Any]:
        """A request of the agent; raises or awaits to `RpcError` for what it cannot have."""

    def on_crowd(self, what: str, most: int) -> RpcError:
        """One more request than may wait, `most` of a kind (`what`, in the plural): the error for it."""

    def on_caught_up(self) -> None:
        """All that the agent has said by now was handed over."""

    def on_trouble(self, failure: Failure) -> None:
        """Something that the agent said could not be taken."""

    def on_bug(self, error: Exception) -> None:
        """Something of ours has failed that belongs to this session."""

    def on_idle(self) -> None:
        """The agent's process was stopped because nothing happened for long; the next prompt starts it again."""

    @property
    def is_busy(self) -> bool:
        """Whether anything goes on that needs the process."""

    def on_gone(self, failure: Failure | None) -> None:
        """The process ended; `failure` is None when we ended it."""


class _Envelope(msgspec.Struct, rename="camel"):
    session_id: str


def _measured(update: Update, params: msgspec.Raw) -> Update:
    """With what it takes to keep it, where that may be much."""
    if type(update) is ToolCallChanged:
        update.patch.size = _memory(params)
    elif type(update) is ToolCallContentAdded:
        return msgspec.structs.replace(update, size=_memory(params))
    return update


def _memory(params: msgspec.Raw) -> int:
    """About how many bytes it takes when it is decoded: many small values take far more than their JSON."""
    text = bytes(params)
    return len(text) + CONTAINER_BYTES * (text.count(b"{") + text.count(b"[")) + VALUE_BYTES * text.count(b",")


class TextRun:
    """Text chunks of one message that have arrived together: a flood of them costs the session one update.

    They are joined here, before they are taken to the transcript, and not only in the batches for the editor: that
    halves the time for a flood (doc/development/protocol.md).
    """

    def __init__(self) -> None:
        self._session_id = ""
        self._first: MessageChunk | None = None
        self._texts: list[str] = []

    def __repr__(self) -> str:
        return f"<TextRun {len(self._texts)} pieces>"

    def takes(self, session_id: str, update: Update) -> bool:
        """Keep an update that begins a run or goes on with it; False for any other."""
        if type(update) is not MessageChunk or type(update.content) is not TextContent:
            return False
        first = self._first
        if first is None:
            self._session_id, self._first = session_id, update
        elif update.role is not first.role or update.message_id != first.message_id or session_id != self._session_id:
            return False
        self._texts.append(update.content.text)
        return True

    def take(self) -> tuple[tuple[str, Update], ...]:
        """The session's id and the joined chunk, which are not kept any more; nothing when there is none."""
        if self._first is None:
            return ()
        first, texts = self._first, self._texts
        self._first, self._texts = None, []
        joined = MessageChunk(first.role, TextContent(text="".join(texts)), first.message_id)
        return ((self._session_id, joined),)


class MessageRouter:
    """The handler of an agent's connection (`acp_nvim.jsonrpc.connection.Handler`); knows the agent's sessions."""

    def __init__(self, name: str) -> None:
        self.dialect: Dialect = DialectV1()
        self.sessions: dict[str, PeerSession] = {}
        self._name = name
        self.last_word = 0.0
        self._left: set[str] = set()
        self._early: dict[str, list[Update]] = {}
        self._early_count = self._early_bytes = 0
        self._unanswered = self._unanswered_bytes = 0
        self.open_urls = OpenUrls()
        self.ask_user: Callable[[ElicitationAsked], Awaitable[Any]] | None = None
        self.beside: OnFailure = lambda _: None
        """Takes what is asked of the user about no session."""
        self._run = TextRun()

    def __repr__(self) -> str:
        return f"<MessageRouter of {self._name} sessions={list(self.sessions)} {self._run!r}>"

    def adopt(self, session_id: str, session: PeerSession) -> None:
        """From now on `session` gets what the agent says under that id, and what it said before we knew the id."""
        self.sessions[session_id] = session
        self._left.discard(session_id)
        self.flush(*((session_id, update) for update in self._take_early(session_id)))

    def require_free(self, session_id: str, session: PeerSession) -> None:
        """Raises `FailureError` when another session has that id: what is said under it could not be told apart."""
        if self.sessions.get(session_id, session) is not session:
            raise FailureError(failures.session_taken(self._name, session_id))

    def forget(self, session_id: str) -> None:
        """Route nothing to that session any more; unknown ids are ignored."""
        self.sessions.pop(session_id, None)
        self._left.add(session_id)

    def flush(self, *more: tuple[str, Update]) -> None:
        """Hand over the text that waits, and then `more`: ids of sessions with updates for them."""
        for session_id, update in (*self._run.take(), *more):
            session = self.sessions.get(session_id)
            if session is not None:
                try:
                    session.on_update(update)
                except Exception as error:
                    failed(f"taking {type(update).__name__}", error, session.on_bug)
            elif session_id not in self._left:
                self._keep_early(session_id, update)

    def notification(self, method: str, params: msgspec.Raw) -> None:
        """Route `session/update` and `elicitation/complete` to their session; other notifications are logged."""
        if method == "elicitation/complete":
            self._complete(params)
            return
        if method != "session/update":
            log.info("%s: notification %s passed over", self._name, method)
            return
        try:
            session_id, update = self.dialect.update(params)
        except msgspec.DecodeError as error:
            self._malformed(method, params, error)
            return
        except Exception as error:
            failed(f"taking {method}", error, self._owner(params))
            return
        if self._has_room_for(session_id, len(params)) and not self._run.takes(session_id, update):
            self.flush()
            if not self._run.takes(session_id, update):
                self.flush((session_id, _measured(update, params)))

    def _has_room_for(self, session_id: str, size: int) -> bool:
        """Whether so many bytes more may be taken: of a session that we do not know yet not any number is kept."""
        if session_id in self.sessions or session_id in self._left:
            return True
        self._early_bytes += size
        if self._early_bytes > EARLY_BYTES:
            self.odd(f"an update for the unknown session {session_id!r} was dropped: too much waits already")
        return self._early_bytes <= EARLY_BYTES

    def caught_up(self) -> None:
        """All that has arrived by now was handled: show it."""
        self.last_word = anyio.current_time()
        self.flush()
        for session in self.sessions.values():
            try:  # as `contained`, which would take as long as the call itself
                session.on_caught_up()
            except Exception as error:
                failed("telling what an agent said", error, session.on_bug)

    def _complete(self, params: msgspec.Raw) -> None:
        """Ids that nobody knows are passed over (ACP "Elicitation", URL completion)."""
        self.flush()
        try:
            self.open_urls.complete(elicitation.completed(params))
        except msgspec.DecodeError as error:
            self.odd(f"elicitation/complete: {error}")

    def _malformed(self, method: str, params: msgspec.Raw, error: msgspec.DecodeError) -> None:
        """The session is told what is wrong, and gets the rest."""
        self.flush()
        failure = failures.bad_message(self._name, method, error)
        self.odd(str(failure))
        session = self._session_of(params)
        if session is not None:
            session.on_trouble(failure)
        try:
            session_id, rest = self.dialect.rest_of_update(params)
            if self._has_room_for(session_id, len(params)):
                self.flush((session_id, _measured(rest, params)))
        except msgspec.DecodeError:
            return  # nothing of it can be used

    def _session_of(self, params: msgspec.Raw) -> PeerSession | None:
        """The session that a message names which could not be decoded, or was not."""
        try:
            return self.sessions.get(msgspec.json.decode(params, type=_Envelope).session_id)
        except msgspec.DecodeError:
            return None

    def _owner(self, params: msgspec.Raw) -> OnFailure:
        """Who is told when a message with these parameters could not be taken."""
        session = self._session_of(params)
        return session.on_bug if session is not None else lambda _: None

    def _keep_early(self, session_id: str, update: Update) -> None:
        if self._early_count < EARLY_UPDATES:
            self._early.setdefault(session_id, []).append(update)
            self._early_count += 1
        else:
            self.odd(f"an update for the unknown session {session_id!r} was dropped: too many wait already")

    def _take_early(self, session_id: str) -> list[Update]:
        taken = self._early.pop(session_id, [])
        self._early_count -= len(taken)
        if not self._early:
            self._early_bytes = 0  # of which session each byte was is not known
        return taken

    def serve(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """Decode a request, once, and give it to the session that it names; without one the user can be asked.

        Returns the answer to come. Raises `RpcError` for what cannot be served. If a bug of ours is in the way, the
        session is told, and the agent gets an error.
        """
        self.flush()
        if method not in self.dialect.requests:
            raise RpcError(METHOD_NOT_FOUND, f"acp_nvim does not offer {method}", {"method": method})
        self._require_room(params)
        owner: OnFailure | None = None
        try:
            session_id, asked = self.dialect.asked(method, params)
            if session_id is None and self.ask_user is not None and isinstance(asked, ElicitationAsked):
                return self._watched(method, self._owner(params), self.ask_user(asked))
            session = self.sessions.get(session_id or "")
            if session is None:
                raise RpcError(INVALID_PARAMS, f"{method}: unknown sessionId {session_id!r}")
            owner = session.on_bug  # it may have left the agent when something fails
            work = session.on_request(method, asked)
        except msgspec.DecodeError as error:
            raise RpcError(INVALID_PARAMS, f"{method}: {error}") from error
        except RpcError:
            raise
        except Exception as error:
            raise self._failed(method, owner or self._owner(params), error) from error
        self._unanswered += 1
        self._unanswered_bytes += len(params)
        return self._watched(method, owner, self._counted(work, len(params)))

    async def _watched(self, method: str, owner: OnFailure, answer: Awaitable[Any]) -> Any:
        try:
            return await answer
        except RpcError:
            raise
        except Exception as error:
            raise self._failed(method, owner, error) from error

    @staticmethod
    def _failed(method: str, owner: OnFailure, error: Exception) -> RpcError:
        failed(f"serving {method}", error, owner)
        return RpcError(INTERNAL_ERROR, f"the client failed: {error}")

    def _require_room(self, params: msgspec.Raw) -> None:
        """Raise `RpcError` when too many requests wait: before this one is decoded, which takes memory."""
        many = self._unanswered >= UNANSWERED_REQUESTS
        if many or (self._unanswered and self._unanswered_bytes + len(params) > UNANSWERED_BYTES):
            session = self._session_of(params)
            if session is not None and many:
                raise session.on_crowd("requests", UNANSWERED_REQUESTS)
            if session is not None:
                raise session.on_crowd("megabytes of requests", UNANSWERED_BYTES // 1024 // 1024)

    async def _counted(self, work: Awaitable[Any], size: int) -> Any:
        try:
            return await work
        finally:
            self._unanswered -= 1
            self._unanswered_bytes -= size

    def odd(self, words: str) -> None:
        """Logged; a peer's nonsense is not the user's concern until something fails."""
        log.warning("%s: %s", self._name, words)

    def bug(self, error: Exception) -> None:
        """Something of ours has failed with a message of this agent: whoever talks to it is told, else `beside`."""
        if not self.sessions:
            self.beside(error)
        for session in list(self.sessions.values()):
            with contained("telling of a failure", lambda _: None):
                session.on_bug(error)

    def lost(self, words: str) -> None:
        """A message too large to take: whoever talks to this agent is told."""
        self.flush()
        failure = failures.lost_message(self._name, words)
        self.odd(str(failure))
        for session in list(self.sessions.values()):
            with contained("telling of a lost message", session.on_bug):
                session.on_trouble(failure)
