"""One stream of bytes through a connection in memory, compared with the reference; thousands a second."""

from __future__ import annotations

import asyncio
import selectors
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
import msgspec

from acp_nvim.jsonrpc.connection import Connection
from acp_nvim.jsonrpc.framing import Line, LineFramer
from acp_nvim.jsonrpc.messages import INVALID_REQUEST, PeerGoneError, RpcError
from tests.fuzz.reference import LINE_LIMIT, MISSING, Expected, expect, key, plain_json

OUR_CALLS = 3

Listen = Callable[[msgspec.Raw], object]
"""Sees the params of each notification."""


class _Pipe:
    """Says the pieces one by one; `said_all` is called when all has happened that follows from them."""

    def __init__(self, pieces: list[bytes], said_all: Callable[[], None]) -> None:
        self._pieces = iter(pieces)
        self._said_all = said_all
        self.heard = b""

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        for piece in self._pieces:
            return piece
        await _all_done()
        self._said_all()
        await _all_done()
        raise anyio.EndOfStream

    async def send(self, item: bytes) -> None:
        self.heard += item


async def _all_done() -> None:
    loop: Any = asyncio.get_running_loop()
    await asyncio.sleep(0)
    while loop._ready:  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(0)


class _NothingToWaitFor(selectors.SelectSelector):
    """All is in memory: who waits for the world outside, or for time, waits for ever. It saves a system call a step."""

    def select(self, timeout: float | None = None) -> list[Any]:
        assert timeout == 0, "it hangs"
        return []


