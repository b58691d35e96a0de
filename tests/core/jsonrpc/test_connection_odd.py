"""What is no message, or too much of one: survived, told, and nobody who waits for it is left waiting."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.jsonrpc import connection
from acp_nvim.jsonrpc.decoding import BOUNDED_BYTES
from acp_nvim.jsonrpc.dispatcher import MAX_COMPLAINTS
from acp_nvim.jsonrpc.framing import LineFramer
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, RpcError
from acp_nvim.limits import READ_BYTES, SCANNED_BYTES, TAKEN_BYTES
from tests.core.jsonrpc.peer import Peer, all_done, connected

pytestmark = pytest.mark.anyio

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {}}
DEEP = b"[" * 100_000 + b"]" * 100_000
LARGE = b'"' + b"x" * 10_000 + b'"'


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that `LARGE` is over."""
    monkeypatch.setattr(connection, "LineFramer", lambda: LineFramer(limit=5_000))


def refusals(peer: Peer) -> list[tuple[Any, int]]:
    """Id and code of each error answer that the peer heard."""
    return [(one["id"], one["error"]["code"]) for one in peer.heard if "error" in one]


async def test_a_peer_that_never_pauses_leaves_others_their_time() -> None:
    async with connected() as peer:
        line = json.dumps({"jsonrpc": "2.0", "method": "m", "params": "x" * 1_000}).encode() + b"\n"
        peer.source.put(line * (8 * READ_BYTES // len(line)))
        seen: list[int] = []
        while len(seen) < 50:
            await anyio.lowlevel.checkpoint()
            seen.append(len(peer.handler.log))
    assert len(set(seen)) >= 8


class Calling:
    """A call whose outcome is kept."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.outcome: Any = "waiting"

    async def run(self) -> None:
        """Make the request and keep its outcome."""
        try:
            self.outcome = bytes(await self.peer.connection.request("ours", {}))
        except RpcError as error:
            self.outcome = error


NOISE = [
    b"npm warn: deprecated",
    b"\x1b[31mred\x1b[0m",
    b"[INFO] started",
    b"\xff\xfe",
    b"null",
    b'"text"',
    b"5",
    b"\x00",
]


@pytest.mark.parametrize("noise", [*NOISE, b"{}", b'{"method":5}', b'{"method":null,"params":{}}'])
async def test_noise_and_bad_notifications_are_told_but_not_answered(noise: bytes) -> None:
    async with connected() as peer:
        await peer.say(noise + b"\n", REQUEST)
        assert [one["id"] for one in peer.heard] == [1]
        assert len(peer.handler.oddities) == 1
        assert peer.handler.oddities[0].startswith("not a JSON-RPC message")


@pytest.mark.parametrize("blank", [b"", b"\r", b"  \t", b"\r\r"])
async def test_blank_lines_are_nothing(blank: bytes) -> None:
    async with connected() as peer:
        await peer.say(blank + b"\n", REQUEST)
        assert (len(peer.heard), peer.handler.oddities) == (1, [])


async def test_what_is_told_of_noise_is_bounded() -> None:
    async with connected() as peer:
        await peer.say(
            b"x" * 100_000 + b"\n", {"id": "y" * 100_000, "result": 1}, {"error": {"message": "z" * 100_000}}
        )
        assert [len(words) < 1_100 for words in peer.handler.oddities] == [True] * 3


@pytest.mark.parametrize(
    "line",
    [
        b"{broken",
        b' {"id":1,"method":"m"',
        b'[{"id":1,"method":"m"},',
        b"\xef\xbb\xbf{broken",
        b'{"method":"m"}{"method":"n"}',
    ],
)
async def test_what_was_meant_as_a_message_but_is_no_json_is_answered_without_an_id(line: bytes) -> None:
    async with connected() as peer:
        await peer.say(line + b"\n", {"method": "after"})
        assert refusals(peer) == [(None, PARSE_ERROR)]
        assert (len(peer.handler.oddities), peer.handler.log) == (1, [("notification", "after")])


async def test_such_answers_come_to_an_end() -> None:
    async with connected() as peer:
        await peer.say(b"{broken\n" * 100, REQUEST)
        assert refusals(peer) == [(None, PARSE_ERROR)] * MAX_COMPLAINTS
        assert peer.heard[-1]["id"] == 1


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":"a","method":5}',
        b'{"id":"a","method":null}',
        b'{"id":"a","params":{}}',
        b'{"id":"a"}',
        b'{"jsonrpc":"2.0","method":{},"id":"a"}',
    ],
)
async def test_what_has_an_id_and_is_no_message_is_refused_with_it(line: bytes) -> None:
    async with connected() as peer:
        await peer.say(line + b"\n")
        assert refusals(peer) == [("a", INVALID_REQUEST)]


@pytest.mark.parametrize("request_id", [True, False, [1], {"a": 1}])
async def test_what_cannot_be_an_id_is_refused_with_it(request_id: Any) -> None:
    async with connected() as peer:
        await peer.say({"id": request_id, "method": "m"})
        assert refusals(peer) == [(request_id, INVALID_REQUEST)]
        assert peer.handler.log == []


async def test_an_answer_to_us_with_neither_result_nor_error_fails_the_call_and_is_not_answered() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Calling(peer)
        tasks.start_soon(call.run)
        await all_done()
        await peer.say({"id": 0}, {"id": 0})
        assert str(call.outcome) == "an answer with neither result nor error"
        assert len(peer.handler.oddities) == 2
        assert len(peer.heard) == 1


@pytest.mark.parametrize(
    ("members", "outcome"),
    [
        ({"result": 5, "error": None}, b"5"),
        ({"result": None, "error": {"code": 3, "message": "no"}}, "RpcError(3, 'no')"),
    ],
)
async def test_of_a_result_and_an_error_the_one_that_says_something_counts(
    members: dict[str, Any], outcome: Any
) -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Calling(peer)
        tasks.start_soon(call.run)
        await all_done()
        await peer.say({"id": 0, **members})
        assert outcome in (call.outcome, repr(call.outcome))
        assert len(peer.handler.oddities) == 1


async def test_a_broken_answer_fails_its_call() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Calling(peer)
        tasks.start_soon(call.run)
        await all_done()
        await peer.say(b'{"jsonrpc":"2.0","id":0,"result":{broken}}\n')
        assert isinstance(call.outcome, RpcError)
        assert "cannot be read" in str(call.outcome)


TOO_MUCH = [LARGE, DEEP]


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("value", TOO_MUCH)
class TestTooMuch:
    """Over the size limit, or nested too deeply."""

    @pytest.mark.parametrize("line", [b'{"id":7,"method":"m","params":%b}', b'{"method":"m","params":%b,"id":7}'])
    async def test_a_request_is_refused(self, value: bytes, line: bytes) -> None:
        async with connected() as peer:
            await peer.say(line % value + b"\n", REQUEST)
            assert refusals(peer) == [(7, INVALID_REQUEST)]
            assert peer.heard[-1]["id"] == 1
            assert (len(peer.handler.losses), peer.handler.oddities) == (1, [])

    @pytest.mark.parametrize("line", [b'{"id":0,"result":%b}', b'{"result":%b,"id":0}', b'{"error":%b,"id":0}'])
    async def test_an_answer_fails_its_call_in_words(self, value: bytes, line: bytes) -> None:
        async with connected() as peer, anyio.create_task_group() as tasks:
            call = Calling(peer)
            tasks.start_soon(call.run)
            await all_done()
            await peer.say(line % value + b"\n")
            assert [str(call.outcome)] == peer.handler.losses
            assert len(peer.heard) == 1

    @pytest.mark.parametrize(
        "line", [b'{"method":"m","params":%b}', b"%b", b'{"_x":%b,"id":7}', b'{"result":%b,"id":99}']
    )
    async def test_anything_else_is_only_told(self, value: bytes, line: bytes) -> None:
        async with connected() as peer:
            await peer.say(line % value + b"\n", REQUEST)
            assert [one["id"] for one in peer.heard] == [1]
            assert len(peer.handler.losses) == 1


async def test_a_result_that_is_nearly_too_deep_does_no_harm() -> None:
    async with connected() as peer:
        for depth in range(900, 1_000):
            await peer.say(b'{"id":0,"error":{"data":' + b"[" * depth + b"]" * depth + b"}}\n")
        await peer.say(REQUEST)
        assert [one["id"] for one in peer.heard] == [1]


async def test_a_large_message_within_the_limit_arrives_whole() -> None:
    async with connected() as peer:
        await peer.say({"id": 1, "method": "m", "params": "é" * 300_000})
        assert peer.heard[0]["result"]["params"] == "é" * 300_000


async def test_the_handler_hears_when_it_has_everything_that_came() -> None:
    async with connected() as peer:
        order: list[str] = []
        peer.handler.notification = lambda method, params: order.append(method)
        peer.handler.caught_up = lambda: order.append("caught up")
        await peer.say(b'{"method":"a"}\n{"method":"b"}\n{"meth', b'od":"c"}\n')
        told = [name for name, _ in groupby(order)]  # it hears so once more if a read takes long
        assert told == ["a", "b", "caught up", "c", "caught up"]


async def test_a_short_read_is_followed_by_one_that_waits_as_long_as_the_handler_says() -> None:
    async with connected() as peer:
        peer.handler.needed_at = 7.0
        await peer.say(b'{"method":"a"}\n', b'{"method":"b","params":"%s"}\n' % (b"x" * TAKEN_BYTES))
        assert peer.source.not_before == [0.0, 7.0, 0.0]


@pytest.mark.parametrize("part", ["caught_up", "lost"])
@pytest.mark.usefixtures("small_limit")
async def test_no_part_of_the_handler_ends_the_conversation(part: str) -> None:
    def explode(*_: Any) -> None:
        raise ZeroDivisionError

    async with connected() as peer:
        setattr(peer.handler, part, explode)
        await peer.say(LARGE + b"\n", REQUEST)
        assert [one["id"] for one in peer.heard] == [1]
        assert "a bug of ours" in peer.handler.oddities[0]


async def test_nor_does_who_takes_an_answer() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:

        def explode(answer: Any) -> None:
            raise ZeroDivisionError

        async def ask() -> None:
            with pytest.raises(ZeroDivisionError):  # who asked learns that the answer was not taken
                await peer.connection.request("m", {}, explode)

        tasks.start_soon(ask)
        await all_done()
        await peer.say({"id": 0, "result": 1}, REQUEST)
        assert [one["id"] for one in peer.heard if "result" in one] == [1]
        assert "a bug of ours" in peer.handler.oddities[0]


async def test_a_call_that_cannot_be_said_is_not_made() -> None:
    async with connected() as peer:
        with pytest.raises(TypeError):
            await peer.connection.request("m", object())
        await all_done()
        assert (peer.heard, "waiting=0" in repr(peer.connection)) == ([], True)


@pytest.mark.parametrize(
    "error", [RpcError(1, "half \ud800"), RpcError(1, "half ?", object()), RpcError(1, "half ?", "\udcff")]
)
async def test_a_refusal_is_sent_also_when_its_words_or_data_cannot_be_said(error: RpcError) -> None:
    def refuse(method: str, params: Any) -> Any:
        raise error

    async with connected() as peer:
        peer.handler.answer = refuse
        await peer.say(REQUEST)
        assert [one["error"] for one in peer.heard] == [{"code": 1, "message": "half ?"}]


async def test_a_cancel_request_that_wants_an_answer_has_one() -> None:
    async with connected() as peer:

        async def wait(method: str, params: Any) -> Any:
            await anyio.sleep_forever()

        peer.handler.answer = wait
        await peer.say(REQUEST, {"id": 2, "method": "$/cancel_request", "params": {"requestId": 1}})
        assert sorted(one["id"] for one in peer.heard) == [1, 2]


async def test_the_beginning_of_a_line_that_never_ends_is_told() -> None:
    async with connected() as peer:
        await peer.say(b'{"method":"a"}\n{"method":"b"}')
        await peer.leave()
    assert peer.handler.log == [("notification", "a")]
    assert peer.handler.oddities == ['the last line has no end, and was not taken: {"method":"b"}']


async def test_what_comes_out_is_one_message_a_line() -> None:
    async with connected() as peer:
        await peer.say(REQUEST, b"{broken\n", b'{"id":2,"method":3}\n', b'[{"id":3,"method":"m"}]\n')
        assert [json.loads(line) for line in peer.sink.data.split(b"\n")[:-1]] == peer.heard
        assert len(peer.heard) == 4


async def test_a_request_with_a_list_that_is_too_long_is_refused_and_a_notification_is_cut() -> None:
    params = b'{"options":[%b]}' % b",".join([b'"option of a request"'] * 20_000)
    async with connected() as peer:
        await peer.say(b'{"id":7,"method":"m","params":%b}\n' % params, REQUEST)
        assert refusals(peer) == [(7, INVALID_PARAMS)]
        assert peer.heard[-1]["id"] == 1
        assert len(peer.handler.losses) == 1
        await peer.say(b'{"method":"m","params":%b}\n' % params)
        assert len(peer.handler.losses) == 1


async def test_what_is_nested_too_deeply_is_lost_whatever_python_bears() -> None:
    async with connected() as peer:
        await peer.say(b'{"method":"m","params":%b}\n' % (b"[" * 300 + b"]" * 300), REQUEST)
        assert [one["id"] for one in peer.heard] == [1]
        assert peer.handler.losses == ["a message is nested too deeply"]


@pytest.mark.parametrize("text", [b"", b"\xff" * (SCANNED_BYTES - 1000), b"x" * BOUNDED_BYTES])
async def test_nor_does_it_help_to_make_the_line_long(text: bytes) -> None:
    async with connected() as peer:
        await peer.say(b'{"method":"m","params":["%b",%b]}\n' % (text, b"[" * 300 + b"]" * 300), REQUEST)
        assert [one["id"] for one in peer.heard] == [1]
        assert peer.handler.losses == ["a message is nested too deeply"]
