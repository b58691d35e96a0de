"""What an agent reports only as raw output is shown, whatever shape its tools have, and nothing is shown twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.diff import from_texts
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.terminal import Exit, TerminalPatch
from acp_nvim.acp.tool_call import Item, Shown, TerminalShown, ToolCallPatch
from acp_nvim.acp.updates import TerminalChanged, ToolCallChanged
from acp_nvim.contract import events
from acp_nvim.contract.views import OtherItem, TextItem
from acp_nvim.transcript.transcript import Transcript
from tests.core.session.host import Host
from tests.core.session.test_call_views import tell

RECORDINGS = Path(__file__).parents[2] / "recordings"


def text(words: str) -> Item:
    """Return a text as content of a tool call."""
    return Shown(TextContent(text=words))


def shown(raw: Any, **fields: Any) -> list[Any]:
    """What the chat shows of a call with that raw output."""
    fields = {"status": "completed", "kind": "execute"} | fields
    return tell(Transcript(1), "c", raw_output=raw, **fields).content


OUT = [TextItem("out")]
FAILED = [TextItem("out", exit_code=3)]


@pytest.mark.parametrize(
    ("raw", "items"),
    [
        ("out", OUT),
        ({"output": "out"}, OUT),
        ({"stdout": "out"}, OUT),
        ({"stderr": "out"}, OUT),
        ({"stdout": "out\n", "stderr": "err\n"}, [TextItem("out\nerr")]),
        ({"output": "out\nerr\n", "stderr": "err\n"}, [TextItem("out\nerr\n")]),
        ({"stdout": "out", "stderr": "", "aggregated_output": "out", "formatted_output": "out", "exit_code": 0}, OUT),
        ({"stdout": "", "aggregated_output": "out", "exit_code": 3, "status": "failed"}, FAILED),
        ({"output": "out", "exitCode": 3}, FAILED),
        ({"output": "out", "metadata": {"output": "out", "exit": 3}}, FAILED),
        ({"output": {"stdout": "out", "exit_status": 3}}, FAILED),
        ({"result": {"stdout": "out", "exitStatus": 3}}, FAILED),
        ({"output": "out", "exitCode": None, "signal": "SIGKILL"}, [TextItem("out", signal="SIGKILL")]),
        ({"output": "", "exit_code": 3}, [TextItem("", exit_code=3)]),
        ({"output": "out\nExit code: 3", "exit_code": 3}, [TextItem("out\nExit code: 3")]),
        ([{"type": "text", "text": "out"}], OUT),
        ({"content": [{"type": "text", "text": "out"}]}, OUT),
        ({"content": [{"type": "content", "content": {"type": "text", "text": "out"}}]}, OUT),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image", "data": "AAAA"}, "b"]}, [TextItem("a\nb")]),
        ({"content": {"type": "text", "text": "out"}, "isError": False}, OUT),
        ({"result": [{"type": "text", "text": "out"}]}, OUT),
        ({"error": "out"}, OUT),
        ({"error": {"code": 7, "message": "out"}}, OUT),
        ({"message": "out", "code": "E"}, OUT),
        ({"error": "out", "message": "out"}, OUT),
        ({"success": False, "errors": ["out", {"message": "more"}]}, [TextItem("out\nmore")]),
        (7, [TextItem("7")]),
        (None, []),
        ("", []),
        (" \n", []),
        (True, []),
        ({}, []),
        ([], []),
        ({"changed": 1}, []),
        ({"output": "", "exit_code": 0}, []),
        ({"command": "rm -rf /", "cwd": "/"}, []),
    ],
)
def test_what_is_found_in_a_raw_output(raw: Any, items: list[Any]) -> None:
    assert shown(raw) == items
    failed = shown(raw, status="failed")
    assert failed == items or (items == [] and isinstance(raw, dict) and failed == [TextItem(pretty(raw))])


def pretty(raw: Any) -> str:
    """Return raw output as it is shown for a failed call that nothing is known of."""
    return json.dumps(raw, indent=2)


@pytest.mark.parametrize("raw", [{"changed": 1}, [{"why": "no"}], {"failure": {"reason_code": "x"}}])
def test_of_a_call_that_has_failed_even_an_unknown_shape_is_shown(raw: Any) -> None:
    assert shown(raw, status="failed") == [TextItem(pretty(raw))]
    assert shown(raw, status="in_progress") == []


@pytest.mark.parametrize(
    ("content", "raw"),
    [
        ("out", "out"),
        ("out\n\n[Exit code: 3]", {"output": "out", "exit_code": 3}),
        ("```console\nout\n```\n", "out\n"),
        ("  out\r\n more", {"error": "out\nmore"}),
        ("Error: no such file", {"error": {"message": "no such file"}}),
        ("out", {"output": "out", "stdout": "out"}),
    ],
)
@pytest.mark.parametrize("status", ["completed", "failed", "in_progress"])
def test_what_the_content_says_is_not_said_again(content: str, raw: Any, status: str) -> None:
    [item] = shown(raw, status=status, content=[text(content)])
    assert (item.exit_code, item.signal) == (None, None)


def test_beside_other_words_only_the_error_of_a_failed_call_and_its_exit_code_are_shown() -> None:
    content = [text("Running")]
    assert shown({"output": "much"}, content=content) == [TextItem("Running")]
    assert shown({"error": "no"}, content=content) == [TextItem("Running")]
    for raw in ("no", {"error": "no"}, {"error": {"message": "no"}}, {"output": "much", "stderr": "no"}):
        assert shown(raw, content=content, status="failed") == [TextItem("Running"), TextItem("no")]
    code = {"output": "Running", "metadata": {"exit": 3}}
    assert shown(code, content=content) == [TextItem("Running"), TextItem("", exit_code=3)]
    assert shown(code, content=content, kind="read") == [TextItem("Running")]
    assert shown("x" * 9000, content=content, status="failed") == [TextItem("Running")]


def test_of_an_error_that_the_content_has_in_part_the_rest_is_shown() -> None:
    items = shown({"error": "cannot write\nthe disk is full"}, content=[text("cannot write")], status="failed")
    assert items[1:] == [TextItem("the disk is full")]


def test_a_change_says_enough_unless_it_has_failed() -> None:
    change = from_texts("/p/f", "old", "new")
    assert len(shown("Edited 1 file", kind="edit", content=[change])) == 1
    [_, said] = shown({"error": "changed meanwhile"}, kind="edit", content=[change], status="failed")
    assert said == TextItem("changed meanwhile")
    transcript = Transcript(1)
    tell(transcript, "c", kind="edit", content=[change])
    later = tell(transcript, "c", announced=False, status="failed", content=[], raw_output="no")
    assert later.content == [TextItem("no")], "also if its content was cleared"


def test_a_terminal_with_output_says_enough_and_one_without_does_not() -> None:
    transcript = Transcript(1)
    patch = TerminalPatch(terminal_id="t", output=b"out\n", exit=Exit(3))
    changed = ToolCallPatch(
        tool_call_id="c", status="failed", content=[TerminalShown("t")], raw_output={"stdout": "out"}
    )
    transcript.tool_call(ToolCallChanged(changed, True, terminals=(TerminalChanged(patch),)))
    assert len(transcript.take_stale()[-1].call.content) == 2
    transcript.terminal(TerminalChanged(patch))
    [terminal] = transcript.take_stale()[-1].call.content
    assert (terminal.output, terminal.exit_code) == ("out", 3)  # type: ignore[union-attr]


def test_what_comes_later_takes_its_place() -> None:
    transcript = Transcript(1)
    assert tell(transcript, "c", status="in_progress", raw_output={"output": "a"}).content == [TextItem("a")]
    assert tell(transcript, "c", announced=False, raw_output={"output": "a\nb"}).content == [TextItem("a\nb")]
    assert tell(transcript, "c", announced=False, content=[text("A")]).content == [TextItem("A")]


RAW = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                [
                    "output",
                    "stdout",
                    "stderr",
                    "error",
                    "message",
                    "content",
                    "text",
                    "exit_code",
                    "metadata",
                    "signal",
                    "?",
                ]
            ),
            inner,
            max_size=5,
        ),
    ),
)


@given(RAW, st.sampled_from(["completed", "failed"]), st.lists(st.text("ab\n", max_size=9), max_size=3))
def test_any_shape_will_do(raw: Any, status: str, words: list[str]) -> None:
    items = shown(raw, status=status, content=[text(one) for one in words])
    assert len(items) <= len(words) + 1
    assert not any(isinstance(one, OtherItem) for one in items)


def test_deep_shapes_end() -> None:
    raw: Any = "out"
    for _ in range(150):
        raw = {"output": [raw]}
    assert shown(raw) == []


def updates(value: Any) -> Iterator[dict[str, Any]]:
    """The updates of tool calls in a recorded message."""
    if isinstance(value, dict) and value.get("sessionUpdate") in ("tool_call", "tool_call_update"):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from updates(one)


def recorded() -> dict[str, dict[str, Any]]:
    """The calls of real agents as they ended, by file and id."""
    calls: dict[str, dict[str, Any]] = {}
    for file in sorted(RECORDINGS.glob("*/*.jsonl")):
        for line in file.read_text().splitlines():
            for one in updates(json.loads(line)):
                calls.setdefault(f"{file} {one['toolCallId']}", {}).update(one)
    return calls


def test_real_agents_show_all_that_they_report_and_nothing_twice() -> None:
    only_raw = 0
    for name, call in recorded().items():
        content = [
            text(one["content"].get("text", "")) for one in call.get("content") or [] if one["type"] == "content"
        ]
        if len(content) < len(call.get("content") or []):
            continue  # changes and terminals
        fields = {"status": call.get("status", "pending"), "kind": call.get("kind") or "other", "content": content}
        items = shown(call.get("rawOutput"), **fields)
        said = "\n".join(one.text for one in items)
        if content:
            assert len(items) == len(content) or items[-1] == TextItem("", exit_code=3), name
        elif call.get("rawOutput"):
            only_raw += 1
            assert said.strip(), name
            assert ("exit_code" in str(call["rawOutput"]) and items[0].exit_code != 0) or "codex" in name
    assert only_raw > 20


@pytest.mark.anyio
async def test_an_error_that_is_only_in_the_raw_output_is_in_the_chat_its_details_and_the_stored_conversation(
    host: Host,
) -> None:
    host.script("""
        def turn(agent, prompt):
            raw = {"stderr": "\\x1b[31mno\\x1b[0m", "exit_code": 2}
            prompt.tool("c", "Run", kind="execute", status="failed", rawOutput=raw)
    """)
    await host.turn()
    assert host.of(events.ToolCall)[-1].call.content == [TextItem("no", exit_code=2)]
    [block] = host.calls()
    [told] = host.app.sessions[1].presenter.transcript.shown(block)
    assert isinstance(told, events.ToolCall)
    assert told.call.content == [TextItem("\x1b[31mno\x1b[0m", exit_code=2)]
