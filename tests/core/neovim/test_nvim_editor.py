"""Neovim as the editor: one batch at a time, each after the last was applied; buffers are asked for by path."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any
from unittest.mock import Mock, patch

import anyio
import pytest

from acp_nvim import app as app  # all kinds of events are known then
from acp_nvim.contract import events
from acp_nvim.contract.editor import BufferText, BufferWrite, FoundOnDisk, LineChange, TextChange, WholeText
from acp_nvim.limits import BATCH_BYTES
from acp_nvim.neovim import batches, pace
from acp_nvim.neovim import editor as neovim
from acp_nvim.neovim.batches import Batches
from acp_nvim.neovim.editor import NvimEditor
from acp_nvim.neovim.rpc import NvimError, UnsendableError
from acp_nvim.neovim.terminal_streams import TerminalStreams

pytestmark = pytest.mark.anyio


class FakeRpc:
    """Keeps the calls; answers when it is told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.answers: list[Any] = []
        self._changed = anyio.Event()

    async def call_lua(self, module: str, function: str, *args: Any) -> Any:
        """Like `NvimRpc.call_lua`, with the answers that the test gives."""
        self.calls.append((module, function, *args))
        self._wake()
        while not self.answers:
            await self._changed.wait()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def answer(self, value: Any = None) -> None:
        """Let the waiting call, or the next one, return that; or raise it."""
        self.answers.append(value)
        self._wake()

    async def until_calls(self, count: int) -> list[tuple[Any, ...]]:
        """Wait until Lua was called so often; return the calls."""
        with anyio.fail_after(60):
            while len(self.calls) < count:
                await self._changed.wait()
        return self.calls

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


@asynccontextmanager
async def running() -> AsyncIterator[tuple[NvimEditor, FakeRpc]]:
    """An editor that sends its batches to a fake Neovim."""
    rpc = FakeRpc()
    editor = NvimEditor(rpc)  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(editor.run)
        yield editor, rpc
        tasks.cancel_scope.cancel()


def piece(text: str) -> events.Append:
    return events.Append(session=1, block=1, kind="agent", text=text)


async def test_what_changes_often_is_published_once_for_each_batch() -> None:
    async with running() as (editor, rpc):
        published = 0

        def publish() -> None:
            nonlocal published
            published += 1
            editor.publish(events.Notice(session=1, block=published, level="info", text=str(published)))

        editor.before_batch(publish)
        await rpc.until_calls(1)
        for _ in range(10):
            editor.publish(piece("a"))
            editor.before_batch(publish)
        assert published == 1
        rpc.answer()
        await rpc.until_calls(2)
        assert published == 2
        assert [one["type"] for one in rpc.calls[1][2]] == ["append", "notice"]


async def test_what_cannot_be_published_before_a_batch_keeps_nothing_else_back() -> None:
    async with running() as (editor, rpc):
        lost: list[Exception] = []
        editor.on_lost = lambda _session, error: lost.append(error)

        def publish() -> None:
            raise ValueError("no status")

        editor.before_batch(publish)
        editor.before_batch(lambda: editor.publish(piece("a")))
        await rpc.until_calls(1)
        assert [one["text"] for one in rpc.calls[0][2]] == ["a"]
        assert [str(one) for one in lost] == ["no status"]


async def test_all_is_told_only_when_what_waits_for_a_batch_was_sent() -> None:
    async with running() as (editor, rpc):
        editor.publish(piece("a"))
        await rpc.until_calls(1)
        editor.before_batch(lambda: editor.publish(piece("b")))
        rpc.answer()
        rpc.answer()
        await editor.told(1)
        assert [one["text"] for one in rpc.calls[1][2]] == ["b"]


async def test_the_first_event_goes_out_at_once_and_what_comes_meanwhile_is_one_batch() -> None:
    async with running() as (editor, rpc):
        editor.publish(piece("a"))
        await rpc.until_calls(1)
        for text in "bcd":
            editor.publish(piece(text))
        await anyio.lowlevel.checkpoint()
        assert len(rpc.calls) == 1
        rpc.answer()
        calls = await rpc.until_calls(2)
    assert [call[:2] for call in calls] == [("acp_nvim.events", "apply")] * 2
    assert [[event["text"] for event in call[2]] for call in calls] == [["a"], ["bcd"]]


