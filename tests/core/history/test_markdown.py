"""Markdown: texts exactly as they were, in fences that nothing inside ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.contract.request_events import PermissionAuto
from acp_nvim.contract.review_events import FileView, Summary
from acp_nvim.contract.views import CallView, DiffItem, FileLine, OtherItem, TerminalItem, TextItem
from acp_nvim.history.markdown import Markdown, fenced, patch


def said(kind: str, *texts: str) -> list[events.Event]:
    return [events.Append(session=1, block=1, kind=kind, text=text) for text in texts]  # type: ignore[arg-type]


@given(st.text(alphabet="`~ \nab", max_size=80))
def test_a_fence_is_longer_than_any_inside(text: str) -> None:
    lines = fenced(text, "x").split("\n")
    fence = lines[0].removesuffix("x")
    assert set(fence) == {"`"}
    assert fence not in text
    assert lines[-2] == fence
    assert "\n".join(lines[1:-2]) == text.removesuffix("\n")


@given(st.text(max_size=80) | st.text(alphabet="`~# \nab", max_size=80))
def test_what_was_said_stands_there_exactly_and_leaves_no_fence_open(text: str) -> None:
    markdown = Markdown("it")
    out = markdown.block(said("user", text)) + markdown.block(said("agent", text))
    assert out.startswith(f"\n## 1. You\n\n{text}")
    assert f"\n### it\n\n{text}" in out
    assert markdown.block(said("agent", out)).removesuffix("\n").endswith(out.removesuffix("\n"))


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("```py\nx", "\n```\n"),
        ("  ````\n```\nx\n", "````\n"),
        ("~~~\n```\n", "~~~\n"),
        ("```\nx\n```\n", ""),
        ("``` a ` b\nx\n", ""),
        ("no fence", "\n"),
    ],
)
def test_a_fence_that_was_left_open_is_closed(text: str, end: str) -> None:
    assert Markdown("it").block(said("agent", text)).endswith(f"\n{text}{end}")


def test_each_prompt_has_a_heading_and_the_agent_one_for_each_turn() -> None:
    markdown = Markdown("it")
    blocks = [said("user", "a"), said("agent", "b"), said("agent", "c"), said("user", "d"), said("agent", "e")]
    headings = [line for line in "".join(map(markdown.block, blocks)).split("\n") if line.startswith("#")]
    assert headings == ["## 1. You", "### it", "## 2. You", "### it"]


def test_a_tool_call_with_all_that_it_shows() -> None:
    content = [
        TextItem("a ```` b"),
        DiffItem("/p/f.py", "one\n2\nthree\n", "one\ntwo\nthree\n", line=10),
        TerminalItem("t", command="ls", output="x", exit_code=2),
        OtherItem("an image"),
    ]
    call = CallView("c", "Edit\nf", "edit", "completed", content, [FileLine("/p/f.py", 3)], started=1.0, ended=4.2)
    out = Markdown("it").block([events.ToolCall(session=1, block=1, call=call)])
    assert "\n#### Edit f\n\n*edit · completed · 3 s*\n" in out
    assert "- `/p/f.py` line 3\n" in out
    assert "`````\na ```` b\n`````\n" in out
    assert "modify `/p/f.py`\n\n```diff\n@@ -10,3 +10,3 @@\n one\n-two\n+2\n three\n```\n" in out
    assert "```sh\n$ ls\n```\n\n```\nx\n```\n\n*ended with 2*\n" in out
    assert "- an image\n" in out


def test_the_rest_of_a_conversation() -> None:
    markdown = Markdown("it")
    option = events.Option("y", "Yes, do", "allow_once")
    request = events.RequestView(1, "c", "rm -rf", "execute", [option], [], [])
    done = events.PermissionDone(session=1, block=2, id=1, outcome="selected", option_id="y", name="Yes, do")
    auto = PermissionAuto(
        session=1,
        block=3,
        request=request,
        option_id="y",
        name="Yes",
        kind="allow_once",
        rule="kind x",
        source="config",
    )
    step = events.PlanStep("first", "in_progress", "high")
    blocks: list[list[events.Event]] = [
        said("thought", "hm\n</details>\n", "hm"),
        [events.Notice(session=1, block=1, level="warn", text="careful\nthere")],
        [events.Permission(session=1, block=2, request=request), done],
        [auto],
        [events.Plan(session=1, block=4, entries=[step], title="p")],
        [Summary(session=1, block=5, id="x", time=0.0, files=[FileView("/p/f", "rename", 1, 2, "/p/e")])],
    ]
    views = [
        FileView("/p/g", "modify", 1, by="unknown", why="no command\nran"),
        *(FileView(f"/p/.agent/{number}", "add", 1, by="state") for number in range(2)),
    ]
    blocks.append([Summary(session=1, block=6, id="x", time=0.0, files=views)])
    out = "".join(map(markdown.block, blocks))
    assert "> *Thought*\n>\n> hm\n> </details>\n> hm\n" in out
    assert "> **warn**: careful\n> there\n" in out
    assert "> **Permission**: rm -rf\n> → Yes, do\n" in out
    assert "> → Yes, by the rule `kind x`\n" in out
    assert "**Plan: p**\n\n- [-] first\n" in out
    assert "\n**Changed files**\n\n- rename `/p/f` (was `/p/e`) +1 -2\n" in out
    assert out.count("Changed files") == 1
    assert "\n**Not sure who changed**\n\n- modify `/p/g` +1 -0: no command ran\n" in out
    assert out.endswith("\n*Changed 2 files of the agent's own records*\n")


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_a_patch_makes_the_new_text_of_the_old(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    at, made = 0, []
    lines = before.split("\n")[:-1]
    for line in patch(before, after, 1).split("\n")[:-1]:
        if line.startswith("@@"):
            start, count = line.split()[1][1:].split(",")
            first = int(start) - (int(count) > 0)
            made += lines[at:first]
            at = first
            continue
        if line[0] in " -":
            assert lines[at] == line[1:]
            at += 1
        if line[0] in " +":
            made.append(line[1:])
    assert made + lines[at:] == after.split("\n")[:-1]
