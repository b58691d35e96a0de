"""What the app makes of Lua's words, right and wrong ones."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from acp_nvim import events
from acp_nvim.app import App
from tests.support.fake_editor import FakeEditor

pytestmark = pytest.mark.anyio


async def test_a_log_that_cannot_be_written_is_told_and_stops_nothing(tmp_path: Path) -> None:
    editor = FakeEditor()
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    async with anyio.create_task_group() as tasks:
        app = App(editor, tasks)
        app.receive("hello", {"version": "0", "log_path": str(in_the_way / "log"), "config": {"agents": {}}})
        (error,) = editor.all(events.Error)
        assert error.code == "no_log"
        assert "cannot be written" in error.text
        assert editor.all(events.Ready)


@pytest.mark.parametrize(
    ("method", "params"),
    [("no such word", {}), ("prompt", {"session": 9, "text": "nobody"}), ("open", {"session": "one"}), ("hello", [])],
)
async def test_words_that_make_no_sense_are_told_and_raise_nothing(method: str, params: object) -> None:
    editor = FakeEditor()
    async with anyio.create_task_group() as tasks:
        App(editor, tasks).receive(method, params)
    (error,) = editor.all(events.Error)
    assert error.code == "host_bug"
    assert method in error.text


async def test_the_same_hello_may_come_again(tmp_path: Path) -> None:
    editor = FakeEditor()
    async with anyio.create_task_group() as tasks:
        app = App(editor, tasks)
        for _ in range(2):
            app.receive("hello", {"version": "0", "log_path": str(tmp_path / "log"), "config": {"agents": []}})
    assert len(editor.all(events.Ready)) == 2
    assert not editor.all(events.Error)
