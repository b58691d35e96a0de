"""Routes the messages of an agent process, in order, to the sessions that they name."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import anyio
import msgspec

from acp_nvim import decoders
from acp_nvim.acp.answers import Asked
from acp_nvim.acp.dialect import REFUSALS, Dialect
from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.acp.updates import MessageChunk, ToolCallChanged, Update
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.connection.early_requests import EarlyRequest, EarlyRequests
from acp_nvim.connection.other_messages import OtherMessages, answered, is_about_a_call, session_with
from acp_nvim.connection.peer_session import PeerSession
from acp_nvim.connection.update_run import UpdateRun, measured
from acp_nvim.errors import FailureError, TooLargeError
from acp_nvim.failures import failures
from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from acp_nvim.mcp import over_acp as mcp_messages
from acp_nvim.mcp.over_acp import McpMessages
from acp_nvim.tasks import OnFailure, contained, failed

log = logging.getLogger(__name__)


ODD_LINES: Final = 50
"""Logged lines that are kept, the first and the last: a usage message begins or ends with what is wrong."""
EARLY_UPDATES: Final = 10_000
"""Updates kept for sessions whose ids are still unknown, because a replay may come before the answer."""
UNANSWERED_REQUESTS: Final = 1000
"""Requests of one agent that are served at once; further ones are refused. A fast agent reads 100 files at once."""
UNANSWERED_BYTES: Final = 16 * 1024 * 1024
"""Size of all these together, unless there is only one: each takes a multiple of it in memory until it is answered."""
EARLY_BYTES: Final = 32 * 1024 * 1024
"""Size of all updates kept for sessions whose ids are unknown: a replayed conversation has 10 MB."""


class _Envelope(msgspec.Struct, rename="camel"):
    session_id: str


class MessageRouter:
    """The handler of an agent's connection (`acp_nvim.jsonrpc.dispatcher.Handler`), with the agent's sessions."""

    def __init__(self, name: str) -> None:
        self.dialect: Dialect = DialectV1()
        self.sessions: dict[str, PeerSession] = {}
        self._parents: dict[str, str] = {}  # child session -> the session that it was created in
        self._name = name
        self.last_word = 0.0
        self._left: set[str] = set()
        self._early: dict[str, list[Update | EarlyRequest]] = {}
        self.early_requests = EarlyRequests(name, self.sessions, self._left)
        self.strays = self.early_requests.strays
        self._early_count = self._early_bytes = 0
        self._unanswered = self._unanswered_bytes = 0
        self.others = OtherMessages(name)
        self.mcp = McpMessages()
        self.ask_user: Callable[[ElicitationAsked], Awaitable[Any]] | None = None
        """Serves a question to the user that names no session."""
        self.beside: OnFailure = lambda _: None
        """Reports a bug that concerns no session."""
        self.next_batch: Callable[[], float] = lambda: 0.0
        """Returns when the editor is told the next time, see `Editor.next_batch`."""
        self._run = UpdateRun()
        self._only_text, self._was_only_text = True, False  # what was read since `caught_up`, and before that
        self.odd_lines: list[str] = []
        """The first and the last lines that `odd` has logged, which may be what the agent wrote instead of messages."""

    @property
    def chats(self) -> int:
        """The number of sessions that the user has with the agent, without their child sessions."""
        return len(self.sessions) - len(self._parents)

    def chats_beside(self, session: PeerSession) -> list[PeerSession]:
        """Return the sessions that the user has with the agent, without `session` and without child sessions."""
        return [one for key, one in self.sessions.items() if key not in self._parents and one is not session]

    def adopt(self, session_id: str, session: PeerSession, parent: str | None = None) -> None:
        """Route messages with that id to `session`, also those that came before the id was known.

        Called before a session is reopened, and when it is open: only then its requests are served. `parent` is the id
        of the session that the agent has created a child session in; it is forgotten with it.
        """
        self.sessions[session_id] = session
        if parent is not None:
            self._parents[session_id] = parent
        self._left.discard(session_id)
        early = self._early.pop(session_id, [])
        self._early_count -= len(early)
        if not self._early:
            self._early_bytes = 0  # bytes are not counted by session
        self.flush()
        for one in early:
            if not isinstance(one, EarlyRequest):
                self.flush((session_id, one))
            elif session.is_open:
                one.serve(session)
            else:
                self._keep(session_id, one)

    def require_free(self, session_id: str, session: PeerSession) -> None:
        """Raise `FailureError` if another session has that id already."""
        if self.sessions.get(session_id, session) is not session:
            raise FailureError(failures.session_taken(self._name, session_id))

    def forget(self, session_id: str) -> None:
        """Stop routing to that session and its child sessions; unknown ids are ignored."""
        self.sessions.pop(session_id, None)
        self._parents.pop(session_id, None)
        self._left.add(session_id)
        for child in [one for one, parent in self._parents.items() if parent == session_id]:
            self.forget(child)

    def flush(self, *more: tuple[str, Update]) -> None:
        """Hand over the joined updates, and then `more`: ids of sessions with updates for them."""
        for session_id, update in (*self._run.take(), *more):
            session = self.sessions.get(session_id)
            if session is not None:
                try:
                    session.on_update(update)
                except Exception as error:
                    failed(f"taking {type(update).__name__}", error, session.on_bug)
            elif session_id not in self._left and self._early_count < EARLY_UPDATES:
                self._keep(session_id, update)
                self.strays.kept(session_id, update)
            elif session_id not in self._left:
                self.odd(f"an update for the unknown session {session_id!r} was dropped: too many wait already")

    def _keep(self, session_id: str, one: Update | EarlyRequest) -> None:
        """Keep a message for a session that is not open yet."""
        self._early.setdefault(session_id, []).append(one)
        self._early_count += 1

    def notification(self, method: str, params: msgspec.Raw) -> None:
        """Route `session/update` and `elicitation/complete` to their session, note the account; log all others."""
        if method != "session/update":
            self._take_other(method, params)
            return
        try:
            session_id, update = self.dialect.update(params)
        except msgspec.DecodeError as error:
            self._malformed(method, params, error)
            return
        except Exception as error:
            failed(f"taking {method}", error, self._owner(params))
            return
        if type(update) is not MessageChunk:
            self._only_text = False
            update = measured(update, params)
        has_room = session_id in self.sessions or self._has_room_for(session_id, len(params))
        if has_room and not self._run.takes(session_id, update):
            self.flush()
            if not self._run.takes(session_id, update):
                self.flush((session_id, update))

    def parts(self, lines: list[bytes | bytearray]) -> list[list[bytes | bytearray]]:
        """Split lines into those that are probably text, and others."""
        return self.dialect.text_parts(lines)

    def text(self, lines: Sequence[bytes | bytearray]) -> bool:
        """Route lines that are all text of sessions, which are decoded at once; return False if they are not."""
        said = self.dialect.text_updates(lines)
        if said is None or any(session_id not in self.sessions for session_id, _ in said):
            return False
        for session_id, update in said:
            if not self._run.takes(session_id, update):
                self.flush()
                self._run.takes(session_id, update)
        return True

    def split_text(self, line: bytes | bytearray) -> bool:
        """Route a line with half a character at either end of a piece of text; return False if it is none."""
        said = self.dialect.split_update(line)
        if said is None:
            return False
        session_id, update = said
        self.flush()
        if self._has_room_for(session_id, len(line)):
            self.flush((session_id, measured(update, msgspec.Raw(line))))
        return True

    def _take_other(self, method: str, params: msgspec.Raw) -> None:
        """Take a notification that is no update; a malformed one is only logged."""
        self._only_text = False
        self.flush()
        try:
            for session_id, update in self.others.take(method, params, self.sessions):
                if self._has_room_for(session_id, len(params)):
                    self.flush((session_id, update))
        except (msgspec.DecodeError, LookupError) as error:
            self.odd(f"{method}: {error}")

    def _has_room_for(self, session_id: str, size: int) -> bool:
        """Whether an update of `size` bytes may be kept; those of unknown sessions are limited."""
        if session_id in self.sessions or session_id in self._left:
            return True
        self._early_bytes += size
        if self._early_bytes > EARLY_BYTES:
            self.odd(f"an update for the unknown session {session_id!r} was dropped: too much waits already")
        return self._early_bytes <= EARLY_BYTES

    def caught_up(self) -> float:
        """Let the sessions show what has arrived so far; return when the agent must be heard again.

        While it only says text, a piece at a time, the next pieces are needed for the next batch. A request that comes
        with them waits as long, a frame at most.
        """
        self.last_word = anyio.current_time()
        is_text_stream = self._only_text and self._was_only_text
        self._was_only_text, self._only_text = self._only_text, True
        self.flush()
        for session in self.sessions.values():
            try:  # `contained` would take as long as the call itself
                session.on_caught_up()
            except Exception as error:
                failed("telling what an agent said", error, session.on_bug)
        return self.next_batch() if is_text_stream else 0.0

    def _malformed(self, method: str, params: msgspec.Raw, error: msgspec.DecodeError) -> None:
        """Report a malformed update to its session, and hand over what can be used of it."""
        self.flush()
        failure = failures.bad_message(self._name, method, error)
        session = self._session_of(params)
        if session is not None:
            session.on_trouble(failure)
        try:
            session_id, rest = self.dialect.rest_of_update(params)
            if isinstance(rest, ToolCallChanged):
                rest.patch.lacks_content = True
            if self._has_room_for(session_id, len(params)):
                self.flush((session_id, measured(rest, params)))
        except msgspec.DecodeError:
            if session is not None and is_about_a_call(params):
                session.on_trouble(failure, True)

    def _session_of(self, params: msgspec.Raw) -> PeerSession | None:
        """Find the session of a message that is not decoded."""
        try:
            return self.sessions.get(decoders.decode(params, _Envelope).session_id)
        except msgspec.DecodeError:
            return None

    def _owner(self, params: msgspec.Raw) -> OnFailure:
        session = self._session_of(params)
        return session.on_bug if session is not None else lambda _: None

    def serve(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """Decode a request and pass it to the session that it names; an elicitation without one goes to the user.

        Returns an awaitable of the answer. Raises `RpcError` for what cannot be served; after a bug of ours, which is
        reported to the session, too.
        """
        self._only_text = False
        self.flush()
        if method in self.others.requests:
            return self._serve_extension(method, params)
        if method == mcp_messages.METHOD:
            return self._watched(method, self.bug, self.mcp.serve(params))
        if method not in self.dialect.requests:
            raise RpcError(METHOD_NOT_FOUND, f"acp_nvim does not offer {method}", {"method": method})
        self._require_room(params)
        owner: OnFailure | None = None
        try:
            session_id, asked = self.dialect.asked(method, params)
            if session_id is None and self.ask_user is not None and isinstance(asked, ElicitationAsked):
                return self._watched(method, self._owner(params), self.ask_user(asked))
            session = self.sessions.get(session_id or "")
            if session is not None and session.is_open:
                owner = session.on_bug  # the session may have left the agent when something fails
                work = session.on_request(method, asked)
            else:
                owner, work = self._held(method, session_id or "", asked)
        except msgspec.DecodeError as error:
            raise self._refused(method, params, error) from error
        except RpcError:
            raise
        except Exception as error:
            raise self._failed(method, owner or self._owner(params), error) from error
        self._unanswered += 1
        self._unanswered_bytes += len(params)
        return self._watched(method, owner, work, len(params))

    def _serve_extension(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """Serve a request that the protocol does not have."""
        self._require_room(params)
        try:
            said = self.others.requests[method](params)
            session_id = session_with(said, self.sessions)
        except (msgspec.DecodeError, LookupError) as error:
            raise self._refused(method, params, error) from error
        session = self.sessions.get(session_id)
        if session is None or not session.is_open:
            self.strays.refused(session_id, method)
            raise RpcError(INVALID_PARAMS, f"{method}: unknown sessionId {session_id!r}")
        self.flush(*((session_id, update) for update in said.updates(session_id)))
        asked = said.asked
        if isinstance(asked, ElicitationAsked):
            asked = msgspec.structs.replace(asked, session_id=session_id)
        try:
            work = None if asked is None else session.on_request(method, asked)
        except RpcError:
            raise
        except Exception as error:
            raise self._failed(method, session.on_bug, error) from error
        self._unanswered += 1
        self._unanswered_bytes += len(params)
        return self._watched(method, session.on_bug, answered(said, work), len(params))

    def _refused(self, method: str, params: msgspec.Raw, error: Exception) -> RpcError:
        """Return the error for a request that cannot be decoded; tell the user if that is because of its size."""
        session = self._session_of(params)
        if session is not None and isinstance(error, TooLargeError):
            session.on_trouble(failures.lost_message(self._name, f"{method}: {error}"))
        elif session is not None and method in REFUSALS:
            session.on_trouble(failures.bad_message(self._name, method, error))
        return RpcError(INVALID_PARAMS, f"{method}: {error}")

    def _held(self, method: str, session_id: str, asked: Asked) -> tuple[OnFailure, Awaitable[Any]]:
        """Hold a request for a session that may be open soon. Raises `RpcError` if there is none."""
        if session_id in self._left or not self.early_requests.has_room or self._early_count >= EARLY_UPDATES:
            self.strays.refused(session_id, method)
            raise RpcError(INVALID_PARAMS, f"{method}: unknown sessionId {session_id!r}")
        request = EarlyRequest(session_id, method, asked)
        self._keep(session_id, request)
        return request.on_bug, self._answer_early(request, self.early_requests.hold(request), method)

    async def _answer_early(self, request: EarlyRequest, answer: Awaitable[Any], method: str) -> Any:
        try:
            return await answer
        except RpcError:
            if not request.is_served:
                self.strays.refused(request.session_id, method)
            raise
        finally:
            kept = self._early.get(request.session_id, [])
            if request in kept:  # it was not served
                kept.remove(request)
                self._early_count -= 1

    async def _watched(self, method: str, owner: OnFailure, answer: Awaitable[Any], counted: int | None = None) -> Any:
        """Await an answer and report a bug in it; `counted` is the size of a request that is counted as unanswered."""
        try:
            return await answer
        except RpcError:
            raise
        except Exception as error:
            raise self._failed(method, owner, error) from error
        finally:
            if counted is not None:
                self._unanswered -= 1
                self._unanswered_bytes -= counted

    @staticmethod
    def _failed(method: str, owner: OnFailure, error: Exception) -> RpcError:
        failed(f"serving {method}", error, owner)
        return RpcError(INTERNAL_ERROR, f"the client failed: {error}")

    def _require_room(self, params: msgspec.Raw) -> None:
        """Raise `RpcError` if too many requests wait, before this one is decoded, which takes memory."""
        many = self._unanswered >= UNANSWERED_REQUESTS
        if many or (self._unanswered and self._unanswered_bytes + len(params) > UNANSWERED_BYTES):
            session = self._session_of(params)
            if session is not None and many:
                raise session.on_crowd("requests", UNANSWERED_REQUESTS)
            if session is not None:
                raise session.on_crowd("megabytes of requests", UNANSWERED_BYTES // 1024 // 1024)

    def odd(self, words: str) -> None:
        """Log a deviation from the protocol that the user need not know of."""
        self.odd_lines.append(words)
        if len(self.odd_lines) > ODD_LINES:
            del self.odd_lines[ODD_LINES // 2]
        log.warning("%s: %s", self._name, words)

    def bug(self, error: Exception) -> None:
        """Report a bug with a message of this agent to its sessions, or to `beside` if there are none."""
        if not self.sessions:
            self.beside(error)
        for session in list(self.sessions.values()):
            with contained("telling of a failure", lambda _: None):
                session.on_bug(error)

    def noise(self, line: bytes) -> None:
        """Keep what the agent writes instead of messages."""
        self.others.note(line)

    def lost(self, words: str, is_news: bool = False) -> None:
        """Report a message that was too large to all sessions of this agent; `is_news`: it may have been an update."""
        self.flush()
        failure = failures.lost_message(self._name, words)
        for session in list(self.sessions.values()):
            with contained("telling of a lost message", session.on_bug):
                session.on_trouble(failure, is_news)
