"""What a peer asks and tells: each request is answered exactly once, notifications never, noise is survived."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, REQUEST_CANCELLED, RpcError
from tests.core.jsonrpc.peer import all_done, connected

pytestmark = pytest.mark.anyio

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {}}


@pytest.mark.parametrize("request_id", [0, 7, "uuid-1", "", None, -5, 1.5, 2**80])
async def test_the_answer_has_the_id_of_the_request_whatever_its_type(request_id: Any) -> None:
    async with connected() as peer:
        await peer.say({"jsonrpc": "2.0", "id": request_id, "method": "m", "params": [1]})
        assert peer.heard == [{"jsonrpc": "2.0", "id": request_id, "result": {"method": "m", "params": [1]}}]


async def test_ids_of_the_peer_and_our_own_do_not_mix() -> None:
    async with connected() as peer, anyio.create_task_group() as tasks:
        got: list[bytes] = []

        async def call() -> None:
            got.append(bytes(await peer.connection.request("ours", {})))

        tasks.start_soon(call)
        await all_done()
        await peer.say({"id": 0, "method": "theirs"})
        assert (peer.heard[1]["id"], got) == (0, [])
        await peer.say({"id": 0, "result": 5})
        assert got == [b"5"]


async def test_a_request_without_params_is_served() -> None:
    async with connected() as peer:
        await peer.say({"id": 1, "method": "m"})
        assert peer.heard[0]["result"] == {"method": "m", "params": None}


async def refuse_later(method: str, params: Any) -> Any:
    raise RpcError(-32002, "no such file", {"uri": "x"})


def refuse_at_once(method: str, params: Any) -> Any:
    raise RpcError(-32002, "no such file", {"uri": "x"})


@pytest.mark.parametrize("answer", [refuse_later, refuse_at_once])
async def test_a_refusal_is_the_answer_whether_raised_at_once_or_later(answer: Any) -> None:
    async with connected() as peer:
        peer.handler.answer = answer
        await peer.say(REQUEST)
        body = {"code": -32002, "message": "no such file", "data": {"uri": "x"}}
        assert peer.heard == [{"jsonrpc": "2.0", "id": 1, "error": body}]
        assert peer.handler.oddities == []


async def fail_later(method: str, params: Any) -> Any:
    raise ZeroDivisionError("oops")


def fail_at_once(method: str, params: Any) -> Any:
    raise ZeroDivisionError("oops")


async def answer_what_json_cannot_say(method: str, params: Any) -> Any:
    return object()


@pytest.mark.parametrize("answer", [fail_later, fail_at_once, answer_what_json_cannot_say])
async def test_a_bug_of_ours_is_answered_as_an_internal_error_and_the_conversation_goes_on(answer: Any) -> None:
    async with connected() as peer:
        peer.handler.answer = answer
        await peer.say(REQUEST)
        assert [(one["id"], one["error"]["code"]) for one in peer.heard] == [(1, INTERNAL_ERROR)]
        assert len(peer.handler.oddities) == 1
        peer.handler.answer = peer.handler.echo
        await peer.say({**REQUEST, "id": 2})
        assert peer.heard[1]["result"] == {"method": "m", "params": {}}


async def test_notifications_are_never_answered_even_when_they_explode() -> None:
    async with connected() as peer:
        await peer.say({"method": "explode"}, {"method": "unknown/thing", "params": 3}, {"method": "after"})
        assert peer.heard == []
        assert [method for _, method in peer.handler.log] == ["explode", "unknown/thing", "after"]
        assert peer.handler.oddities == ["a bug of ours while taking explode: RuntimeError('the handler exploded')"]
        assert list(map(str, peer.handler.bugs)) == ["the handler exploded"]


async def test_a_slow_request_does_not_hold_up_the_next() -> None:
    async with connected() as peer:
        gate = anyio.Event()

        async def answer(method: str, params: Any) -> Any:
            if method == "slow":
                await gate.wait()
            return method

        peer.handler.answer = answer
        await peer.say({"id": 1, "method": "slow"}, {"id": 2, "method": "fast"})
        assert [one["id"] for one in peer.heard] == [2]
        gate.set()
        await all_done()
        assert [one["result"] for one in peer.heard] == ["fast", "slow"]


async def test_handlers_are_called_in_the_order_of_the_messages() -> None:
    async with connected() as peer:
        await peer.say({"id": 1, "method": "a"}, {"method": "b"}, {"id": 2, "method": "c"}, {"method": "d"})
        assert peer.handler.log == [("request", "a"), ("notification", "b"), ("request", "c"), ("notification", "d")]


async def test_a_batch_array_is_taken_message_by_message() -> None:
    async with connected() as peer:
        await peer.say([{"method": "n"}, {"id": 1, "method": "a"}, {"id": 2, "method": "b"}])
        assert [one["id"] for one in peer.heard[0]] == [1, 2]
        assert peer.handler.log[0] == ("notification", "n")


class TestCancelRequest:
    """`$/cancel_request` from the peer."""

    @pytest.mark.parametrize("request_id", [1, "uuid"])
    async def test_it_ends_the_request_which_is_still_answered_once(self, request_id: Any) -> None:
        async with connected() as peer:
            peer.handler.answer = wait_for_ever
            await peer.say({**REQUEST, "id": request_id})
            cancel = {"method": "$/cancel_request", "params": {"requestId": request_id}}
            await peer.say(cancel, cancel)
            assert [(one["id"], one["error"]["code"]) for one in peer.heard] == [(request_id, REQUEST_CANCELLED)]

    async def test_in_the_same_read_as_the_request_it_still_counts(self) -> None:
        async with connected() as peer:
            peer.handler.answer = wait_for_ever
            await peer.say(b'{"id":1,"method":"m"}\n{"method":"$/cancel_request","params":{"requestId":1}}\n')
            assert [one["error"]["code"] for one in peer.heard] == [REQUEST_CANCELLED]

    async def test_after_the_answer_it_does_nothing(self) -> None:
        async with connected() as peer:
            await peer.say(REQUEST)
            await peer.say({"method": "$/cancel_request", "params": {"requestId": 1}})
            assert [one["id"] for one in peer.heard] == [1]

    @pytest.mark.parametrize("params", [{}, None, [1], {"requestId": 99}, {"requestId": None}, "x"])
    async def test_for_nothing_that_runs_it_does_nothing(self, params: Any) -> None:
        async with connected() as peer:
            peer.handler.answer = wait_for_ever
            await peer.say(REQUEST, {"method": "$/cancel_request", "params": params})
            assert peer.heard == []

    async def test_an_id_used_twice_at_once_is_answered_twice(self) -> None:
        async with connected() as peer:
            gate = anyio.Event()

            async def answer(method: str, params: Any) -> Any:
                await gate.wait()
                return method

            peer.handler.answer = answer
            await peer.say({"id": 1, "method": "a"}, {"id": 1, "method": "b"})
            gate.set()
            await all_done()
            assert [one["result"] for one in peer.heard] == ["a", "b"]

    async def test_an_id_used_twice_at_once_is_cancelled_twice(self) -> None:
        async with connected() as peer:
            peer.handler.answer = wait_for_ever
            await peer.say(REQUEST, REQUEST)
            await peer.say({"method": "$/cancel_request", "params": {"requestId": 1}})
            assert [one["error"]["code"] for one in peer.heard] == [REQUEST_CANCELLED] * 2
            assert len(peer.connection._dispatcher._serving) == 0


async def wait_for_ever(method: str, params: Any) -> Any:
    await anyio.sleep_forever()


async def test_a_line_of_half_a_megabyte_arrives_whole() -> None:
    async with connected() as peer:
        await peer.say({"id": 1, "method": "m", "params": "é" * 300_000})
        assert peer.heard[0]["result"]["params"] == "é" * 300_000


async def test_requests_that_are_served_while_the_peer_leaves_are_given_up() -> None:
    cleaned: list[str] = []

    async def answer(method: str, params: Any) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            cleaned.append(method)

    async with connected() as peer:
        peer.handler.answer = answer
        await peer.say(REQUEST)
        await peer.leave()
    assert cleaned == ["m"]


script = st.lists(
    st.sampled_from(["ok", "refuse_later", "refuse_at_once", "fail_later", "fail_at_once", "notify", "noise", "batch"]),
    max_size=12,
)


@given(script, st.integers(1, 40))
def test_however_they_go_and_are_cut_every_request_has_one_answer(steps: list[str], piece: int) -> None:
    answers = {f.__name__: f for f in (refuse_later, refuse_at_once, fail_later, fail_at_once)}
    stream = b""
    for number, step in enumerate(steps):
        request = b'{"id":"r%d","method":"%s"}' % (number, step.encode())
        lines = {"noise": b"%% noise", "notify": b'{"method":"notify"}', "batch": b"[%s]" % request}
        stream += lines.get(step, request) + b"\n"

    async def serve() -> list[str]:
        async with connected() as peer:
            peer.handler.answer = lambda method, params: answers.get(method, peer.handler.echo)(method, params)
            await peer.say(*(stream[start : start + piece] for start in range(0, len(stream), piece)))
            told = [one if isinstance(one, list) else [one] for one in peer.heard]
            return [one["id"] for answers in told for one in answers]

    asked = [f"r{number}" for number, step in enumerate(steps) if step not in ("noise", "notify")]
    assert sorted(anyio.run(serve)) == sorted(asked)
