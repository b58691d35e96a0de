"""The checks after a turn: what is looked for, what is offered, what is sent back by itself, and what ends that."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.editor import ToolAnswer
from acp_nvim.session.checks import FailedCommand, Findings
from tests.core.session.host import Host, running_host

pytestmark = pytest.mark.anyio

AGENT = """
    def turn(agent, prompt):
        agent.note(prompt=prompt.text)
        number = len(open("turns").read()) if os.path.exists("turns") else 0
        with open("turns", "a") as file:
            file.write("x")
        if prompt.text.startswith("wait"):
            prompt.wait_cancelled()
        if prompt.text != "nothing":
            prompt.write(os.path.abspath("f"), f"version {number}\\n")
        prompt.say("done")
"""
FAILS = "cat f; echo wrong; exit 3"


@asynccontextmanager
async def after_turn(tmp_path: Path, script: str = AGENT, **settings: Any) -> AsyncIterator[Host]:
    """A session in a project with a file `old`; .gitignore hides what the agent of `AGENT` notes for itself."""
    async with running_host(tmp_path) as host:
        (host.cwd / ".gitignore").write_text("turns\n")
        (host.cwd / "old").write_text("text\n")
        host.hello(after_turn=settings)
        host.script(script)
        host.open()
        await host.until_state("idle")
        yield host


def checks(host: Host) -> str | None:
    status = host.status()
    return None if status is None else status.checks


async def until_found(host: Host, words: str) -> None:
    """Wait until sending the findings is offered with these words."""
    await host.until("an offer", lambda: checks(host) == "found")
    assert host.notices()[-1] == words


def prompts(host: Host) -> list[str]:
    return [str(one) for one in host.scripts["it"].notes("prompt")]


def diagnoses(*answers: list[str]) -> Callable[[str, dict[str, Any]], ToolAnswer]:
    """An editor that answers so, one after the other; the last one again and again."""
    left = list(answers)
    return lambda tool, arguments: ToolAnswer(left.pop(0) if len(left) > 1 else left[0])


async def test_nothing_is_checked_unless_it_is_wanted(tmp_path: Path) -> None:
    async with after_turn(tmp_path) as host:
        await host.turn()
        await host.app.sessions[1].changes.settled()
        assert not host.app.sessions[1].after_turn.is_checking
        assert host.notices() == []
        host.app.receive("send_problems", {"session": 1})
        assert host.notices() == ["There are no problems to send."]


async def test_a_command_that_fails_is_shown_offered_and_sent(tmp_path: Path) -> None:
    async with after_turn(tmp_path, command=FAILS) as host:
        await host.turn()
        await until_found(host, f"`{FAILS}` failed (exit code 3). :AcpSendProblems sends it to the agent.")
        [call] = [one for one in host.calls().values() if one.kind == "execute"]
        assert (call.title, call.status) == (FAILS, "failed")
        assert "version 0" in str(call.content)
        host.app.receive("send_problems", {"session": 1})
        await host.until("another turn", lambda: len(host.of(events.TurnEnd)) == 2)
        assert prompts(host)[1] == (
            "Checks after your last turn have found problems.\n\n"
            f"`{FAILS}` failed (exit code 3). The end of its output:\n```\nversion 0\nwrong\n```"
        )
        await host.until("another offer", lambda: checks(host) == "found")
        assert len(prompts(host)) == 2


async def test_the_command_is_a_line_for_the_configured_shell(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text('#!/bin/sh\necho "mine: $2"; exit 1\n')
    (tmp_path / "mine").chmod(0o755)
    async with after_turn(tmp_path, command="a; b") as host:
        host.hello(shell=str(tmp_path / "mine"))
        await host.turn()
        await host.until("an offer", lambda: checks(host) == "found")
        [call] = [one for one in host.calls().values() if one.kind == "execute"]
        assert "mine: a; b" in str(call.content)


async def test_new_problems_of_changed_files_are_asked_for_and_offered(tmp_path: Path) -> None:
    async with after_turn(tmp_path, diagnostics="warn") as host:
        problems = ["f:1:1: error: bad", "f:2:1: warning: worse"]
        host.editor.on_tool = diagnoses(problems)
        await host.turn()
        await until_found(host, "2 new problems. :AcpSendProblems sends it to the agent.")
        [(_, tool, arguments)] = host.editor.tool_calls
        assert (tool, arguments["paths"], arguments["severity"]) == ("diagnostics", [str(host.cwd / "f")], "warn")
        host.app.receive("send_problems", {"session": 1})
        await host.until("another turn", lambda: len(host.of(events.TurnEnd)) == 2)
        assert "New diagnostics in files that you have changed:\n```\nf:1:1: error: bad\nf:2:1" in prompts(host)[1]


async def test_nothing_is_offered_when_all_is_well_or_nothing_was_changed(tmp_path: Path) -> None:
    async with after_turn(tmp_path, command="true", diagnostics="error") as host:
        host.editor.on_tool = diagnoses([])
        await host.turn()
        await host.until("the check", lambda: any(one.status == "completed" for one in host.calls().values()))
        await host.until("its end", lambda: not host.app.sessions[1].after_turn.is_checking)
        assert (checks(host), host.notices()) == (None, [])
        await host.turn("nothing")
        await host.until("no check", lambda: not host.app.sessions[1].after_turn.is_checking)
        assert len([one for one in host.calls().values() if one.kind == "execute"]) == 1


DELETES = """
    def turn(agent, prompt):
        agent.note(prompt=prompt.text)
        if prompt.text == "change f":
            prompt.write(os.path.abspath("f"), "changed\\n")
        else:
            os.remove("old")
            prompt.tool("rm", "rm old", kind="execute", status="completed")
        prompt.say("done")
