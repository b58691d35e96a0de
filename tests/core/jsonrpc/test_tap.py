"""Who listens in sees each line as it is on the wire, and can do no harm."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_nvim.jsonrpc import connection
from acp_nvim.jsonrpc.framing import LineFramer
from tests.core.jsonrpc.peer import all_done, connected

pytestmark = pytest.mark.anyio


class Recorder:
    """A tap that keeps all; `full` makes it fail."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, bytes]] = []
        self.full = False

    def received(self, line: bytes) -> None:
        """See `Tap`."""
        self._keep("<", line)

    def sent(self, line: bytes) -> None:
        """See `Tap`."""
        self._keep(">", line)

    def _keep(self, direction: str, line: bytes) -> None:
        assert type(line) is bytes
        if self.full:
            raise OSError("no space left")
        self.lines.append((direction, line))


async def test_it_sees_lines_in_both_directions_in_their_order_and_without_their_newline() -> None:
    tap = Recorder()
    async with connected(tap) as peer, anyio.create_task_group() as tasks:
        tasks.start_soon(peer.connection.request, "m", {"a": "é"})
        await all_done()
        await peer.say(b'{"id":0,"result":', b'1}\n{"id":5,"method":"x"}\n')
    assert tap.lines == [
        (">", '{"jsonrpc":"2.0","id":0,"method":"m","params":{"a":"é"}}'.encode()),
        ("<", b'{"id":0,"result":1}'),
        ("<", b'{"id":5,"method":"x"}'),
        (">", b'{"jsonrpc":"2.0","id":5,"result":{"method":"x","params":null}}'),
    ]


async def test_it_sees_odd_lines_as_they_are() -> None:
    tap, odd = Recorder(), [b"noise \xff\r", b"", b'{"params":"\\ud800"}', b"[]", b"\x00"]
    async with connected(tap) as peer:
        await peer.say(b"\n".join(odd) + b"\nthe end has no newline")
        await peer.leave()
    assert [line for direction, line in tap.lines if direction == "<"] == [*odd, b"the end has no newline"]


async def test_of_a_line_over_the_limit_it_sees_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LineFramer", lambda: LineFramer(limit=20))
    tap = Recorder()
    async with connected(tap) as peer:
        await peer.say(b"a\n" + b"x" * 21 + b"\nb\n")
    assert tap.lines == [("<", b"a"), ("<", b"(a line of 21 bytes, over the limit)"), ("<", b"b")]


@pytest.mark.parametrize("direction", ["<", ">"])
async def test_one_that_fails_is_taken_off_and_the_conversation_goes_on(direction: str) -> None:
    tap = Recorder()
    tap.full = True
    async with connected(tap) as peer:
        if direction == ">":
            peer.connection.notify("n", {})
        await peer.say({"id": 1, "method": "m"})
        tap.full = False
        await peer.say({"id": 2, "method": "m"})
        answered: list[Any] = [one["id"] for one in peer.heard if "id" in one]
        assert answered == [1, 2]
        assert peer.handler.oddities == ["what is said is no longer recorded: OSError('no space left')"]
    assert tap.lines == []
