"""Batch arrays: each entry in order, all answers in one array, unless one is too slow."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_nvim.jsonrpc import dispatcher
from acp_nvim.jsonrpc.dispatcher import MAX_COMPLAINTS
from acp_nvim.jsonrpc.messages import INVALID_REQUEST, METHOD_NOT_FOUND, REQUEST_CANCELLED, RpcError
from tests.core.jsonrpc.peer import all_done, connected

pytestmark = pytest.mark.anyio


def shown(answer: dict[str, Any]) -> tuple[Any, Any]:
    """Id, and the result or the code of the error."""
    return answer["id"], answer["error"]["code"] if "error" in answer else answer["result"]["method"]


async def test_the_answers_come_in_one_array_and_notifications_have_none() -> None:
    async with connected() as peer:
        await peer.say([{"method": "n"}, {"id": 1, "method": "a"}, {"id": "2", "method": "b"}, {"method": "o"}])
        assert [[shown(one) for one in array] for array in peer.heard] == [[(1, "a"), ("2", "b")]]
        assert [method for _, method in peer.handler.log] == ["n", "a", "b", "o"]


async def test_nothing_is_sent_for_notifications_alone() -> None:
    async with connected() as peer:
        await peer.say([{"method": "n"}, {"method": "o"}])
        assert (peer.heard, peer.handler.oddities) == ([], [])


async def test_an_empty_array_is_refused_without_an_array() -> None:
    async with connected() as peer:
        await peer.say(b"[]\n")
        assert [shown(one) for one in peer.heard] == [(None, INVALID_REQUEST)]
        assert len(peer.handler.oddities) == 1


async def test_invalid_entries_are_refused_among_the_others() -> None:
    async with connected() as peer:
        await peer.say([{"id": [], "method": "b"}, 1, {"id": 1, "method": "a"}, {"foo": "boo"}, {"id": 5, "method": 7}])
        [array] = peer.heard
        refused = [([], INVALID_REQUEST), (None, INVALID_REQUEST), (None, INVALID_REQUEST), (5, INVALID_REQUEST)]
        assert [shown(one) for one in array] == [*refused, (1, "a")]


async def test_an_array_of_invalid_entries_is_answered_with_an_array_of_bounded_length() -> None:
    async with connected() as peer:
        await peer.say([1, 2, 3], [1] * 1_000)
        assert [len(array) for array in peer.heard] == [3, MAX_COMPLAINTS - 3]
        assert len(peer.handler.oddities) == 2


async def test_answers_to_our_calls_may_come_in_an_array() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        got: list[bytes] = []

        async def call() -> None:
            got.append(bytes(await peer.connection.request("ours", {})))

        tasks.start_soon(call)
        tasks.start_soon(call)
        await all_done()
        await peer.say([{"id": 1, "result": "b"}, {"id": 9, "result": 1}, {"method": "n"}, {"id": 0, "result": "a"}])
        assert (sorted(got), peer.heard[2:]) == ([b'"a"', b'"b"'], [])
        assert len(peer.handler.oddities) == 1


class Slow:
    """Answers "slow" when told to, all others at once."""

    def __init__(self) -> None:
        self.gate = anyio.Event()

    async def answer(self, method: str, params: Any) -> Any:
        """See `RecordingHandler.answer`."""
        if method == "bad":
            raise RpcError(METHOD_NOT_FOUND, "no")
        if method == "slow":
            await self.gate.wait()
        return {"method": method}


BATCH = [{"id": 1, "method": "slow"}, {"id": 2, "method": "fast"}, {"id": 3, "method": "bad"}]


async def test_the_array_waits_for_the_slow_ones_and_other_messages_do_not() -> None:
    async with connected() as peer:
        slow = Slow()
        peer.handler.answer = slow.answer
        await peer.say(BATCH, {"id": 4, "method": "next"})
        assert [shown(one) for one in peer.heard] == [(4, "next")]
        slow.gate.set()
        await all_done()
        assert [shown(one) for one in peer.heard[1]] == [(2, "fast"), (3, METHOD_NOT_FOUND), (1, "slow")]


async def test_the_array_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "BATCH_ANSWER_SECONDS", -1.0)
    async with connected() as peer:
        slow = Slow()
        peer.handler.answer = slow.answer
        await peer.say([*BATCH, {"id": 4, "method": "slow"}])
        arrays = [[shown(one) for one in array] for array in peer.heard]
        assert arrays == [[(2, "fast"), (3, METHOD_NOT_FOUND)]]
        slow.gate.set()
        await all_done()
        assert [shown(one) for one in peer.heard[1]] == [(1, "slow"), (4, "slow")]
        assert len(peer.heard) == 2


async def test_a_request_in_a_batch_can_be_cancelled_from_outside_and_inside() -> None:
    async with connected() as peer:
        peer.handler.answer = Slow().answer
        cancel = {"method": "$/cancel_request", "params": {"requestId": 1}}
        await peer.say(BATCH, cancel, [{**BATCH[0]}, cancel])
        assert [len(array) for array in peer.heard] == [1, 3] or [len(array) for array in peer.heard] == [3, 1]
        assert [shown(one) for array in peer.heard for one in array].count((1, REQUEST_CANCELLED)) == 2


async def test_a_batch_that_waits_when_the_peer_leaves_is_given_up() -> None:
    async with connected() as peer:
        peer.handler.answer = Slow().answer
        await peer.say(BATCH)
        await peer.leave()
    assert peer.heard == []
