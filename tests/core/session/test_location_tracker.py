"""Where the agent is: what it says itself, what it reads and writes, and where its changes apply."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.transcript.location_tracker import first_change
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

TEXT = "".join(f"line {n}\n" for n in range(1, 41))


def places(host: Host) -> list[tuple[str, int | None]]:
    """What was told, names below the session's directory."""
    return [(event.path.removeprefix(f"{host.cwd}/"), event.line) for event in host.of(events.Location)]


async def until_told(host: Host, *wanted: tuple[str, int | None]) -> None:
    """Wait for exactly these locations, in this order."""
    await host.until(f"{wanted}", lambda: len(places(host)) >= len(wanted))
    assert places(host) == list(wanted)


def tool(host: Host, **fields: Any) -> None:
    """An agent with one tool call."""
    host.script(f'def turn(agent, prompt): prompt.tool("c", "Work", **{fields!r})')


def diff(path: str, new: str, old: str | None) -> dict[str, Any]:
    """Return a diff as content of a tool call."""
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


@pytest.mark.parametrize(("line", "told"), [(7, 7), (0, None), (None, None)])
async def test_a_file_that_is_read(host: Host, line: int | None, told: int | None) -> None:
    (host.cwd / "f").write_text(TEXT)
    more = {} if line is None else {"line": line}
    host.script(f"def turn(agent, prompt): prompt.read({str(host.cwd / 'f')!r}, **{more!r})")
    await host.turn()
    assert places(host) == [("f", told)]


@pytest.mark.parametrize(
    ("text", "line"),
    [(TEXT.replace("line 20", "LINE 20"), 20), (TEXT, 1), (TEXT + "more\n", 41), ("new\n" + TEXT, 1), ("", 1)],
)
async def test_a_file_that_is_written(host: Host, text: str, line: int) -> None:
    (host.cwd / "f").write_text(TEXT)
    host.script(f"def turn(agent, prompt): prompt.write({str(host.cwd / 'f')!r}, {text!r})")
    await host.turn()
    assert places(host) == [("f", line)]


async def test_a_file_that_is_made(host: Host) -> None:
    host.script(f"def turn(agent, prompt): prompt.write({str(host.cwd / 'new')!r}, {TEXT!r})")
    await host.turn()
    assert places(host) == [("new", 1)]


@pytest.mark.parametrize("path", ["/etc/passwd", "missing"])
async def test_the_agent_is_not_where_it_may_not_be(host: Host, path: str) -> None:
    host.script(f"""
        def turn(agent, prompt):
            try:
                prompt.read({path if path[0] == "/" else str(host.cwd / path)!r})
            except Error:
                pass
    """)
    await host.turn()
    assert places(host) == []


@pytest.mark.parametrize("by", ["disk", "buffer"])
@pytest.mark.parametrize("old", ["line 20\n", "LINE 20\n"], ids=["to be done", "done"])
async def test_a_diff_is_looked_for_in_the_file(host: Host, old: str, by: str) -> None:
    now = TEXT if old == "line 20\n" else TEXT.replace("line 20", "LINE 20")
    path = host.cwd / "f"
    path.write_text(now if by == "disk" else "something else\n")
    if by == "buffer":
        host.editor.open(path, "unsaved\n" + now)
    content = [diff(str(path), "LINE 20\n", "line 20\n")]
    tool(host, kind="edit", content=content, locations=[{"path": str(path)}])
    await host.turn()
    await until_told(host, ("f", 20 if by == "disk" else 21))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (lambda path: diff(path, "all of it\n", None), 1),
        (lambda path: diff(path, "nowhere\n", "not to be found\n"), None),
    ],
    ids=["new", "elsewhere"],
)
async def test_a_diff_that_is_not_in_the_file(host: Host, content: Any, line: int | None) -> None:
    path = host.cwd / "f"
    path.write_text(TEXT)
    tool(host, kind="edit", content=[content(str(path))])
    await host.turn()
    await until_told(host, ("f", line))