@pytest.mark.parametrize("more", [events.Append, events.TurnEnd])
async def test_who_waits_until_it_is_told_does_not_wait_for_what_comes_later(more: type[events.Event]) -> None:
    async with running() as (editor, rpc):

        def stream() -> None:
            text = piece("x" * BATCH_BYTES * 2)
            editor.publish(text if more is events.Append else events.TurnEnd(session=1, stop_reason="x" * BATCH_BYTES))

        told = anyio.Event()

        async def wait() -> None:
            await editor.told(1)
            told.set()

        stream()
        editor.publish(events.TurnStart(session=1))
        batches = 0
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            while not told.is_set():
                batches += 1
                await rpc.until_calls(batches)
                stream()  # more than the batch had
                assert batches < 100
                rpc.answer(0)
                await anyio.wait_all_tasks_blocked()
        sent = [one for _, _, batch in rpc.calls[:batches] for one in batch]
        assert [one for one in sent if one["type"] == "turn_start"]


async def test_the_next_batch_waits_for_the_next_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    until: list[float] = []
    now = anyio.current_time()

    async def sleep(seconds: float) -> None:
        until.append(anyio.current_time() + seconds)

    monkeypatch.setattr(pace, "FRAME_SECONDS", 1000.0)
    monkeypatch.setattr(neovim.anyio, "sleep", sleep)
    async with running() as (editor, rpc):
        for count in (1, 2):
            rpc.answer()
            editor.publish(piece("a"))
            await rpc.until_calls(count)
    assert until
    assert all(deadline >= now + 1000 for deadline in until)


async def test_it_says_when_the_next_batch_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FRAME_SECONDS", 1000.0)
    monkeypatch.setattr(neovim, "FRAME_SECONDS", 1000.0)
    async with running() as (editor, rpc):
        assert editor.next_batch() <= anyio.current_time()  # the next batch need not wait
        begun = anyio.current_time()
        editor.publish(piece("a"))
        assert editor.next_batch() >= begun + 1000  # "a" is about to be sent
        await rpc.until_calls(1)
        sent = editor.next_batch()
        assert begun + 1000 <= sent <= anyio.current_time() + 1000
        editor.publish(piece("b"))
        rpc.answer(1.0)
        await anyio.wait_all_tasks_blocked()
        assert editor.next_batch() == sent
        assert len(rpc.calls) == 1


async def test_the_next_batch_of_a_backlog_is_as_large_as_neovim_can_take_and_waits_for_no_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "FRAME_SECONDS", 1000.0)
    async with running() as (editor, rpc):
        editor.publish(piece("a" * 4 * BATCH_BYTES))
        for milliseconds in (8.0, 8.0, None):
            rpc.answer(milliseconds)
        calls = await rpc.until_calls(3)
    assert [len(call[2][0]["text"]) for call in calls] == [BATCH_BYTES, BATCH_BYTES // 2, BATCH_BYTES // 4]


async def test_a_batch_that_neovim_cannot_take_does_not_stop_the_next() -> None:
    async with running() as (editor, rpc):
        editor.publish(piece("a"))
        rpc.answer(NvimError("E5108: Lua: oops"))
        await rpc.until_calls(1)
        editor.publish(piece("b"))
        calls = await rpc.until_calls(2)
    assert calls[1][2][0]["text"] == "b"


BUFFER = {"state": "1 5 unix", "encoding": "utf-8", "modified": True, "on_disk": True}
LINES = LineChange(1, 2, ["x"])


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (None, None),
        ({**BUFFER, "text": "a\n", "new": 1}, BufferText("1 5 unix", "utf-8", True, True, "a\n")),
        ({**BUFFER, "stale": "changed", "stamp": "1:2"}, BufferText(**BUFFER, stale="changed", stamp="1:2")),
    ],
)
async def test_reading_a_buffer(answer: Any, result: Any) -> None:
    rpc = FakeRpc()
    rpc.answer(answer)
    assert await NvimEditor(rpc).read_buffer("/f", "1 4 unix") == result  # type: ignore[arg-type]
    assert rpc.calls == [("acp_nvim.buffers", "read", "/f", "1 4 unix")]


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (None, None),
        ({"state": "1 6 unix"}, BufferWrite(state="1 6 unix")),
        ({"changed": True}, BufferWrite(changed=True)),
        ({"error": "E21"}, BufferWrite(error="E21")),
    ],
)
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (WholeText("text"), {"type": "text", "text": "text"}),
        (LINES, {"type": "lines", "first": 1, "count": 2, "lines": ["x"]}),
    ],
)
async def test_writing_a_buffer(answer: Any, result: Any, change: TextChange, told: Any) -> None:
    rpc = FakeRpc()
    rpc.answer(answer)
    assert await NvimEditor(rpc).write_buffer("/f", change, "1 5 unix", True) == result  # type: ignore[arg-type]
    assert rpc.calls == [("acp_nvim.buffers", "write", "/f", told, "1 5 unix", True)]


