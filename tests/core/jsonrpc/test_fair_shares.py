"""One peer cannot use up time and memory: its messages are handled in slices, answers that it does not read are few."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from acp_nvim.jsonrpc import connection, dispatcher
from acp_nvim.jsonrpc.messages import INVALID_REQUEST
from acp_nvim.limits import BATCH_ENTRIES
from tests.core.jsonrpc.peer import all_done, connected

pytestmark = pytest.mark.anyio

NOTE = b'{"jsonrpc":"2.0","method":"m","params":1}\n'


async def test_others_have_their_turn_between_the_messages_of_one_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "SLICE_SECONDS", 0)
    async with connected() as peer:
        peer.source.put(NOTE * 100)
        seen = set()
        while len(peer.handler.log) < 100:
            await anyio.lowlevel.checkpoint()
            seen.add(len(peer.handler.log))
        assert seen >= set(range(1, 101))
        assert peer.handler.catches >= 100  # what was said is shown before others have their turn


async def test_messages_that_are_no_work_are_not_cut_into_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (connection, dispatcher):
        monkeypatch.setattr(module, "SLICE_SECONDS", 1000)
    async with connected() as peer:
        await peer.say(NOTE * 100)
        assert (len(peer.handler.log), peer.handler.catches) == (100, 1)


async def test_nothing_more_is_read_of_a_peer_that_reads_no_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "UNREAD_ANSWERS_BYTES", 1_000)
    async with connected() as peer:
        peer.sink.hold()
        requests = [{"jsonrpc": "2.0", "id": number, "method": "m", "params": "x" * 600} for number in range(20)]
        for one in requests:
            await peer.say(one)
        asked = len(peer.handler.log)
        assert asked < 5
        peer.sink.release()
        await all_done()
        assert [one["id"] for one in peer.heard] == list(range(20))
        assert len(peer.handler.log) == 20


async def test_our_own_calls_do_not_count_as_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "UNREAD_ANSWERS_BYTES", 1_000)
    async with connected() as peer:
        peer.sink.hold()
        peer.connection.notify("ours", "x" * 10_000)
        await peer.say(NOTE * 5)
        assert len(peer.handler.log) == 5
        peer.sink.release()
        await all_done()


async def test_a_peer_that_closes_its_ears_is_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "UNREAD_ANSWERS_BYTES", 1_000)
    async with connected() as peer:
        peer.sink.hold()
        for number in range(5):
            await peer.say({"jsonrpc": "2.0", "id": number, "method": "m", "params": "x" * 600})
        peer.sink.broken = True
        peer.sink.release()
        await peer.say(NOTE * 5)
        assert [kind for kind, _ in peer.handler.log].count("notification") == 5


async def test_who_waits_for_room_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "UNREAD_ANSWERS_BYTES", 1_000)
    async with connected() as peer, anyio.create_task_group() as tasks:
        peer.sink.hold()
        await peer.say({"jsonrpc": "2.0", "id": 1, "method": "m", "params": "x" * 2_000})
        passed: list[int] = []

        async def waits() -> None:
            await peer.connection.room()
            passed.append(1)

        tasks.start_soon(waits)
        await all_done()
        assert not passed
        peer.sink.release()
        await all_done()
        assert passed


async def test_of_a_batch_array_that_is_too_long_nothing_is_taken_and_the_next_message_is() -> None:
    entry: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "m"}
    async with connected() as peer:
        await peer.say([entry] * BATCH_ENTRIES)
        assert len(peer.handler.log) == BATCH_ENTRIES
        await peer.say([entry] * (BATCH_ENTRIES + 1), json.loads(NOTE))
        assert len(peer.handler.log) == BATCH_ENTRIES + 1
        assert [one["error"]["code"] for one in peer.heard if "error" in one] == [INVALID_REQUEST]
        [words] = peer.handler.losses
        assert words == "1,001 messages came as one; the limit is 1,000"


async def test_what_is_refused_at_once_takes_no_task() -> None:
    async with connected() as peer:

        def refuse(method: str, params: Any) -> Any:
            raise ValueError(method)

        peer.handler.answer = refuse
        peer.source.put(b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"m"}\n' % number for number in range(50)))
        await all_done()
        assert [one["id"] for one in peer.heard] == list(range(50))
        assert "serving=0" in repr(peer.connection)
