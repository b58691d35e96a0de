"""Dispatches the peer's messages: to the handler, or to the pending call that they answer; refuses malformed ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Final, ParamSpec, Protocol

import anyio
import msgspec

from acp_nvim.jsonrpc import messages
from acp_nvim.jsonrpc.decoding import (
    BOUNDED_BYTES,
    SHALLOW_BYTES,
    UNDECODABLE,
    Envelope,
    Message,
    decode_line,
    decode_plain,
    envelope_of,
    has_halves,
    may_be_wide,
    narrowed,
    require_shallow,
)
from acp_nvim.jsonrpc.framing import CutLine, Line, SkippedLine
from acp_nvim.jsonrpc.messages import ABSENT, NULL, CancelRules, Incoming, Invalid, RpcError, show
from acp_nvim.jsonrpc.requests import Answer, BatchAnswers, PendingCalls, Reply, Serving
from acp_nvim.lazy import pattern
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
"""Error answers without an id that one peer gets: it may answer each with another malformed message."""
BATCH_ANSWER_SECONDS: Final = 5.0
"""Time to wait for all answers to a batch array; after that those that are there are sent."""

_CUT: Final = f"a list of more than {LIST_ENTRIES:,} entries, or a text of more than {STRING_BYTES:,} bytes"

_P = ParamSpec("_P")
_MEANT_AS_MESSAGE: Final = pattern(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*\{)")


class Handler(Protocol):
    """Handles the peer's messages, in their order. `params` are views that keep their line alive."""

    def notification(self, method: str, params: msgspec.Raw) -> None:
        """Handle a notification, which gets no answer. Must not block; an exception is reported as a bug."""

    def parts(self, lines: list[Line]) -> list[list[Line]]:
        """Split lines, in their order, so that those which `text` can probably handle are in parts of their own."""

    def text(self, lines: Sequence[Line]) -> bool:
        """Handle whole lines at once if all are the handler's most frequent notification; False: none was handled."""

    def split_text(self, line: Line) -> bool:
        """Handle a line that has half a character at either end of a piece of text; False: it was not handled."""

    def serve(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """Handle a request: the awaitable returns its result, or raises `RpcError`."""

    def odd(self, words: str) -> None:
        """Log a fault of the peer that was tolerated; `words` describe it."""

    def noise(self, line: bytes) -> None:
        """Note a line that is no message at all: it may say why the peer is about to end."""

    def lost(self, words: str, is_news: bool = False) -> None:
        """Tell the user that a message was dropped (too large, nested too deeply); `is_news`: no request or answer."""

    def bug(self, error: Exception) -> None:
        """Tell the user that the client failed to handle a message."""

    def caught_up(self) -> float:
        """Note that all received messages were handled. Called after each read, before waiting for more.

        Return the time (of `anyio.current_time`) before which further messages are not needed; 0: at once.
        """


class Dispatcher:
    """Handles the framer's output, in order. Never raises, whatever the message or a bug of the handler.

    Requests are served in `tasks`, which must be set before the first message. `refusals` are the results that are sent
    in place of errors, by method.
    """

    tasks: Tasks

    def __init__(
        self,
        handler: Handler,
        calls: PendingCalls,
        send: Callable[[bytes], None],
        cancel: CancelRules = messages.ACP_CANCEL,
        refusals: Mapping[str, Any] | None = None,
    ) -> None:
        self._handler = handler
        self._refusals = refusals or {}
        self._calls = calls
        self._send = send
        self._cancel_method = cancel.method
        self._serving = Serving(self.on_bug, self.odd, cancel)
        self._complaints = 0

    def __repr__(self) -> str:
        return f"serving={len(self._serving)}"

    def take_skipped(self, line: SkippedLine) -> None:
        """Drop a line over the size limit: a request is answered with an error, an answer fails its call."""
        words = line.why or f"a message of {line.size / 1e6:.0f} MB is larger than the limit"
        self.guard("giving up a message", self._give_up, envelope_of(line.head, line.tail), words)

    def take_rest(self, rest: bytes) -> None:
        """Drop the beginning of a line that has no end, as the peer is gone."""
        self.odd(f"the last line has no end, and was not taken: {show(rest)}")
        if not _MEANT_AS_MESSAGE.match(rest):
            self.guard("noting the last line", self._handler.noise, rest)

    def take(self, lines: Iterator[Line], is_wide: bool) -> bool:
        """Handle whole lines of UTF-8, in order, until `SLICE_SECONDS` are over; return whether all were handled.

        `is_wide`: one of them may have an integer of more than 64 bits (`may_be_wide`).
        """
        take_notification = self._handler.notification
        clock, cancel_method = perf_counter, self._cancel_method
        end = clock() + SLICE_SECONDS
        for line in lines:
            try:
                if SHALLOW_BYTES < len(line) <= BOUNDED_BYTES:
                    require_shallow(line)
                message = decode_plain(line)
                if type(line) is CutLine:
                    _mark_cut([message])
            except UNDECODABLE:
                self.guard("taking an odd line", self._take_odd, line)
            else:
                method = message.method
                is_plain = message.id is ABSENT and not (is_wide and may_be_wide((line,)))
                if not is_plain or method is msgspec.UNSET or method == cancel_method:
                    self.guard("taking a message", self._take, message, self._send, is_wide)
                else:
                    try:
                        take_notification(method, message.params)
                    except Exception as error:  # like `guard`, without the cost of a call for each message
                        self.on_bug(f"taking {method}", error)
            if clock() > end:
                return False
        return True

    def take_text(self, lines: list[Line]) -> Iterator[list[Line]]:
        """Handle those lines at once that the handler can, see `Handler.text`; they need not be UTF-8.

        Yields the lines between them, which have to be handled by `take` before the next ones are asked for.
        """
        try:
            parts = self._handler.parts(lines)
        except Exception as error:
            self.on_bug("splitting what came", error)
            parts = [lines]
        for part in parts:
            try:
                is_taken = self._handler.text(part)
            except Exception as error:
                self.on_bug("taking text", error)
                is_taken = True  # a part of it may have been handled
            if not is_taken:
                yield part

    def caught_up(self) -> float:
        """Tell the handler that all received messages were handled; return what `Handler.caught_up` returns."""
        try:
            return self._handler.caught_up()
        except Exception as error:
            self.on_bug("catching up", error)
            return 0.0

    def odd(self, words: str) -> None:
        """Report a fault of the peer to the handler, cut to a length that suits a log."""
        with contained("telling what is odd", lambda _: None):
            self._handler.odd(words[: 2 * LOGGED_LINE_CHARS])

    def guard(self, doing: str, call: Callable[_P, None], *args: _P.args, **kwargs: _P.kwargs) -> None:
        """Call `call`, and report an exception as a bug: it must not end the connection."""
        try:
            call(*args, **kwargs)
        except Exception as error:
            self.on_bug(doing, error)

    def on_bug(self, doing: str, error: Exception) -> None:
        """Report a bug of the client, which costs one message, to the handler and the log."""
        self.odd(f"a bug of ours while {doing}: {error!r}")
        failed(doing, error, self._handler.bug)

    # --- lines -------------------------------------------------------------------------------------------------------

    def _take_odd(self, line: Line) -> None:
        """Handle a line that is not one well-formed message: an array, a line to be repaired, or malformed."""
        if not line.strip() or self._is_split_text(line):
            return
        try:
            found = decode_line(line)
        except RecursionError:
            ends = bytes(line[:ENVELOPE_HEAD_BYTES]), bytes(line[-ENVELOPE_TAIL_BYTES:])
            self._give_up(envelope_of(*ends), "a message is nested too deeply")
        except UNDECODABLE as error:
            if isinstance(line, CutLine):
                self._give_up(envelope_of(bytes(line[:ENVELOPE_HEAD_BYTES])), f"{_CUT}, and it cannot be read: {error}")
            else:
                self._take_malformed(line, error)
        else:
            if isinstance(line, CutLine):
                _mark_cut(found if isinstance(found, list) else [found])
            if isinstance(found, list):
                self._take_batch(found)
            elif isinstance(found, Incoming):
                self._take(found, self._send)
            else:
                self.odd(f"not a JSON-RPC message ({found.reason})")
                if found.id is not ABSENT:
                    self._refuse(found, self._send)

    def _is_split_text(self, line: Line) -> bool:
        """Return whether the handler has handled a line because it has half a character in a piece of text."""
        if isinstance(line, CutLine) or not has_halves(line) or may_be_wide((line,)):
            return False
        try:
            require_shallow(line)
        except RecursionError:
            return False
        return self._handler.split_text(line)

    def _take_malformed(self, line: Line, error: Exception) -> None:
        self.odd(f"not a JSON-RPC message ({error}): {show(line)}")
        if _MEANT_AS_MESSAGE.match(line):
            seen = envelope_of(bytes(line[:ENVELOPE_HEAD_BYTES]))
            if seen.is_answer:
                self._fail_call(seen.id, f"the answer cannot be read: {error}")
            self._complain(messages.PARSE_ERROR, f"not JSON: {error}", self._send)
        else:
            self._handler.noise(bytes(line))

    def _give_up(self, seen: Envelope, words: str) -> None:
        """Drop a message that is beyond a bound, and end the request or the call that depends on it."""
        is_news = seen.id is ABSENT and not seen.is_answer
        self.guard("telling what was lost", self._handler.lost, words, is_news)
        if seen.is_request and seen.id is not ABSENT:
            self._send(self._refusal(seen.method, seen.id, RpcError(messages.INVALID_REQUEST, words)))
        elif seen.is_answer:
            self._fail_call(seen.id, words)

    def _fail_call(self, call_id: msgspec.Raw, words: str) -> None:
        self._calls.settle(messages.decode_call_id(call_id), RpcError(messages.INTERNAL_ERROR, words))

    def _complain(self, code: int, words: str, reply: Reply) -> None:
        """Answer a message without an id, a limited number of times: two faulty peers must not loop forever."""
        if self._complaints < MAX_COMPLAINTS:
            self._complaints += 1
            reply(messages.encode_error(NULL, RpcError(code, words)))

    # --- messages ----------------------------------------------------------------------------------------------------

    def _take(self, message: Incoming, reply: Reply, is_wide: bool = True) -> None:
        """Handle a message; unless `is_wide`, it certainly has no integer of more than 64 bits."""
        method = message.method
        found = self._narrow(message) if is_wide and method != self._cancel_method else []
        params = message.params
        if method is msgspec.UNSET:
            self._take_answer(message, reply)
        elif method == self._cancel_method:
            self._serving.cancel(params)
            if message.id is not ABSENT:
                reply(messages.encode_result(message.id, None))
        elif message.id is ABSENT:
            self.guard(f"taking {method}", self._handler.notification, method, params)
        elif bytes(memoryview(message.id)[:1]) in (b"{", b"[", b"t", b"f"):
            error = RpcError(messages.INVALID_REQUEST, "an id is a string, a number or null")
            reply(self._refusal(method, message.id, error))
        elif message.left_out is not ABSENT:  # a request that was cut must not be executed
            reply(self._refusal(method, message.id, RpcError(messages.INVALID_PARAMS, f"{method}: {_CUT}")))
            self.guard("telling what was lost", self._handler.lost, _CUT)
        elif found:  # the user would be shown something else than the agent has sent
            error = RpcError(messages.INVALID_PARAMS, f"{method}: {_too_wide(found)}")
            reply(self._refusal(method, message.id, error))
            if method in self._refusals:  # it does not say why
                self.guard("telling what was refused", self._handler.lost, _too_wide(found))
        else:
            serve, refusal = partial(self._handler.serve, method, params), partial(self._refusal, method)
            self._serving.start(self.tasks, message.id, serve, reply, refusal)

    def _refusal(self, method: str, request_id: msgspec.Raw, error: RpcError) -> bytes:
        """Encode the answer to a request that is not served."""
        if method in self._refusals:
            return messages.encode_result(request_id, self._refusals[method])
        return messages.encode_error(request_id, error)

    def _narrow(self, message: Incoming) -> list[str]:
        """Replace integers of more than 64 bits in the undecoded members; return their first digits."""
        found: list[str] = []
        for name in ("params", "result", "error"):
            raw, wide = narrowed(getattr(message, name))
            if wide:
                setattr(message, name, raw)
                found += wide
        if found:
            self.odd(f"{'an answer' if message.method is msgspec.UNSET else message.method} has {_too_wide(found)}")
        return found

    def _refuse(self, message: Invalid, reply: Reply) -> None:
        if message.id is ABSENT:
            self._complain(messages.INVALID_REQUEST, message.reason, reply)
        else:
            reply(messages.encode_error(message.id, RpcError(messages.INVALID_REQUEST, message.reason)))

    def _take_batch(self, entries: list[Message]) -> None:
        """Handle the entries in order; refuse invalid ones even without an id (ACP v2, "JSON-RPC Batch Messages")."""
        if not entries:
            self.odd("an empty batch array")
            self._complain(messages.INVALID_REQUEST, "an empty batch array", self._send)
            return
        if len(entries) > BATCH_ENTRIES:
            words = f"{len(entries):,} messages came as one; the limit is {BATCH_ENTRIES:,}"
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
                is_request = entry.method is not msgspec.UNSET and entry.id is not ABSENT
                self._take(entry, answers.expect() if is_request else answers.add)
        answers.close()
        if not answers.complete.is_set():
            self.tasks.spawn(self._flush_later, answers)

    async def _flush_later(self, answers: BatchAnswers) -> None:
        with anyio.move_on_after(BATCH_ANSWER_SECONDS):
            await answers.complete.wait()
        answers.flush()

    def _take_answer(self, message: Incoming, reply: Reply) -> None:
        call_id = messages.decode_call_id(message.id)
        answer: Answer
        if message.error is not ABSENT and (message.result is ABSENT or bytes(message.error) != b"null"):
            answer = messages.decode_error(message.error)
        elif message.result is not ABSENT:
            answer = message.result
        elif message.params is ABSENT and self._calls.made(call_id):  # JavaScript omits a result that is undefined
            answer = RpcError(messages.INTERNAL_ERROR, "an answer with neither result nor error")
        else:
            reason = "neither request nor answer"
            self.odd(f"not a JSON-RPC message ({reason})")
            # without an id it may have been meant as a notification, which is never answered, except in a batch
            if message.id is not ABSENT or reply != self._send:
                self._refuse(Invalid(reason, message.id), reply)
            return
        words = repr(answer) if isinstance(answer, RpcError) else "a result"
        if not self._calls.settle(call_id, answer):
            self.odd(f"an answer to no call of ours (id {show(message.id)}): {words}")
        elif (message.error is ABSENT) is (message.result is ABSENT):
            self.odd(f"an answer should have either a result or an error (id {call_id}): taken for {words}")


def _mark_cut(messages_of_line: Sequence[Message]) -> None:
    """Have at least one message of a line from which something was dropped tell that: all of them if none does."""
    found = [one for one in messages_of_line if isinstance(one, Incoming)]
    if all(one.left_out is ABSENT for one in found):
        for one in found:
            one.left_out = NULL


def _too_wide(found: list[str]) -> str:
    return f"an integer of more than 64 bits ({found[0]})"
