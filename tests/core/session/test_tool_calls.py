"""Tool calls as agents really send them: announced twice, never announced, left open, their ids used again."""

from __future__ import annotations

import pytest

from acp_nvim.acp.tool_call import ToolCallPatch
from acp_nvim.acp.updates import ToolCallChanged
from acp_nvim.contract import events
from acp_nvim.transcript.call_views import CALL_ITEMS
from acp_nvim.transcript.presenter import Presenter
from tests.core.session.host import Host
from tests.support.fake_editor import FakeEditor

pytestmark = pytest.mark.anyio


async def test_a_call_that_is_announced_twice_is_one(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.tool("c", "Terminal", kind="execute", rawInput={}, status="pending")
            prompt.tool("c", "`ls -la`", kind="execute", rawInput={"command": "ls -la"})
            prompt.tool_update("c", status="completed")
    """)
    await host.turn()
    assert [(call.title, call.status) for call in host.calls().values()] == [("`ls -la`", "completed")]


async def test_an_id_that_is_announced_again_in_the_next_turn_is_a_new_call(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.tool("call_1", prompt.text, status="pending")
            prompt.tool_update("call_1", status="completed")
    """)
    await host.turn("one")
    await host.turn("two")
    assert [call.title for call in host.calls().values()] == ["one", "two"]


async def test_an_update_in_the_next_turn_still_concerns_the_earlier_call(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "one":
                prompt.tool("c", "Run", status="in_progress")
            else:
                prompt.tool_update("c", status="completed")
    """)
    await host.turn("one")
    assert [call.status for call in host.calls().values()] == ["unfinished"]
    await host.turn("two")
    assert [call.status for call in host.calls().values()] == ["completed"]


async def test_after_such_an_update_the_same_id_may_still_be_a_new_call(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "two":
                prompt.tool_update("c", status="completed")
            prompt.tool("c", prompt.text, status="completed")
            prompt.tool("c", prompt.text + "!", status="completed")
    """)
    await host.turn("one")
    await host.turn("two")
    assert [call.title for call in host.calls().values()] == ["one", "one!", "two", "two!"]


async def test_an_update_for_a_call_that_nobody_announced_creates_it(host: Host) -> None:
    host.script('def turn(agent, prompt): prompt.tool_update("c", status="completed")')
    await host.turn()
    assert [(call.title, call.kind, call.status) for call in host.calls().values()] == [("c", "other", "completed")]


async def test_calls_left_open_are_closed_at_the_end_of_the_turn_in_their_order(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            for name in ("one", "two", "three", "four", "five"):
                prompt.tool(name, name, status="in_progress")
    """)
    await host.turn()
    closed = [event.call.id for event in host.of(events.ToolCall) if event.call.status == "unfinished"]
    assert closed == ["one", "two", "three", "four", "five"]
    assert host.editor.events.index(host.of(events.ToolCall)[-1]) < host.editor.events.index(host.of(events.TurnEnd)[0])


async def test_an_update_that_says_nothing_shows_nothing(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.tool("c", "Run", status="completed", content=[], locations=[])
            prompt.tool_update("c", _meta={"claudeCode": {"toolName": "Bash"}})
            prompt.tool_update("c")
            prompt.tool_update("c", status="completed", content=[])
    """)
    await host.turn()
    assert len(host.of(events.ToolCall)) == 1


async def test_content_of_every_kind_is_shown_or_described(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.tool("c", "All", content=[
                {"type": "content", "content": {"type": "text", "text": "words"}},
                {"type": "content", "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}},
                {"type": "diff", "path": "main.py", "oldText": "a", "newText": "b"},
                {"type": "terminal", "terminalId": "never created"},
                {"type": "chart", "points": []},
            ])
    """)
    await host.turn()
    assert host.of(events.ToolCall)[0].call.content == [
        events.TextItem("words"),
        events.MediaItem("image", "image/png", 3, 1),
        events.DiffItem("main.py", "b", "a"),
        events.TerminalItem("never created", number=1),
        events.OtherItem("content of an unknown kind ('chart')"),
    ]


@pytest.mark.parametrize("raw", ["'words'", "[1]", "{'a': None}", "None"])
async def test_raw_output_of_any_kind_is_taken(host: Host, raw: str) -> None:
    host.script(f'def turn(agent, prompt): prompt.tool("c", "Run", status="completed", rawOutput={raw})')
    assert await host.turn() == "end_turn"
    assert len(host.calls()) == 1


@pytest.mark.parametrize(("line", "shown"), [(7, 7), (0, None), (None, None)])
async def test_the_last_location_is_where_the_agent_is(host: Host, line: int | None, shown: int | None) -> None:
    places = [{"path": "/p/first"}, {"path": "/p/last", "line": line}]
    host.script(f'def turn(agent, prompt): prompt.tool("c", "Read", locations={places!r})')
    await host.turn()
    assert host.of(events.Location) == [events.Location(session=1, path="/p/last", line=shown)]


async def test_a_relative_location_is_one_of_the_sessions_directory(host: Host) -> None:
    host.script('def turn(agent, prompt): prompt.tool("c", "Read", locations=[{"path": "src/f"}])')
    await host.turn()
    assert [event.path for event in host.of(events.Location)] == [str(host.cwd / "src" / "f")]


@pytest.mark.parametrize(
    ("kind", "status", "told"),
    [
        ("edit", "completed", 2),
        ("execute", "failed", 2),
        ("other", "completed", 2),
        ("read", "completed", 1),
        ("edit", "pending", 2),
    ],
)
async def test_after_calls_that_may_write_the_files_are_looked_at(
    host: Host, kind: str, status: str, told: int
) -> None:
    host.script(f'def turn(agent, prompt): prompt.tool("c", "T", kind={kind!r}, status={status!r})')
    await host.turn()
    assert host.of(events.FilesMaybeChanged) == [events.FilesMaybeChanged(session=1)] * told


async def test_of_very_many_items_the_first_and_the_last_are_shown_and_the_rest_counted(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            items = [{"type": "content", "content": {"type": "text", "text": str(number)}} for number in range(1000)]
            prompt.tool("c", "Much", content=items)
    """)
    await host.turn()
    [call] = host.calls().values()
    assert call.content[0] == events.TextItem("0")
    assert call.content[CALL_ITEMS] == events.OtherItem("… 900 more items …")
    assert call.content[-1] == events.TextItem("999")
    assert len(call.content) == 2 * CALL_ITEMS + 1


def test_calls_that_are_closed_between_turns_are_shown_at_once() -> None:
    editor = FakeEditor()
    presenter = Presenter(1, "/", editor, lambda: None)
    presenter.update(ToolCallChanged(ToolCallPatch(tool_call_id="c", kind="read", status="in_progress")))
    presenter.caught_up()
    presenter.close_calls("cancelled", set())
    assert [one.call.status for one in editor.all(events.ToolCall)] == ["in_progress", "cancelled"]
