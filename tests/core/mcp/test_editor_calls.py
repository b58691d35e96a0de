"""Calls that the editor carries out: how many it has at once, how long they take at most, and how they end."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from acp_nvim.contract.editor import ToolAnswer
from acp_nvim.mcp.editor_calls import AT_ONCE, BLOCKED, SILENT, EditorCalls
from acp_nvim.mcp.tools.tool import ToolError
from tests.support.fake_editor import FakeEditor
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio


class Calls(FakeEditor):
    """An editor that begins no call before `go_on`; then it answers with `answer`, later if that is None."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = anyio.Event()
        self.answer: ToolAnswer | None = ToolAnswer(["done"])
        self.begun: list[int] = []
        self.most = self.now = 0

    async def call_tool(self, call_id: int, tool: str, arguments: dict[str, Any]) -> ToolAnswer | None:
        self.begun.append(call_id)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.go_on.wait()
        finally:
            self.now -= 1
        return self.answer


@pytest.fixture
def editor() -> Calls:
    return Calls()


@pytest.fixture
def calls(editor: Calls) -> EditorCalls:
    return EditorCalls(editor)


async def outcome(calls: EditorCalls, found: list[Any]) -> None:
    """Add the lines, or the error, of a call."""
    try:
        found.append((await calls.ask("editor_state", {})).lines)
    except ToolError as error:
        found.append(str(error))


async def test_the_editor_begins_two_at_once(editor: Calls, calls: EditorCalls) -> None:
    found: list[Any] = []
    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(outcome, calls, found)
            await anyio.wait_all_tasks_blocked()
            assert editor.begun == [1, 2]
            editor.go_on.set()
    assert found == [["done"]] * 20
    assert (editor.most, len(editor.begun)) == (AT_ONCE, 20)


async def test_answers_that_come_later_go_to_their_calls(editor: Calls, calls: EditorCalls) -> None:
    found: list[Any] = []
    editor.answer = None
    editor.go_on.set()
    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            for _ in range(3):  # more than begin at once: a call that has begun keeps no other one out
                group.start_soon(outcome, calls, found)
            await anyio.wait_all_tasks_blocked()
            for number in (2, 3, 1):
                calls.answered(number, ToolAnswer([f"of {number}"]))
                calls.answered(number, ToolAnswer(["again"]))
                await anyio.wait_all_tasks_blocked()
    assert found == [["of 2"], ["of 3"], ["of 1"]]
    calls.answered(1, ToolAnswer(["too late"]))
    calls.answered(99, ToolAnswer(["of no call"]))


async def test_an_answer_may_come_before_the_editor_says_that_it_comes_later(editor: Calls, calls: EditorCalls) -> None:
    found: list[Any] = []
    editor.answer = None
    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            group.start_soon(outcome, calls, found)
            await anyio.wait_all_tasks_blocked()
            calls.answered(1, ToolAnswer(["early"]))
            editor.go_on.set()
    assert found == [["early"]]


async def test_an_error_is_raised_early_or_late(editor: Calls, calls: EditorCalls) -> None:
    found: list[Any] = []
    editor.answer = ToolAnswer(error="at once")
    editor.go_on.set()
    await outcome(calls, found)
    editor.answer = None
    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            group.start_soon(outcome, calls, found)
            await anyio.wait_all_tasks_blocked()
            calls.answered(2, ToolAnswer(error="later"))
    assert found == ["at once", "later"]


async def test_an_editor_that_waits_for_its_user_is_given_up(editor: Calls, calls: EditorCalls) -> None:
    found: list[Any] = []
    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            for _ in range(5):  # some of them never reach the editor
                group.start_soon(outcome, calls, found)
        with pytest.raises(ToolError, match="cannot answer now"):
            await calls.until_ready()
        editor.go_on.set()
        await calls.until_ready()
        await outcome(calls, found)
    assert found == [BLOCKED] * 5 + [["done"]]
    assert editor.now == 0


async def test_an_editor_that_never_answers_is_given_up(editor: Calls, calls: EditorCalls) -> None:
    editor.answer = None
    editor.go_on.set()
    found: list[Any] = []
    with anyio.fail_after(LIMIT):
        await outcome(calls, found)
    assert found == [SILENT]
    calls.answered(1, ToolAnswer(["too late"]))


@pytest.mark.parametrize("has_begun", [False, True])
async def test_a_call_that_is_cancelled_makes_room_for_others(
    editor: Calls, calls: EditorCalls, has_begun: bool
) -> None:
    found: list[Any] = []
    editor.answer = None
    if has_begun:
        editor.go_on.set()
    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE + 1):
                group.start_soon(outcome, calls, found)
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
        calls.answered(1, ToolAnswer(["too late"]))
        editor.answer = ToolAnswer(["done"])
        editor.go_on.set()
        await outcome(calls, found)
    assert found == [["done"]]
    assert editor.now == 0
