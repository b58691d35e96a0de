"""Results of commands look as on a terminal; files, requests and other results show every character."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.schema_common import EmbeddedResource, EmbeddedResourceResource, TextContent
from acp_nvim.acp.terminal import Exit, TerminalPatch
from acp_nvim.acp.tool_call import Item, Shown, TerminalShown, ToolCallPatch
from acp_nvim.acp.updates import TerminalChanged, TerminalPrinted, ToolCallChanged
from acp_nvim.contract import events
from acp_nvim.contract.views import Item as View
from acp_nvim.contract.views import ResourceItem, TerminalItem, TextItem
from acp_nvim.transcript.kept_views import shown as kept
from acp_nvim.transcript.transcript import Transcript
from tests.core.session.test_call_views import tell

COLOURED = "\x1b[32mPASS\x1b[0m \x1b]8;;http://x\x1b\\a.py\x1b]8;;\x1b\\\r\n10 %\r100 %\n"
BARS = "".join(f"\x1b[2A\x1b[2Ka {n} %\n\x1b[2Kb {n} %\n" for n in range(0, 101, 5))


def text(words: str) -> Item:
    """Return a text as content of a tool call."""
    return Shown(TextContent(text=words))


def shown(words: str, **fields: Any) -> list[View]:
    """What the chat shows of a call with that text."""
    return tell(Transcript(1), "c", content=[text(words)], **({"kind": "execute"} | fields)).content


def test_a_result_of_a_command_looks_as_on_a_terminal() -> None:
    assert shown(COLOURED) == [TextItem("PASS a.py\n100 %")]
    assert shown("start\n\n\n" + BARS) == [TextItem("start\na 100 %\nb 100 %")]
    assert shown("```console\n" + COLOURED + "```") == [TextItem("```console\nPASS a.py\n100 %\n```")]


@pytest.mark.parametrize("kind", ["read", "edit", "search", "fetch", "think", "other", "strange"])
def test_any_other_result_shows_every_character(kind: str) -> None:
    assert shown(COLOURED, kind=kind) == [TextItem(COLOURED)]
    assert tell(Transcript(1), "c", kind=kind, raw_output=COLOURED).content == [TextItem(COLOURED)]


def test_the_text_of_a_resource_shows_every_character() -> None:
    resource = EmbeddedResource(resource=EmbeddedResourceResource(uri="file:///f", text=COLOURED))
    [item] = tell(Transcript(1), "c", kind="execute", content=[Shown(resource)]).content
    assert isinstance(item, ResourceItem)
    assert item.text == COLOURED


def test_a_request_and_the_details_show_every_character() -> None:
    transcript = Transcript(1)
    tell(transcript, "c", kind="execute", content=[text(COLOURED)])
    asked, details = transcript.find_call("c"), transcript.call_details(1)
    assert asked is not None
    assert details is not None
    assert asked.content == details.call.content == [TextItem(COLOURED)]


def test_a_request_shows_nothing_of_a_raw_output() -> None:
    transcript = Transcript(1)
    tell(transcript, "c", kind="execute", raw_output="out")
    asked = transcript.find_call("c")
    assert asked is not None
    assert asked.content == []


PIECES = st.lists(st.sampled_from(["a", "b c", "\n", "\r", "\x1b[1m", "\x1b[A", "\x1b[K", "\b", "語"]), max_size=30)


@given(PIECES, st.lists(st.integers(0, 99), max_size=6), st.sampled_from(["text", "raw", "snapshots", "pieces"]))
def test_output_that_grows_looks_as_if_it_had_come_at_once(pieces: list[str], places: list[int], how: str) -> None:
    words, transcript = "".join(pieces), Transcript(1)
    data = words.encode()
    cuts = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    tell(transcript, "c", kind="execute", status="in_progress", content=[] if how == "raw" else [TerminalShown("t")])
    for start, end in pairwise(cuts):
        more: dict[str, Any] = {}
        so_far = data[:end].decode("utf-8", "ignore")
        if how == "text":
            more = {"content": [text(so_far)]}
        elif how == "raw":
            more = {"raw_output": {"output": so_far}}
        elif how == "snapshots":
            transcript.terminal(TerminalChanged(TerminalPatch(terminal_id="t", output=data[:end])))
        else:
            transcript.terminal(TerminalPrinted("t", data[start:end]))
        transcript.tool_call(ToolCallChanged(ToolCallPatch(tool_call_id="c", **more)))
        transcript.take_stale()
    transcript.terminal(TerminalChanged(TerminalPatch(terminal_id="t", exit=Exit(0))))
    ended = tell(transcript, "c", announced=False, status="completed").content
    at_once = [one.text for one in shown(words, status="completed") if isinstance(one, TextItem)]
    got = [one.output if isinstance(one, TerminalItem) else one.text for one in ended if hasattr(one, "lines")]
    assert [one.strip() for one in got if one.strip()] == [one.strip() for one in at_once if one.strip()]


def test_what_replaces_a_text_is_shown_instead() -> None:
    transcript = Transcript(1)
    for words, rows in [("a\x1b[1m", "a"), ("a\x1b[1mb", "ab"), ("x\x1b[1m", "x"), ("plain", "plain"), ("", "")]:
        view = tell(transcript, "c", announced=False, kind="execute", status="in_progress", content=[text(words)])
        assert view.content == [TextItem(rows)]


def test_the_end_of_an_output_moves_on_while_the_beginning_stays() -> None:
    transcript = Transcript(1)
    for count in (100, 200, 300):
        for words in ("\n".join(map(str, range(count))), "\x1b[1m" + "\n".join(map(str, range(count)))):
            view = tell(transcript, "c", announced=False, kind="execute", status="in_progress", content=[text(words)])
            [item] = view.content
            assert isinstance(item, TextItem)
            assert item.text.split() == [*map(str, range(8))]
            assert item.lines == count - 20
            assert item.tail.split() == [*map(str, range(count - 12, count))]


def test_of_a_terminal_that_prints_much_both_ends_are_kept_and_all_lines_counted() -> None:
    transcript = Transcript(1)
    patch = ToolCallPatch(tool_call_id="c", kind="execute", content=[TerminalShown("t")])
    transcript.tool_call(ToolCallChanged(patch, True))
    lines = [f"line {number}" for number in range(400_000)]
    for start in range(0, 400_000, 10_000):
        transcript.terminal(TerminalPrinted("t", "\n".join([*lines[start : start + 10_000], ""]).encode()))
    transcript.terminal(TerminalPrinted("t", b"end", lost=1000, lost_lines=7))
    [item] = transcript.take_stale()[-1].call.content
    assert isinstance(item, TerminalItem)
    assert item.output.split("\n") == lines[:8]
    assert 8 + item.lines + len(item.tail.split("\n")) == 400_000 + 8
    assert item.tail.endswith("end")


def test_a_stored_conversation_looks_the_same() -> None:
    transcript = Transcript(1)
    long = "".join(f"\x1b[1m{n}\x1b[0m\n" for n in range(100))
    patch = TerminalPatch(terminal_id="t", output=(long + "\n\n" + BARS).encode(), exit=Exit(1))
    content = [text(long + "\n\n" + BARS), TerminalShown("t"), text("plain\n" * 99)]
    chat = ToolCallPatch(tool_call_id="c", kind="execute", status="failed", content=content)
    transcript.tool_call(ToolCallChanged(chat, True, terminals=(TerminalChanged(patch),)))
    transcript.terminal(TerminalChanged(patch))
    [told] = transcript.take_stale()
    [stored] = transcript.shown(1)
    assert isinstance(stored, events.ToolCall)
    assert isinstance(stored.call.content[1], TerminalItem)
    assert stored.call.content[1].output.endswith("\n98\n99\na 100 %\nb 100 %")
    [again] = kept(1, [stored])
    assert isinstance(again, events.ToolCall)

    def ends(view: View) -> tuple[Any, ...]:
        said = view.text if isinstance(view, TextItem) else view.output if isinstance(view, TerminalItem) else ""
        assert isinstance(view, TextItem | TerminalItem)
        return said.rstrip("\n"), view.lines, view.tail

    assert [*map(ends, again.call.content)] == [*map(ends, told.call.content)]
