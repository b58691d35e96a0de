"""Background tasks: a failure is logged and told, and cancels nobody; cancellation passes through."""

from __future__ import annotations

import anyio
import pytest

from acp_nvim.tasks import TRACEBACKS, Tasks, contained

pytestmark = pytest.mark.anyio


async def fails(error: Exception) -> None:
    raise error


async def test_a_failure_is_told_to_its_owner_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Exception] = []
    others: list[Exception] = []
    error = ValueError("one")
    async with anyio.create_task_group() as group:
        tasks = Tasks(group, others.append)
        tasks.owned_by(told.append).spawn(fails, error)
        await anyio.wait_all_tasks_blocked()
        done = anyio.Event()

        async def work() -> None:
            done.set()

        tasks.spawn(work)
        await done.wait()
    assert (told, others) == ([error], [])
    assert "fails failed" in caplog.text
    assert "Traceback" in caplog.text


async def test_groups_of_failures_are_failures_as_well() -> None:
    told: list[Exception] = []

    async def nested() -> None:
        async with anyio.create_task_group() as inner:
            inner.start_soon(fails, ValueError("inner"))

    async with anyio.create_task_group() as group:
        Tasks(group, told.append).spawn(nested)
    assert isinstance(told[0], ExceptionGroup)


async def test_who_cannot_be_told_fails_alone(caplog: pytest.LogCaptureFixture) -> None:
    def deaf(_: Exception) -> None:
        raise RuntimeError("deaf")

    async with anyio.create_task_group() as group:
        Tasks(group, deaf).spawn(fails, ValueError("two"))
    assert "RuntimeError: deaf" in caplog.text


async def test_cancellation_passes_through() -> None:
    ended = []

    async def waits() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    async with anyio.create_task_group() as group:
        tasks = Tasks(group, lambda _: ended.append("told"))
        tasks.spawn(waits)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert ended == ["cancelled"]


async def test_what_is_no_exception_passes_through() -> None:
    class EndingError(BaseException):
        pass

    async def ends() -> None:
        raise EndingError

    with pytest.raises(BaseExceptionGroup):
        async with anyio.create_task_group() as group:
            Tasks(group, lambda _: None).spawn(ends)


def test_all_steps_are_taken() -> None:
    taken: list[str] = []

    def fault() -> None:
        raise ValueError("three")

    told: list[Exception] = []
    Tasks(None, told.append).all_of("it", fault, lambda: taken.append("a"), fault, lambda: taken.append("b"))
    assert (taken, len(told)) == (["a", "b"], 2)


def test_a_flood_of_the_same_failure_gets_few_tracebacks(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(1000):
        with contained("a flood", lambda _: None):
            raise ValueError("four")
    assert caplog.text.count("Traceback") == TRACEBACKS
    assert "512 times" in caplog.text
    assert len(caplog.records) < 20
