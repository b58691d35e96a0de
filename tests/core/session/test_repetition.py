"""What a command has printed stands once in its tool call, however often the agent sends it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.terminal import Exit, Terminal, TerminalPatch
from acp_nvim.acp.tool_call import Item, Shown, TerminalShown
from acp_nvim.contract import events
from acp_nvim.transcript.call_views import COMPARED_CHARS, COMPARED_LINES, without_repetition
from tests.core.session.host import Host

OUTPUT = "tick 1\ntick 2\n"


def ran(output: str, terminal_id: str = "t", command: str | None = "make") -> Terminal:
    """A command that has printed that."""
    terminal = Terminal(terminal_id, 1)
    terminal.apply(TerminalPatch(terminal_id=terminal_id, command=command, output=output.encode(), exit=Exit(0)))
    return terminal


def kept(*texts: str, output: str = OUTPUT) -> list[str]:
    """What remains of texts beside a terminal."""
    items: list[Item] = [TerminalShown("t"), *(Shown(TextContent(text=text)) for text in texts)]
    left = [one for _, one in without_repetition(items, {"t": ran(output)})]
    assert left[0] == TerminalShown("t")
    return [one.block.text for one in left[1:] if isinstance(one, Shown) and isinstance(one.block, TextContent)]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (OUTPUT, []),
        ("tick 1\ntick 2", []),
        ("\ntick 1  \r\ntick 2\n\n", []),
        ("tick 2", []),
        (f"```console\n{OUTPUT}```", []),
        (f"~~~\n{OUTPUT}\n~~~\ncancelled", ["cancelled"]),
        (f"{OUTPUT}\n\nTool cancelled by user", ["Tool cancelled by user"]),
        (f"Interrupted. Final output:\n\n{OUTPUT}", ["Interrupted. Final output:"]),
        (f"before\n{OUTPUT}after", ["before\nafter"]),
        ("tick 1\ntick 3", ["tick 1\ntick 3"]),
        ("a tick 1\ntick 2", ["a tick 1\ntick 2"]),
        ("tick 1\ntick 22", ["tick 1\ntick 22"]),
        ("exit code 2", ["exit code 2"]),
        ("  ", ["  "]),
    ],
)
def test_of_a_text_only_the_rest_is_shown(text: str, rest: list[str]) -> None:
    assert kept(text) == rest


def test_of_texts_that_are_alike_one_is_shown() -> None:
    assert kept("same", "other", "same", output="") == ["same", "other"]


def test_what_is_too_long_to_be_compared_is_shown() -> None:
    lines = "x\n" * COMPARED_LINES
    assert kept(lines, output=lines + "x\n") == [lines]
    text = f"{OUTPUT}{'y' * COMPARED_CHARS}"
    assert kept(text) == [text]


def test_a_second_terminal_with_the_same_output_is_shown_if_it_has_a_command() -> None:
    items: list[Item] = [TerminalShown("t"), TerminalShown("c"), TerminalShown("d"), TerminalShown("unknown")]
    terminals = {"t": ran(OUTPUT), "c": ran(OUTPUT, "c", None), "d": ran(OUTPUT, "d")}
    left = without_repetition(items, terminals)
    assert left == [(place, items[place]) for place in (0, 2, 3)]


LINES = st.lists(st.sampled_from(["", "a", "b", "a b", "```", " a", "\x1b[1ma\x1b[0m", "ü"]), max_size=6)


@given(LINES, LINES, LINES)
def test_no_line_beside_the_output_is_lost(before: list[str], printed: list[str], after: list[str]) -> None:
    plain = [line for line in printed if "\x1b" not in line]
    rest = "\n".join(kept("\n".join([*before, *plain, *after]), output="\n".join(plain)))
    have = [line.strip() for line in rest.split("\n")] + [line.strip() for line in plain] + ["", "```"]
    assert [line for line in [*before, *after] if line.strip() not in have] == []


CANCELLED = """
    def turn(agent, prompt):
        terminal = prompt.terminal("echo tick 1; echo tick 2; exec sleep 1000")
        shown = [{"type": "terminal", "terminalId": terminal}]
        prompt.tool("c", "Work", kind="execute", status="in_progress", content=shown)
        prompt.wait_cancelled()
        prompt.ask_terminal("wait_for_exit", terminal)
        said = prompt.ask_terminal("output", terminal)["output"] + "\\n\\nTool cancelled by user"
        text = {"type": "content", "content": {"type": "text", "text": said}}
        prompt.tool_update("c", status="failed", content=[*shown, text])
        return "cancelled"
"""


@pytest.mark.anyio
async def test_a_cancelled_command_is_told_once_and_its_details_have_all(free_host: Host) -> None:
    host = free_host
    host.script(CANCELLED)
    host.open()
    host.prompt("go")

    def content() -> list[events.Item]:
        return next(iter(host.calls().values())).content if host.calls() else []

    def outputs() -> list[str | None]:
        return [one.output for one in content() if isinstance(one, events.TerminalItem)]

    def ended(one: events.Item) -> bool:
        return isinstance(one, events.TerminalItem) and (one.signal or one.exit_code) is not None

    await host.until("the output", lambda: outputs() == ["tick 1\ntick 2"])
    host.cancel()
    await host.editor.until_event(events.TurnEnd)
    await host.until("the end of the command", lambda: any(map(ended, content())))
    assert content()[1:] == [events.TextItem("Tool cancelled by user")]
    assert host.notices() == ["Stopped: cancelled"]
    [block] = host.calls()
    [told] = host.app.sessions[1].presenter.transcript.shown(block)
    assert isinstance(told, events.ToolCall)
    assert told.call.content[1] == events.TextItem("tick 1\ntick 2\n\n\nTool cancelled by user")
