"""Our calls to a peer: each gets its own answer, whatever the peer does with order, ids and cuts."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec
import pytest

from acp_nvim.jsonrpc.messages import PeerGoneError, RpcError
from tests.core.jsonrpc.peer import Peer, all_done, connected

pytestmark = pytest.mark.anyio


class Call:
    """A call that is under way: what came of it, and when."""

    def __init__(self, peer: Peer, method: str) -> None:
        self.peer, self.method = peer, method
        self.outcome: Any = "waiting"
        self.scope = anyio.CancelScope()

    async def run(self) -> None:
        """Call, and keep the result or the exception."""
        with self.scope:
            try:
                self.outcome = msgspec.json.decode(await self.peer.connection.request(self.method, {}))
            except (RpcError, PeerGoneError) as error:
                self.outcome = error


async def test_an_answer_reaches_its_caller() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Call(peer, "m")
        tasks.start_soon(call.run)
        await all_done()
        assert peer.heard == [{"jsonrpc": "2.0", "id": 0, "method": "m", "params": {}}]
        await peer.say({"id": 0, "result": {"a": 1}})
        assert call.outcome == {"a": 1}


async def test_answers_in_any_order_reach_their_own_callers() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        calls = [Call(peer, "m") for _ in range(4)]
        for call in calls:
            tasks.start_soon(call.run)
        await all_done()
        await peer.say(*({"id": number, "result": number} for number in (2, 0, 3, 1)))
        assert [call.outcome for call in calls] == [0, 1, 2, 3]


async def test_a_result_of_null_is_an_answer() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Call(peer, "m")
        tasks.start_soon(call.run)
        await peer.say({"id": 0, "result": None})
        assert call.outcome is None


async def test_an_error_answer_is_raised_with_its_code_words_and_data() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Call(peer, "m")
        tasks.start_soon(call.run)
        await peer.say({"id": 0, "error": {"code": 401, "message": "key", "data": [1]}})
        assert isinstance(call.outcome, RpcError)
        assert (call.outcome.code, call.outcome.message, call.outcome.data) == (401, "key", [1])


async def test_the_first_of_two_answers_counts_and_the_second_is_odd() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Call(peer, "m")
        tasks.start_soon(call.run)
        await peer.say({"id": 0, "result": "first"}, {"id": 0, "result": "second"})
        assert call.outcome == "first"
        assert peer.handler.oddities == ["an answer to no call of ours (id 0): a result"]


@pytest.mark.parametrize(
    "message",
    [
        {"id": 99, "result": 1},
        {"id": "0", "result": 1},
        {"id": None, "error": {"code": -32700, "message": "Parse error"}},
        {"error": {"code": -32601, "message": "Method not found", "data": "unknown/notification"}},
        {"id": 0.5, "result": 1},
        {},
    ],
)
async def test_an_answer_to_no_call_of_ours_is_odd_and_settles_nothing(message: dict[str, Any]) -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Call(peer, "m")
        tasks.start_soon(call.run)
        await peer.say(message)
        assert (call.outcome, len(peer.handler.oddities)) == ("waiting", 1)
        await peer.say({"id": 0, "result": "right"})
        assert call.outcome == "right"


async def test_calls_go_out_in_the_order_they_were_made_also_through_a_full_pipe() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        peer.sink.hold()
        for number in range(5):
            peer.connection.notify(f"n{number}", {})
            tasks.start_soon(Call(peer, f"c{number}").run)
            await all_done()
        assert peer.heard == []
        peer.sink.release()
        await all_done()
        assert [one["method"] for one in peer.heard] == [f"{kind}{number}" for number in range(5) for kind in "nc"]
        await peer.leave()


async def test_a_peer_that_leaves_fails_every_waiting_call_and_every_later_one() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        calls = [Call(peer, "m") for _ in range(3)]
        for call in calls:
            tasks.start_soon(call.run)
        await all_done()
        await peer.leave()
        assert [type(call.outcome) for call in calls] == [PeerGoneError] * 3
        late = Call(peer, "m")
        await late.run()
        assert isinstance(late.outcome, PeerGoneError)


async def test_a_call_fails_when_the_peer_leaves_although_the_pipe_to_it_is_full() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        peer.sink.hold()
        call = Call(peer, "m")
        tasks.start_soon(call.run)
        await all_done()
        await peer.leave()
        assert isinstance(call.outcome, PeerGoneError)


async def test_answers_still_come_when_the_peer_no_longer_reads() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Call(peer, "m")
        tasks.start_soon(call.run)
        await all_done()
        peer.sink.broken = True
        peer.connection.notify("n", {})
        await peer.say({"id": 0, "result": "still here"})
        assert call.outcome == "still here"


async def test_an_answer_without_a_last_newline_is_no_answer() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Call(peer, "m")
        tasks.start_soon(call.run)
        await peer.say(b'{"id":0,"result":1}')
        await peer.leave()
        assert isinstance(call.outcome, PeerGoneError)


async def test_a_cancelled_call_tells_the_peer_and_its_late_answer_is_odd() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        call = Call(peer, "m")
        tasks.start_soon(call.run)
        await all_done()
        call.scope.cancel()
        await all_done()
        assert peer.heard[1:] == [{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 0}}]
        await peer.say({"id": 0, "error": {"code": -32800, "message": "cancelled"}})
        assert call.outcome == "waiting"
        assert len(peer.handler.oddities) == 1


async def test_a_call_that_is_withdrawn_still_takes_its_answer() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        got: list[bytes] = []

        async def call() -> None:
            got.append(bytes(await peer.connection.request("m", {}, on_call=peer.connection.withdraw)))

        tasks.start_soon(call)
        await all_done()
        assert [one["method"] for one in peer.heard] == ["m", "$/cancel_request"]
        assert peer.heard[1]["params"] == {"requestId": peer.heard[0]["id"]}
        await peer.say({"id": 0, "result": "partial"})
        assert got == [b'"partial"']


async def test_a_call_that_was_answered_is_not_cancelled_on_the_wire() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:

        async def call() -> None:
            with anyio.CancelScope() as scope:
                await peer.connection.request("m", {}, lambda _: scope.cancel())

        tasks.start_soon(call)
        await peer.say({"id": 0, "result": 1})
        assert [one["method"] for one in peer.heard] == ["m"]


async def test_on_answer_sees_the_answer_before_any_later_message_is_looked_at() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        log = peer.handler.log

        async def call() -> None:
            await peer.connection.request("m", {}, lambda answer: log.append(("answer", bytes(answer))))

        tasks.start_soon(call)
        await all_done()
        await peer.say(b'{"method":"before"}\n{"id":0,"result":1}\n{"method":"after"}\n{"id":5,"method":"ask"}\n')
        assert log == [
            ("notification", "before"),
            ("answer", b"1"),
            ("notification", "after"),
            ("request", "ask"),
        ]


async def test_on_answer_sees_that_the_peer_has_gone() -> None:
    seen: list[Any] = []
    async with connected() as peer, anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(PeerGoneError):
                await peer.connection.request("m", {}, seen.append)

        tasks.start_soon(call)
        await all_done()
        await peer.leave()
    assert [type(answer) for answer in seen] == [PeerGoneError]


async def test_a_closed_connection_takes_notifications_silently() -> None:
    async with connected() as peer:
        await peer.leave()
        peer.connection.notify("n", {})
        await all_done()
    assert peer.heard == []


async def test_repr_shows_the_state() -> None:
    async with connected() as peer:
        shown = repr(peer.connection)
        await peer.leave()
    assert shown.startswith("<Connection open <PendingCalls waiting=0 made=0> serving=0 <LineFramer ")
    assert repr(peer.connection).startswith("<Connection closed ")