@pytest.mark.parametrize(
    ("locations", "told"),
    [
        ([{"path": "f", "line": 3}], ("f", 3)),
        ([{"path": "f", "line": 3}, {"path": "g"}], ("g", None)),
        ([{"path": "g"}, {"path": "f"}], ("f", 20)),
    ],
    ids=["a line", "another file", "no line"],
)
async def test_where_the_agent_says_to_be_comes_first(
    host: Host, locations: list[dict[str, Any]], told: tuple[str, int | None]
) -> None:
    (host.cwd / "f").write_text(TEXT)
    tool(host, kind="edit", content=[diff(str(host.cwd / "f"), "X\n", "line 20\n")], locations=locations)
    await host.turn()
    await until_told(host, told)


async def test_an_edit_that_is_done_is_where_it_was_made(host: Host) -> None:
    (host.cwd / "f").write_text(TEXT)
    host.script(f"""
        def turn(agent, prompt):
            path = {str(host.cwd / "f")!r}
            diff = {{"type": "diff", "path": path, "oldText": "line 20\\n", "newText": "x\\ny\\n"}}
            prompt.tool("c", "Edit", kind="edit", content=[diff], locations=[{{"path": path, "line": 1}}])
            text = open(path).read()
            open(path, "w").write("first\\n" + text.replace("line 20\\n", "x\\ny\\n"))
            prompt.tool_update("c", status="completed")
    """)
    await host.turn()
    await until_told(host, ("f", 1), ("f", 21))


async def test_what_a_cancelled_turn_leaves_open_says_nothing(host: Host) -> None:
    (host.cwd / "f").write_text(TEXT)
    place = [{"path": str(host.cwd / "f"), "line": 5}]
    tool(host, kind="edit", content=[diff(str(host.cwd / "f"), "X\n", "line 20\n")], locations=place)
    await host.turn()
    await host.turn("again")
    assert {line for _, line in places(host)} == {5}


@pytest.mark.parametrize("how", ["chunk", "whole"])
async def test_a_hunk_of_version_2_is_where_its_first_change_is(host: Host, how: str) -> None:
    patch = "--- a/f\n+++ b/f\n@@ -18,4 +18,4 @@\n line 18\n line 19\n-line 20\n+LINE 20\n line 21\n"
    change = {"path": str(host.cwd / "f"), "operation": "modify"}
    content = {"type": "diff", "changes": [change], "patch": {"format": "git_patch", "text": patch}}
    host.hello(protocol={"v2": True})
    host.script(f"""
        INFO = {{"name": "v2", "version": "1"}}
        INITIALIZE = {{"protocolVersion": 2, "info": INFO, "capabilities": {{"session": {{}}}}}}
        def turn(agent, prompt):
            prompt.update("state_update", state="running")
            if prompt.text == "chunk":
                prompt.update("tool_call_content_chunk", toolCallId="c", content={content!r})
            else:
                prompt.update("tool_call_update", toolCallId="c", title="Edit", kind="edit", content=[{content!r}])
            prompt.update("state_update", state="idle", stopReason="end_turn")
            return {{"messageId": "m"}}
    """)
    await host.turn(how)
    await until_told(host, ("f", 20))


async def test_of_many_places_the_first_and_the_last_are_told(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            for line in range(1, 1001):
                prompt.tool("c", "Read", locations=[{"path": "/p/f", "line": line}])
    """)
    await host.turn()
    told = [line for _, line in places(host)]
    assert (told[0], told[-1]) == (1, 1000)
    assert len(told) < 100
    ends = [event for event in host.editor.events if isinstance(event, events.Location | events.TurnEnd)]
    assert isinstance(ends[-1], events.TurnEnd)


@given(st.lists(st.sampled_from("ab"), max_size=6), st.lists(st.sampled_from("ab"), max_size=6))
async def test_the_first_line_that_differs(before: list[str], after: list[str]) -> None:
    old, new = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    wanted = 1 if before == after else same + 1
    assert first_change(old, new) == wanted
    assert first_change(None, new) == 1