async def test_following_the_disk() -> None:
    rpc = FakeRpc()
    rpc.answer({"state": "1 6 unix"})
    found = FoundOnDisk("1:2", "latin1", LINES)
    assert await NvimEditor(rpc).follow_disk("/f", "1 5 unix", found) == BufferWrite("1 6 unix")  # type: ignore[arg-type]
    told = {"stamp": "1:2", "encoding": "latin1", "change": {"type": "lines", "first": 1, "count": 2, "lines": ["x"]}}
    assert rpc.calls == [("acp_nvim.buffers", "follow_disk", "/f", "1 5 unix", told)]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("saved_text", "a\n"),
        ("saved_text", None),
        ("file_moved", True),
        ("file_gone", True),
    ],
)
async def test_the_other_calls(call: str, answer: Any) -> None:
    rpc = FakeRpc()
    rpc.answer(answer)
    paths = ("/f", "/g") if call == "file_moved" else ("/f",)
    assert await getattr(NvimEditor(rpc), call)(*paths) == answer  # type: ignore[arg-type]
    assert rpc.calls == [("acp_nvim.buffers", call, *paths)]


# --- what cannot be sent ----------------------------------------------------------------------------------------------


def kinds(of: type[Any]) -> list[type[Any]]:
    """Return all types of events."""
    below = [one for kind in of.__subclasses__() for one in kinds(kind)]
    return below or [of]


class Packing(FakeRpc):
    """Cannot encode what holds `poison`, as msgpack cannot encode large integers; else it answers at once."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[Any] = []

    async def call_lua(self, module: str, function: str, *args: Any) -> Any:
        [batch] = args
        if "poison" in str(batch):
            raise UnsendableError("OverflowError: Integer value out of range")
        self.taken += batch
        return 1.0


async def test_an_event_that_cannot_be_encoded_is_given_up_and_told_and_the_others_arrive() -> None:
    rpc, lost = Packing(), []
    editor = NvimEditor(rpc)
    editor.on_lost = lambda session, error: lost.append((session, type(error)))
    texts = [f"{number} poison" if number in (3, 4, 17) else str(number) for number in range(20)]
    for number, text in enumerate(texts):
        editor.publish(events.Notice(session=number, block=1, level="info", text=text))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(editor.run)
        for number in range(20):
            await editor.told(number)
        tasks.cancel_scope.cancel()
    assert [one["text"] for one in rpc.taken] == [text for text in texts if "poison" not in text]
    assert lost == [(session, UnsendableError) for session in (3, 4, 17)]


async def test_every_kind_of_event_may_fail_in_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    """When it is published, when it becomes part of a batch, and when it is encoded: others of that batch arrive."""
    all_kinds = kinds(events.Event)
    assert all_kinds
    rpc, lost = Packing(), []
    editor = NvimEditor(rpc)
    editor.on_lost = lambda session, error: lost.append(session)
    sound = events.Notice(session=7, block=1, level="info", text="sound")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(editor.run)
        for kind in all_kinds:
            for step in ("published", "batched", "encoded"):
                lost.clear()
                rpc.taken.clear()
                event = Mock(spec=kind, session=7, block=1, kind="poison" if step == "encoded" else step)
                with fault(step):
                    editor.publish(event)
                    editor.publish(sound)
                    await editor.told(7)
                assert [one["text"] for one in rpc.taken if one.get("text") == "sound"] == ["sound"], (kind, step)
                assert lost in ([7], [None]), (kind, step)
        tasks.cancel_scope.cancel()
    with capsys.disabled():
        print(f"\ninjected into {3 * len(all_kinds)} steps of {len(all_kinds)} kinds of events")


@contextmanager
def fault(step: str) -> Iterator[None]:
    """Let a step fail for mocks of events."""

    def add(batches: Any, event: Any) -> None:
        if isinstance(event, Mock):
            raise ValueError("cannot be published")
        real_add(batches, event)

    def take(entry: Any, room: int) -> Any:
        if not isinstance(entry.event, Mock):
            return real_take(entry, room)
        if step == "batched":
            raise ValueError("cannot be batched")
        entry.alive = False
        return {"session": 7, "poison": True}, 10

    real_add, real_take = Batches.add, batches._Entry.take
    with ExitStack() as stack:
        if step == "published":
            stack.enter_context(patch.object(Batches, "add", add))
        else:
            stack.enter_context(patch.object(batches, "_key", lambda event: None))
            stack.enter_context(patch.object(batches._Entry, "__init__", plain_entry))
            stack.enter_context(patch.object(batches._Entry, "take", take))
            stack.enter_context(patch.object(TerminalStreams, "add", lambda *_: None))
            stack.enter_context(patch.object(batches, "TerminalOutput", ()))
        yield


def plain_entry(entry: Any, event: Any, key: Any, number: int) -> None:
    """Fill an entry without looking into its event."""
    entry.event, entry.key, entry.number, entry.session = event, key, number, 7
    entry.texts, entry.is_text, entry.alive = deque(), False, True
