"""What the peer's lines lead to: calls of the handler, answers to our calls, answers to what is no message."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any, Final, ParamSpec, Protocol

import anyio
import msgspec

from acp_nvim.jsonrpc import messages
from acp_nvim.jsonrpc.decoding import (
    UNDECODABLE,
    Envelope,
    Message,
    decode_line,
    decode_plain,
    envelope_of,
    may_be_wide,
    narrowed,
    require_shallow,
)
from acp_nvim.jsonrpc.framing import Line, SkippedLine
from acp_nvim.jsonrpc.messages import ABSENT, CANCEL_REQUEST, NULL, Incoming, Invalid, RpcError, show
from acp_nvim.jsonrpc.requests import Answer, BatchAnswers, PendingCalls, Reply, Serving
from acp_nvim.limits import (
    BATCH_ENTRIES,
    ENVELOPE_HEAD_BYTES,
    ENVELOPE_TAIL_BYTES,
    LIST_ENTRIES,
    LOGGED_LINE_CHARS,
    SLICE_SECONDS,
    STRING_BYTES,
)
from acp_nvim.tasks import Tasks, contained, failed

MAX_COMPLAINTS: Final = 20
"""Times that one peer is told of something without an id that it is no message; it may answer each with another."""
BATCH_ANSWER_SECONDS: Final = 5.0
"""Time for the answers to a batch array to be complete; then those that are there are sent."""

_P = ParamSpec("_P")
_MEANT_AS_MESSAGE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*\{)")


class Handler(Protocol):
    """Who the peer talks to. All are called in the order of the peer's messages; `params` keep their line alive."""

    def notification(self, method: str, params: msgspec.Raw) -> None:
        """Handle a notification, which gets no answer. Must not block; what it raises is taken for a bug of ours."""

    def serve(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """A message that wants one: awaiting gives the result, or raises `RpcError`."""

    def odd(self, words: str) -> None:
        """Something that a peer should not send; it was survived."""

    def lost(self, words: str) -> None:
        """A message that could not be taken (too large, nested too deeply): the user must hear of it."""

    def bug(self, error: Exception) -> None:
        """Something of ours has failed in taking or serving a message: the user must hear of it."""

    def caught_up(self) -> None:
        """All that had arrived was handed over. Called after each read, before waiting for more."""


class Dispatcher:
    """Takes what the framer found, in order. No message, and no bug of a handler, makes it raise.

    `tasks` is where requests are served; it must be set before the first message.
    """

    tasks: Tasks

    def __init__(self, handler: Handler, calls: PendingCalls, send: Callable[[bytes], None]) -> None:
        self._handler = handler
        self._calls = calls
        self._send = send
        self._serving = Serving(self.on_bug, self.odd)
        self._complaints = 0

    def __repr__(self) -> str:
        return f"serving={len(self._serving)}"

    def take_skipped(self, line: SkippedLine) -> None:
        """Give up a line over the size limit: a request is answered with an error, a call's answer fails the call."""
        words = line.why or f"a message of {line.size / 1e6:.0f} MB is larger than the limit"
        self.guard("giving up a message", self._give_up, envelope_of(line.head, line.tail), words)

    def take(self, lines: Iterator[Line]) -> bool:
        """Whole lines in UTF-8, in order, for as long as a slice; whether that was all of them."""
        take_notification = self._handler.notification
        clock = perf_counter
        end = clock() + SLICE_SECONDS
        for line in lines:
            try:
                require_shallow(line)
                message = decode_plain(line)
            except UNDECODABLE:
                self.guard("taking an odd line", self._take_odd, line)
            else:
                method = message.method
                is_plain = message.id is ABSENT and not may_be_wide((line,))
                if not is_plain or method is msgspec.UNSET or method == CANCEL_REQUEST:
                    self.guard("taking a message", self._take, message, self._send)
                else:
                    try:
                        take_notification(method, message.params)
                    except Exception as error:  # as `guard`, without the cost of a call for each message
                        self.on_bug(f"taking {method}", error)
            if clock() > end:
                return False
        return True

    def caught_up(self) -> None:
        """Tell the handler that all messages which have arrived are handled."""
        self.guard("catching up", self._handler.caught_up)

    def odd(self, words: str) -> None:
        """Tell the handler, at a length that a log can bear."""
        with contained("telling what is odd", lambda _: None):
            self._handler.odd(words[: 2 * LOGGED_LINE_CHARS])

    def guard(self, doing: str, call: Callable[_P, None], *args: _P.args, **kwargs: _P.kwargs) -> None:
        """Call into code that must not end the conversation, whatever it raises."""
        try:
            call(*args, **kwargs)
        except Exception as error:
            self.on_bug(doing, error)

    def on_bug(self, doing: str, error: Exception) -> None:
        """Something of ours has failed, which costs one message."""
        self.odd(f"a bug of ours while {doing}: {error!r}")
        failed(doing, error, self._handler.bug)

    # --- lines -------------------------------------------------------------------------------------------------------

    def _take_odd(self, line: Line) -> None:
        """A line that is not one plain message: an array, or needs mending, or is no message."""
        if not line.strip():
            return
        try:
            found = decode_line(line)
        except RecursionError:
            ends = bytes(line[:ENVELOPE_HEAD_BYTES]), bytes(line[-ENVELOPE_TAIL_BYTES:])
            self._give_up(envelope_of(*ends), "a message is nested too deeply")
        except UNDECODABLE as error:
            self._take_noise(line, error)
        else:
            if isinstance(found, list):
                self._take_batch(found)
            elif isinstance(found, Incoming):
                self._take(found, self._send)
            else:
                self._take_invalid(found)

    def _take_noise(self, line: Line, error: Exception) -> None:
        self.odd(f"not a JSON-RPC message ({error}): {show(line)}")
        if _MEANT_AS_MESSAGE.match(line):
            seen = envelope_of(bytes(line[:ENVELOPE_HEAD_BYTES]))
            if seen.is_answer:
                self._fail_call(seen.id, f"the answer cannot be read: {error}")
            self._complain(messages.PARSE_ERROR, f"not JSON: {error}", self._send)

    def _give_up(self, seen: Envelope, words: str) -> None:
        """A message that is too much for us: who waits for something should not wait for ever."""
        self.guard("telling what was lost", self._handler.lost, words)
        if seen.is_request and seen.id is not ABSENT:
            self._send(messages.encode_error(seen.id, RpcError(messages.INVALID_REQUEST, words)))
        elif seen.is_answer:
            self._fail_call(seen.id, words)

    def _fail_call(self, call_id: msgspec.Raw, words: str) -> None:
        self._calls.settle(messages.decode_call_id(call_id), RpcError(messages.INTERNAL_ERROR, words))

    def _complain(self, code: int, words: str, reply: Reply) -> None:
        """Answer what has no id; a few times only: two peers that do not understand each other must come to an end."""
        if self._complaints < MAX_COMPLAINTS:
            self._complaints += 1
            reply(messages.encode_error(NULL, RpcError(code, words)))

    # --- messages ----------------------------------------------------------------------------------------------------

    def _take(self, message: Incoming, reply: Reply) -> None:
        method = message.method
        found = [] if method == CANCEL_REQUEST else self._narrow(message)
        params = message.params
        if method is msgspec.UNSET:
            self._take_answer(message, reply)
        elif method == CANCEL_REQUEST:
            self._serving.cancel(params)
            if message.id is not ABSENT:
                reply(messages.encode_result(message.id, None))
        elif message.id is ABSENT:
            self.guard(f"taking {method}", self._handler.notification, method, params)
        elif not _is_id(message.id):
            self._refuse(Invalid("an id is a string, a number or null", message.id), reply)
        elif message.left_out is not ABSENT:  # nothing is done of which only a part is known
            words = (
                f"{method}: a list of more than {LIST_ENTRIES:,} entries, or a text of more than {STRING_BYTES:,} bytes"
            )
            reply(messages.encode_error(message.id, RpcError(messages.INVALID_PARAMS, words)))
            self.guard("telling what was lost", self._handler.lost, words)
        elif found:  # what would be shown to the user is not what the agent has said
            error = RpcError(messages.INVALID_PARAMS, f"{method}: {_too_wide(found)}")
            reply(messages.encode_error(message.id, error))
        else:
            serve = partial(self._handler.serve, method, params)
            self._serving.start(self.tasks, message.id, serve, reply)

    def _narrow(self, message: Incoming) -> list[str]:
        """Take integers of more than 64 bits out of what is decoded later: the beginnings of those."""
        found: list[str] = []
        for name in ("params", "result", "error"):
            raw, wide = narrowed(getattr(message, name))
            if wide:
                setattr(message, name, raw)
                found += wide
        if found:
            self.odd(f"{'an answer' if message.method is msgspec.UNSET else message.method} has {_too_wide(found)}")
        return found

    def _take_invalid(self, message: Invalid) -> None:
        self.odd(f"not a JSON-RPC message ({message.reason})")
        if message.id is not ABSENT:
            self._refuse(message, self._send)

    def _refuse(self, message: Invalid, reply: Reply) -> None:
        error = RpcError(messages.INVALID_REQUEST, message.reason)
        if message.id is ABSENT:
            self._complain(error.code, error.message, reply)
        else:
            reply(messages.encode_error(message.id, error))

    def _take_batch(self, entries: list[Message]) -> None:
        """Each in order. Invalid ones are answered even without an id (ACP v2, "JSON-RPC Batch Messages")."""
        if not entries:
            self.odd("an empty batch array")
            self._complain(messages.INVALID_REQUEST, "an empty batch array", self._send)
            return
        if len(entries) > BATCH_ENTRIES:
            words = f"a batch array of {len(entries):,} messages is longer than the limit of {BATCH_ENTRIES:,}"
            self.guard("telling what was lost", self._handler.lost, words)
            self._complain(messages.INVALID_REQUEST, words, self._send)
            return
        answers = BatchAnswers(self._send)
        invalid = [entry for entry in entries if isinstance(entry, Invalid)]
        if invalid:
            self.odd(
                f"{len(invalid)} of {len(entries)} entries of a batch are no JSON-RPC messages ({invalid[0].reason})"
            )
        for entry in entries:
            if isinstance(entry, Invalid):
                self._refuse(entry, answers.add)
            else:
                self._take(entry, answers.expect() if _is_request(entry) else answers.add)
        answers.all_taken()
        if not answers.complete.is_set():
            self.tasks.spawn(self._let_go, answers)

    async def _let_go(self, answers: BatchAnswers) -> None:
        with anyio.move_on_after(BATCH_ANSWER_SECONDS):
            await answers.complete.wait()
        answers.let_go()

    def _take_answer(self, message: Incoming, reply: Reply) -> None:
        call_id = messages.decode_call_id(message.id)
        answer: Answer
        if message.error is not ABSENT and (message.result is ABSENT or bytes(message.error) != b"null"):
            answer = messages.decode_error(message.error)
        elif message.result is not ABSENT:
            answer = message.result
        elif message.params is ABSENT and self._calls.made(call_id):  # JavaScript leaves out a result that is undefined
            answer = RpcError(messages.INTERNAL_ERROR, "an answer with neither result nor error")
        else:
            self._take_neither(message, reply)
            return
        words = repr(answer) if isinstance(answer, RpcError) else "a result"
        if not self._calls.settle(call_id, answer):
            self.odd(f"an answer to no call of ours (id {show(message.id)}): {words}")
        elif (message.error is ABSENT) is (message.result is ABSENT):
            self.odd(f"an answer should have either a result or an error (id {call_id}): taken for {words}")

    def _take_neither(self, message: Incoming, reply: Reply) -> None:
        """Without an id it may have been meant as a notification, which is never answered, unless a batch holds it."""
        invalid = Invalid("neither request nor answer", message.id)
        self.odd(f"not a JSON-RPC message ({invalid.reason})")
        if message.id is not ABSENT or reply != self._send:
            self._refuse(invalid, reply)


def _is_request(message: Incoming) -> bool:
    return message.method is not msgspec.UNSET and message.id is not ABSENT


def _too_wide(found: list[str]) -> str:
    return f"an integer of more than 64 bits ({found[0]})"


def _is_id(raw: msgspec.Raw) -> bool:
    return bytes(memoryview(raw)[:1]) not in (b"{", b"[", b"t", b"f")