"""


async def test_a_turn_that_only_deletes_a_file_is_checked(tmp_path: Path) -> None:
    async with after_turn(tmp_path, DELETES, command=FAILS, diagnostics="error") as host:
        await host.turn()
        await until_found(host, f"`{FAILS}` failed (exit code 3). :AcpSendProblems sends it to the agent.")
        assert host.editor.tool_calls == []


async def test_a_command_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    async with after_turn(tmp_path, command="a\0b") as host:
        await host.turn()
        await host.until("words", host.notices)
        assert host.notices()[0].startswith("`a\0b` (after_turn.command) cannot be run: ")


async def test_what_the_command_changes_is_not_the_agents(tmp_path: Path) -> None:
    async with after_turn(tmp_path, command="echo made > made; echo more >> f; exit 1") as host:
        await host.turn()
        await host.until("an offer", lambda: checks(host) == "found")
        await host.turn("nothing")
        await host.app.sessions[1].changes.settled()
        reviewed = {Path(one.path).name: (one.verdict.by, one.added) for one in host.app.reviews.ledger.open()}
        assert reviewed == {"f": ("agent", 1)}
        assert (host.cwd / "f").read_text() == "version 0\nmore\n"
        assert (host.cwd / "made").exists()


@pytest.mark.parametrize("way", ["the command", "its tool call"])
async def test_a_cancel_ends_the_command_and_no_turn(tmp_path: Path, way: str) -> None:
    async with after_turn(tmp_path, command="echo begun; sleep 600") as host:
        await host.turn()
        await host.until("the command", lambda: "begun" in str(host.calls()))
        if way == "the command":
            host.cancel()
        else:
            block = next(number for number, one in host.calls().items() if one.kind == "execute")
            host.app.receive("cancel_block", {"session": 1, "id": 1, "block": block})
        await host.until("its end", lambda: not host.app.sessions[1].after_turn.is_checking)
        assert [one.status for one in host.calls().values() if one.kind == "execute"] == ["cancelled"]
        assert (checks(host), host.notices()) == (None, ["The checks after the turn were cancelled."])
        assert len(host.of(events.TurnStart)) == 1


async def test_a_prompt_ends_the_command_and_is_sent(tmp_path: Path) -> None:
    async with after_turn(tmp_path, command="echo begun; sleep 600") as host:
        await host.turn()
        await host.until("the command", lambda: "begun" in str(host.calls()))
        host.prompt("nothing")
        await host.until("the next turn", lambda: len(host.of(events.TurnEnd)) == 2)
        assert [one.status for one in host.calls().values() if one.kind == "execute"] == ["cancelled"]
        assert prompts(host)[1] == "nothing"


async def test_a_stopped_session_checks_nothing_more(tmp_path: Path) -> None:
    async with after_turn(tmp_path, command="echo begun; sleep 600") as host:
        await host.turn()
        await host.until("the command", lambda: "begun" in str(host.calls()))
        host.stop()
        await host.until("its end", lambda: not host.app.sessions[1].after_turn.is_checking)
        assert checks(host) is None


async def test_a_command_has_a_limit_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        host.hello(after_turn={"command": "sleep 600"}, timeouts={"after_turn": 100})
        host.script(AGENT)
        host.open()
        await host.turn()
        await until_found(host, "`sleep 600` has not ended within 0.1 s. :AcpSendProblems sends it to the agent.")


# --- what is sent by itself -------------------------------------------------------------------------------------------


async def test_it_is_sent_back_as_often_as_wanted(tmp_path: Path) -> None:
    async with after_turn(tmp_path, command=FAILS, auto=True, rounds=2) as host:
        await host.turn()
        await until_found(
            host,
            f"`{FAILS}` failed (exit code 3). :AcpSendProblems sends it to the agent; not by itself, since it was sent "
            "2 times.",
        )
        assert [one for one in host.notices() if "sent back" in one] == [
            f"`{FAILS}` failed (exit code 3): sent back to the agent ({number} of 2 times)." for number in (1, 2)
        ]
        assert len(prompts(host)) == 3
        await host.turn("again")  # a prompt of the user's own begins the count anew
        await until_found(host, host.notices()[-1])
        assert len(prompts(host)) == 6


ODD_ROUNDS = [
    (2.5, 2, "it was sent 2 times"),
    (-1, 0, "after_turn.rounds is -1"),
    (math.nan, 0, "after_turn.rounds is nan"),
]


@pytest.mark.parametrize(("rounds", "number", "why"), ODD_ROUNDS)
async def test_any_number_of_rounds_ends(tmp_path: Path, rounds: float, number: int, why: str) -> None:
    async with after_turn(tmp_path, command=FAILS, auto=True, rounds=rounds) as host:
        await host.turn()
        words = f"`{FAILS}` failed (exit code 3). :AcpSendProblems sends it to the agent; not by itself, since {why}."
        await until_found(host, words)
        assert len(prompts(host)) == 1 + number


async def test_rounds_without_a_limit_end_when_nothing_gets_better(tmp_path: Path) -> None:
    async with after_turn(tmp_path, command="cat f; grep -q 'version 2' f", auto=True, rounds=math.inf) as host:
        await host.turn()
        await host.until("the end", lambda: any("nothing more" in one for one in host.notices()))
        assert [one.rpartition("(")[2] for one in host.notices()[:-1]] == ["1 so far).", "2 so far)."]


async def test_it_ends_when_all_is_well(tmp_path: Path) -> None:
    async with after_turn(tmp_path, command="cat f; grep -q 'version 2' f", auto=True) as host:
        await host.turn()
        words = "The checks after the turn have found nothing more."
        await host.until("the end", lambda: words in host.notices())
        assert len(prompts(host)) == 3
        assert checks(host) is None


@pytest.mark.parametrize("unknown", [ToolAnswer(error="busy"), ToolAnswer(note="Not settled: it.")])
async def test_what_could_not_be_checked_is_not_called_solved(tmp_path: Path, unknown: ToolAnswer) -> None:
    async with after_turn(tmp_path, diagnostics="error", auto=True) as host:
        answers = [ToolAnswer(["f:1:1: error: bad"]), unknown]
        host.editor.on_tool = lambda tool, arguments: answers.pop(0)
        await host.turn()
        await host.until("the second check", lambda: not answers)
        await host.until("its end", lambda: not host.app.sessions[1].after_turn.is_checking)
        assert "The checks after the turn have found nothing more." not in host.notices()
        assert "The diagnostics after the turn" in host.notices()[-1]


async def test_it_ends_when_the_agent_gets_no_further(tmp_path: Path) -> None:
    async with after_turn(tmp_path, diagnostics="error", auto=True, rounds=9) as host:
        host.editor.on_tool = diagnoses(["f:1:1: error: bad"], ["f:7:3: error: bad"])
        await host.turn()
        await until_found(
            host,
            "1 new problem. :AcpSendProblems sends it to the agent; not by itself, since the same was sent before.",
        )
        assert len(prompts(host)) == 2


async def test_it_ends_when_the_agent_changes_nothing(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        host.hello(after_turn={"command": FAILS, "auto": True})
        host.script(AGENT.replace('prompt.text != "nothing"', "number == 0").replace('open("turns', 'open("../turns'))
        host.open()
        await host.turn()
        await until_found(
            host,
            f"`{FAILS}` failed (exit code 3). :AcpSendProblems sends it to the agent; not by itself, since the agent "
            "has changed nothing.",
        )
        assert len(prompts(host)) == 2


async def test_a_deleted_file_is_a_change(tmp_path: Path) -> None:
    async with after_turn(tmp_path, DELETES, command="! test -e old", auto=True) as host:
        await host.turn("change f")
        words = "The checks after the turn have found nothing more."
        await host.until("the end", lambda: host.notices()[-1:] == [words])
        assert len(prompts(host)) == 2


async def test_files_that_were_changed_before_are_looked_at_again(tmp_path: Path) -> None:
    async with running_host(tmp_path) as host:
        host.hello(after_turn={"diagnostics": "error", "auto": True})
        host.script("""
            def turn(agent, prompt):
                agent.note(prompt=prompt.text)
                prompt.write(os.path.abspath("g" if prompt.text.startswith("Checks") else prompt.text), prompt.text)
        """)
        host.open()
        host.editor.on_tool = diagnoses(["f:1:1: error: bad"])
        for name in ("f", "h"):
            before = len(prompts(host))
            await host.turn(name)
            await host.until("an offer", lambda: checks(host) == "found")
            asked = [[Path(one).name for one in call[2]["paths"]] for call in host.editor.tool_calls[before:]]
            assert asked == [[name], sorted([name, "g"])]
        begun = [one.of_checks for one in host.of(events.TurnStart)]
        assert begun == [False, True, False, True]


async def test_a_cancelled_turn_is_not_checked(tmp_path: Path) -> None:
    async with after_turn(tmp_path, command=FAILS, auto=True) as host:
        host.prompt("wait")
        await host.until("the turn", lambda: prompts(host))
        host.cancel()
        await host.until("its end", lambda: host.of(events.TurnEnd))
        await host.app.sessions[1].changes.settled()
        assert not host.app.sessions[1].after_turn.is_checking
        assert len(prompts(host)) == 1


# --- what is found ----------------------------------------------------------------------------------------------------


def test_a_long_list_is_cut_and_output_cannot_end_its_fence() -> None:
    found = Findings([f"f:{number}:1: error: x" for number in range(150)], FailedCommand("make", "failed", "```\nx\n"))
    prompt = found.prompt()
    assert prompt.count("error: x") == 100
    assert "… and 50 more" in prompt
    assert prompt.endswith("The end of its output:\n````\n```\nx\n````")
    assert found.words == "150 new problems, `make` failed"
    assert Findings(command=FailedCommand("make", "failed", "\n")).prompt().endswith("`make` failed. No output.")


def test_the_words_about_a_script_fit_into_a_line() -> None:
    found = Findings(command=FailedCommand("for one in *; do\n  echo $one\ndone; " + 60 * "x", "failed", ""))
    assert found.words.startswith("`for one in *; do echo $one done; x")
    assert found.words.endswith("more characters` failed")
    assert len(found.words) < 120
    assert "for one in *; do\n  echo $one\n" in found.prompt()


def test_the_agent_gets_output_as_it_is_read() -> None:
    output = "one\r\n 10%\r 50%\r100% done\r\nbell\x07 \x00nul\ttab\nlast\r"
    prompt = Findings(command=FailedCommand("make", "failed", output)).prompt()
    assert prompt.endswith("```\none\n100% done\nbell nul\ttab\nlast\n```")


def test_times_and_places_are_no_progress() -> None:
    def found(problem: str, output: str) -> Findings:
        return Findings([problem], FailedCommand("make", "failed", output))

    before = found("f:1:1: error: x", "2 failed in 0.51s")
    assert found("f:9:2: error: x", "2 failed in 1.2s").same_as(before)
    assert not found("f:1:1: error: y", "2 failed in 0.51s").same_as(before)
    assert not found("f:1:1: error: x", "1 failed in 0.51s").same_as(before)
    assert not Findings(["f:1:1: error: x"]).same_as(before)