class _Handler:
    """Answers, refuses, fails at once or later, hangs until it is cancelled or let go: the method says which."""

    def __init__(self, listen: Listen | None) -> None:
        self.calls: list[tuple[str, str, str]] = []
        self.losses = 0
        self.let_go = anyio.Event()
        self._listen = listen

    def notification(self, method: str, params: msgspec.Raw) -> None:
        self.calls.append(("notification", method, _params(params)))
        if self._listen is not None:
            self._listen(params)
        if method.startswith("raise"):
            raise RuntimeError(method)

    def serve(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        self.calls.append(("request", method, _params(params)))
        if method.startswith("raise"):
            raise RuntimeError("\ud800")
        return self._serve(method)

    async def _serve(self, method: str) -> Any:
        if method.startswith("refuse"):
            raise RpcError(-1, "\ud800", object())
        if method.startswith("fail"):
            raise ZeroDivisionError
        if method.startswith("hang"):
            await self.let_go.wait()
        if method.startswith("later"):
            await asyncio.sleep(0)
        return object() if method.startswith("odd") else {}

    def odd(self, words: str) -> None:
        assert isinstance(words, str)
        assert len(words) <= 1_000

    def noise(self, line: bytes) -> None:
        assert line

    def lost(self, words: str, is_news: bool = False) -> None:
        self.losses += 1

    def bug(self, error: Exception) -> None:
        assert isinstance(error, Exception)

    def parts(self, lines: list[Line]) -> list[list[Line]]:
        """Return all lines in one part."""
        return [lines]

    def text(self, lines: Sequence[Line]) -> bool:
        """Leave all lines to be decoded one by one."""
        return False

    def split_text(self, line: Line) -> bool:
        return False

    def caught_up(self) -> float:
        raise RuntimeError("a bug")


class _Tap:
    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.sent_lines: list[bytes] = []

    def received(self, line: bytes) -> None:
        self.lines.append(line)

    def sent(self, line: bytes) -> None:
        self.sent_lines.append(line)


def _params(raw: msgspec.Raw) -> str:
    return key(plain_json(bytes(raw).decode())) if bytes(raw) else ""


class Harness:
    """Runs streams on one event loop."""

    def __init__(self, listen: Listen | None = None) -> None:
        self._listen = listen
        self._loop = asyncio.SelectorEventLoop(_NothingToWaitFor())

    def close(self) -> None:
        """Close the loop."""
        self._loop.close()

    def check_stream(self, stream: bytes, pieces: list[bytes]) -> None:
        """Raises AssertionError when something is not as the reference says."""
        handler, tap = _Handler(self._listen), _Tap()
        pipe = _Pipe(pieces, handler.let_go.set)
        connection = Connection(pipe, pipe, handler, tap)
        connection._framer = LineFramer(LINE_LIMIT)
        outcomes = self._loop.run_until_complete(_converse(connection))
        expected = expect(stream, OUR_CALLS)
        assert handler.calls == expected.calls
        assert handler.losses == len(expected.losses)
        _compare_taps(tap, stream, pipe.heard)
        _compare_answers(_answers(pipe.heard), expected)
        _compare_outcomes(outcomes, expected)


async def _converse(connection: Connection) -> list[list[Any]]:
    outcomes: list[list[Any]] = [[] for _ in range(OUR_CALLS)]

    async def call(number: int) -> None:
        try:
            outcomes[number].append(await connection.request("ours", {}, outcomes[number].append))
        except (RpcError, PeerGoneError) as error:
            outcomes[number].append(error)

    async with anyio.create_task_group() as tasks:
        for number in range(OUR_CALLS):
            tasks.start_soon(call, number)
        await _all_done()
        await connection.run()
    assert "waiting=0" in repr(connection)
    assert "serving=0" in repr(connection)
    return outcomes


def _answers(heard: bytes) -> Counter[tuple[str, Any]]:
    """Id and code (None for a result) of all answers that the peer got."""
    found: Counter[tuple[str, Any]] = Counter()
    for line in heard.split(b"\n")[:-1]:
        message = plain_json(line.decode())
        for one in message if isinstance(message, list) else [message]:
            if "method" not in one:
                code = int(one["error"]["code"].text) if "error" in one else None
                found[key(one["id"]), code] += 1
    return found


def _compare_answers(answers: Counter[tuple[str, Any]], expected: Expected) -> None:
    left = Counter(answers)
    left.subtract(expected.errors)
    assert min(left.values(), default=0) >= 0, f"not refused: {-left}"
    for request_id, count in expected.served.items():
        for one in sorted((one for one in left if one[0] == request_id), key=lambda one: one[1] == INVALID_REQUEST):
            taken = min(count, left[one])
            left[one] -= taken
            count -= taken
        assert not count, f"{request_id} was not answered"
    spare = list(left.elements())
    assert len(spare) <= len(expected.losses), f"answered though nobody asked: {spare}"
    ids = [key(one.get("id", MISSING)) for one in expected.losses if isinstance(one, dict)]
    surely = len(ids) == len(expected.losses)
    assert all(code == INVALID_REQUEST and (not surely or one in ids) for one, code in spare)


def _compare_outcomes(outcomes: list[list[Any]], expected: Expected) -> None:
    for number, outcome in enumerate(outcomes):
        assert len(outcome) == 2, f"call {number}: {outcome}"
        assert outcome[0] is outcome[1]
        if expected.uncertain:
            continue
        shown = "error" if isinstance(outcome[0], RpcError) else ""
        if isinstance(outcome[0], msgspec.Raw):
            shown = _params(outcome[0])
        assert shown == expected.settled.get(number, "")


def _compare_taps(tap: _Tap, stream: bytes, heard: bytes) -> None:
    assert b"".join(line + b"\n" for line in tap.sent_lines) == heard
    lines = stream.split(b"\n")
    rest = lines.pop()
    note = b"(a line of %d bytes, over the limit)"
    shown = [line if len(line) <= LINE_LIMIT else note % len(line) for line in lines]
    assert tap.lines[: len(shown)] == shown
    assert tap.lines[len(shown) :] == ([rest[: max(LINE_LIMIT, 4096)]] if rest else []) or len(rest) > LINE_LIMIT
